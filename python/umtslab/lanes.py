"""Lanes of the time line, and colours of causes and RRC states, as the core declares them.

The time line of a run shows its events over time: segments, RLC PDUs, timers, RRC states and so on.
A lane is one kind of event, or one value over time, such as the congestion window. Its rows come
from one table of the run. The page of ``umts serve``, exports and figures all read the declaration
in the core (``crates/record/src/timeline/lanes.rs`` and ``looks.rs``), so that they agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from umtslab import _core

if TYPE_CHECKING:
    import polars as pl

Cells = Literal["count", "share", "maximum"]
"""Value of a cell, which stands for many rows where they are too dense to be drawn one by one."""


@dataclass(frozen=True)
class Test:
    """A test of a column of a row. A missing text counts as an empty text.

    Operators: ``equal``, ``not`` (differs from the operand), ``prefix``, ``above`` (a larger number),
    ``unset`` (false, or no value), ``missing`` (no value). Any other operator holds if there is a value.
    """

    __test__ = False  # pytest would otherwise collect this class, because of its name

    column: str
    operator: str
    operand: str

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row meets the test.

        >>> Test("state", "prefix", "CELL").holds({"state": "CELL_FACH"})
        True
        """
        value = row[self.column]
        match self.operator:
            case "equal":
                return bool((value or "") == self.operand)
            case "not":
                return bool((value or "") != self.operand)
            case "prefix":
                return str(value or "").startswith(self.operand)
            case "above":
                return value is not None and value > int(self.operand)
            case "unset":
                return not value
            case "missing":
                return value is None
        return value is not None

    def expression(self) -> pl.Expr:
        """Return the test as an expression of Polars."""
        import polars as pl

        column = pl.col(self.column)
        match self.operator:
            case "equal":
                return column.fill_null("") == self.operand
            case "not":
                return column.fill_null("") != self.operand
            case "prefix":
                return column.fill_null("").str.starts_with(self.operand)
            case "above":
                return column.cast(pl.Int64).fill_null(0) > int(self.operand)
            case "unset":
                return ~column.fill_null(value=False)
            case "missing":
                return column.is_null()
        return column.is_not_null()


@dataclass(frozen=True)
class Category:
    """A category of the rows of a lane. `colour` names a hue, with ``-e`` for its edge."""

    name: str
    label: str
    colour: str
    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Lane:
    """A lane: rows of one table.

    Attributes
    ----------
    area : str
        The area of the page. Empty if the page marks the rows in other lanes.
    owner : str
        Column with the connection or UE of a row: ``connection`` or ``ue``.
    direction : str
        ``data``: rows in the direction of the connection's data. ``reverse``: the other direction.
        Empty: both.
    tests : tuple[Test, ...]
        Tests that all rows of the lane meet.
    start, end : str
        Columns with start and end. An empty `end` is the start of the next row.
    low, high : str
        Columns with the range on the vertical axis. Empty for lanes without a vertical axis. If
        `high` is ``count``, the row has `count` consecutive values, the first of them in `low`.
    text : str
        Column with the text of a row.
    draw : str
        How a viewer draws the rows, such as ``line`` or ``steps``.
    cells : str
        Value of a cell that stands for many rows: ``count``, the number of rows that begin in the
        cell; ``share``, the share of time of each category; or ``maximum``, the largest value.
    categories : tuple[Category, ...]
        A row belongs to the first category of which it meets all tests. Empty for the lane of causes.
    """

    name: str
    label: str
    area: str
    layer: str
    table: str
    owner: str
    direction: str
    tests: tuple[Test, ...]
    start: str
    end: str
    low: str
    high: str
    text: str
    unit: str
    meaning: str
    draw: str
    cells: Cells
    categories: tuple[Category, ...]

    def has(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row of the table meets the tests of the lane."""
        return all(test.holds(row) for test in self.tests)


@dataclass(frozen=True)
class Area:
    """A strip of the page with one vertical axis, for one or more lanes. `height` is in CSS pixels."""

    name: str
    label: str
    note: str
    height: int


class HueColours(NamedTuple):
    """Colours of an area and of the line around it, in one theme, as in ``#0072b2``."""

    fill: str
    edge: str


@dataclass(frozen=True)
class Hue:
    """A named colour: fill and edge in the light and in the dark theme."""

    name: str
    light: HueColours
    dark: HueColours


@dataclass(frozen=True)
class Look:
    """Hue and hatch of a cause or state. `hatch` is empty, or a name such as ``rising``."""

    name: str
    hue: str
    hatch: str


@lru_cache(maxsize=1)
def lanes() -> tuple[Lane, ...]:
    """Return all lanes in the order of the declaration."""
    return tuple(_lane(row) for row in _core.lanes())


@lru_cache(maxsize=1)
def areas() -> tuple[Area, ...]:
    """Return the areas of the page from top to bottom."""
    return tuple(Area(**row) for row in _core.areas())


@lru_cache(maxsize=1)
def hues() -> dict[str, Hue]:
    """Return the hues by name."""
    return {name: Hue(name, HueColours(*light), HueColours(*dark)) for name, light, dark in _core.hues()}


def fill_of(hue: str) -> str:
    """Return the fill of a hue in the light theme, which figures use.

    >>> fill_of("serial")
    '#0072b2'
    """
    return hues()[hue].light.fill


@lru_cache(maxsize=1)
def cause_looks() -> dict[str, Look]:
    """Return the look of each cause, in order of precedence."""
    causes, _, _ = _core.looks()
    return _looks_by_name(causes)


@lru_cache(maxsize=1)
def proxy_looks() -> dict[str, Look]:
    """Return the looks of the causes that only transfers through a proxy have."""
    _, causes_in_proxy, _ = _core.looks()
    return _looks_by_name(causes_in_proxy)


@lru_cache(maxsize=1)
def state_looks() -> dict[str, Look]:
    """Return the look of each RRC state, in order of its cost, and of ``switch``."""
    _, _, states = _core.looks()
    return _looks_by_name(states)


@lru_cache(maxsize=1)
def state_heights() -> dict[str, float]:
    """Return the share of a strip's height that each RRC state fills."""
    return dict(zip(state_looks(), _core.state_heights(), strict=True))


def _looks_by_name(rows: Sequence[tuple[str, str, str]]) -> dict[str, Look]:
    return {name: Look(name, hue, hatch) for name, hue, hatch in rows}


def _tests(rows: Sequence[tuple[str, str, str]]) -> tuple[Test, ...]:
    return tuple(Test(column, operator, operand) for column, operator, operand in rows)


def _lane(row: Mapping[str, Any]) -> Lane:
    """Convert a lane from the core: a dictionary with texts, tests and categories."""
    texts = (
        *("name", "label", "area", "layer", "table", "owner", "direction", "start", "end", "low", "high"),
        *("text", "unit", "meaning", "draw"),
    )
    categories = tuple(
        Category(category["name"], category["label"], category["colour"], _tests(category["tests"]))
        for category in row["categories"]
    )
    return Lane(
        **{name: row[name] for name in texts},
        tests=_tests(row["tests"]),
        cells=cast("Cells", row["cells"]),
        categories=categories,
    )

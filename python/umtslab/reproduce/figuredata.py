"""Content of a figure or table of a reproduction: measured curves, and the document's numbers.

A figure shows quantities over one dimension of the plan, or over time. It has a curve for each
combination of the values of other dimensions, and marks the numbers that the document states for the
same points. `figure_content` collects this content, `figures` draws it, and the report writes it as
tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict

from umtslab.analyse.statistics import Summary
from umtslab.reproduce.claims import Value
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import Figure, text

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run


@dataclass(frozen=True)
class Dot:
    """A measured point of a curve."""

    x: Value
    y: Summary
    """Mean over the runs of the point, with its interval."""


@dataclass(frozen=True)
class StatedNumber:
    """A number stated in the document, at one x or over a time span."""

    label: str
    """Label of the curve of the number (`Line.label`)."""
    quantity: str
    x: Value
    """Position, or start of the time span in seconds."""
    y: float
    """The number."""
    x_end: float | None = None
    """End of the time span in seconds. None for a number at one x."""


@dataclass(frozen=True)
class Line:
    """One curve."""

    label: str
    """The values of the dimensions that distinguish the curve."""
    quantity: str
    honest: bool
    """Whether the runs have 3GPP's accounting (`Plan.honest`). They are not scored."""
    dots: tuple[Dot, ...]
    one_run: tuple[tuple[float, float], ...] = ()
    """Time course of the first run, as pairs of seconds and value. Empty if the figure is not over time."""
    change: str = ""
    """The settings that differ from the scored runs. Empty for scored runs."""


class Row(TypedDict):
    """A measured point as a row of a table.

    `stated` is the document's number for the point, if there is one. `change` lists the settings
    that differ from the scored runs.
    """

    curve: str
    accounting: str
    at: Value
    quantity: str
    n: int
    mean: float | None
    sd: float | None
    ci95: float | None
    stated: float | None
    change: str


@dataclass(frozen=True)
class Picture:
    """A drawn figure."""

    pixels: bytes
    """The figure as a PNG file."""
    address: str
    """Data URL of the figure as vector graphics."""


@dataclass(frozen=True)
class FigureData:
    """The content of a figure or table: lines, or the RLC PDUs of one run."""

    figure: Figure
    """The figure as the plan declares it."""
    x_label: str = ""
    """Label of the horizontal axis, with unit."""
    curves_label: str = ""
    """Labels of the dimensions that distinguish the curves."""
    lines: tuple[Line, ...] = ()
    stated: tuple[StatedNumber, ...] = ()
    gaps: tuple[str, ...] = ()
    """Why curves or points are missing, in sentences."""
    phases: tuple[Phase, ...] = ()
    """Phases of the first run's transfer. Empty if the figure is not over time."""
    pdus: pl.DataFrame | None = field(default=None, compare=False)
    """RLC PDUs of one run, for a figure of kind ``pdus``."""
    run: Run | None = field(default=None, compare=False)
    """The run for a figure of kind ``channels``, which shows its use of channels."""
    drawn: list[Picture] = field(default_factory=list, compare=False, repr=False)
    """The picture in the house style, once drawn. At most one."""

    @property
    def is_drawn(self) -> bool:
        """Whether the figure has a picture."""
        shows_one_run = self.run is not None or self.pdus is not None
        has_curves = bool(self.lines) and self.figure.kind != "table"
        return shows_one_run or has_curves

    def rows(self) -> Iterator[Row]:
        """Yield the points as rows of a table, with the document's number if it states one."""
        stated_at = {
            (number.quantity, number.label, text(number.x)): number.y
            for number in self.stated
            if number.x_end is None
        }
        for line in self.lines:
            for dot in line.dots:
                # The document states nothing about runs with a change.
                stated = None if line.change else stated_at.get((line.quantity, line.label, text(dot.x)))
                yield {
                    "curve": line.label,
                    "accounting": "honest" if line.honest else "compatible",
                    "at": dot.x,
                    "quantity": line.quantity,
                    "n": dot.y.n,
                    "mean": dot.y.mean,
                    "sd": dot.y.sd,
                    "ci95": dot.y.ci95,
                    "stated": stated,
                    "change": line.change,
                }


def with_change(data: FigureData, changed: FigureData, change: str) -> FigureData:
    """Add the curves of runs with a change to a figure. The original curves remain the scored ones.

    Curves that become equal by the change (for example if it sets the TCP version) are drawn once.
    """
    changed_lines: dict[tuple[object, ...], Line] = {}
    for line in changed.lines:
        curve = (line.quantity, line.honest, line.dots)
        is_repeated = curve in changed_lines
        label = change if is_repeated else f"{line.label}, {change}".removeprefix(", ")
        changed_lines[curve] = replace(line, label=label, one_run=(), change=change)
    new_gaps = [f"with {change}: {gap}" for gap in changed.gaps if gap not in data.gaps]
    return replace(data, lines=(*data.lines, *changed_lines.values()), gaps=(*data.gaps, *new_gaps))

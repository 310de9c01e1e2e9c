"""Parameters with a range or choices, and their conversion to values of scenario keys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from umtslab.campaign.errors import CampaignError
from umtslab.campaign.table import Table, Value
from umtslab.quantity import Quantity, quantity

_DIGITS = 6
"""Significant digits of a drawn number. The rounded number is simulated and printed."""


@dataclass(frozen=True)
class Parameter:
    """A scenario key with a range from `low` to `high` in `unit`, or with `choices`.

    With `whole` its numbers are integers. With `log` they are drawn on a logarithmic scale. With
    `step` they are `low` plus multiples of the step.
    """

    key: str
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    whole: bool = False
    log: bool = False
    step: float | None = None
    choices: tuple[Value, ...] = ()

    @property
    def first_value(self) -> Value:
        """The lower end of the range, or the first choice."""
        return self.choices[0] if self.choices else self.value(self.low)

    def value(self, drawn: float) -> Value:
        """Convert a drawn number to a value of the key: rounded to a step, with its unit."""
        number = min(max(drawn, self.low), self.high)
        if self.step is not None:
            number = min(self.low + round((number - self.low) / self.step) * self.step, self.high)
        number = float(f"{number:.{_DIGITS}g}")
        if self.whole:
            number = round(number)
        if not self.unit:
            return number
        return f"{number:g} {self.unit}" if not self.whole else f"{number} {self.unit}"

    def drawn(self, value: Value) -> Value:
        """Convert a value of the key to the number that `value` accepts.

        A choice is returned unchanged.
        """
        as_quantity = None if self.choices else quantity(value)
        if as_quantity is None:
            return value
        return round(as_quantity.number) if self.whole else as_quantity.number

    def as_dict(self) -> dict[str, object]:
        """Return all fields that determine the possible values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def read_parameters(table: Table) -> tuple[Parameter, ...]:
    """Read the table ``[parameters]``.

    Raises
    ------
    CampaignError
        If there is none, or a parameter is wrong.
    """
    inner = table.table("parameters")
    result = tuple(_parameter(key, row) for key, row in inner.tables({"from", "to", "choices"}).items())
    if not result:
        raise inner.wrong(
            "", 'no range or choices: write KEY = { from = 1, to = 10 } or { choices = ["a", "b"] }'
        )
    return result


def _parameter(key: str, row: Table) -> Parameter:
    if "choices" in row:
        choices = row.listed("choices")
        row.done()
        if len(choices) < 2:
            raise row.wrong("choices", "give at least two choices")
        return Parameter(key, choices=tuple(choices))
    bounds = {name: row.value(name) for name in ("from", "to")}
    low, high = (_bound(row, name, value) for name, value in bounds.items())
    step = _bound(row, "step", row.value("step")) if "step" in row else None
    log = row.boolean("log", False)
    row.done()
    if low.unit != high.unit or (step is not None and step.unit != low.unit):
        raise row.wrong("to", f"the bounds must have the same unit: {bounds['from']!r}, {bounds['to']!r}")
    if not low.number < high.number:
        raise row.wrong(
            "to", f"the upper bound {bounds['to']!r} is not above the lower bound {bounds['from']!r}"
        )
    if log and low.number <= 0:
        raise row.wrong("log", "the lower bound of a logarithmic range must be above 0")
    if log and step is not None:
        raise row.wrong("step", "a logarithmic range cannot have a step")
    if step is not None and not 0 < step.number <= high.number - low.number:
        raise row.wrong(
            "step", f"{step.number:g} is not a valid step between {low.number:g} and {high.number:g}"
        )
    whole = all(_is_whole(value) for value in bounds.values()) and (step is None or step.number.is_integer())
    return Parameter(
        key,
        low=low.number,
        high=high.number,
        unit=low.unit,
        whole=whole,
        log=log,
        step=step.number if step else None,
    )


def _bound(row: Table, name: str, value: Value) -> Quantity:
    """Read a bound of a range, which must be a finite number."""
    number = quantity(value)
    if number is None or not math.isfinite(number.number):
        raise row.wrong(name, f"{value!r} is not a number")
    return number


def _is_whole(value: Value) -> bool:
    """Whether a bound is written as an integer: 2 and "50 ms", not 2.0 and "0.05 s"."""
    return isinstance(value, int) or (
        isinstance(value, str) and "." not in value and "e" not in value.split()[0]
    )


def refuse_clashes(table: Table, parameters: tuple[Parameter, ...], settings: Mapping[str, Value]) -> None:
    """Refuse a key that occurs in both [set] and [parameters], and the key `seed`."""
    for parameter in parameters:
        if parameter.key in settings:
            raise table.wrong(parameter.key, "the key is both in [set] and in [parameters]")
        if parameter.key == "seed":
            raise CampaignError(f"{table.path}: the seed cannot be a parameter")

"""Values of parameters as quantities: ``"500 B"`` is a size, 0.05 a number, ``"reno"`` neither."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# For each unit its size in the base unit of its kind, and the kind.
_UNITS = {
    "ns": (1e-9, "time"),
    "us": (1e-6, "time"),
    "ms": (1e-3, "time"),
    "s": (1.0, "time"),
    "min": (60.0, "time"),
    "h": (3600.0, "time"),
    "bit/s": (1.0, "rate"),
    "kbit/s": (1e3, "rate"),
    "Mbit/s": (1e6, "rate"),
    "B": (1.0, "size"),
    "kB": (1e3, "size"),
    "MB": (1e6, "size"),
    "KiB": (1024.0, "size"),
    "MiB": (1024.0**2, "size"),
}
BASE_UNITS = {"time": "s", "rate": "bit/s", "size": "B"}
"""The unit of `Quantity.base` for each kind that has several units."""

_NUMBER_WITH_UNIT = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S.*?)?\s*")


@dataclass(frozen=True)
class Quantity:
    """A number with its unit as written; `unit` is empty for a plain number."""

    number: float
    unit: str

    @property
    def kind(self) -> str:
        """Kind of quantity: time, rate or size. For other units, the unit itself."""
        return _UNITS[self.unit][1] if self.unit in _UNITS else self.unit

    @property
    def base(self) -> float:
        """The number in seconds, bit/s or bytes. For other units, the number as written."""
        scale = _UNITS[self.unit][0] if self.unit in _UNITS else 1.0
        # Rounded to twelve digits, so that 3 ms and 0.003 s are equal in spite of rounding errors.
        return float(f"{self.number * scale:.12g}")


def quantity(value: object) -> Quantity | None:
    """Parse a value as a quantity. None if it is not one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number, unit = value, ""
    elif (match := _NUMBER_WITH_UNIT.fullmatch(str(value))) is not None:
        number, unit = float(match[1]), match[2] or ""
    else:
        return None
    try:
        return Quantity(float(number), unit) if math.isfinite(number) else None
    except OverflowError:
        return None


def in_one_unit(values: list[object]) -> tuple[list[float], str] | None:
    """Convert values to the unit of the first.

    None if the values are not quantities of one kind.
    """
    quantities = [parsed for value in values if (parsed := quantity(value)) is not None]
    kinds = {parsed.kind for parsed in quantities}
    if len(quantities) < len(values) or len(kinds) != 1:
        return None
    first = quantities[0]
    unit_in_base = first.base / first.number if first.number else Quantity(1.0, first.unit).base
    numbers = [
        parsed.number if parsed.unit == first.unit else parsed.base / unit_in_base for parsed in quantities
    ]
    return numbers, first.unit

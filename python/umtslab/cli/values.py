"""Values of ``-P KEY=…``: lists, ranges with a step, and ranges with a count.

``0.1,0.2``
    Two values.
``0:0.3:0.05``
    The values from 0 to 0.3 with a step of 0.05. The last one belongs to the range only if it is a
    multiple of the step away from the first one.
``lin(0,0.3,7)``
    7 values from 0 to 0.3 at equal distances.
``log(1 ms,1 s,4)``
    4 values from 1 ms to 1 s with equal ratios.

``[0.1],[0.3,0.1]``
    Two values that are lists: commas in brackets separate no values.

Values can have units: ``"10 ms:50 ms:10 ms"``.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from umtslab.cli.failures import UsageError

MAX_VALUES = 10_000
"""Maximum number of values of one key. A larger number is taken for a typing error."""

_DIGITS = 6
"""Significant digits of the values of ``lin`` and ``log``."""

_NUMBER = r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\s:,()\d.+-][^:,()]*?)?\s*"
_RANGE = re.compile(":".join([_NUMBER] * 3))
_NO_STEP = re.compile(rf"{_NUMBER}(?:\.\.|:){_NUMBER}")
_LIN_OR_LOG = re.compile(rf"\s*(lin|log)\({_NUMBER},{_NUMBER},\s*(\d+)\s*\)\s*")

_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
"""Change of the depth of nesting at each bracket."""


def listed(text: str) -> list[str]:
    """Return the values in order, without repetitions.

    Raises
    ------
    UsageError
        If a range has no values or more than `MAX_VALUES`, or its ends have different units.
    """
    values = [value for part in split_at_commas(text) for value in _values_of(part)]
    return list(dict.fromkeys(values))


def split_at_commas(text: str) -> list[str]:
    """Split at commas outside brackets and outside the quoted texts in them.

    Brackets that are not closed enclose nothing.
    """
    parts, start, depth, quote = [], 0, 0, ""
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif depth > 0 and character in "\"'":
            quote = character
        elif character == "," and depth <= 0:
            parts.append(text[start:index])
            start = index + 1
        else:
            depth += _BRACKETS.get(character, 0)
    last = text[start:]
    return [*parts, *(last.split(",") if depth > 0 else [last])]


def _values_of(part: str) -> list[str]:
    """Return the values of one part of a list: a range, or the part itself."""
    if match := _RANGE.fullmatch(part):
        first, unit_1, last, unit_2, step, unit_3 = match.groups()
        unit = _one_unit(part, unit_1, unit_2, unit_3)
        return [f"{value}{unit}" for value in _stepped(part, Decimal(first), Decimal(last), Decimal(step))]
    if match := _LIN_OR_LOG.fullmatch(part):
        kind, first, unit_1, last, unit_2, count = match.groups()
        unit = _one_unit(part, unit_1, unit_2)
        return [f"{value}{unit}" for value in _spaced(part, kind, float(first), float(last), int(count))]
    if match := _NO_STEP.fullmatch(part):
        first, unit_1, last, unit_2 = match.groups()
        raise UsageError(
            f"{part.strip()!r} has no step: write FIRST:LAST:STEP, for example 0:0.3:0.05, or "
            f"lin({first}{unit_1 or ''},{last}{unit_2 or ''},5) for five values"
        )
    return [part.strip()]


def _one_unit(part: str, *units: str | None) -> str:
    """Return the common unit with a space before it.

    Numbers without a unit take the unit of the others.
    """
    used_units = {unit for unit in units if unit}
    if len(used_units) > 1:
        raise UsageError(
            f"{part.strip()!r}: both ends must have the same unit, not {' and '.join(sorted(used_units))}"
        )
    return f" {used_units.pop()}" if used_units else ""


def _stepped(part: str, first: Decimal, last: Decimal, step: Decimal) -> list[str]:
    """Return the values of a range with a step, written without rounding errors."""
    count = 0 if step == 0 else int((last - first) / step) + 1
    if not 1 <= count <= MAX_VALUES or (last - first) / step < 0:
        raise UsageError(
            f"{part.strip()!r} must be FIRST:LAST:STEP with 1 to {MAX_VALUES} values, for example 0:0.3:0.05"
        )
    return [_plain(first + number * step) for number in range(count)]


def _spaced(part: str, kind: str, first: float, last: float, count: int) -> list[str]:
    """Return `count` values at equal distances, or with equal ratios if `kind` is "log"."""
    if not 2 <= count <= MAX_VALUES or (kind == "log" and not (first > 0 and last > 0)):
        more = ", both above 0" if kind == "log" else ""
        raise UsageError(
            f"{part.strip()!r} must be {kind}(FIRST,LAST,COUNT) with 2 to {MAX_VALUES} values{more}, for "
            f"example {kind}(0.01,0.1,5)"
        )
    values = []
    for number in range(count):
        share = number / (count - 1)
        if kind == "lin":
            values.append(first + share * (last - first))
        else:
            values.append(math.exp(math.log(first) + share * (math.log(last) - math.log(first))))
    return [_plain(Decimal(f"{value:.{_DIGITS}g}")) for value in values]


def _plain(value: Decimal) -> str:
    """Format without an exponent and without trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

"""Formatting of numbers: significant digits, means with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable

_MAX_DIGITS = 15

NOTHING = "–"
"""Text for a missing number."""


def number(value: float | None, digits: int = 4) -> str:
    """Format to `digits` significant digits. Integers below 10^15 are written in full."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits - 1}e}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, decimals)}f}"


def numbers(values: Iterable[float | None], digits: int = 4) -> list[str]:
    """Format a column of numbers with enough significant digits to distinguish different values.

    At least `digits`, and at most 15: beyond these, numbers differ by rounding alone.
    """
    column = list(values)
    known = {value for value in column if value is not None and math.isfinite(value)}
    different = 0
    for enough in range(digits, _MAX_DIGITS + 1):
        told_apart = len({float(number(value, enough)) for value in known})
        if told_apart > different:
            different, digits = told_apart, enough
        if different == len(known):
            break
    return [number(value, digits) for value in column]


LEAST_FOR_ZERO = 3
"""Minimum number of equal values for an interval of width 0.

Two values may be equal by rounding.
"""


def estimate(mean: float | None, half: float | None, n: int | None = None) -> tuple[str, str]:
    """Format a mean and the half width of its interval.

    The first two digits of the half width are shown. The mean has the same decimals. Digits before
    the decimal point are never rounded away: 796 ± 130. Without an interval, or with one of width
    0, the mean has four digits. An interval of width 0 over fewer than three values (`n`) is
    written as "equal in n runs".
    """
    if mean is None or half is None:
        return number(mean), NOTHING
    if half == 0:
        written = number(mean)
        plain = written.rstrip("0").rstrip(".") if "." in written and "e" not in written else written
        return plain, "0" if n is None or n >= LEAST_FOR_ZERO else f"equal in {n} runs"
    shown = float(f"{half:.1e}")
    decimals = 1 - math.floor(math.log10(shown))
    size = max(abs(mean), shown)
    if not 1e-4 <= size < 1e9:
        exponent = math.floor(math.log10(size))
        places = max(0, decimals + exponent)
        power = f"e{exponent:+03d}"
        return f"{mean / 10.0**exponent:.{places}f}{power}", f"{shown / 10.0**exponent:.{places}f}{power}"
    places = max(0, decimals)
    return f"{mean:.{places}f}", f"{shown:.{places}f}"


def with_interval(mean: float | None, half: float | None, n: int | None = None) -> str:
    """Format a mean with its interval, as in ``796 ± 130``.

    Without an interval, formats the mean alone.
    """
    written, width = estimate(mean, half, n)
    if width == NOTHING:
        return written
    return f"{written} ± {width}" if width[0].isdigit() else f"{written} ({width})"

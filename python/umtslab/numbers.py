"""Formatting of numbers: significant digits, means with intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable

_MAX_DIGITS = 15

_SMALLEST_IN_FULL, _FIRST_WITH_EXPONENT = 1e-4, 1e9
"""Numbers between these are written in full, others with an exponent."""

NO_NUMBER = "–"
"""Text for a missing number."""


def number(value: float | None, digits: int = 4) -> str:
    """Format to `digits` significant digits. Integers below 10^15 are written in full."""
    if value is None or math.isnan(value):
        return NO_NUMBER
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if not _SMALLEST_IN_FULL <= abs(value) < _FIRST_WITH_EXPONENT:
        return f"{value:.{digits - 1}e}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, decimals)}f}"


def numbers(values: Iterable[float | None], digits: int = 4) -> list[str]:
    """Format a column of numbers with enough significant digits to distinguish different values.

    The number of digits is at least `digits` and at most 15. Beyond 15 digits numbers differ only
    by rounding errors.
    """
    column = list(values)
    finite = {value for value in column if value is not None and math.isfinite(value)}
    most_distinct = 0
    for tried in range(digits, _MAX_DIGITS + 1):
        distinct = len({float(number(value, tried)) for value in finite})
        if distinct > most_distinct:
            most_distinct, digits = distinct, tried
        if most_distinct == len(finite):
            break
    return [number(value, digits) for value in column]


MIN_VALUES_FOR_ZERO_WIDTH = 3
"""Minimum number of equal values for an interval of width 0. Two values may be equal by rounding."""


def estimate(mean: float | None, half_width: float | None, n: int | None = None) -> tuple[str, str]:
    """Format a mean and the half width of its interval.

    The half width has two significant digits, and the mean as many decimals as the half width.
    Digits before the decimal point are never rounded away: 796 ± 130. Without an interval, or with
    one of width 0, the mean has four digits. An interval of width 0 over fewer than three values
    (`n`) is written as "equal in n runs".
    """
    if mean is None or half_width is None:
        return number(mean), NO_NUMBER
    if half_width == 0:
        text = number(mean)
        trimmed = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
        return trimmed, "0" if n is None or n >= MIN_VALUES_FOR_ZERO_WIDTH else f"equal in {n} runs"
    rounded = float(f"{half_width:.1e}")
    decimals = 1 - math.floor(math.log10(rounded))
    size = max(abs(mean), rounded)
    if not _SMALLEST_IN_FULL <= size < _FIRST_WITH_EXPONENT:
        exponent = math.floor(math.log10(size))
        places = max(0, decimals + exponent)
        power = f"e{exponent:+03d}"
        return f"{mean / 10.0**exponent:.{places}f}{power}", f"{rounded / 10.0**exponent:.{places}f}{power}"
    places = max(0, decimals)
    return f"{mean:.{places}f}", f"{rounded:.{places}f}"


def with_interval(mean: float | None, half_width: float | None, n: int | None = None) -> str:
    """Format a mean with its interval, as in ``796 ± 130``.

    Without an interval, formats the mean alone.
    """
    mean_text, interval_text = estimate(mean, half_width, n)
    if interval_text == NO_NUMBER:
        return mean_text
    return (
        f"{mean_text} ± {interval_text}" if interval_text[0].isdigit() else f"{mean_text} ({interval_text})"
    )

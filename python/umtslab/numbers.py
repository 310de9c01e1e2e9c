"""Numbers as people read them: as many digits as they deserve."""

from __future__ import annotations

import math

NOTHING = "–"
"""What stands where there is no number."""


def number(value: float | None, digits: int = 4) -> str:
    """A number to `digits` significant digits, whole numbers in full."""
    if value is None:
        return NOTHING
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits - 1}e}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, decimals)}f}"


def estimate(mean: float | None, half: float | None) -> tuple[str, str]:
    """A mean and the half width of its interval, which decides the digits of both: its first two are shown.

    Digits in front of the point are never rounded away: 796 ± 130. Without an interval, or with one of width
    0, the mean has four digits.
    """
    if mean is None or half is None:
        return number(mean), NOTHING
    if half == 0:
        written = number(mean)
        return (written.rstrip("0").rstrip(".") if "." in written and "e" not in written else written), "0"
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


def with_interval(mean: float | None, half: float | None) -> str:
    """A mean with its interval in one piece, as in ``796 ± 130``; without an interval the mean alone."""
    written, width = estimate(mean, half)
    return written if width == NOTHING else f"{written} ± {width}"

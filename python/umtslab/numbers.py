"""Numbers as people read them."""

from __future__ import annotations

import math


def number(value: float | None, digits: int = 4) -> str:
    """A number to `digits` significant digits, whole numbers in full."""
    if value is None:
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits - 1}e}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, decimals)}f}"

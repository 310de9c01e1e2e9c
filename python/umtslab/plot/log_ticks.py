"""Ticks of logarithmic axes: 1, 2 and 5 of each decade, if their labels have room."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, NullFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER_EM = 0.62
"""Width of a letter, in multiples of the font size."""

_LINE_EM = 1.3
"""Distance between lines, in multiples of the font size."""

_RANGE_IN_FULL = (1e-4, 1e5)
"""Values in this range are written in full, others as powers of ten."""


class OneTwoFive(Locator):
    """Ticks at 1, 2 and 5 of each decade, or at powers of ten, or at every second, third, … power.

    The first of these choices whose labels have room is used. An axis that contains fewer than two
    values at 1, 2 or 5 has ticks at equal distances.
    """

    def __init__(self, size_pt: float) -> None:
        """Create a locator for labels of `size_pt` points."""
        self._size_pt = size_pt

    def __call__(self) -> Any:
        """Return the ticks of the visible range."""
        assert self.axis is not None, "locators are set on an axis"
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """Return the ticks from `vmin` to `vmax`."""
        low, high = sorted((vmin, vmax))
        if low <= 0 or high <= low:
            return []
        exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        one_two_five = _within(
            (digit * 10.0**exponent for exponent in exponents for digit in (1, 2, 5)), low, high
        )
        choices = [one_two_five]
        if len(one_two_five) < 2:
            choices = [_within(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high), low, high)]
        for stride in range(1, len(exponents) + 1):
            powers = (10.0**exponent for exponent in exponents if exponent % stride == 0)
            choices.append(_within(powers, low, high))
        span = math.log10(high / low)
        for ticks in choices:
            if len(ticks) > 1 and self._fits(ticks, span):
                return ticks
        both_ends = [choices[0][0], choices[0][-1]]
        return both_ends if self._fits(both_ends, span) else both_ends[:1]

    def _fits(self, ticks: list[float], span: float) -> bool:
        """Whether the labels of the ticks fit side by side on an axis of `span` decades."""
        axis: Any = self.axis
        box = axis.axes.get_window_extent()
        size_px = self._size_pt / 72 * axis.axes.figure.dpi
        positions = [math.log10(tick) for tick in ticks]
        min_distance = min((after - before for before, after in pairwise(positions)), default=span)
        if axis.axis_name == "y":
            return bool(min_distance / span * box.height >= _LINE_EM * size_px)
        letters = max(len(label(tick)) for tick in ticks)
        return bool(min_distance / span * box.width >= (letters + 1) * LETTER_EM * size_px)


def log_ticks(axes: Axes, which: str) -> None:
    """Put ticks at 1, 2 and 5 on the logarithmic axis `which`, "x" or "y"."""
    import matplotlib as mpl

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(OneTwoFive(float(mpl.rcParams["font.size"])))
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axis.set_minor_locator(LogLocator(subs=range(2, 10)))
    axis.set_minor_formatter(NullFormatter())


def label(value: float) -> str:
    """Return the label of a tick.

    >>> label(0.02), label(500.0), label(1e-7)
    ('0.02', '500', '$10^{-7}$')
    """
    if value <= 0 or _RANGE_IN_FULL[0] <= value < _RANGE_IN_FULL[1]:
        return f"{value:g}"
    exponent = math.floor(math.log10(value) + 1e-9)
    mantissa = f"{value / 10.0**exponent:g}"
    power = f"10^{{{exponent}}}"
    return f"${power}$" if mantissa == "1" else rf"${mantissa}\times{power}$"


def _within(values: Any, low: float, high: float) -> list[float]:
    return [float(value) for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]

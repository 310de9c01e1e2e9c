"""Ticks of logarithmic axes: 1, 2 and 5 of each decade, as far as their labels have room."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, NullFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NARROWEST = math.log10(2)
"""Distance between neighbouring ticks at 1, 2, 5, in decades."""

_LETTER_EM = 0.62
"""Width of a letter, in sizes of the font."""

_PLAIN = (1e-4, 1e5)
"""Values between these are written in full, others as powers of ten."""


class OneTwoFive(Locator):
    """Ticks at 1, 2 and 5 of each decade, or at powers of ten only, or at every second, third, … of these.

    An axis that holds fewer than two such values has ticks at equal distances.
    """

    def __init__(self, size_pt: float) -> None:
        """Locator for labels of `size_pt` points."""
        self._size_pt = size_pt

    def __call__(self) -> Any:
        assert self.axis is not None, "locators are set on an axis"
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """The ticks from `vmin` to `vmax`."""
        low, high = sorted((vmin, vmax))
        if low <= 0 or high <= low:
            return []
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        fine = _within((m * 10.0**e for e in decades for m in (1, 2, 5)), low, high)
        if len(fine) < 2:
            return _within(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high), low, high)
        span = math.log10(high / low)
        if self._room(fine) >= span / _NARROWEST:
            return fine
        room = max(1.0, self._room(fine))
        stride = max(1, math.ceil(span / room))
        coarse = _within((10.0**e for e in decades if e % stride == 0), low, high)
        return coarse if len(coarse) > 1 else _outer(fine)

    def _room(self, values: list[float]) -> float:
        """How many labels fit beside each other along the axis."""
        axis: Any = self.axis
        axes = axis.axes
        box = axes.get_window_extent()
        size_px = self._size_pt / 72 * axes.figure.dpi
        if axis.axis_name == "y":
            return float(box.height / (1.3 * size_px))
        letters = max(len(label(value).strip("$\\{}")) for value in values)
        return float(box.width / ((letters + 1) * _LETTER_EM * size_px))


def log_ticks(axes: Axes, which: str) -> None:
    """Put ticks at 1, 2 and 5 on the logarithmic axis `which`, "x" or "y"."""
    import matplotlib as mpl

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(OneTwoFive(float(mpl.rcParams["font.size"])))
    axis.set_major_formatter(FuncFormatter(lambda value, _: label(value)))
    axis.set_minor_locator(LogLocator(subs=range(2, 10)))
    axis.set_minor_formatter(NullFormatter())


def label(value: float) -> str:
    """A tick's label.

    >>> label(0.02), label(500.0), label(2e6), label(1e-7)
    ('0.02', '500', '$2\\\\times10^{6}$', '$10^{-7}$')
    """
    if value <= 0 or _PLAIN[0] <= value < _PLAIN[1]:
        return f"{value:g}"
    exponent = math.floor(math.log10(value) + 1e-9)
    mantissa = f"{value / 10.0**exponent:g}"
    power = f"10^{{{exponent}}}"
    return f"${power}$" if mantissa == "1" else rf"${mantissa}\times{power}$"


def _within(values: Any, low: float, high: float) -> list[float]:
    return [float(value) for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


def _outer(values: list[float]) -> list[float]:
    """The first and the last tick: there is no room for more."""
    return [values[0], values[-1]]

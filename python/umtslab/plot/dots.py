"""Draws means with 95 % intervals: a marker at each mean, and an error bar beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from umtslab.plot.look import scale
from umtslab.plot.palette import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR_DISTANCE_PT = 3.0
"""Distance of neighbouring error bars at one value, in points of a figure of 6.3 inches."""

_MAX_WIDTH_PT = 9.0
"""Maximum distance between the first and last error bar at one value, in points."""

MAX_BOLD = 4
"""With more curves than this, markers are small and lines thin."""

_MISSING_STEP = 0.045
"""Distance between crosses at one value, as a share of the height of the axes."""


class Dot(NamedTuple):
    """A mean in a figure."""

    x: float
    """Value on the horizontal axis."""
    mean: float
    """NaN if unknown."""
    half_width: float
    """Half the length of the interval."""


def error_bar_offset_pt(number: int, count: int) -> float:
    """Return the horizontal offset of the error bars of curve `number` of `count`, in points."""
    distance = min(_BAR_DISTANCE_PT, _MAX_WIDTH_PT / max(count - 1, 1))
    return (number - (count - 1) / 2) * distance


def limits(dots: Iterable[Dot]) -> tuple[float, float]:
    """Return limits of a vertical axis that contain zero and every interval, with a margin."""
    known = [dot for dot in dots if not math.isnan(dot.mean)]
    low = min([0.0, *(dot.mean - dot.half_width for dot in known)])
    high = max([0.0, *(dot.mean + dot.half_width for dot in known)])
    margin = 0.06 * (high - low) or 0.05
    return (low - margin if low < 0 else 0.0), high + margin


def draw_dots(
    axes: Axes,
    dots: Sequence[Dot],
    label: str,
    look: Mapping[str, Any],
    *,
    marker: str,
    number: int = 0,
    count: int = 1,
    hollow: bool = False,
) -> None:
    """Draw a curve of means with error bars.

    Parameters
    ----------
    axes : Axes
        Axes to draw into.
    dots : sequence of Dot
        The means. A mean that is NaN interrupts the curve.
    label : str
        Legend entry.
    look : mapping of str to Any
        Colour and dashes.
    marker : str
        Marker of a mean.
    number, count : int
        Number of the curve, from 0, and the number of curves in the axes. Markers are at their
        values. Error bars are moved sideways by at most a few points, so that none hides another.
    hollow : bool
        Whether markers are not filled, on a thin line.
    """
    from matplotlib.transforms import ScaledTranslation

    assert axes.figure is not None, "axes are of a figure"
    is_thin = count > MAX_BOLD
    x, means = [dot.x for dot in dots], [dot.mean for dot in dots]
    axes.plot(
        x,
        means,
        label=label,
        marker=marker,
        markersize=(2.8 if is_thin else 4.0) * scale(),
        markerfacecolor="white" if hollow else look["color"],
        linewidth=(0.8 if hollow or is_thin else 1.1) * scale(),
        **look,
    )
    shift = ScaledTranslation(
        error_bar_offset_pt(number, count) * scale() / 72, 0.0, axes.figure.dpi_scale_trans
    )
    axes.errorbar(
        x,
        means,
        # No error bar for an interval of width 0: its caps would form a horizontal line.
        yerr=[dot.half_width or math.nan for dot in dots],
        fmt="none",
        ecolor=look["color"],
        elinewidth=(0.7 if is_thin else 1.1) * scale(),
        capsize=(1.6 if is_thin else 2.5) * scale(),
        transform=axes.transData + shift,
    )


def draw_missing(axes: Axes, missing: Sequence[tuple[float, str]], label: str) -> None:
    """Mark values that were run but have no mean, by a cross at the upper edge per curve.

    Parameters
    ----------
    axes : Axes
        Axes to draw into.
    missing : sequence of (float, str)
        Value on the horizontal axis, and colour of the curve. Crosses at one value are drawn below
        each other.
    label : str
        Legend entry of the crosses.
    """
    looks: dict[str, Any] = {"marker": "x", "linestyle": "none"}
    looks |= {"markersize": 5 * scale(), "markeredgewidth": 1.2 * scale()}
    counts: dict[float, int] = {}
    for x, colour in missing:
        row = counts.get(x, 0)
        counts[x] = row + 1
        height = 0.97 - _MISSING_STEP * row
        axes.plot([x], [height], color=colour, transform=axes.get_xaxis_transform(), **looks)
    if missing:
        axes.plot([], [], color=GREY, label=label, **looks)

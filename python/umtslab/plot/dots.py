"""Means with intervals: marks that are told apart in grey, too, side by side at one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.plot.look import scale
from umtslab.plot.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPXp"

_APART_PT = 3.0
"""Between the intervals of two lines at one place."""

Dot = tuple[float, float, float]
"""Its place, its mean, and half of its interval."""


def marker_of(number: int) -> str:
    """The marker of line `number`: from the second round of colours on, it tells lines apart."""
    return MARKERS[(number + number // len(COLOURS)) % len(MARKERS)]


def aside(number: int, count: int) -> float:
    """How many points aside of their places the marks of line `number` are, of `count` lines."""
    return (number - (count - 1) / 2) * _APART_PT


def limits(dots: Iterable[Dot]) -> tuple[float, float]:
    """From zero, or from below the least mean if that is negative, to above the highest interval."""
    means_and_ends = [(mean, mean + half) for _, mean, half in dots]
    low = min([0.0, *(mean for mean, _ in means_and_ends)])
    high = max([0.0, *(end for _, end in means_and_ends)])
    margin = 0.06 * (high - low) or 0.05
    return (low - margin if low < 0 else 0.0), high + margin


def draw_dots(
    axes: Axes,
    dots: Sequence[Dot],
    label: str,
    look: Mapping[str, Any],
    *,
    marker: str,
    wider: int = 0,
    aside_pt: float = 0.0,
    hollow: bool = False,
) -> None:
    """Draw a line of means with whiskers.

    Parameters
    ----------
    axes : Axes
        Where.
    dots : sequence of Dot
        What.
    label : str
        What the legend says.
    look : mapping of str to Any
        Colour and dashes.
    marker : str
        The mark of a mean.
    wider : int
        How many later lines hide this one, being equal: it is drawn so much wider.
    aside_pt : float
        So many points aside of their places, so that no whisker hides another.
    hollow : bool
        Marks without filling, on a thin line.
    """
    from matplotlib.transforms import ScaledTranslation

    assert axes.figure is not None, "axes are of a figure"
    shift = ScaledTranslation(aside_pt * scale() / 72, 0.0, axes.figure.dpi_scale_trans)
    axes.errorbar(
        [x for x, _, _ in dots],
        [mean for _, mean, _ in dots],
        yerr=[half for _, _, half in dots],
        label=label,
        marker=marker,
        markersize=(4 + 2 * wider) * scale(),
        markerfacecolor="white" if hollow else look["color"],
        capsize=2.5 * scale(),
        linewidth=((0.8 if hollow else 1.1) + 1.8 * wider) * scale(),
        elinewidth=1.1 * scale(),
        transform=axes.transData + shift,
        **look,
    )

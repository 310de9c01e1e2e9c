"""Ticks at the values that were run. As many as possible are labelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes

_AXIS = 0.82
"""Approximate width of the horizontal axis as a share of the figure's width."""

_SLANT = 0.45
"""Distance between slanted labels as a share of the distance between ticks, beside a colour bar."""


def value_ticks(
    axes: Axes, places: Sequence[float], names: Sequence[str], *, log: bool, is_number: bool
) -> None:
    """Put a tick at every value, with a label if it does not overlap the one before."""
    import numpy as np

    order = sorted(range(len(places)), key=lambda at: places[at])
    position = np.log10([places[at] for at in order]) if log else np.array([places[at] for at in order])
    if is_number:
        begin, end = _limits(position)
        axes.set_xlim(*(10.0**value if log else value for value in (begin, end)))
    else:
        begin, end = -0.5, len(places) - 0.5
        axes.set_xlim(begin, end)
    named = _with_room(axes, position, [names[at] for at in order], end - begin)
    axes.minorticks_off()
    axes.set_xticks([places[order[at]] for at in named], [names[order[at]] for at in named])
    rest = [places[order[at]] for at in range(len(order)) if at not in named]
    axes.set_xticks(rest, [""] * len(rest), minor=True)
    if not is_number and len(named) < len(order):
        step = _step(axes, len(order))
        texts = [names[at] if place % step == 0 else "" for place, at in enumerate(order)]
        axes.set_xticks([places[at] for at in order], texts, rotation=35, ha="right")


def _step(axes: Axes, count: int) -> int:
    """Return the interval between slanted labels that leaves enough room."""
    import matplotlib as mpl

    size_pt = float(mpl.rcParams["font.size"])
    return max(1, math.ceil(count * 1.05 * size_pt / (_SLANT * _width_pt(axes))))


def _width_pt(axes: Axes) -> float:
    """Return the approximate width of the axes in points."""
    assert axes.figure is not None, "axes are of a figure"
    columns = 1 if (grid := axes.get_gridspec()) is None else grid.ncols
    return float(axes.figure.bbox.width) / axes.figure.dpi * _AXIS * 72 / columns


def _limits(position: npt.NDArray[np.float64]) -> tuple[float, float]:
    begin, end = float(position.min()), float(position.max())
    margin = 0.06 * (end - begin) or 0.5
    return begin - margin, end + margin


def _with_room(axes: Axes, position: npt.NDArray[np.float64], names: Sequence[str], span: float) -> list[int]:
    """Return the ticks to label. Labels must not overlap."""
    import matplotlib as mpl

    width_pt = _width_pt(axes)
    letter_pt = 0.62 * float(mpl.rcParams["font.size"])
    found: list[int] = []
    free_from = float("-inf")
    for at, (place, name) in enumerate(zip(position, names, strict=True)):
        middle = place / span * width_pt
        half = letter_pt * (len(name) + 1) / 2
        if middle - half >= free_from:
            found.append(at)
            free_from = middle + half
    return found

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
    axes: Axes, positions: Sequence[float], names: Sequence[str], *, log: bool, is_number: bool
) -> None:
    """Put a tick at every value, with a label if it does not overlap the one before."""
    import numpy as np

    order = sorted(range(len(positions)), key=lambda number: positions[number])
    ordered = np.array([positions[number] for number in order])
    scaled = np.log10(ordered) if log else ordered
    if is_number:
        begin, end = _limits(scaled)
        axes.set_xlim(*(10.0**value if log else value for value in (begin, end)))
    else:
        begin, end = -0.5, len(positions) - 0.5
        axes.set_xlim(begin, end)
    labelled = _labelled_ticks(axes, scaled, [names[number] for number in order], end - begin)
    axes.minorticks_off()
    axes.set_xticks(
        [positions[order[number]] for number in labelled], [names[order[number]] for number in labelled]
    )
    unlabelled = [positions[order[number]] for number in range(len(order)) if number not in labelled]
    axes.set_xticks(unlabelled, [""] * len(unlabelled), minor=True)
    if not is_number and len(labelled) < len(order):
        step = _label_step(axes, len(order))
        texts = [names[number] if index % step == 0 else "" for index, number in enumerate(order)]
        axes.set_xticks([positions[number] for number in order], texts, rotation=35, ha="right")


def _label_step(axes: Axes, count: int) -> int:
    """Return the interval between slanted labels that leaves enough room."""
    import matplotlib as mpl

    size_pt = float(mpl.rcParams["font.size"])
    return max(1, math.ceil(count * 1.05 * size_pt / (_SLANT * _width_pt(axes))))


def _width_pt(axes: Axes) -> float:
    """Return the approximate width of the axes in points."""
    assert axes.figure is not None, "axes are of a figure"
    columns = 1 if (grid := axes.get_gridspec()) is None else grid.ncols
    return float(axes.figure.bbox.width) / axes.figure.dpi * _AXIS * 72 / columns


def _limits(scaled: npt.NDArray[np.float64]) -> tuple[float, float]:
    begin, end = float(scaled.min()), float(scaled.max())
    margin = 0.06 * (end - begin) or 0.5
    return begin - margin, end + margin


def _labelled_ticks(
    axes: Axes, scaled: npt.NDArray[np.float64], names: Sequence[str], span: float
) -> list[int]:
    """Return the ticks to label. Labels must not overlap."""
    import matplotlib as mpl

    from umtslab.plot.log_ticks import LETTER_EM

    width_pt = _width_pt(axes)
    letter_pt = LETTER_EM * float(mpl.rcParams["font.size"])
    labelled: list[int] = []
    free_from = float("-inf")
    for number, (position, name) in enumerate(zip(scaled, names, strict=True)):
        middle = position / span * width_pt
        half = letter_pt * (len(name) + 1) / 2
        if middle - half >= free_from:
            labelled.append(number)
            free_from = middle + half
    return labelled

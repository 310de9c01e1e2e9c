"""Draws lines that change very often as bands: the mean over bins of time, from minimum to maximum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.analyse.steps import envelope
from umtslab.plot.equal import equal_to, with_equal
from umtslab.plot.palette import style
from umtslab.plot.row_groups import RowGroup, row_groups
from umtslab.plot.style import lines

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

MAX_CHANGES = 600
"""A line with more changes than this would fill an area."""

MAX_BANDS = 4
"""More bands than this cover each other."""

_BINS = 120
"""Number of bins over the time axis."""


def lines_or_bands(
    axes: Axes, table: pl.DataFrame, column: str, name: str, *, by: tuple[str, ...] = ("connection",)
) -> None:
    """Draw the lines of a table as steps, or as bands if a line changes too often.

    More than `MAX_BANDS` lines are always drawn as steps. The legend states the length of a bin.
    """
    groups = row_groups(table, by)
    is_dense = any(len(group.rows) > MAX_CHANGES for group in groups)
    if not is_dense or len(groups) > MAX_BANDS or "chosen" in table.columns:
        lines(axes, table, column, name, by=by)
        return
    begin, end = float(str(table["time_s"].min())), float(str(table["time_s"].max()))
    owners = [_name(group, groups, name) for group in groups]
    equal = equal_to(owners, [group.values(column) for group in groups])
    for number, group in enumerate(groups):
        bins = envelope(group.rows, column, begin, end, _BINS)
        look = style(number)
        axes.stairs(bins["high"].to_numpy(), [*bins["time_s"], end], baseline=bins["low"].to_numpy(),
                    fill=True, alpha=0.25, color=look["color"], linewidth=0,
                    label="_" if number else f"range over {(end - begin) / _BINS:.2g} s")  # fmt: skip
        times = [*bins["time_s"], end]
        means = [*bins["mean"], bins["mean"][-1]]
        label = with_equal(f"{owners[number]}, mean", equal[number])
        axes.plot(times, means, drawstyle="steps-post", label=label, **look)


def _name(group: RowGroup, groups: Sequence[RowGroup], name: str) -> str:
    """Return the legend entry of a band: the quantity, the result, the connection or the user."""
    if len(groups) == 1:
        return name
    results = {other.result for other in groups}
    if len(results) == 1:
        return group.name
    return str(group.result) if len(groups) == len(results) else f"{group.result}, {group.name}"

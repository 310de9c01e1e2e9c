"""Congestion window and slow start threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.strands import strands
from umtslab.plot.style import MOST_LINES, finish, lines, new_figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(cwnd: pl.DataFrame, ssthresh: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the congestion window over time.

    Parameters
    ----------
    cwnd : polars.DataFrame
        ``time_s``, ``connection``, ``cwnd_segments``; one row per change.
    ssthresh : polars.DataFrame
        ``time_s``, ``connection``, ``ssthresh_segments``; one row per change.
    title : str
        Above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Both as steps. The threshold is left out where it is above every window, such as one not set yet,
        and where there are too many lines to tell apart; of chosen connections it is drawn.
    """
    import polars as pl

    drawing, axes = new_figure(title, "window (segments)")
    lines(axes, cwnd, "cwnd_segments", "congestion window")
    seen = ssthresh.filter(pl.col("ssthresh_segments") <= _highest(cwnd))
    if "chosen" in seen.columns:
        cwnd, seen = cwnd.filter("chosen"), seen.filter("chosen")
    count = len(strands(cwnd))
    if 2 * count <= MOST_LINES and len(seen):
        lines(axes, seen, "ssthresh_segments", "slow start threshold", first=count)
    axes.locator_params(axis="y", integer=True)
    return finish(drawing, axes)


def _highest(cwnd: pl.DataFrame) -> float:
    return float(str(cwnd["cwnd_segments"].max())) if len(cwnd) else 0.0

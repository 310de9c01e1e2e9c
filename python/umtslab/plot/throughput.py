"""Throughput over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.rates import sent_per_window
from umtslab.plot.rates import draw_rates

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(sent: pl.DataFrame, *, title: str = "", window_s: float | None = None) -> Figure:
    """Draw what left the sender per time, retransmissions included.

    Parameters
    ----------
    sent : polars.DataFrame
        ``time_s``, ``connection``, ``seq`` and ``end`` (octets); one row per segment.
    title : str
        Above the figure.
    window_s : float, optional
        Length of a bin, in whole seconds; by default such that there are twenty segments in it.

    Returns
    -------
    matplotlib.figure.Figure
        One line of steps per connection, to the end of its last bin; of more connections than can be told
        apart, their sum. The label says how long the bins are.
    """
    return draw_rates(sent_per_window(sent), sent, "throughput", title=title, window_s=window_s)

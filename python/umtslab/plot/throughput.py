"""Throughput over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.rates import sent_per_window
from umtslab.plot.rates import draw_rates

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(sent: pl.DataFrame, *, title: str = "", window_s: float | None = None) -> Figure:
    """Draw the rate of payload that left the sender, retransmissions included.

    Parameters
    ----------
    sent : polars.DataFrame
        ``time_s``, ``connection``, ``seq`` and ``end`` (bytes); one row per segment.
    title : str
        Title of the figure.
    window_s : float, optional
        Length of a bin in whole seconds; by default long enough for twenty segments.

    Returns
    -------
    matplotlib.figure.Figure
        One step line per connection, to the end of its last bin. If there are too many connections
        to distinguish, their sum. The label states the length of the bins.
    """
    return draw_rates(sent_per_window(sent), sent, "throughput", title=title, window_s=window_s)

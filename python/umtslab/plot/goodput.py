"""Goodput over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.rates import draw_rates

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(goodput: pl.DataFrame, sent: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the rate of acknowledged payload.

    Parameters
    ----------
    goodput : polars.DataFrame
        ``time_s`` (start of the second), ``connection``, ``goodput_kbps``; one row per second.
    sent : polars.DataFrame
        ``seq`` and ``end`` (bytes) of segments. Their size determines the length of a bin.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One step line per connection, to the end of its last bin. If there are too many connections
        to distinguish, their sum. The label states the length of the bins.
    """
    return draw_rates(goodput, sent, "goodput", title=title)

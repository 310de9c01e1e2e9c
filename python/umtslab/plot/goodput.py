"""Goodput over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.rates import draw_rates

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(goodput: pl.DataFrame, sent: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the acknowledged payload per time.

    Parameters
    ----------
    goodput : polars.DataFrame
        ``time_s`` (start of the second), ``connection``, ``goodput_kbps``; one row per second.
    sent : polars.DataFrame
        ``seq`` and ``end`` (octets) of segments: their size tells how long a bin has to be.
    title : str
        Above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One line of steps per connection, to the end of its last bin; of more connections than can be told
        apart, their sum. The label says how long the bins are.
    """
    return draw_rates(goodput, sent, "goodput", title=title)

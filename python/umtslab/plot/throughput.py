"""Throughput per second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.rates import sent_per_window
from umtslab.plot.style import finish, new_figure, windows

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(sent: pl.DataFrame, *, title: str = "", window_s: float = 1.0) -> Figure:
    """Draw what left the sender per time, retransmissions included.

    Parameters
    ----------
    sent : polars.DataFrame
        ``time_s``, ``connection``, ``seq`` and ``end`` (octets); one row per segment.
    title : str
        Above the figure.
    window_s : float, default 1.0
        Averaging window, in seconds.

    Returns
    -------
    matplotlib.figure.Figure
        One line of steps per connection, to the end of its last window.
    """
    drawing, axes = new_figure(title, "throughput (kbit/s)")
    rates = sent_per_window(sent, window_s=window_s)
    windows(axes, rates, "throughput_kbps", "throughput", window_s)
    return finish(drawing, axes)

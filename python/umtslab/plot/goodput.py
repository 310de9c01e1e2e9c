"""Goodput per window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.style import finish, new_figure, windows

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

WINDOW_S = 1.0
"""Length of the windows of the series."""


def figure(goodput: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the acknowledged payload per time.

    Parameters
    ----------
    goodput : polars.DataFrame
        ``time_s`` (start of the window), ``connection``, ``goodput_kbps``; one row per window.
    title : str
        Above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One line of steps per connection, to the end of its last window.
    """
    drawing, axes = new_figure(title, "goodput (kbit/s)")
    windows(axes, goodput, "goodput_kbps", "goodput", WINDOW_S)
    return finish(drawing, axes)

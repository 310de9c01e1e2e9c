"""Goodput per window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.style import finish, lines, new_figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


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
        One line of steps per connection.
    """
    drawing, axes = new_figure(title, "goodput (kbit/s)")
    lines(axes, goodput, "goodput_kbps", "goodput")
    return finish(drawing, axes)

"""Data in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.bands import lines_or_bands
from umtslab.plot.style import finish, new_figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(outstanding: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the outstanding data over time, as in Dubois (2005), Figure 6.1.

    Parameters
    ----------
    outstanding : polars.DataFrame
        ``time_s``, ``connection``, ``outstanding_segments``; one row per change.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One step line per connection. A line that changes too often is drawn as mean and range.
    """
    drawing, axes = new_figure(title, "outstanding (segments)")
    lines_or_bands(axes, outstanding, "outstanding_segments", "outstanding")
    axes.locator_params(axis="y", integer=True)
    return finish(drawing, axes)

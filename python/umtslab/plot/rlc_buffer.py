"""Occupancy of the RLC transmission buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.bands import lines_or_bands
from umtslab.plot.style import finish, new_figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(rlc_buffer: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the SDU bytes in the RLC transmission buffers.

    Parameters
    ----------
    rlc_buffer : polars.DataFrame
        ``time_s``, ``ue``, ``direction``, ``octets``; one row per change.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One step line per UE and direction. A line that changes too often is drawn as mean and
        range.
    """
    import polars as pl

    drawing, axes = new_figure(title, "RLC buffer (kB)")
    in_kb = rlc_buffer.with_columns(pl.col("octets") / 1e3)
    lines_or_bands(axes, in_kb, "octets", "RLC buffer", by=("ue", "direction"))
    return finish(drawing, axes)

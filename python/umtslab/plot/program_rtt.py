"""Round-trip times of real programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.style import finish, new_figure, points

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

_SAMPLES = (
    ("TCP, data of the server side", ("tcp", "server"), ".", "#0072B2"),
    ("TCP, data of the UE", ("tcp", "ue"), ".", "#D55E00"),
    ("echo of the UE", ("icmp", "ue"), "+", "#009E73"),
    ("echo of the server side", ("icmp", "server"), "x", "#CC79A7"),
)
"""Name, kind and side that sent what was answered, mark, colour."""


def figure(program_rtt: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the round-trip times that packets show.

    Parameters
    ----------
    program_rtt : polars.DataFrame
        ``time_s``, ``kind``, ``from`` and ``rtt_s``; one row per round trip.
    title : str
        Above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        A mark for each, by what was answered, whose data it was.
    """
    import polars as pl

    drawing, axes = new_figure(title, "round-trip time (s)")
    for name, (kind, side), mark, colour in _SAMPLES:
        rows = program_rtt.filter((pl.col("kind") == kind) & (pl.col("from") == side))
        if not rows.is_empty():
            points(axes, rows, "rtt_s", name, mark, colour, 6)
    for marks in axes.lines:
        # The last one lies where the axis ends.
        marks.set_clip_on(False)
    return finish(drawing, axes)

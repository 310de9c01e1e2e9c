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
"""For each kind of sample: label; kind (column ``kind``) and sender (``from``); marker; colour."""


def figure(program_rtt: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the round-trip times derived from packets.

    Parameters
    ----------
    program_rtt : polars.DataFrame
        ``time_s``, ``kind``, ``from`` and ``rtt_s``; one row per round trip.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One mark per sample, by kind and sender of the answered data.
    """
    import polars as pl

    drawing, axes = new_figure(title, "round-trip time (s)")
    for name, (kind, side), mark, colour in _SAMPLES:
        rows = program_rtt.filter((pl.col("kind") == kind) & (pl.col("from") == side))
        if not rows.is_empty():
            points(axes, rows, "rtt_s", name, mark, colour, 6)
    for marks in axes.lines:
        # The last sample lies at the end of the axis and would be clipped.
        marks.set_clip_on(False)
    return finish(drawing, axes)

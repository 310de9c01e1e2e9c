"""Time-sequence diagram: what was sent, sent again and acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.style import finish, lines, new_figure, points

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


_CAUSES = (
    ("sent again after a timeout", ("rto", "rto_recovery"), "x", "#D55E00"),
    (
        "sent again after duplicate or selective ACKs",
        ("dupacks", "sack", "rack", "fast_recovery"),
        "+",
        "#0072B2",
    ),
    ("tail loss probe", ("probe",), "v", "#009E73"),
    ("sent again, not known why", ("unknown",), "1", "#CC79A7"),
)
"""What a capture's repetitions are told apart by: name, causes, mark, colour."""


def figure(
    sent: pl.DataFrame, acked: pl.DataFrame, sacked: pl.DataFrame | None = None, *, title: str = ""
) -> Figure:
    """Draw sequence numbers over time.

    Parameters
    ----------
    sent : polars.DataFrame
        ``time_s``, ``connection``, ``seq`` and ``end`` (octets), ``retransmission``; one row per segment. If
        it has ``cause``, repetitions are marked by it.
    acked : polars.DataFrame
        ``time_s``, ``connection``, ``ack`` (octets); one row per acknowledgment.
    sacked : polars.DataFrame, optional
        ``time_s``, ``left`` and ``right`` (octets); one row per selectively acknowledged block.
    title : str
        Above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Segments as dots, repeated ones as crosses, acknowledgments as steps, selective ones as bars. The
        vertical axis begins where the tables do, of which a part of a run is not at zero.
    """
    import polars as pl

    drawing, axes = new_figure(title, "sequence number (kB)")
    in_kb = sent.with_columns(pl.col("end") / 1e3)
    points(axes, in_kb.filter(~pl.col("retransmission")), "end", "sent", ".", "#aaaaaa", 2)
    again = in_kb.filter(pl.col("retransmission"))
    if "cause" not in sent.columns:
        points(axes, again, "end", "sent again", "x", "#D55E00", 5)
    else:
        for name, causes, mark, colour in _CAUSES:
            rows = again.filter(pl.col("cause").is_in(causes))
            if not rows.is_empty():
                points(axes, rows, "end", name, mark, colour, 5)
    lines(axes, acked.with_columns(pl.col("ack") / 1e3), "ack", "acknowledged")
    if sacked is not None and not sacked.is_empty():
        bars = axes.vlines(
            sacked["time_s"].to_numpy(),
            (sacked["left"] / 1e3).to_numpy(),
            (sacked["right"] / 1e3).to_numpy(),
            colors="#CC79A7",
            linewidth=1.0,
            label="selectively acknowledged",
        )
        bars.set_rasterized(len(sacked) > 5_000)
    return finish(drawing, axes, from_zero=False)

"""Time-sequence diagrams: segments sent, retransmitted, dropped and acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from umtslab.plot.look import scale
from umtslab.plot.palette import COLOURS, GREY, style
from umtslab.plot.row_groups import results_of, row_groups
from umtslab.plot.style import MAX_VECTORS, OTHERS, PALE, finish, lines, new_figure, points

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MAX_GROWTH = 1.7
"""Maximum factor by which the receiver's window may increase the range of the vertical axis."""

MAX_BARS = 400
"""More segments than this are drawn as dots, because their lengths would be invisible."""

_CAUSES = (
    ("retransmitted after a timeout", ("rto", "rto_recovery"), "x", "#D55E00"),
    (
        "retransmitted after duplicate or selective ACKs",
        ("dupacks", "sack", "rack", "fast_recovery"),
        "+",
        "#0072B2",
    ),
    ("tail loss probe", ("probe",), "v", "#009E73"),
    ("retransmitted, cause unknown", ("unknown",), "1", "#CC79A7"),
)
"""Retransmissions in a capture by cause: label, causes, marker, colour."""

_DROPS = (
    ("script", "dropped by the scenario's script", "o"),
    ("link_queue", "dropped by a full link queue", "s"),
    ("link_loss", "lost on a link", "D"),
    ("link_down", "lost while the link was interrupted", "p"),
    ("rlc_buffer", "dropped by the full RLC buffer", "^"),
    ("radio", "lost on the radio link", "h"),
    ("other", "dropped elsewhere", "*"),
)
"""Place of a drop in the series ``dropped``, legend entry, marker."""

_EDGE = "#a9d3ee"
"""Colour of the end of the receiver's window.

Segments lie on this line if the window is the limit.
"""


def figure(
    sent: pl.DataFrame,
    acked: pl.DataFrame,
    sacked: pl.DataFrame | None = None,
    window: pl.DataFrame | None = None,
    *,
    dropped: pl.DataFrame | None = None,
    title: str = "",
) -> Figure:
    """Draw sequence numbers over time.

    Parameters
    ----------
    sent : polars.DataFrame
        ``time_s``, ``connection``, ``seq`` and ``end`` (bytes), ``retransmission``; one row per
        segment. With the column ``cause``, retransmissions are marked by cause.
    acked : polars.DataFrame
        ``time_s``, ``connection``, ``ack`` (bytes); one row per acknowledgment.
    sacked : polars.DataFrame, optional
        ``time_s``, ``left`` and ``right`` (bytes); one row per selectively acknowledged block.
    window : polars.DataFrame, optional
        ``time_s``, ``connection`` and ``window_octets`` (the advertised window); one row per
        change.
    dropped : polars.DataFrame, optional
        ``time_s``, ``connection``, ``kind`` ("data" or "ack"), ``end`` (bytes) and ``place``; one
        row per packet dropped above RLC.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Segments are bars from their first to their last byte, or dots if there are too many.
        Retransmissions are crosses, dropped packets hollow marks, acknowledgments steps, selective
        acknowledgments bars. The end of the receiver's window is a pale line behind the segments,
        if it is near. With several results, each has a colour. The vertical axis begins at the
        data, not at zero.
    """
    import polars as pl

    drawing, axes = new_figure(title, "sequence number (kB)")
    in_kb = sent.with_columns(pl.col(name) / 1e3 for name in ("seq", "end") if name in sent.columns)
    first, retransmissions = in_kb.filter(~pl.col("retransmission")), in_kb.filter(pl.col("retransmission"))
    results = results_of(sent)
    if len(sent) <= MAX_BARS and "seq" in sent.columns and not results:
        _bars(axes, first, "segment", COLOURS[1])
        _bars(axes, retransmissions, "_", "#D55E00")
    else:
        points(axes, first, "end", "sent", ".", PALE, 2, results=results)
    if "cause" not in sent.columns:
        points(axes, retransmissions, "end", "retransmission", "x", "#D55E00", 5, results=results)
    else:
        for name, causes, mark, colour in _CAUSES:
            rows = retransmissions.filter(pl.col("cause").is_in(causes))
            points(axes, rows, "end", name, mark, colour, 5, results=results)
    lines(axes, acked.with_columns(pl.col("ack") / 1e3), "ack", "acknowledged", name_in_legend=True)
    if dropped is not None:
        _drops(axes, dropped, results)
    if sacked is not None and not sacked.is_empty():
        bars = axes.vlines(
            sacked["time_s"].to_numpy(),
            (sacked["left"] / 1e3).to_numpy(),
            (sacked["right"] / 1e3).to_numpy(),
            colors="#CC79A7",
            linewidth=scale(),
            label="selectively acknowledged",
        )
        bars.set_rasterized(len(sacked) > MAX_VECTORS)
    if window is not None and not window.is_empty():
        _window(axes, acked, window)
    return finish(drawing, axes, from_zero=False)


def _window(axes: Axes, acked: pl.DataFrame, window: pl.DataFrame) -> None:
    """Draw the end of the receiver's window of one connection, unless it is far above the data."""
    import polars as pl

    if "chosen" in acked.columns:
        acked, window = acked.filter("chosen"), window.filter("chosen")
    if len(row_groups(acked)) != 1:
        return
    keys = ["result", "connection"] if "result" in acked.columns else ["connection"]
    known = window.select("time_s", *keys, "window_octets").sort("time_s", maintain_order=True)
    ends = acked.sort("time_s", maintain_order=True).join_asof(
        known, on="time_s", by=keys, check_sortedness=False
    )
    edge = ((pl.col("ack") + pl.col("window_octets")) / 1e3).alias("ack")
    ends = ends.filter(pl.col("window_octets").is_not_null()).with_columns(edge)
    low, high = axes.get_ylim()
    if ends.is_empty() or float(str(ends["ack"].max())) > low + _MAX_GROWTH * (high - low):
        return
    axes.plot(
        ends["time_s"].to_numpy(),
        ends["ack"].to_numpy(),
        drawstyle="steps-post",
        color=_EDGE,
        linewidth=3 * scale(),
        zorder=1.5,
        label="end of the receiver's window",
    )


def _drops(axes: Axes, dropped: pl.DataFrame, results: Sequence[str]) -> None:
    """Draw a hollow mark at the end of each dropped packet, by place and kind."""
    import polars as pl

    rows = dropped.with_columns(pl.col("end") / 1e3)
    if "chosen" in rows.columns:
        rows = rows.filter("chosen")
    known = [place for place, _, _ in _DROPS]
    rows = rows.with_columns(
        pl.when(pl.col("place").is_in(known)).then("place").otherwise(pl.lit("other")).alias("place")
    )
    for place, label, marker in _DROPS:
        for kind, name in (("data", label), ("ack", f"ACK {label}")):
            of_kind = rows.filter((pl.col("place") == place) & (pl.col("kind") == kind))
            for number, result in enumerate(results or [None]):
                of_result = of_kind if result is None else of_kind.filter(pl.col("result") == result)
                _draw_hollow_marks(
                    axes, of_result, marker, COLOURS[0] if result is None else str(style(number)["color"])
                )
            if not of_kind.is_empty():
                _draw_hollow_marks(axes, of_kind.clear(), marker, GREY if results else COLOURS[0], name)


def _draw_hollow_marks(axes: Axes, rows: pl.DataFrame, marker: str, colour: str, name: str = "_") -> None:
    axes.plot(
        rows["time_s"].to_numpy(),
        rows["end"].to_numpy(),
        linestyle="none",
        marker=marker,
        markersize=7 * scale(),
        markerfacecolor="none",
        markeredgecolor=colour,
        markeredgewidth=1.2 * scale(),
        zorder=3,
        label=name,
    )


def _bars(axes: Axes, segments: pl.DataFrame, name: str, colour: str) -> None:
    """Draw segments as bars from their first to their last byte, as tcptrace does."""
    import numpy as np

    if segments.is_empty():
        return
    colours: Any = colour
    if "chosen" in segments.columns:
        colours = np.where(segments["chosen"].to_numpy(), colour, OTHERS)
    axes.vlines(
        segments["time_s"].to_numpy(),
        segments["seq"].to_numpy(),
        segments["end"].to_numpy(),
        colors=colours,
        linewidth=1.4 * scale(),
        label=name,
    )

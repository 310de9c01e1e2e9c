"""One connection as a waterfall: TCP segments, RLC PDUs with radio errors, RRC states and the time budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.numbering import unwrapped
from umtslab.plot.causes import LOOKS, look, words
from umtslab.plot.style import WIDTH_IN, put_legend

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT_IN = 7.6

# Greys, since the strip of causes below has all colours.
_STATES = {
    "IDLE": ("#f4f4f4", ""),
    "URA_PCH": ("#e0e0e0", ""),
    "CELL_PCH": ("#cccccc", ""),
    "CELL_FACH": ("#a8a8a8", ""),
    "CELL_DCH": ("#555555", ""),
    "switch": ("#ffffff", "//////"),
}

_NEW, _AGAIN, _LOST, _ACK = "#0072B2", "#D55E00", "#000000", "#009E73"


def figure(
    waterfall: pl.DataFrame,
    intervals: pl.DataFrame,
    *,
    title: str = "",
    from_s: float | None = None,
    until_s: float | None = None,
) -> Figure:
    """Draw all that happened to a connection on one time axis.

    Parameters
    ----------
    waterfall : polars.DataFrame
        ``time_s``, ``end_s``, ``layer``, ``direction``, ``what``, ``first``, ``last``, ``lost``.
    intervals : polars.DataFrame
        ``start_s``, ``end_s``, ``cause`` of the connection.
    title : str
        Above the figure.
    from_s, until_s : float, optional
        The part of the time to show; by default all of the connection's.

    Returns
    -------
    matplotlib.figure.Figure
        From the top: segments from sender to receiver, with acknowledgments; RLC PDUs of the same direction
        from the sending RLC to the receiving one; RRC states, if there are any; causes.
    """
    import polars as pl
    from matplotlib.figure import Figure

    tcp, rlc, rrc = (waterfall.filter(pl.col("layer") == layer) for layer in ("tcp", "rlc", "rrc"))
    direction = _direction_of_data(tcp)
    data = (pl.col("direction") == direction) & pl.col("what").is_in(["pdu", "pdu_again"])
    pdus = unwrapped(rlc.filter(data))
    causes = intervals.select(pl.col("start_s").alias("time_s"), "end_s", pl.col("cause").alias("what"))
    begin = from_s if from_s is not None else causes["time_s"].min()
    end = until_s if until_s is not None else causes["end_s"].max()
    is_shown = (pl.col("end_s") >= begin) & (pl.col("time_s") <= end)
    tcp, pdus, rrc, causes = (table.filter(is_shown) for table in (tcp, pdus, rrc, causes))
    parts = [3.0, 2.4, 0.4, 0.5] if len(rrc) else [3.0, 2.4, 0.5]
    drawing = Figure(figsize=(WIDTH_IN, HEIGHT_IN), layout="constrained")
    panels = drawing.subplots(len(parts), 1, sharex=True, height_ratios=parts)
    _segments(panels[0], tcp, direction)
    _pdus(panels[1], pdus)
    if len(rrc):
        _strip(panels[2], rrc.select("time_s", "end_s", "what"), "RRC", _STATES)
    _strip(panels[-1], causes, "cause", LOOKS)
    panels[0].set_ylabel(f"TCP {direction}: octets (kB)")
    panels[1].set_ylabel("RLC PDU (number)")
    panels[-1].set_xlabel("time (s)")
    panels[0].set_xlim(float(str(begin)), float(str(end)))
    if title:
        panels[0].set_title(title, loc="left")
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    put_legend(drawing, list(handles.values()), list(handles), fontsize=9)
    return drawing


def _direction_of_data(tcp: pl.DataFrame) -> str:
    """Where most octets go: a connection may carry a request the other way."""
    import polars as pl

    data = tcp.filter(pl.col("what").is_in(["segment", "retransmission"]))
    octets = data.group_by("direction").agg((pl.col("last") - pl.col("first")).sum().alias("octets"))
    return str(octets.sort("octets", "direction")["direction"][-1]) if len(octets) else "downlink"


def _segments(axes: Axes, tcp: pl.DataFrame, direction: str) -> None:
    import polars as pl

    ours = tcp.filter(pl.col("direction") == direction)
    for name, what, colour in (
        ("segment, from sender to receiver", "segment", _NEW),
        ("segment sent again", "retransmission", _AGAIN),
    ):
        rows = ours.filter((pl.col("what") == what) & ~pl.col("lost"))
        _lines(axes, rows, pl.col("first") / 1e3, pl.col("last") / 1e3, colour, name)
    lost = ours.filter(pl.col("lost"))
    _marks(axes, lost["time_s"], lost["last"] / 1e3, "x", _LOST, "lost")
    acks = tcp.filter((pl.col("direction") != direction) & (pl.col("what") == "ack") & ~pl.col("lost"))
    acks = acks.sort("end_s")
    if len(acks):
        axes.plot(
            acks["end_s"].to_numpy(),
            acks["first"].to_numpy() / 1e3,
            drawstyle="steps-post",
            color=_ACK,
            linewidth=0.9,
            label="acknowledged, as the sender knows",
        )
    expiries = ours.filter(pl.col("what") == "rto")["time_s"]
    for number, time in enumerate(expiries):
        label = "_" if number else "retransmission timeout"
        axes.axvline(time, color="#CC79A7", linestyle=(0, (4, 2)), linewidth=1.0, label=label)


def _pdus(axes: Axes, numbered: pl.DataFrame) -> None:
    """PDUs by number, counted from the first on also where sequence numbers wrap around."""
    import polars as pl

    for name, what, colour in (
        ("PDU, from RLC to RLC", "pdu", _NEW),
        ("PDU sent again", "pdu_again", _AGAIN),
    ):
        rows = numbered.filter((pl.col("what") == what) & ~pl.col("lost"))
        _lines(axes, rows, pl.col("first"), pl.col("last"), colour, name)
    lost = numbered.filter(pl.col("lost"))
    _marks(axes, lost["end_s"], (lost["first"] + lost["last"]) / 2, "x", _LOST, "lost on the air")


def _lines(axes: Axes, rows: pl.DataFrame, first: pl.Expr, last: pl.Expr, colour: str, name: str) -> None:
    """A line for each row, from its first number when it leaves to its last when it arrives."""
    from matplotlib.collections import LineCollection

    if not len(rows):
        return
    ends = rows.select("time_s", first.cast(float).alias("from"), "end_s", last.cast(float).alias("to"))
    pairs = [[(begin, low), (end, high)] for begin, low, end, high in ends.rows()]
    axes.add_collection(
        LineCollection(pairs, colors=colour, linewidths=1.0, label=name, rasterized=len(pairs) > 5_000)
    )
    axes.autoscale_view()


def _marks(axes: Axes, times: pl.Series, values: pl.Series, marker: str, colour: str, name: str) -> None:
    if len(times):
        axes.plot(
            times.to_numpy(), values.to_numpy(), linestyle="none", marker=marker, markersize=4.5,
            markeredgewidth=1.1, color=colour, label=name, zorder=3,
        )  # fmt: skip


def _strip(axes: Axes, spans: pl.DataFrame, name: str, looks: Mapping[str, tuple[str, str]]) -> None:
    """Spans of time in the looks of what they are, one after the other."""
    for (what,), rows in spans.partition_by("what", as_dict=True, maintain_order=True).items():
        bars = [(begin, end - begin) for begin, end in rows.select("time_s", "end_s").rows() if end > begin]
        text = f"RRC: {what}" if name == "RRC" else words(str(what))
        axes.broken_barh(bars, (0.0, 1.0), label=text, **look(str(what), looks))
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.set_ylabel(name, rotation=0, ha="right", va="center")
    axes.grid(visible=False)

"""Waterfall of one connection: segments, PDUs with radio errors, RRC states and time budget.

For a split transfer: both connections, with the buffer of the proxy between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.numbering import unwrapped
from umtslab.lanes import fill_of, state_looks
from umtslab.plot.causes import IN_PROXY, LOOKS, bar_style, cause_text, styles
from umtslab.plot.look import canvas, scale
from umtslab.plot.style import MAX_VECTORS, legend_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT_IN = 7.6
SPLIT_HEIGHT_IN = 9.6

_STATES = styles(state_looks())

_NEW, _RETRANSMITTED, _ACK = fill_of("serial"), fill_of("rto"), fill_of("prop")

_LOSS_PLACES = {
    "air": ("lost on the air", "x", "#000000"),
    "nodeb_queue": ("dropped by the full Node B queue", "1", fill_of("rlc")),
    "core_network": ("lost in the core network", "+", "#000000"),
    "rlc_buffer": ("dropped by the full RLC buffer", "2", fill_of("rlc")),
    "rlc": ("discarded by RLC", "x", fill_of("rto")),
    "host": ("too late for its connection", "|", fill_of("core")),
}
"""For each place of a loss: legend entry, marker and colour."""


def figure(
    waterfall: pl.DataFrame,
    intervals: pl.DataFrame,
    *,
    title: str = "",
    from_s: float | None = None,
    until_s: float | None = None,
) -> Figure:
    """Draw the waterfall of a connection on one time axis.

    Parameters
    ----------
    waterfall : polars.DataFrame
        ``time_s``, ``end_s``, ``layer``, ``direction``, ``what``, ``first``, ``last``, ``lost_at``.
        ``end_s`` is null for a segment in flight when the recording ended.
    intervals : polars.DataFrame
        ``start_s``, ``end_s``, ``cause`` of the connection, or of the split transfer.
    title : str
        Title of the figure.
    from_s, until_s : float, optional
        The time range; by default the whole life of the connection.

    Returns
    -------
    matplotlib.figure.Figure
        From the top: segments with acknowledgments, RLC PDUs in the direction of the data, RRC
        states if there are any, causes. For a split transfer, the segments of the server side, the
        proxy's buffer and the segments of the radio side are at the top.
    """
    import polars as pl

    # The tables of the panels: segments, proxy buffer, PDUs of the data's direction, RRC, causes.
    layers = waterfall.partition_by("layer", as_dict=True)
    layer = {str(name): rows for (name,), rows in layers.items()}
    no_rows = waterfall.clear()
    legs = [name for name in ("tcp", "tcp_server", "tcp_radio") if name in layer] or ["tcp"]
    tcp = pl.concat([layer.get(name, no_rows) for name in legs])
    rlc, rrc = layer.get("rlc", no_rows), layer.get("rrc", no_rows)
    direction = _direction_of_data(tcp)
    # Runs of earlier versions have "pep" as the layer.
    buffer = layer.get("proxy", layer.get("pep", no_rows)).filter(pl.col("direction") == direction)
    data = (pl.col("direction") == direction) & pl.col("what").is_in(["pdu", "pdu_again"])
    pdus = unwrapped(rlc.filter(data))
    causes = intervals.select(pl.col("start_s").alias("time_s"), "end_s", pl.col("cause").alias("what"))
    # Only rows inside the time range.
    begin = from_s if from_s is not None else causes["time_s"].min()
    end = until_s if until_s is not None else causes["end_s"].max()
    is_in_range = (pl.col("end_s").fill_null(end) >= begin) & (pl.col("time_s") <= end)
    tcp, buffer, pdus, rrc, causes = (table.filter(is_in_range) for table in (tcp, buffer, pdus, rrc, causes))
    # The panels, from the top.
    is_split = "tcp" not in legs
    heights = [2.6, 0.9, 2.6] if is_split else [3.0]
    heights += [2.4, 0.4, 0.5] if len(rrc) else [2.4, 0.5]
    drawing = canvas(SPLIT_HEIGHT_IN if is_split else HEIGHT_IN)
    panels = drawing.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    if is_split:
        for panel, leg, side in ((panels[0], "tcp_server", "server"), (panels[2], "tcp_radio", "radio")):
            _segments(panel, tcp.filter(pl.col("layer") == leg), direction)
            panel.set_ylabel(f"TCP {side} (kB)")
        _buffer(panels[1], buffer)
    else:
        _segments(panels[0], tcp, direction)
        panels[0].set_ylabel(f"TCP {direction} (kB)")
    pdu_panel = panels[3 if is_split else 1]
    _pdus(pdu_panel, pdus)
    pdu_panel.set_ylabel("RLC PDU (number)")
    if len(rrc):
        _strip(panels[-2], rrc.select("time_s", "end_s", "what"), "RRC", _STATES)
    _strip(panels[-1], causes, "cause", {**LOOKS, **IN_PROXY})
    panels[-1].set_xlabel("time (s)")
    panels[0].set_xlim(float(str(begin)), float(str(end)))
    if title:
        panels[0].set_title(title, loc="left")
    legend_of(drawing, panels)
    return drawing


def _direction_of_data(tcp: pl.DataFrame) -> str:
    """Return the direction with the most bytes of data."""
    import polars as pl

    data = tcp.filter(pl.col("what").is_in(["segment", "retransmission"]))
    octets = data.group_by("direction").agg((pl.col("last") - pl.col("first")).sum().alias("octets"))
    return str(octets.sort("octets", "direction")["direction"][-1]) if len(octets) else "downlink"


def _segments(axes: Axes, tcp: pl.DataFrame, direction: str) -> None:
    import polars as pl

    of_direction = tcp.filter(pl.col("direction") == direction)
    for name, kind, colour in (
        ("segment or PDU, sender to receiver", "segment", _NEW),
        ("retransmission", "retransmission", _RETRANSMITTED),
    ):
        rows = of_direction.filter((pl.col("what") == kind) & (pl.col("lost_at") == ""))
        arrived = rows.filter(pl.col("end_s").is_not_null())
        in_flight = rows.filter(pl.col("end_s").is_null())
        _lines(axes, arrived, pl.col("first") / 1e3, pl.col("last") / 1e3, colour, name)
        _marks(axes, in_flight["time_s"], in_flight["last"] / 1e3, ">", colour, "in flight at the end")
    _lost(axes, of_direction, "time_s", pl.col("last") / 1e3, "segment ")
    acks = tcp.filter(
        (pl.col("direction") != direction) & (pl.col("what") == "ack") & (pl.col("lost_at") == "")
    )
    # Acknowledgments that are overtaken or in flight must not lower the line.
    acks = acks.drop_nulls("end_s").sort("end_s").with_columns(pl.col("first").cum_max())
    if len(acks):
        axes.plot(
            acks["end_s"].to_numpy(),
            acks["first"].to_numpy() / 1e3,
            drawstyle="steps-post",
            color=_ACK,
            linewidth=0.9,
            label="acknowledged",
        )
    expiries = tcp.filter(pl.col("what") == "rto").select(
        "time_s", is_sender=pl.col("direction") == direction
    )
    for side, colour, dashes in (
        ("sender", fill_of("rto"), (0, (4, 2))),
        ("receiver", fill_of("core"), (0, (1, 1.5))),
    ):
        times = expiries.filter(pl.col("is_sender") == (side == "sender"))["time_s"]
        for number, time in enumerate(times):
            label = "_" if number else f"retransmission timeout of the {side}"
            axes.axvline(time, color=colour, linestyle=dashes, linewidth=1.0, label=label)


def _buffer(axes: Axes, buffer: pl.DataFrame) -> None:
    """Draw the occupancy of the proxy's buffer, darker while the buffer is full."""
    from matplotlib.patches import Rectangle

    for kind, colour, name in (
        ("buffer", "#bbbbbb", "in the proxy's buffer"),
        ("full", "#666666", "proxy's buffer full"),
    ):
        rows = buffer.filter(buffer["what"] == kind).select("time_s", "end_s", "first").rows()
        for number, (begin, end, octets) in enumerate(rows):
            label = "_" if number else name
            axes.add_patch(
                Rectangle((begin, 0), end - begin, octets / 1e3, color=colour, linewidth=0, label=label)
            )
    axes.autoscale_view()
    axes.set_ylim(bottom=0)
    axes.set_ylabel("proxy (kB)")


def _pdus(axes: Axes, numbered: pl.DataFrame) -> None:
    """Draw PDUs by number. Numbers are counted from the first PDU and do not wrap around."""
    import polars as pl

    for name, kind, colour in (
        ("segment or PDU, sender to receiver", "pdu", _NEW),
        ("retransmission", "pdu_again", _RETRANSMITTED),
    ):
        rows = numbered.filter((pl.col("what") == kind) & (pl.col("lost_at") == ""))
        _lines(axes, rows, pl.col("first"), pl.col("last"), colour, name)
    _lost(axes, numbered, "end_s", (pl.col("first") + pl.col("last")) / 2, "PDU ")


def _lost(axes: Axes, rows: pl.DataFrame, when: str, height: pl.Expr, layer: str) -> None:
    """Draw a mark for each loss, by place."""
    import polars as pl

    for place, (fate, marker, colour) in _LOSS_PLACES.items():
        lost = rows.filter(pl.col("lost_at") == place).select(when, height.alias("height"))
        _marks(axes, lost[when], lost["height"], marker, colour, layer + fate)


def _lines(axes: Axes, rows: pl.DataFrame, first: pl.Expr, last: pl.Expr, colour: str, name: str) -> None:
    """Draw a line for each row, from departure and first number to arrival and last number."""
    from matplotlib.collections import LineCollection

    if not len(rows):
        return
    ends = rows.select("time_s", first.cast(float).alias("from"), "end_s", last.cast(float).alias("to"))
    pairs = [[(begin, low), (end, high)] for begin, low, end, high in ends.rows()]
    axes.add_collection(
        LineCollection(
            pairs, colors=colour, linewidths=scale(), label=name, rasterized=len(pairs) > MAX_VECTORS
        )
    )
    axes.autoscale_view()


def _marks(axes: Axes, times: pl.Series, values: pl.Series, marker: str, colour: str, name: str) -> None:
    if len(times):
        axes.plot(
            times.to_numpy(), values.to_numpy(), linestyle="none", marker=marker, markersize=4.5 * scale(),
            markeredgewidth=1.1 * scale(), color=colour, label=name, zorder=3,
        )  # fmt: skip


def _strip(axes: Axes, spans: pl.DataFrame, name: str, looks: Mapping[str, tuple[str, str]]) -> None:
    """Draw time spans in the style of their kind."""
    groups = {str(kind): rows for (kind,), rows in spans.partition_by("what", as_dict=True).items()}
    for kind in (known for known in looks if known in groups):
        rows = groups[kind]
        bars = [(begin, end - begin) for begin, end in rows.select("time_s", "end_s").rows() if end > begin]
        text = f"RRC: {kind}" if name == "RRC" else cause_text(kind)
        axes.broken_barh(bars, (0.0, 1.0), label=text, **bar_style(kind, looks))
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.set_ylabel(name, rotation=0, ha="right", va="center")
    axes.grid(visible=False)

"""Ladders: the packets of a TCP connection as arrows between its two ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.ladder import HUES, KINDS, MAX_FIGURE_PACKETS, OTHER_HUE, End, Packet
from umtslab.lanes import fill_of
from umtslab.plot.look import canvas, scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW_IN, _TITLE_IN = 0.19, 0.3
"""Height of a packet and of the title, in inches."""

_ROWS_ABOVE, _ROWS_BELOW = 3.0, 3.6
"""Space for the headings, and for legend and note, in heights of a packet."""

_LEFT, _CLIENT, _SERVER = -0.45, 0.0, 1.0
"""Horizontal places of the left side and of the ends."""


def figure(
    packets: Sequence[Packet],
    *,
    client: str,
    server: str,
    captured_at: End | None,
    title: str = "",
    note: str = "",
) -> Figure:
    """Draw packets as arrows, one row for each packet.

    Parameters
    ----------
    packets : sequence of Packet
        The packets, at most `MAX_FIGURE_PACKETS`.
    client, server : str
        Addresses of the ends.
    captured_at : str, optional
        The end at which the packets were captured. None: at neither end, or unknown.
    title, note : str
        Title of the figure, and a note below it.

    Returns
    -------
    matplotlib.figure.Figure
        From the left: time, arrow, sequence and acknowledgment numbers, remark. The distance of rows
        does not show time. Arrows are horizontal, because the capture has one time of each packet. An
        arrow is dashed beyond the place of the capture.

    Raises
    ------
    ValueError
        If there are more than `MAX_FIGURE_PACKETS` packets.
    """
    from textwrap import fill

    if len(packets) > MAX_FIGURE_PACKETS:
        raise ValueError(f"a ladder has at most {MAX_FIGURE_PACKETS} packets (got {len(packets)})")
    count = len(packets)
    drawing = canvas(_TITLE_IN + _ROW_IN * (_ROWS_ABOVE + count + _ROWS_BELOW))
    axes = drawing.add_subplot()
    axes.set_axis_off()
    axes.set_xlim(_LEFT, 2.5)
    axes.set_ylim(count + _ROWS_BELOW, -_ROWS_ABOVE)
    if title:
        axes.set_title(title, loc="left")
    size = 7 * scale()
    for place, name, end, side in (
        (_CLIENT, client, "client", "left"),
        (_SERVER, server, "server", "right"),
    ):
        here = "\ncaptured here" if captured_at == end else ""
        axes.text(place, -0.6, f"{end}\n{name}{here}", ha=side, va="bottom", fontsize=size)
        axes.plot([place, place], [-0.5, count], color=fill_of("ink"), linewidth=scale())
    for heading, place in (("time (s)", -0.06), ("seq", 1.28), ("ack", 1.52)):
        axes.text(place, -0.6, heading, ha="right", va="bottom", fontsize=size, style="italic")
    for row, packet in enumerate(packets):
        _arrow(axes, row, packet, captured_at)
        colour = fill_of(packet.hue) if packet.kind in ("retransmission", "duplicate_ack") else fill_of("ink")
        axes.text(-0.06, row, f"{packet.time_s:.6f}", ha="right", va="center", fontsize=size)
        axes.text(0.5, row - 0.05, packet.label, ha="center", va="bottom", fontsize=0.85 * size, color=colour)
        axes.text(1.28, row, str(packet.seq), ha="right", va="center", fontsize=size)
        axes.text(
            1.52, row, "" if packet.ack is None else str(packet.ack), ha="right", va="center", fontsize=size
        )
        axes.text(1.57, row, packet.note, ha="left", va="center", fontsize=0.85 * size, color=colour)
    for kind, label in KINDS.items():
        axes.plot([], [], color=fill_of(HUES[kind]), linewidth=1.6 * scale(), label=label)
    axes.plot([], [], color=fill_of(OTHER_HUE), linewidth=1.6 * scale(), label="other")
    below = {"bbox_to_anchor": (_LEFT, count), "bbox_transform": axes.transData, "borderaxespad": 0.2}
    axes.legend(loc="upper left", ncols=5, frameon=False, fontsize=size, **below)
    if note:
        axes.text(_LEFT, count + 1.5, fill(note, 110), ha="left", va="top", fontsize=0.9 * size)
    return drawing


def _arrow(axes: Axes, row: int, packet: Packet, captured_at: End | None) -> None:
    """Draw an arrow: solid from the sender to the place of the capture, dashed from there."""
    begin, end = (_CLIENT, _SERVER) if packet.sender == "client" else (_SERVER, _CLIENT)
    middle = {"client": _CLIENT, "server": _SERVER, None: 0.5}[captured_at]
    colour = fill_of(packet.hue)
    width = 1.2 * scale()
    for part, style in (((begin, middle), "-"), ((middle, end), (0, (4, 2)))):
        if part[0] != part[1]:
            axes.plot(part, [row, row], color=colour, linewidth=width, linestyle=style)
    tip = 0.035 if end == _CLIENT else -0.035
    axes.fill([end, end + tip, end + tip], [row, row - 0.22, row + 0.22], color=colour, linewidth=0)

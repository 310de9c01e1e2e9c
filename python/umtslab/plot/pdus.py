"""RLC PDUs as a message sequence diagram with a time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from umtslab.plot.look import canvas, scale
from umtslab.plot.palette import COLOURS
from umtslab.plot.row_groups import row_groups
from umtslab.plot.style import put_legend

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_NAMED = 60
"""PDUs of a user have no numbers if there are more than this."""

_LOOKS: dict[str, Any] = {
    "data": {"color": COLOURS[1]},
    "retransmission": {"color": COLOURS[5]},
    "report": {"color": COLOURS[3]},
    "RESET": {"color": COLOURS[4]},
}
_LOST = COLOURS[2]


def figure(rlc_pdus: pl.DataFrame, *, title: str = "", until_s: float = float("inf")) -> Figure:
    """Draw every PDU as an arrow from the sending to the receiving entity.

    Parameters
    ----------
    rlc_pdus : polars.DataFrame
        The series ``rlc_pdus``.
    title : str
        Title of the figure.
    until_s : float
        PDUs sent at this time or later are not drawn.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per user, or per highlighted user, with the RNC above and the UE below. Sequence
        numbers start at SN 0. A filled circle is a poll, a cross a lost PDU. Status reports show
        the acknowledged and the missing sequence numbers.
    """
    import polars as pl

    shown = rlc_pdus.filter(pl.col("time_s") < until_s)
    users = [user for user in row_groups(shown, ("ue",)) if user.chosen is not False]
    drawing = canvas(2.6 * max(len(users), 1) + 0.4)
    panels = drawing.subplots(max(len(users), 1), 1, squeeze=False, sharex=True)[:, 0]
    for axes, user in zip(panels, users, strict=False):
        rows = user.rows.to_dicts()
        for row in _with_index_in_tti(rows):
            _arrow(axes, row, is_labelled=len(rows) <= MAX_NAMED)
        axes.set_yticks([0, 1], [user.name, "RNC"])
        if user.result is not None:
            axes.set_ylabel(user.result)
        axes.set_ylim(-0.62, 1.62)
        axes.grid(visible=False, axis="y")
        axes.autoscale_view(scaley=False)
        for level in (0, 1):
            axes.axhline(level, color=COLOURS[0], linewidth=0.8)
    panels[-1].set_xlabel("time (s)")
    if title:
        panels[0].set_title(title, loc="left")
    _legend(drawing)
    return drawing


def _with_index_in_tti(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to each PDU its ``index`` among the PDUs sent at the same time, and the ``count`` of these."""
    groups: dict[tuple[float, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["time_s"], row["direction"]), []).append(row)
    return [
        {**row, "index": index, "count": len(group)}
        for group in groups.values()
        for index, row in enumerate(group)
    ]


def _arrow(axes: Axes, row: dict[str, Any], *, is_labelled: bool) -> None:
    """Draw a PDU. The RNC is at height 1, the UE at height 0. The arrow of a lost PDU ends half way."""
    down = row["direction"] == "downlink"
    # Blocks of one TTI are sent and arrive at the same time. Their arrows are drawn side by side.
    offset_s = (row["end_s"] - row["time_s"]) * row["index"] / max(row["count"], 1)
    start = (row["time_s"] + offset_s, 1.0 if down else 0.0)
    end = (row["end_s"] + offset_s, 0.0 if down else 1.0)
    colour = _LOOKS[_kind(row)]["color"]
    if row["lost"]:
        middle = ((start[0] + end[0]) / 2, 0.5)
        axes.plot(*zip(start, middle, strict=True), color=colour, linewidth=1.1)
        axes.plot(*middle, marker="x", color=_LOST, markersize=7 * scale(), markeredgewidth=1.8 * scale())
    else:
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.1})
    axes.update_datalim([start, end])  # the arrow alone does not extend the axes
    if row["polls"]:
        axes.plot(*start, marker="o", color=colour, markersize=5 * scale())
    if is_labelled:
        axes.annotate(
            _name(row), start, xytext=(0, 5 if down else -5), textcoords="offset points", fontsize="x-small",
            ha="center", va="bottom" if down else "top", rotation=60 if row["lsn"] is None else 0,
        )  # fmt: skip


def _kind(row: dict[str, Any]) -> str:
    if row["kind"] in {"reset", "reset_ack"}:
        return "RESET"
    if row["kind"] == "status":
        return "report"
    return "retransmission" if (row["transmission"] or 1) > 1 else "data"


def _name(row: dict[str, Any]) -> str:
    parts = [] if row["sn"] is None else [f"SN {row['sn']}"]
    if row["polls"]:
        parts.append("poll")
    if row["lsn"] is not None:
        parts.append(
            f"up to {row['lsn']}" + (f"\nnot {row['missing'].replace(' ', ', ')}" if row["missing"] else "")
        )
    return " ".join(parts) or str(row["kind"])


def _legend(drawing: Figure) -> None:
    from matplotlib.lines import Line2D

    keys = [Line2D([], [], label=name, **look) for name, look in _LOOKS.items()]
    keys.append(Line2D([], [], label="polls", marker="o", linestyle="none", color=COLOURS[7], markersize=5))
    keys.append(Line2D([], [], label="lost", marker="x", linestyle="none", color=_LOST, markeredgewidth=1.8))
    put_legend(drawing, keys, [str(key.get_label()) for key in keys])

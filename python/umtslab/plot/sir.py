"""Signal-to-interference ratio of the blocks of a TDD cell, by user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.look import canvas, scale
from umtslab.plot.palette import COLOURS
from umtslab.plot.row_groups import row_groups
from umtslab.plot.style import MAX_VECTORS, put_legend

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_USERS = 6
"""More panels than this are too low to read. The users with the smallest numbers are drawn."""

_PANEL_HEIGHT = 1.5
_MARGINS_HEIGHT = 1.2
"""Height of a panel, and of the title, axis label and legend together, in inches."""

_ARRIVED_COLOURS = {"uplink": COLOURS[1], "downlink": COLOURS[3]}
"""Colours of the blocks that arrived, by direction."""

_LOST_COLOUR = COLOURS[2]


def figure(slots: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the SIR of every block over time, with lost blocks marked.

    Parameters
    ----------
    slots : polars.DataFrame
        ``time_s``, ``ue``, ``direction``, ``sir_db``, ``lost``; one row per block.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per user, or per highlighted user.
    """
    known = slots.drop_nulls("sir_db")
    users = [user for user in row_groups(known, ("ue",)) if user.chosen is not False]
    drawn = users[:MAX_USERS]
    panel_count = max(len(drawn), 1)
    drawing = canvas(_PANEL_HEIGHT * panel_count + _MARGINS_HEIGHT)
    panels = drawing.subplots(panel_count, 1, squeeze=False, sharex=True, sharey=True)[:, 0]
    for axes, user in zip(panels, drawn, strict=False):
        _panel(axes, user.rows)
        lost = user.rows["lost"].sum()
        name = user.name if user.result is None else f"{user.result}, {user.name}"
        axes.set_ylabel(f"{name}\nSIR (dB)")
        axes.annotate(
            f"{lost} of {user.rows.height} blocks lost", (1, 1), xytext=(-4, -3), va="top", ha="right",
            xycoords="axes fraction", textcoords="offset points", fontsize="small",
        )  # fmt: skip
    panels[-1].set_xlabel("time (s)")
    if title:
        panels[0].set_title(title, loc="left")
    _legend(drawing, "" if len(users) <= MAX_USERS else f"{MAX_USERS} of {len(users)} users")
    return drawing


def _panel(axes: Axes, blocks: pl.DataFrame) -> None:
    """Draw the blocks of one user."""
    for direction, colour in _ARRIVED_COLOURS.items():
        arrived = blocks.filter((blocks["direction"] == direction) & ~blocks["lost"])
        axes.plot(
            arrived["time_s"], arrived["sir_db"], color=colour, linestyle="none", marker=".",
            markersize=3 * scale(), rasterized=arrived.height > MAX_VECTORS,
        )  # fmt: skip
    lost = blocks.filter(blocks["lost"])
    axes.plot(
        lost["time_s"], lost["sir_db"], color=_LOST_COLOUR, linestyle="none", marker="x",
        markersize=4.5 * scale(), rasterized=lost.height > MAX_VECTORS,
    )  # fmt: skip


def _legend(drawing: Figure, title: str) -> None:
    from matplotlib.lines import Line2D

    keys = [
        Line2D([], [], color=colour, marker=".", linestyle="none", label=f"{direction}, arrived")
        for direction, colour in _ARRIVED_COLOURS.items()
    ]
    keys.append(Line2D([], [], color=_LOST_COLOUR, marker="x", linestyle="none", label="lost"))
    put_legend(drawing, keys, [str(key.get_label()) for key in keys], title=title)

"""Use of the slots of a TDD cell by its users.

A frame of 10 ms has slots, and a slot has `CODES` codes. A block of a user occupies some successive codes
of one slot for one frame. Frames are on the horizontal axis. The codes of all slots are on the vertical
axis: code c of slot s is at height s * `CODES` + c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from umtslab.plot.look import scale
from umtslab.plot.palette import COLOURS, GREY
from umtslab.plot.style import new_figure, put_legend
from umtslab.plot.users import colours_of, user_patches

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FRAME_S = 0.01

_EPSILON_S = 1e-9
"""Tolerance for rounding when times are compared. It is far below the length of a frame."""

MAX_FRAMES = 300
"""More frames than this are too thin to read. Only the first ones are drawn."""

CODES = 16
"""Number of codes per slot."""

_DIRECTION_COLOURS = {"uplink": "#eef3f8", "downlink": "#ffffff"}


def figure(slots: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw every block at its codes, in the colour of its user.

    Parameters
    ----------
    slots : polars.DataFrame
        ``time_s``, ``ue``, ``direction``, ``slot``, ``code``, ``codes``, ``lost``; one row per
        block.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Uplink slots are shaded, downlink blocks hatched, lost blocks crossed out. Only the first
        `MAX_FRAMES` frames are drawn. The twelve users with the most codes have colours of their
        own, which the legend names. All others share a colour.
    """
    import polars as pl

    begin_s = float(str(slots["time_s"].min() or 0.0))
    rows = slots.filter(pl.col("time_s") < begin_s + MAX_FRAMES * FRAME_S - _EPSILON_S)
    is_cut = rows.height < slots.height
    last_slot = int(str(slots["slot"].max()))
    label = f"slot (number; the first {MAX_FRAMES} frames)" if is_cut else "slot (number)"
    drawing, axes = new_figure(title, label)
    drawing.set_figheight(max(4.0, 0.34 * (last_slot + 2)) * scale() ** 0.5)
    _shade_uplink(axes, rows)
    colours = _colours(rows)
    _blocks(axes, rows, colours)
    axes.set_yticks(
        [(slot + 0.5) * CODES for slot in range(last_slot + 1)],
        [str(slot) for slot in range(last_slot + 1)],
    )
    for slot in range(last_slot + 2):
        axes.axhline(slot * CODES, color=GREY, linewidth=0.3)
    axes.set_ylim(0, (last_slot + 1) * CODES)
    axes.set_xlim(begin_s, float(str(rows["time_s"].max())) + FRAME_S)
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    _legend(drawing, colours)
    return drawing


def _colours(slots: pl.DataFrame) -> dict[int, str]:
    """Return a colour for each user. Users with the most codes have their own."""
    import polars as pl

    codes = slots.group_by("ue").agg(pl.col("codes").sum().alias("codes"))
    return colours_of(codes.sort("codes", "ue", descending=[True, False])["ue"].to_list())


def _shade_uplink(axes: Axes, slots: pl.DataFrame) -> None:
    """Shade the uplink slots, frame by frame."""
    from matplotlib.collections import PolyCollection

    up = slots.filter(slots["direction"] == "uplink").select("time_s", "slot").unique(maintain_order=True)
    corners = [_corners(start_s, slot * CODES, CODES) for start_s, slot in up.iter_rows()]
    axes.add_collection(
        PolyCollection(corners, facecolors=_DIRECTION_COLOURS["uplink"], linewidths=0, zorder=0)
    )


def _blocks(axes: Axes, slots: pl.DataFrame, users: Mapping[int, str]) -> None:
    """Draw the blocks in the colours of their users."""
    from matplotlib.collections import PolyCollection

    for direction, hatch in (("uplink", None), ("downlink", "//////")):
        rows = slots.filter(slots["direction"] == direction).select("time_s", "slot", "code", "codes", "ue")
        corners = [
            _corners(start_s, slot * CODES + code, codes)
            for start_s, slot, code, codes, _ in rows.iter_rows()
        ]
        colours = [users[ue] for ue in rows["ue"]]
        look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.3 * scale(), "hatch": hatch}
        axes.add_collection(PolyCollection(corners, facecolors=colours, zorder=2, **look))
    lost = slots.filter(slots["lost"])
    axes.scatter(
        lost["time_s"].to_numpy() + FRAME_S / 2,
        (lost["slot"] * CODES + lost["code"]).to_numpy() + lost["codes"].to_numpy() / 2,
        marker="x", color=COLOURS[0], s=14 * scale(), linewidths=0.9 * scale(), zorder=3,
    )  # fmt: skip


def _corners(start_s: float, bottom: int, codes: int) -> list[tuple[float, int]]:
    """Return the corners of a block: its frame from `start_s` on, and `codes` codes from `bottom` on."""
    end_s, top = start_s + FRAME_S, bottom + codes
    return [(start_s, bottom), (end_s, bottom), (end_s, top), (start_s, top)]


def _legend(drawing: Figure, colours: Mapping[int, str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    keys: list[Any] = [
        *user_patches(colours),
        Patch(facecolor=GREY, edgecolor="white", hatch="//////", label="downlink"),
        Patch(facecolor=GREY, edgecolor="white", label="uplink"),
        Line2D([], [], marker="x", color=COLOURS[0], linestyle="none", label="lost"),
    ]
    put_legend(drawing, keys, [str(key.get_label()) for key in keys])

"""The codes of a DSCH in each TTI, and the requests that the scheduler postponed.

A grant gives a user a code of the code tree for one TTI. A code of spreading factor SF is 1/SF of the
tree: code number c covers the tree from c/SF to (c + 1)/SF. Time is on the horizontal axis, the tree on
the vertical axis, in per cent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from umtslab.plot.look import canvas, scale
from umtslab.plot.palette import GREY
from umtslab.plot.style import put_legend
from umtslab.plot.users import colours_of, user_patches

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TTI_S = 0.02
"""TTI of the reference study in seconds. Runs have this TTI or a shorter one."""

_EPSILON_S = 1e-9
"""Tolerance for rounding when times are compared. It is far below the length of a TTI."""

MAX_TTIS = 50
"""More TTIs than this are too thin to read. Only the first ones are drawn."""

HEIGHT_IN = 5.4

POSTPONED_COLOURS = {"codes": "#333333", "power": "#888888", "credit": "#bbbbbb", "handover": "#dddddd"}
"""Shade of grey for each resource whose lack postponed a request. Colours stand for users."""

_LEVELS = (4, 8, 16, 32, 64, 128)
"""Spreading factors of the code tree."""


def figure(dsch: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the codes of one cell in each TTI by user, and below the postponed requests.

    Parameters
    ----------
    dsch : polars.DataFrame
        ``time_s``, ``cell``, ``ue``, ``fate``, ``spreading_factor``, ``code``, ``wanted``; one row
        per request.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        The cell with the most requests, up to the first `MAX_TTIS` TTIs. The height of a code is
        its share of the tree. A code that is smaller than wanted is hatched. The twelve users with
        the largest shares have colours of their own, which the legend names. All others share a
        colour.
    """
    import polars as pl

    cell = dsch["cell"].mode().sort()[0]
    rows = dsch.filter(pl.col("cell") == cell)
    begin_s = float(str(rows["time_s"].min() or 0.0))
    tti_s, decision_s = _lengths(rows)
    end_s = begin_s + MAX_TTIS * tti_s
    is_cut = float(str(rows["time_s"].max())) > end_s - _EPSILON_S
    rows = rows.filter(pl.col("time_s") < end_s - _EPSILON_S)
    drawing = canvas(HEIGHT_IN)
    upper, lower = drawing.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    granted = rows.filter(pl.col("fate") == "granted")
    colours = _colours(granted)
    _codes(upper, granted, colours, tti_s)
    reasons = _postponed(lower, rows.filter(pl.col("fate") != "granted"), decision_s)
    upper.set_ylabel(f"code tree of cell {cell} (%)")
    lower.set_ylabel("postponed (users)")
    lower.set_xlabel(f"time of the first {MAX_TTIS} TTIs (s)" if is_cut else "time (s)")
    lower.set_xlim(begin_s, min(end_s, float(str(rows["time_s"].max())) + tti_s))
    lower.yaxis.get_major_locator().set_params(integer=True)
    lower.set_ylim(bottom=0)
    if title:
        upper.set_title(title, loc="left")
    _legend(drawing, colours, reasons)
    return drawing


def _lengths(rows: pl.DataFrame) -> tuple[float, float]:
    """Return the duration of a grant, and the interval between decisions, which may be half of it.

    The duration is the shortest time from a grant to the same user's next request: a user with a
    TTI requests the next one when it ends, if it has more data.
    """
    import polars as pl

    until_next = (pl.col("time_s").shift(-1).over("ue") - pl.col("time_s")).alias("gap")
    gaps = rows.sort("ue", "time_s").with_columns(until_next)
    after_grants = gaps.filter((pl.col("fate") == "granted") & (pl.col("gap") > 0))["gap"]
    tti_s = min(TTI_S, round(float(str(after_grants.min() or TTI_S)), 3))
    decisions = rows["time_s"].unique().sort().diff().drop_nulls()
    return tti_s, min(tti_s, round(float(str(decisions.min() or TTI_S)), 3))


def _colours(granted: pl.DataFrame) -> dict[int, str]:
    """Return a colour for each user. Users with the largest shares of the tree have their own."""
    import polars as pl

    share = (1 / pl.col("spreading_factor")).sum().alias("share")
    users = granted.group_by("ue").agg(share).sort("share", "ue", descending=[True, False])["ue"].to_list()
    return colours_of(users)


def _codes(axes: Axes, granted: pl.DataFrame, colours: dict[int, str], tti_s: float) -> None:
    """Draw the grants."""
    import polars as pl
    from matplotlib.collections import PolyCollection

    is_below_wanted = pl.col("spreading_factor") > pl.col("wanted")
    for is_hatched, hatch in ((False, None), (True, "//////")):
        rows = granted.filter(is_below_wanted == is_hatched).select(
            "time_s", "code", "spreading_factor", "ue"
        )
        corners = [
            _corners(start_s, tti_s, code, spreading_factor)
            for start_s, code, spreading_factor, _ in rows.iter_rows()
        ]
        look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.4 * scale(), "hatch": hatch}
        axes.add_collection(
            PolyCollection(corners, facecolors=[colours[ue] for ue in rows["ue"]], zorder=2, **look)
        )
    # If all grants lie in the uppermost branch of a spreading factor, the axis shows only this branch.
    if granted.height:
        bottom = float(str((100 * granted["code"] / granted["spreading_factor"]).min()))
        # The uppermost branch of spreading factor SF is the last 1/SF of the tree.
        branch_bottoms = [100 - 100 / factor for factor in reversed(_LEVELS)]
        axes.set_ylim(next((low for low in branch_bottoms if bottom >= low), 0), 100)
    axes.grid(visible=False)


def _corners(start_s: float, tti_s: float, code: int, spreading_factor: int) -> list[tuple[float, float]]:
    """Return the corners of a code: its TTI from `start_s` on, and its share of the tree in per cent."""
    end_s = start_s + tti_s
    bottom, top = 100 * code / spreading_factor, 100 * (code + 1) / spreading_factor
    return [(start_s, bottom), (end_s, bottom), (end_s, top), (start_s, top)]


def _postponed(axes: Axes, rows: pl.DataFrame, decision_s: float) -> list[str]:
    """Draw the number of requests postponed by each decision. Returns the reasons that occur."""
    import polars as pl

    counts = rows.group_by("time_s", "fate").len().sort("time_s")
    # Bars of several reasons at one time are stacked: top of the stack so far, by time.
    top_of: dict[float, int] = {}
    reasons = [reason for reason in POSTPONED_COLOURS if reason in set(counts["fate"])]
    for reason in reasons:
        postponed = counts.filter(pl.col("fate") == reason)
        times, heights = postponed["time_s"].to_list(), postponed["len"].to_list()
        bottoms = [top_of.get(time_s, 0) for time_s in times]
        axes.bar(
            times, heights, decision_s, bottoms, align="edge", color=POSTPONED_COLOURS[reason], linewidth=0
        )
        top_of.update(
            {time_s: bottom + height for time_s, bottom, height in zip(times, bottoms, heights, strict=True)}
        )
    return reasons


def _legend(drawing: Figure, colours: dict[int, str], reasons: list[str]) -> None:
    from matplotlib.patches import Patch

    keys: list[Any] = [*user_patches(colours)]
    keys.append(Patch(facecolor=GREY, edgecolor="white", hatch="//////", label="grant below the request"))
    keys += [Patch(facecolor=POSTPONED_COLOURS[reason], label=f"postponed: {reason}") for reason in reasons]
    put_legend(drawing, keys, [str(key.get_label()) for key in keys])

"""RRC states of users over time, one strip per user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.lanes import fill_of, state_heights, state_looks
from umtslab.plot.look import scale
from umtslab.plot.row_groups import RowGroup, row_groups
from umtslab.plot.style import OTHERS, legend_below, new_figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_UES = 60
"""More strips than this are too thin to read. Only the first ones are drawn."""

SWITCHING = "switching"

STATES = {
    SWITCHING if name == "switch" else name: (fill_of(look.hue), state_heights()[name])
    for name, look in state_looks().items()
}
"""Colour of each state, and height of its strip as a share: the higher the cost, the higher the strip."""

_EDGE = "#8a929b"
"""Edge of the strips, because the fills of most states are pale."""

_ROW_IN = 0.15
"""Height of a strip in inches."""

_REST_IN = 1.3
"""Height of the figure without the strips, in inches."""


def figure(rrc_state: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the state of each user and its changes.

    Parameters
    ----------
    rrc_state : polars.DataFrame
        ``time_s``, ``ue``, ``state``, ``towards`` (the target state during a switch, or empty); one
        row per change.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One strip per user. Its height corresponds to the cost of the state. With many users only
        the first `MAX_UES` are drawn.
    """
    users = row_groups(rrc_state, ("ue",))
    highlighted_first = sorted(users, key=lambda user: not user.chosen)
    drawn_users = highlighted_first[:MAX_UES]
    drawn_users.sort(key=lambda user: (str(user.result), user.number))
    names = [_name(user) for user in drawn_users]
    drawing, axes = new_figure(title, "UE (number)")
    drawing.set_figheight(max(2.4, _REST_IN + _ROW_IN * len(drawn_users)) * scale() ** 0.5)
    for row, user in enumerate(drawn_users):
        strip(axes, user.rows, row, pale=user.chosen is False)
    step = max(1, len(drawn_users) // 30)
    axes.set_yticks(range(0, len(drawn_users), step), names[::step])
    axes.set_ylim(len(drawn_users) - 0.4, -0.6)
    axes.set_xlim(left=0, right=float(str(rrc_state["time_s"].max() or 1.0)))
    axes.grid(visible=False, axis="y")
    if len(users) > len(drawn_users):
        axes.set_ylabel(f"UE (number; the first {len(drawn_users)} of {len(users)})")
    present = set(rrc_state["state"].unique())
    if rrc_state.filter(rrc_state["towards"] != "").height:
        present.add(SWITCHING)
    colours = {name: fill for name, (fill, _) in STATES.items() if name in present}
    if any(user.chosen is False for user in drawn_users):
        colours["other users"] = OTHERS
    return legend_below(drawing, colours)


def _name(user: RowGroup) -> str:
    number = user.name.removeprefix("UE ")
    return number if user.result is None else f"{user.result}: {number}"


def strip(
    axes: Axes, states: pl.DataFrame, middle: float, height: float = 1.0, *, pale: bool = False
) -> None:
    """Draw the states of one user around `middle` on the vertical axis, in grey if `pale`.

    The time of the last row of `states` is the end of the state before it.
    """
    for name, spans_of_state in spans(states).items():
        fill, share = STATES[name]
        state_height = share * height
        axes.broken_barh(
            spans_of_state,
            (middle - state_height / 2, state_height),
            facecolors=OTHERS if pale else fill,
            edgecolors=_EDGE,
            linewidth=0.3 * scale(),
        )


def spans(states: pl.DataFrame) -> dict[str, list[tuple[float, float]]]:
    """Return start and length of the intervals in each state. Time during switches is separate."""
    spans: dict[str, list[tuple[float, float]]] = {}
    times = states["time_s"].to_list()
    rows = zip(times, times[1:], states["state"], states["towards"], strict=False)
    for begin, end, state, towards in rows:
        if end > begin:
            spans.setdefault(SWITCHING if towards else state, []).append((begin, end - begin))
    return spans

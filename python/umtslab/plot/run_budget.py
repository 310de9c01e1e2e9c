"""Time budget of one run, as stacked bars: the time of a connection by cause.

Panels from top to bottom: the mean over all connections, the slowest connections, and the mean of each
user. A connection that a proxy splits has two *legs*: towards the server, and over the radio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.budget import TRANSFERS_TOTAL, MissingBudget, causes, has_budget, seconds
from umtslab.plot.causes import IN_PROXY, LOOKS, bar_style, legend
from umtslab.plot.look import HOUSE, Look, canvas, dress, printable
from umtslab.plot.tables import WHOLE, NobodyChosen, View, highlighted
from umtslab.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_CONNECTIONS = 10
"""Number of slowest connections that are drawn if there are more."""

MAX_UES = 20
"""Number of users that are drawn if there are more: those with the longest connections."""

_PROGRAMS = "budget_connections"
"""Table with connections, UDP flows and name lookups of real programs."""

_ROW_IN = 0.24
"""Height of a bar in inches."""

_WHOLE = "whole"
"""Leg of a connection that is not split by a proxy."""

_LOOKS = {**LOOKS, **IN_PROXY}


def draw_run_budget(run: Run, view: View = WHOLE, look: Look = HOUSE) -> Figure:
    """Draw a run's time budget: the mean, the ten slowest connections, and the mean of each user.

    With a proxy, the mean is divided into the transfers that it splits, and the connections on each
    side.

    Parameters
    ----------
    run : Run
        Made with ``measure.budget``.
    view : View, optional
        Chosen connections and UEs are drawn instead of the slowest ones.
    look : Look, optional
        Appearance of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Stacked bars in the order of the causes. An emulation has the TCP connections, UDP flows and
        name lookups of programs.

    Raises
    ------
    umtslab.budget.MissingBudget
        If the run has no time budget.
    """
    if not has_budget(run.metrics):
        raise MissingBudget(
            "the run has no time budget: run it again with --budget (measure.budget in a scenario)"
        )
    connections = _connections(run)
    if not connections.height:
        raise MissingBudget("the time budget of the run is empty: no connection was opened")
    groups = _groups(run, connections, view)
    rows = sum(len(group.bars) for group in groups) + len(groups)
    with printable(look):
        figure = canvas(1.7 + _ROW_IN * rows)
        panels = figure.subplots(
            len(groups),
            1,
            sharex=True,
            squeeze=False,
            height_ratios=[len(group.bars) + 0.6 for group in groups],
        )[:, 0]
        for axes, group in zip(panels, groups, strict=True):
            _draw_bars(axes, group.bars)
            axes.set_ylabel(group.title, rotation=0, ha="right", va="center")
        panels[0].set_title(run.heading, loc="left")
        panels[-1].set_xlabel("time of a connection (s)")
        longest_s = max(bar.total_s for group in groups for bar in group.bars)
        panels[-1].set_xlim(0, 1.05 * longest_s)
        legend(figure, _visible_causes(groups)[::-1])
        return dress(figure, look)


@dataclass(frozen=True)
class _Bar:
    """A stacked bar."""

    label: str
    time_s: dict[str, float]
    """Length of each part, by cause."""

    @property
    def total_s(self) -> float:
        return sum(self.time_s.values())


@dataclass(frozen=True)
class _Group:
    """The bars of a panel, from top to bottom."""

    title: str
    bars: list[_Bar]


def _groups(run: Run, connections: pl.DataFrame, view: View) -> list[_Group]:
    """Return the panels from top to bottom."""
    groups = [_Group("mean", [*_transfers(run), *_mean_of_legs(connections)])]
    if connections.height > 1:
        groups.append(_connection_bars(run, connections, view))
    users = connections.partition_by("ue", maintain_order=True)
    if len(users) > 1:
        groups.append(_user_bars(users))
    return groups


def _connection_bars(run: Run, connections: pl.DataFrame, view: View) -> _Group:
    """Return a bar for each of the slowest connections, or for each connection that the view chooses."""
    count = connections.height
    slowest_first = connections.sort("budget_total_s", descending=True, maintain_order=True)
    shown = slowest_first.head(MAX_CONNECTIONS)
    title = f"slowest {MAX_CONNECTIONS}\nof {count}" if count > MAX_CONNECTIONS else "each"
    if view.chooses:
        shown, title = slowest_first.filter(_is_chosen(run, slowest_first, view)), "chosen"
    return _Group(
        title, [_Bar(_name(row), _mean(shown[[index]])) for index, row in enumerate(shown.to_dicts())]
    )


def _user_bars(users: list[pl.DataFrame]) -> _Group:
    """Return a bar for each of the users with the slowest connections, in order of their numbers."""
    slowest_first = sorted(users, key=lambda rows: -float(str(rows["budget_total_s"].mean())))
    shown = sorted(slowest_first[:MAX_UES], key=lambda rows: int(rows["ue"][0]))
    title = f"mean, slowest\n{MAX_UES} of {len(users)} UEs" if len(users) > MAX_UES else "mean"
    return _Group(title, [_Bar(f"UE {rows['ue'][0]}, {_count(rows.height)}", _mean(rows)) for rows in shown])


def _connections(run: Run) -> pl.DataFrame:
    """Return the connections of a run with their budgets. For an emulation, the connections of programs."""
    import polars as pl

    if _PROGRAMS not in run.series_kinds():
        return run.connections()
    rows = run.series(_PROGRAMS)
    parts = [seconds(cause) for cause in causes() if seconds(cause) in rows.columns]
    return rows.with_columns(pl.sum_horizontal(parts).alias("budget_total_s"))


def _is_chosen(run: Run, rows: pl.DataFrame, view: View) -> pl.Series:
    """Whether the view chooses each connection.

    Raises
    ------
    NobodyChosen
        If the run lacks a connection or UE that the view chooses.
    """
    if _PROGRAMS not in run.series_kinds():
        return rows["connection"].is_in(sorted(highlighted(run, view)[0]))
    for column, requested in (("connection", view.connections), ("ue", view.ues)):
        known = set(rows[column])
        if missing := sorted(set(requested) - known):
            names = ", ".join(str(number) for number in sorted(known))
            raise NobodyChosen(f"the budget has no {column} {missing[0]}: there are {names}")
    return rows["connection"].is_in(view.connections) | rows["ue"].is_in(view.ues)


def _count(connections: int) -> str:
    """Describe the number of connections over which a bar is averaged."""
    return "1 connection" if connections == 1 else f"{connections} connections"


def _transfers(run: Run) -> list[_Bar]:
    """Return a bar with the mean over all split transfers, with the causes of both legs together.

    Empty without split transfers.
    """
    count = run.metrics.get("proxy_transfers")
    if not count or not run.metrics.get(TRANSFERS_TOTAL):
        return []

    def mean_s(metric: str) -> float:
        return (run.metrics[metric] or 0.0) / count

    of_both_legs = {
        cause: mean_s(f"transfer_budget_server_{cause}_s") + mean_s(f"transfer_budget_radio_{cause}_s")
        for cause in causes()
    }
    proxy = {cause: mean_s(f"transfer_budget_{cause}_s") for cause in IN_PROXY}
    return [_Bar(f"{count:.0f} transfer{'' if count == 1 else 's'}", {**of_both_legs, **proxy})]


def _mean_of_legs(connections: pl.DataFrame) -> list[_Bar]:
    """Return the mean over all connections or, with a proxy, over the connections on each leg."""
    # Runs stored by versions without proxies have no such column.
    if "leg" not in connections.columns or set(connections["leg"]) == {_WHOLE}:
        return [_Bar(_count(connections.height), _mean(connections))]
    rows_of_leg = connections.partition_by("leg", maintain_order=True, as_dict=True)
    return [
        _Bar(f"{'passed' if leg == _WHOLE else leg}: {rows.height}", _mean(rows))
        for (leg,), rows in rows_of_leg.items()
    ]


def _name(row: dict[str, object]) -> str:
    """Return the label of a connection."""
    leg = row.get("leg", _WHOLE)
    protocol = str(row.get("protocol", "tcp")).upper()
    noun = {"TCP": "connection", "DNS": "name lookup"}.get(protocol, f"{protocol} flow")
    return f"{noun} {row['connection']}" + (f", {leg}" if leg != _WHOLE else "")


def _mean(rows: pl.DataFrame) -> dict[str, float]:
    """Return the mean time in seconds over some connections, by cause."""
    known = [cause for cause in causes() if seconds(cause) in rows.columns]
    return {cause: float(str(rows[seconds(cause)].mean() or 0.0)) for cause in known}


def _visible_causes(groups: list[_Group]) -> list[str]:
    """Return the causes for the legend: those that are visible because they have more than 0.1 % of a bar."""
    bars = [bar for group in groups for bar in group.bars]
    return [
        cause for cause in _LOOKS if any(bar.time_s.get(cause, 0.0) > 0.001 * bar.total_s for bar in bars)
    ]


def _draw_bars(axes: Axes, bars: list[_Bar]) -> None:
    """Draw the bars, one part after the other: the first cause is at the left."""
    positions = list(range(len(bars)))
    lefts = [0.0] * len(bars)
    for cause in _LOOKS:
        widths = [bar.time_s.get(cause, 0.0) for bar in bars]
        if any(widths):
            axes.barh(positions, widths, 0.75, left=lefts, **bar_style(cause, _LOOKS))
        lefts = [left + width for left, width in zip(lefts, widths, strict=True)]
    axes.set_yticks(positions, [bar.label for bar in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")

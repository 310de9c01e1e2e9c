"""The time budget of one run: what all connections, the slowest ones and those of each user wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.budget import TRANSFERS_TOTAL, MissingBudget, causes, has_budget, seconds
from umtslab.plot.causes import IN_PROXY, LOOKS, legend, look_of
from umtslab.plot.look import HOUSE, Look, canvas, dress, printable
from umtslab.plot.tables import WHOLE, NobodyChosen, View, under_study
from umtslab.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CONNECTIONS = 10
"""Of more, the slowest are drawn."""

MOST_UES = 20
"""Of more users, those whose connections take the longest are drawn."""

_PROGRAMS = "budget_connections"
"""The table with the connections, flows of datagrams and lookups of real programs."""

_ROW_IN = 0.24

_WHOLE = "whole"
"""The leg of a connection that no proxy splits."""

_LOOKS = {**LOOKS, **IN_PROXY}


def draw_run_budget(run: Run, view: View = WHOLE, look: Look = HOUSE) -> Figure:
    """Draw a run's time budget as bars: the mean of all connections, the slowest ten, the mean of each user.

    With a proxy: the mean of the transfers that it splits, and of connections on each of its sides.

    Parameters
    ----------
    run : Run
        Made with ``measure.budget``.
    view : View, optional
        Connections and users that are chosen are drawn in place of the slowest ones.
    look : Look, optional
        How it is printed.

    Returns
    -------
    matplotlib.figure.Figure
        Bars from the first cause at the left to the last, in the order of the causes. Of an emulation: the
        programs' TCP connections, flows of datagrams and lookups of names.

    Raises
    ------
    umtslab.budget.MissingBudget
        If the run has no time budget.
    """
    if not has_budget(run.metrics):
        raise MissingBudget(
            "the run has no time budget: run it again with --budget (a scenario's measure.budget)"
        )
    connections = _connections(run)
    if not connections.height:
        raise MissingBudget("the time budget of the run is empty: no connection was opened")
    groups = _groups(run, connections, view)
    rows = sum(len(bars) for _, bars in groups) + len(groups)
    with printable(look):
        figure = canvas(1.7 + _ROW_IN * rows)
        panels = figure.subplots(
            len(groups), 1, sharex=True, squeeze=False, height_ratios=[len(bars) + 0.6 for _, bars in groups]
        )[:, 0]
        for axes, (title, bars) in zip(panels, groups, strict=True):
            _bars(axes, bars)
            axes.set_ylabel(title, rotation=0, ha="right", va="center")
        panels[0].set_title(run.heading, loc="left")
        panels[-1].set_xlabel("time of a connection (s)")
        panels[-1].set_xlim(0, 1.05 * max(sum(parts.values()) for _, bars in groups for _, parts in bars))
        legend(figure, _seen(groups)[::-1])
        return dress(figure, look)


_Bar = tuple[str, dict[str, float]]
"""A name, and seconds by cause."""


def _groups(run: Run, connections: pl.DataFrame, view: View) -> list[tuple[str, list[_Bar]]]:
    """The bars of each panel, below each other."""
    count = connections.height
    longest = connections.sort("budget_total_s", descending=True, maintain_order=True)
    groups = [("mean", [*_transfers(run), *_of_legs(connections)])]
    if count > 1:
        shown = longest.head(MOST_CONNECTIONS)
        title = f"slowest {MOST_CONNECTIONS}\nof {count}" if count > MOST_CONNECTIONS else "each"
        if view.chooses:
            shown, title = longest.filter(_is_chosen(run, longest, view)), "chosen"
        named = [(_name(row), _mean(shown[[at]])) for at, row in enumerate(shown.to_dicts())]
        groups.append((title, named))
    users = connections.partition_by("ue", maintain_order=True)
    if len(users) > 1:
        users.sort(key=lambda rows: -float(str(rows["budget_total_s"].mean())))
        chosen = sorted(users[:MOST_UES], key=lambda rows: int(rows["ue"][0]))
        title = f"mean, slowest\n{MOST_UES} of {len(users)} UEs" if len(users) > MOST_UES else "mean"
        bars = [(f"UE {rows['ue'][0]}, {_count(rows.height)}", _mean(rows)) for rows in chosen]
        groups.append((title, bars))
    return groups


def _connections(run: Run) -> pl.DataFrame:
    """The connections of a run with their budgets; of an emulation those of programs."""
    import polars as pl

    if _PROGRAMS not in run.series_kinds():
        return run.connections()
    rows = run.series(_PROGRAMS)
    parts = [seconds(cause) for cause in causes() if seconds(cause) in rows.columns]
    return rows.with_columns(pl.sum_horizontal(parts).alias("budget_total_s"))


def _is_chosen(run: Run, rows: pl.DataFrame, view: View) -> pl.Series:
    """Whether each connection is one that the view chooses.

    Raises
    ------
    NobodyChosen
        If the run does not have one of them.
    """
    if _PROGRAMS not in run.series_kinds():
        return rows["connection"].is_in(sorted(under_study(run, view)[0]))
    for what, wanted in (("connection", view.connections), ("ue", view.ues)):
        known = set(rows[what])
        if missing := sorted(set(wanted) - known):
            names = ", ".join(str(number) for number in sorted(known))
            raise NobodyChosen(f"the budget has no {what} {missing[0]}: there are {names}")
    return rows["connection"].is_in(view.connections) | rows["ue"].is_in(view.ues)


def _count(connections: int) -> str:
    """How many connections a bar is the mean of."""
    return "1 connection" if connections == 1 else f"{connections} connections"


def _transfers(run: Run) -> list[_Bar]:
    """The mean of all transfers that a proxy split, causes of both legs together; none if there were none."""
    count = run.metrics.get("proxy_transfers")
    if not count or not run.metrics.get(TRANSFERS_TOTAL):
        return []

    def spent(metric: str) -> float:
        return (run.metrics[metric] or 0.0) / count

    legs = {
        cause: spent(f"transfer_budget_server_{cause}_s") + spent(f"transfer_budget_radio_{cause}_s")
        for cause in causes()
    }
    proxy = {what: spent(f"transfer_budget_{what}_s") for what in IN_PROXY}
    return [(f"{count:.0f} transfer{'' if count == 1 else 's'}", {**legs, **proxy})]


def _of_legs(connections: pl.DataFrame) -> list[_Bar]:
    """The mean of all connections, or of those of each side of a proxy and of those that it lets pass."""
    # Runs that were stored before there were proxies have no such column.
    if "leg" not in connections.columns or set(connections["leg"]) == {_WHOLE}:
        return [(_count(connections.height), _mean(connections))]
    parts = connections.partition_by("leg", maintain_order=True, as_dict=True)
    return [
        (f"{'passed' if leg == _WHOLE else leg}: {rows.height}", _mean(rows))
        for (leg,), rows in parts.items()
    ]


def _name(row: dict[str, object]) -> str:
    """What a connection is called."""
    leg = row.get("leg", _WHOLE)
    protocol = str(row.get("protocol", "tcp")).upper()
    what = {"TCP": "connection", "DNS": "name lookup"}.get(protocol, f"{protocol} flow")
    return f"{what} {row['connection']}" + (f", {leg}" if leg != _WHOLE else "")


def _mean(rows: pl.DataFrame) -> dict[str, float]:
    known = [cause for cause in causes() if seconds(cause) in rows.columns]
    return {cause: float(str(rows[seconds(cause)].mean() or 0.0)) for cause in known}


def _seen(groups: list[tuple[str, list[_Bar]]]) -> list[str]:
    """Causes that can be seen in some bar, in their order."""
    bars = [parts for _, bars in groups for _, parts in bars]
    return [
        cause
        for cause in _LOOKS
        if any(parts.get(cause, 0.0) > 0.001 * sum(parts.values()) for parts in bars)
    ]


def _bars(axes: Axes, bars: list[_Bar]) -> None:
    places = list(range(len(bars)))
    lefts = [0.0] * len(bars)
    for cause in _LOOKS:
        widths = [parts.get(cause, 0.0) for _, parts in bars]
        if any(widths):
            axes.barh(places, widths, 0.75, left=lefts, **look_of(cause, _LOOKS))
        lefts = [left + width for left, width in zip(lefts, widths, strict=True)]
    axes.set_yticks(places, [name for name, _ in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")

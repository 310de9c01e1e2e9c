"""The time budget of one run: what all connections, the slowest ones and those of each user wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.budget import TRANSFERS_TOTAL, MissingBudget, causes, has_budget, seconds
from umtslab.plot.causes import IN_PROXY, LOOKS, legend, look_of
from umtslab.plot.look import HOUSE, Look, canvas, dress, printable
from umtslab.plot.tables import WHOLE, View, under_study
from umtslab.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CONNECTIONS = 10
"""Of more, the slowest are drawn."""

MOST_UES = 20
"""Of more users, those whose connections take the longest are drawn."""

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
        Bars from the first cause at the left to the last, by precedence; of an emulation the first alone.

    Raises
    ------
    umtslab.budget.MissingBudget
        If the run has no time budget.
    """
    if not has_budget(run.metrics) or run.connection_count() == 0:
        raise MissingBudget(
            "the run has no time budget: run it again with --budget (a scenario's measure.budget)"
        )
    connections = run.connections()
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
    import polars as pl

    count = connections.height
    if not has_budget(dict.fromkeys(connections.columns)):
        # Of an emulation: what programs wait for is known of all their connections together.
        mean = {cause: (run.metrics[seconds(cause)] or 0.0) / count for cause in causes()}
        return [("mean", [*_transfers(run), (f"all {count}", mean)])]
    longest = connections.sort("budget_total_s", descending=True, maintain_order=True)
    groups = [("mean", [*_transfers(run), *_of_legs(connections)])]
    if count > 1:
        shown, title = longest.head(MOST_CONNECTIONS), "slowest" if count > MOST_CONNECTIONS else "each"
        if view.chooses:
            shown, title = (
                longest.filter(pl.col("connection").is_in(sorted(under_study(run, view)[0]))),
                "chosen",
            )
        named = [(_name(row), _mean(shown[[at]])) for at, row in enumerate(shown.to_dicts())]
        groups.append((title, named))
    users = connections.partition_by("ue", maintain_order=True)
    if len(users) > 1:
        users.sort(key=lambda rows: -float(str(rows["budget_total_s"].mean())))
        chosen = sorted(users[:MOST_UES], key=lambda rows: int(rows["ue"][0]))
        groups.append(("mean of", [(f"UE {rows['ue'][0]}: {rows.height}", _mean(rows)) for rows in chosen]))
    return groups


def _transfers(run: Run) -> list[_Bar]:
    """The mean of all transfers that a proxy split, causes of both legs together; none if there were none."""
    count = run.metrics.get("pep_transfers")
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
        return [(f"all {connections.height}", _mean(connections))]
    parts = connections.partition_by("leg", maintain_order=True, as_dict=True)
    return [
        (f"{'passed' if leg == _WHOLE else leg}: {rows.height}", _mean(rows))
        for (leg,), rows in parts.items()
    ]


def _name(row: dict[str, object]) -> str:
    """What a connection is called."""
    leg = row.get("leg", _WHOLE)
    return f"connection {row['connection']}" + (f", {leg}" if leg != _WHOLE else "")


def _mean(rows: pl.DataFrame) -> dict[str, float]:
    return {cause: float(str(rows[seconds(cause)].mean() or 0.0)) for cause in causes()}


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

"""The time budget over a parameter of a campaign: what a connection's time is spent on, as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary, summarise
from umtslab.budget import causes, has_budget, seconds
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.plot.campaign import default_axis, values_of, variant
from umtslab.plot.causes import legend, look
from umtslab.plot.style import HEIGHT_IN, WIDTH_IN, printable
from umtslab.quantity import in_one_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_VARIANTS = 4
"""More panels than this are too narrow to read."""

Bars = Mapping[str, Mapping[str, Summary]]
"""By value of the parameter: time by cause, and ``total``."""


def draw_budget(record: Record, over: str | None = None) -> Figure:
    """Draw the mean time of a connection by cause.

    Parameters
    ----------
    record : Record
        The campaign, of runs with a time budget.
    over : str, optional
        The parameter of the horizontal axis; by default the first that is a number and varies.

    Returns
    -------
    matplotlib.figure.Figure
        A panel for each combination of the other parameters. Bars are stacked in the order of precedence;
        whiskers are 95 % intervals of the whole, over runs.

    Raises
    ------
    CampaignError
        If there is no such parameter, no run has a budget, or there are too many combinations.
    """
    from matplotlib.figure import Figure

    chosen = over if over is not None else default_axis(record)
    if chosen not in record.axes:
        raise CampaignError(f"{record.name} does not vary {chosen!r}; it varies {', '.join(record.axes)}")
    panels = _panels(record, chosen)
    if not panels:
        raise CampaignError(
            f"no run of {record.name} has a time budget: set measure.budget = true in the campaign"
        )
    if len(panels) > MOST_VARIANTS:
        raise CampaignError(
            f"{record.name} has {len(panels)} combinations beside {chosen}, and {MOST_VARIANTS} fit into a "
            f"figure: choose with {record.name}@KEY=VALUE"
        )
    ticks = _ticks(values_of(record, chosen))
    found = {
        cause
        for bars in panels.values()
        for parts in bars.values()
        for cause in causes()
        if (parts[cause].mean or 0.0) > 0
    }
    shown = [cause for cause in causes() if cause in found]
    with printable():
        figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN + 1.4), layout="constrained")
        all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (label, bars) in zip(all_axes, panels.items(), strict=True):
            _stack(axes, bars, ticks, shown)
            axes.set_xlabel(chosen)
            axes.set_title(label or record.title or record.name, loc="left")
        if len(panels) > 1:
            figure.suptitle(record.title or record.name, fontsize=10)
        all_axes[0].set_ylabel("time of a connection (s)")
        all_axes[0].set_ylim(bottom=0)
        legend(figure, shown)
    return figure


def _panels(record: Record, over: str) -> dict[str, Bars]:
    panels: dict[str, dict[str, Mapping[str, Summary]]] = {}
    for cell in record.cells:
        parts = per_connection(cell)
        if parts and over in cell.parameters:
            label = variant(record, cell, over)
            panels.setdefault(label, {})[str(cell.parameters[over])] = parts
    return dict(panels)


def per_connection(cell: Cell) -> dict[str, Summary]:
    """Mean time of a connection by cause over the runs of a point, and of all causes as ``total``."""
    runs = [run for run in cell.runs if has_budget(run.metrics)]
    counts = [run.connections().height for run in runs]
    return {
        cause: summarise(
            (run.metrics[seconds(cause)] or 0.0) / count
            for run, count in zip(runs, counts, strict=True)
            if count
        )
        for cause in (*causes(), "total")
        if runs
    }


def _ticks(values: list[object]) -> list[str]:
    """Numbers in their order, words as they come."""
    found = in_one_unit(values)
    if found is None:
        return [str(value) for value in values]
    pairs = sorted(zip(found[0], values, strict=True), key=lambda pair: pair[0])
    return [str(value) for _, value in pairs]


def _stack(axes: Axes, bars: Bars, ticks: Sequence[str], shown: Sequence[str]) -> None:
    """A bar for each value, from the first cause at the bottom to the last."""
    places = [ticks.index(value) for value in bars]
    bottoms = [0.0] * len(places)
    for cause in shown:
        heights = [parts[cause].mean or 0.0 for parts in bars.values()]
        axes.bar(places, heights, 0.75, bottom=bottoms, **look(cause))
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    halves = [parts["total"].ci95 or 0.0 for parts in bars.values()]
    axes.errorbar(places, bottoms, yerr=halves, fmt="none", ecolor="#000000", elinewidth=0.9, capsize=2.5)
    axes.set_xticks(range(len(ticks)), ticks)
    axes.grid(visible=False, axis="x")

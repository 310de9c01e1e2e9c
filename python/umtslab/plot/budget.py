"""Time budget over a parameter of a campaign: mean time of a connection by cause, as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary, summarise
from umtslab.budget import causes, has_budget, seconds
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.labels import key_label, with_unit
from umtslab.plot.campaign import check_axis, runs_and_interval
from umtslab.plot.causes import bar_style, legend
from umtslab.plot.look import HEIGHT_IN, HOUSE, Look, canvas, dress, printable, scale
from umtslab.plot.ticks import value_ticks
from umtslab.plot.variants import default_axis, value_text, values_of, variant
from umtslab.quantity import in_one_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_VARIANTS = 4
"""More panels than this are too narrow to read."""

Bars = Mapping[str, Mapping[str, Summary]]
"""For each value of the parameter the time by cause, and ``total``."""


def draw_budget(record: Record, over: str | None = None, *, look: Look = HOUSE) -> Figure:
    """Draw the mean time of a connection by cause.

    Parameters
    ----------
    record : Record
        A campaign with time budgets.
    over : str, optional
        The parameter of the horizontal axis; by default the first varied parameter with numbers as
        values.
    look : Look, optional
        Appearance of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per combination of the other parameters. Bars are stacked in order of precedence.
        Whiskers are 95 % intervals of the total over runs.

    Raises
    ------
    CampaignError
        If there is no such parameter, no run has a budget, or there are too many combinations.
    """
    chosen = over if over is not None else default_axis(record)
    check_axis(record, chosen)
    panels = _panels(record, chosen)
    if not panels:
        raise CampaignError(
            f"no run of {record.name} has a time budget: set measure.budget = true in the campaign"
        )
    if len(panels) > MAX_VARIANTS:
        raise CampaignError(
            f"{record.name} has {len(panels)} combinations beside {chosen}, and a figure shows at "
            f"most {MAX_VARIANTS}: select with {record.name}@KEY=VALUE"
        )
    ticks = _ticks(values_of(record, chosen))
    causes = _visible_causes(panels)
    in_unit = in_one_unit(values_of(record, chosen))
    totals = [parts["total"] for bars in panels.values() for parts in bars.values()]
    with printable(look):
        figure = canvas(HEIGHT_IN + 1.4)
        all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (label, bars) in zip(all_axes, panels.items(), strict=True):
            _stack(axes, bars, ticks)
            names = (
                [value_text(tick) for tick in ticks]
                if in_unit is None
                else [f"{n:g}" for n in sorted(in_unit[0])]
            )
            value_ticks(axes, range(len(ticks)), names, log=False, is_number=False)
            axes.set_xlabel(with_unit(key_label(chosen), in_unit[1] if in_unit is not None else ""))
            axes.set_title(label or record.heading, loc="left")
        if len(panels) > 1:
            figure.suptitle(record.heading)
        all_axes[0].set_ylabel("time of a connection (s)")
        all_axes[0].set_ylim(bottom=0)
        legend(figure, causes, title=f"whole: {runs_and_interval(totals)}")
        return dress(figure, look)


def _visible_causes(panels: Mapping[str, Bars]) -> list[str]:
    """Return the causes for the legend: those that are visible because they have more than 0.1 % of a bar."""
    parts = [parts for bars in panels.values() for parts in bars.values()]
    return [
        cause
        for cause in causes()
        if any(
            (parts_of_bar[cause].mean or 0.0) > 0.001 * (parts_of_bar["total"].mean or 0.0)
            for parts_of_bar in parts
        )
    ]


def _panels(record: Record, over: str) -> dict[str, Bars]:
    panels: dict[str, dict[str, Mapping[str, Summary]]] = {}
    for cell in record.cells:
        parts = per_connection(cell)
        if parts and over in cell.parameters:
            label = variant(record, cell, over)
            panels.setdefault(label, {})[str(cell.parameters[over])] = parts
    return dict(panels)


def per_connection(cell: Cell) -> dict[str, Summary]:
    """Return the mean time of a connection by cause over the runs of a point, and ``total``."""
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
    """Sort the values if they are numbers, else keep their order."""
    in_unit = in_one_unit(values)
    if in_unit is None:
        return [str(value) for value in values]
    pairs = sorted(zip(in_unit[0], values, strict=True), key=lambda pair: pair[0])
    return [str(value) for _, value in pairs]


def _stack(axes: Axes, bars: Bars, ticks: Sequence[str]) -> None:
    """Draw one stacked bar per value, with the first cause at the bottom."""
    positions = [ticks.index(value) for value in bars]
    bottoms = [0.0] * len(positions)
    for cause in causes():
        heights = [parts[cause].mean or 0.0 for parts in bars.values()]
        if any(heights):
            axes.bar(positions, heights, 0.75, bottom=bottoms, **bar_style(cause))
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    half_widths = [parts["total"].ci95 or 0.0 for parts in bars.values()]
    axes.errorbar(
        positions,
        bottoms,
        yerr=half_widths,
        fmt="none",
        ecolor="#000000",
        elinewidth=0.9 * scale(),
        capsize=2.5 * scale(),
    )
    axes.grid(visible=False, axis="x")

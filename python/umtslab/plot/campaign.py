"""A metric of a campaign over one of its parameters: means with 95 % intervals, a line per variant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary, summarise
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.labels import key_label, metric_with_unit, with_unit
from umtslab.plot.dots import aside, draw_dots, limits, marker_of
from umtslab.plot.look import HOUSE, Look, dress, printable
from umtslab.plot.style import halos, new_figure, put_legend, style
from umtslab.plot.ticks import value_ticks
from umtslab.plot.variants import default_axis, others, values_of, words
from umtslab.quantity import in_one_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_campaign(
    record: Record, metric: str, over: str | None = None, *, log: bool = False, look: Look = HOUSE
) -> Figure:
    """Draw a metric over a parameter.

    Parameters
    ----------
    record : Record
        The campaign.
    metric : str
        What is drawn.
    over : str, optional
        The parameter of the horizontal axis; by default the first that is a number and varies.
    log : bool
        A logarithmic horizontal axis.
    look : Look, optional
        How it is printed.

    Returns
    -------
    matplotlib.figure.Figure
        Ticks at the values that were run; intervals of variants side by side; the legend says how many runs.

    Raises
    ------
    CampaignError
        If there is no such parameter, or no run measured the metric.
    """
    log = log or look.log_x
    chosen = over if over is not None else default_axis(record)
    check_axis(record, chosen)
    lines = _lines(record, metric, chosen)
    if not any(summary.n for line in lines.values() for _, summary in line):
        raise CampaignError(f"no run of {record.name} measured {metric}")
    values = values_of(record, chosen)
    found = in_one_unit(values)
    places = found[0] if found is not None else [float(place) for place in range(len(values))]
    unit = found[1] if found is not None else ""
    x_of = {str(value): place for value, place in zip(values, places, strict=True)}
    if log and (found is None or min(places) <= 0):
        raise CampaignError(f"{chosen} cannot go on a logarithmic axis: its values are not numbers above 0")
    with printable(look):
        figure, axes = new_figure(
            record.heading, metric_with_unit(metric), with_unit(key_label(chosen), unit)
        )
        dots = {label: [(x_of[x], summary) for x, summary in line] for label, line in lines.items()}
        _draw_lines(axes, dots, joined=found is not None)
        if log:
            axes.set_xscale("log")
        names = [f"{place:g}" for place in places] if found is not None else [words(v) for v in values]
        value_ticks(axes, places, names, log=log, is_number=found is not None)
        _legend(figure, axes, record, chosen, [s for line in lines.values() for _, s in line])
        return dress(figure, look)


def check_axis(record: Record, key: str) -> None:
    """Refuse what a campaign does not vary.

    Raises
    ------
    CampaignError
        If it does not vary `key`.
    """
    if key not in record.axes:
        raise CampaignError(f"{record.name} does not vary {key!r}; it varies {', '.join(record.axes)}")


def how_many(summaries: Sequence[Summary]) -> str:
    """What an interval is of: "mean and 95 % interval, n = 5"."""
    counts = sorted({summary.n for summary in summaries if summary.n})
    if counts == [1]:
        return "one run each"
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"mean and 95 % interval, n = {n} runs"


def _lines(record: Record, metric: str, over: str) -> dict[str, list[tuple[str, Summary]]]:
    """Points of each variant in the order of the campaign: value of `over`, and the metric's summary."""
    lines: dict[str, list[tuple[str, Summary]]] = {}
    for cell in record.cells:
        if over in cell.parameters:
            lines.setdefault(_entry(record, cell, over), []).append(
                (str(cell.parameters[over]), summarise(cell.values(metric)))
            )
    return lines


def _entry(record: Record, cell: Cell, over: str) -> str:
    """What the legend says of a point's variant, below a heading that says of what: its values."""
    keys = [key for key in others(record, over) if key in cell.parameters]
    return ", ".join(words(cell.parameters[key]) for key in keys)


def _draw_lines(axes: Axes, lines: dict[str, list[tuple[float, Summary]]], *, joined: bool) -> None:
    known = {
        label: sorted((x, s.mean, s.ci95 or 0.0) for x, s in dots if s.mean is not None)
        for label, dots in lines.items()
    }
    wider = halos([[(x, mean) for x, mean, _ in dots] for dots in known.values()])
    for number, (label, dots) in enumerate(known.items()):
        look = style(number) if joined else {**style(number), "linestyle": "none"}
        if dots:
            draw_dots(
                axes,
                dots,
                label or "mean",
                look,
                marker=marker_of(number),
                wider=wider[number],
                aside_pt=aside(number, len(known)),
            )
    axes.set_ylim(limits(dot for dots in known.values() for dot in dots))


def _legend(figure: Figure, axes: Axes, record: Record, over: str, summaries: Sequence[Summary]) -> None:
    """Variants by their values, below what varies and how many runs there are."""
    handles, labels = axes.get_legend_handles_labels()
    heading = ", ".join(key_label(key) for key in others(record, over))
    told = how_many(summaries)
    if not heading:
        put_legend(figure, handles, [told])
        return
    put_legend(figure, handles, labels, title=f"{heading} ({told})")

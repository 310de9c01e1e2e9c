"""A metric of a campaign over one of its parameters: means with 95 % intervals, a line per variant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary, summarise
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.metrics import units
from umtslab.plot.style import COLOURS, finish, new_figure, printable, style
from umtslab.quantity import in_one_unit, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vP*X"


def draw_campaign(record: Record, metric: str, over: str | None = None, *, log: bool = False) -> Figure:
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

    Raises
    ------
    CampaignError
        If there is no such parameter, or no run measured the metric.
    """
    from matplotlib.ticker import MaxNLocator

    chosen = over if over is not None else default_axis(record)
    if chosen not in record.axes:
        raise CampaignError(f"{record.name} does not vary {chosen!r}; it varies {', '.join(record.axes)}")
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
    with printable():
        unit_of = units().get(metric, "")
        figure, axes = new_figure(
            record.title or record.name,
            f"{metric} ({unit_of})" if unit_of else metric,
            f"{chosen} ({unit})" if unit else chosen,
        )
        for number, (label, line) in enumerate(lines.items()):
            _draw_line(
                axes, number, label, [(x_of[x], summary) for x, summary in line], joined=found is not None
            )
        if found is None:
            axes.set_xticks(places, [str(value) for value in values])
        elif not log and all(isinstance(value, int) for value in values):
            axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        finish(figure, axes)
        margin = 0.5 if found is None else 0.04 * ((max(places) - min(places)) or 1)
        if log:
            axes.set_xscale("log")
            axes.set_xlim(min(places) / 1.2, max(places) * 1.2)
        else:
            axes.set_xlim(min(places) - margin, max(places) + margin)
    return figure


def default_axis(record: Record) -> str:
    """The first parameter that is a number and varies, else the first that varies, else the first."""
    varied = [key for key in record.axes if len(values_of(record, key)) > 1] or list(record.axes)
    return next((key for key in varied if in_one_unit(values_of(record, key)) is not None), varied[0])


def _lines(record: Record, metric: str, over: str) -> dict[str, list[tuple[str, Summary]]]:
    """Points of each variant in the order of the campaign: value of `over`, and the metric's summary."""
    lines: dict[str, list[tuple[str, Summary]]] = {}
    for cell in record.cells:
        if over in cell.parameters:
            lines.setdefault(variant(record, cell, over), []).append(
                (str(cell.parameters[over]), summarise(cell.values(metric)))
            )
    return lines


def variant(record: Record, cell: Cell, over: str) -> str:
    """A point's values of the parameters that vary beside `over`, as words."""
    others = [key for key in record.axes if key != over and len(values_of(record, key)) > 1]
    return ", ".join(_word(cell, key) for key in others if key in cell.parameters)


def _word(cell: Cell, key: str) -> str:
    value = cell.parameters[key]
    is_name = isinstance(value, str) and quantity(value) is None
    return str(value) if is_name else f"{key} = {value}"


def values_of(record: Record, key: str) -> list[object]:
    """The different values of a parameter, in the order of the campaign."""
    found = (cell.parameters[key] for cell in record.cells if key in cell.parameters)
    return list({str(value): value for value in found}.values())


def _draw_line(
    axes: Axes, number: int, label: str, dots: Sequence[tuple[float, Summary]], *, joined: bool
) -> None:
    known = sorted((x, s.mean, s.ci95 or 0.0) for x, s in dots if s.mean is not None)
    if not known:
        return
    look = style(number)
    # From the second round of colours on, the marker tells lines apart.
    marker = _MARKERS[(number + number // len(COLOURS)) % len(_MARKERS)]
    axes.errorbar(
        [x for x, _, _ in known],
        [mean for _, mean, _ in known],
        yerr=[half for _, _, half in known],
        label=label or None,
        marker=marker,
        markersize=4,
        capsize=2.5,
        color=look["color"],
        linestyle=look["linestyle"] if joined else "none",
    )

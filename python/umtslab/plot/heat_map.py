"""A metric of a campaign over two parameters: a map of means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary, summarise
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Record
from umtslab.labels import key_label, metric_with_unit, with_unit
from umtslab.numbers import NO_NUMBER, estimate, number
from umtslab.plot.campaign import check_axis, runs_and_interval, unmeasured
from umtslab.plot.look import HOUSE, Look, canvas, dress, printable
from umtslab.plot.ticks import value_ticks
from umtslab.plot.variants import default_axis, other_axes, value_text, values_of
from umtslab.quantity import in_one_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SMALLEST_PT = 5.0
"""Minimum font size in points. Cells that would need smaller numbers have none."""

_AXES_WIDTH = 0.66
"""Width of the axes as a share of the width of the figure."""

_DIGIT_WIDTH = 0.6
"""Width of a digit as a share of the font size."""


def draw_map(
    record: Record, metric: str, over: str | None = None, against: str | None = None, *, look: Look = HOUSE
) -> Figure:
    """Draw the means of a metric over two parameters.

    Parameters
    ----------
    record : Record
        The campaign.
    metric : str
        The metric to draw.
    over, against : str, optional
        The parameters of the horizontal and of the vertical axis; by default the first varied
        parameter with numbers as values, and the first other varied parameter.
    look : Look, optional
        Appearance of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One cell per pair of values, at equal distances. Numbers are sorted. A cell has the mean
        and, below, the half width of its 95 % interval if there is room, with as many digits as in
        tables. A pair with runs but without a value has a dash. A pair without runs is empty.

    Raises
    ------
    CampaignError
        If there are no such parameters, others vary too, or no run measured the metric.
    """
    x = over if over is not None else default_axis(record)
    check_axis(record, x)
    y = against if against is not None else next(iter(other_axes(record, x)), "")
    if not y:
        raise CampaignError(f"{record.name} varies only {x}: a map needs two parameters")
    check_axis(record, y)
    if more := other_axes(record, x, y):
        raise CampaignError(
            f"{record.name} also varies {', '.join(more)}: select with {record.name}@{more[0]}=VALUE"
        )
    columns, rows = _ordered(values_of(record, x)), _ordered(values_of(record, y))
    summaries = {
        (str(cell.parameters.get(x)), str(cell.parameters.get(y))): summarise(cell.values(metric))
        for cell in record.cells
    }
    if not any(summary.n for summary in summaries.values()):
        raise CampaignError(unmeasured([record], metric))
    with printable(look):
        figure = canvas(1.6 + 0.42 * max(len(rows), 3))
        axes = figure.add_subplot()
        table = [[summaries.get((str(column), str(row))) for column in columns] for row in rows]
        _cells(figure, axes, table, metric)
        _axis(axes, x, columns, "x")
        _axis(axes, y, rows, "y")
        axes.set_title(f"{record.heading}\n{runs_and_interval(list(summaries.values()))}", loc="left")
        axes.grid(visible=False)
        return dress(figure, look)


def _ordered(values: list[object]) -> list[object]:
    """Sort the values if they are numbers, else keep their order."""
    in_unit = in_one_unit(values)
    if in_unit is None:
        return values
    return [value for _, value in sorted(zip(in_unit[0], values, strict=True), key=lambda pair: pair[0])]


def _axis(axes: Axes, key: str, values: list[object], which: str) -> None:
    in_unit = in_one_unit(values)
    if in_unit is None:
        names, unit = [value_text(value) for value in values], ""
    else:
        numbers, unit = in_unit
        names = [f"{value:g}" for value in numbers]
    label = with_unit(key_label(key), unit)
    if which == "x":
        value_ticks(axes, range(len(names)), names, log=False, is_number=False)
        axes.set_xlabel(label)
    else:
        axes.set_yticks(range(len(names)), names)
        axes.set_ylabel(label)


def _cells(figure: Figure, axes: Axes, table: list[list[Summary | None]], metric: str) -> None:
    """Draw the means as coloured cells, with numbers if they fit."""
    import numpy as np

    means = np.array(
        [
            [np.nan if summary is None or summary.mean is None else summary.mean for summary in row]
            for row in table
        ]
    )
    image = axes.imshow(means, origin="lower", aspect="auto", cmap="cividis")
    bar = figure.colorbar(image, ax=axes)
    bar.set_label(metric_with_unit(metric))
    texts = {
        (x, y): _number(summary)
        for y, row in enumerate(table)
        for x, summary in enumerate(row)
        if summary is not None
    }
    size = _size_that_fits(figure, means.shape[1], texts.values())
    if size is None:
        return
    middle = (float(np.nanmin(means)) + float(np.nanmax(means))) / 2
    for (x, y), text in texts.items():
        colour = "white" if means[y, x] < middle else "black"
        axes.text(x, y, text, ha="center", va="center", fontsize=size, color=colour)


def _size_that_fits(figure: Figure, columns: int, texts: Iterable[str]) -> float | None:
    """Return the font size of the numbers in cells, in points. None if the cells are too narrow."""
    import matplotlib as mpl

    letters = max(len(line) for text in texts for line in text.split("\n"))
    cell_pt = figure.get_figwidth() * 72 * _AXES_WIDTH / columns  # an inch has 72 points
    size = min(0.83 * float(mpl.rcParams["font.size"]), cell_pt / (_DIGIT_WIDTH * (letters + 0.5)))
    return size if size >= _SMALLEST_PT else None


def _number(summary: Summary) -> str:
    """Format mean and half width as in tables. A dash if runs have no value."""
    if summary.mean is None:
        return NO_NUMBER
    if not summary.ci95:
        return number(summary.mean, 3)
    mean, half = estimate(summary.mean, summary.ci95)
    return f"{mean}\n± {half}"

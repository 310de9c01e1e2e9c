"""A metric of a campaign over a parameter: means with 95 % intervals, one curve per variant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from umtslab.analyse.statistics import Summary, summarise
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.labels import key_label, metric_with_unit, with_unit
from umtslab.overrides import changes_text, shared_changes
from umtslab.plot.dots import Dot, draw_dots, draw_missing, limits
from umtslab.plot.equal import named_equal
from umtslab.plot.look import HOUSE, Look, dress, printable
from umtslab.plot.palette import marker_of, style
from umtslab.plot.style import new_figure, put_legend
from umtslab.plot.ticks import value_ticks
from umtslab.plot.variants import default_axis, other_axes, value_text, values_of
from umtslab.quantity import in_one_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_REASON_WITHOUT_VALUE = {
    "transfer_time_s": "no transfer finished",
    "download_time_s": "no file arrived completely",
    "download_time_data_s": "no file arrived completely",
    "page_time_s": "no page arrived completely",
    "p95_page_time_s": "no page arrived completely",
    "packet_call_time_s": "no packet call ended",
    "session_time_s": "no session ended",
}
"""For each metric, the reason why no run of a point has a value."""

_MAX_LISTED = 6
"""Maximum number of metrics that an error message lists."""


class CurvePoint(NamedTuple):
    """A value on the horizontal axis, the summary of the metric there, and the number of runs."""

    x: float
    summary: Summary
    runs: int


@dataclass(frozen=True)
class Curve:
    """The points of one variant."""

    label: str
    points: tuple[CurvePoint, ...]

    def dots(self) -> list[Dot]:
        """Return value, mean and half width of each point. An unmeasured mean is NaN."""
        return [
            Dot(
                point.x,
                math.nan if point.summary.mean is None else point.summary.mean,
                point.summary.ci95 or 0.0,
            )
            for point in self.points
        ]

    def missing(self) -> list[float]:
        """Return the values that were run but have no mean."""
        return [point.x for point in self.points if point.runs and point.summary.mean is None]


def draw_campaign(
    record: Record | Mapping[str, Record],
    metric: str,
    over: str | None = None,
    *,
    log: bool = False,
    look: Look = HOUSE,
) -> Figure:
    """Draw a metric over a parameter.

    Parameters
    ----------
    record : Record, or mapping of str to Record
        The campaign, or several campaigns by their name in the legend.
    metric : str
        The metric to draw.
    over : str, optional
        The parameter of the horizontal axis; by default the first varied parameter with numbers as
        values.
    log : bool
        Whether the horizontal axis is logarithmic.
    look : Look, optional
        Appearance of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Each value has a marker and a tick. Intervals of variants are drawn side by side. The legend
        states the number of runs and which curves are equal. A point whose runs lack the metric is
        a cross at the upper edge.

    Raises
    ------
    CampaignError
        If there is no such parameter, or no run measured the metric.
    """
    log = log or look.log_x
    records = {"": record} if isinstance(record, Record) else dict(record)
    chosen = over if over is not None else default_axis(next(iter(records.values())))
    for campaign in records.values():
        check_axis(campaign, chosen)
    axis = _Axis.of(list(records.values()), chosen)
    curves = [
        curve for name, campaign in records.items() for curve in _curves(name, campaign, metric, chosen, axis)
    ]
    summaries = [point.summary for curve in curves for point in curve.points]
    if not any(summary.n for summary in summaries):
        raise CampaignError(unmeasured(list(records.values()), metric))
    if log and (axis.unit is None or min(axis.positions.values()) <= 0):
        raise CampaignError(
            f"{chosen} cannot have a logarithmic axis: not all of its values are numbers above 0"
        )
    with printable(look):
        figure, axes = new_figure(
            heading_of(list(records.values())),
            metric_with_unit(metric),
            with_unit(key_label(chosen), axis.unit or ""),
        )
        _draw_curves(axes, curves, metric, joined=axis.unit is not None)
        if log:
            axes.set_xscale("log")
        value_ticks(axes, *axis.ticks(), log=log, is_number=axis.unit is not None)
        _legend(figure, axes, records, chosen, summaries)
        return dress(figure, look)


@dataclass(frozen=True)
class _Axis:
    """Positions of the values of a parameter on an axis, and their labels, by the values' text.

    Numbers are at their value in `unit`. Words are at 0, 1, 2 and so on, and `unit` is None.
    """

    positions: Mapping[str, float]
    names: Mapping[str, str]
    unit: str | None

    @classmethod
    def of(cls, records: Sequence[Record], key: str) -> _Axis:
        values = {str(value): value for record in records for value in values_of(record, key)}
        converted = in_one_unit(list(values.values()))
        if converted is None:
            names = {text: value_text(value) for text, value in values.items()}
            return cls({text: float(index) for index, text in enumerate(values)}, names, None)
        numbers, unit = converted
        positions = dict(zip(values, numbers, strict=True))
        return cls(positions, {text: f"{number:g}" for text, number in positions.items()}, unit)

    def ticks(self) -> tuple[list[float], list[str]]:
        """Return positions and labels. Equal values that are written differently share a tick."""
        names = {position: self.names[text] for text, position in self.positions.items()}
        return list(names), list(names.values())


def heading_of(records: Sequence[Record]) -> str:
    """Return the title of a figure of campaigns: their titles, and the overrides that all share."""
    if len(records) == 1:
        return records[0].heading
    titles = dict.fromkeys(record.title or record.name for record in records)
    changes = changes_text(shared_changes(record.changes for record in records))
    return ", ".join(filter(None, [*titles, changes]))


def unmeasured(records: Sequence[Record], metric: str) -> str:
    """Return the error text for a metric that no run has, with metrics that the runs do have."""
    from umtslab.headline_metrics import headline_names

    names = " and ".join(record.name for record in records)
    runs = [run.metrics for record in records for cell in record.cells for run in cell.runs]
    if not runs:
        return f"{names} has no runs yet: create them with umts sweep"
    known = headline_names(*runs)
    listed = ", ".join(known[:_MAX_LISTED]) + (" …" if len(known) > _MAX_LISTED else "")
    return f"no run of {names} measured {metric}" + (f"; it measured {listed}" if known else "")


def check_axis(record: Record, key: str) -> None:
    """Check that the campaign varies `key`.

    Raises
    ------
    CampaignError
        If the campaign does not vary the key.
    """
    if key not in record.axes:
        raise CampaignError(f"{record.name} does not vary {key!r}; it varies {', '.join(record.axes)}")


def runs_and_interval(summaries: Sequence[Summary]) -> str:
    """Describe intervals by the number of runs: "mean and 95 % interval, n = 5 runs"."""
    counts = sorted({summary.n for summary in summaries if summary.n})
    if counts in ([], [1]):
        return "one run each"
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"mean and 95 % interval, n = {n} runs"


def _curves(name: str, record: Record, metric: str, over: str, axis: _Axis) -> list[Curve]:
    """Return the curves of a campaign, one per variant, sorted along the horizontal axis."""
    points_by_label: dict[str, list[CurvePoint]] = {}
    for cell in record.cells:
        if over in cell.parameters:
            label = ", ".join(filter(None, [name, _legend_entry(record, cell, over)]))
            x = axis.positions[str(cell.parameters[over])]
            point = CurvePoint(x, summarise(cell.values(metric)), len(cell.runs))
            points_by_label.setdefault(label, []).append(point)
    return [
        Curve(label, tuple(sorted(points, key=lambda point: point.x)))
        for label, points in points_by_label.items()
    ]


def _legend_entry(record: Record, cell: Cell, over: str) -> str:
    """Return the legend entry of a variant: its values. The legend's title names the parameters."""
    keys = [key for key in other_axes(record, over) if key in cell.parameters]
    return ", ".join(value_text(cell.parameters[key]) for key in keys)


def _draw_curves(axes: Axes, curves: Sequence[Curve], metric: str, *, joined: bool) -> None:
    dots = [curve.dots() for curve in curves]
    labels = named_equal(
        [curve.label or "mean" for curve in curves],
        [tuple(dot for dot in dots_of_curve if not math.isnan(dot.mean)) for dots_of_curve in dots],
    )
    for number, (label, dots_of_curve) in enumerate(zip(labels, dots, strict=True)):
        look = style(number) if joined else {**style(number), "linestyle": "none"}
        draw_dots(
            axes, dots_of_curve, label, look, marker=marker_of(number), number=number, count=len(curves)
        )
    missing = [
        (x, str(style(number)["color"])) for number, curve in enumerate(curves) for x in curve.missing()
    ]
    draw_missing(axes, missing, _REASON_WITHOUT_VALUE.get(metric, "no run has a value"))
    axes.set_ylim(limits(dot for dots_of_curve in dots for dot in dots_of_curve))


def _legend(
    figure: Figure, axes: Axes, records: Mapping[str, Record], over: str, summaries: Sequence[Summary]
) -> None:
    """Draw the legend: the values of each variant, below the parameters and the number of runs.

    A single curve has no values to show, so its entry is the number of runs.
    """
    handles, labels = axes.get_legend_handles_labels()
    keys = dict.fromkeys(key for record in records.values() for key in other_axes(record, over))
    has_several = len({record.name for record in records.values()}) > 1
    heading = ", ".join([*(["Campaign"] if has_several else []), *map(key_label, keys)])
    counts = runs_and_interval(summaries)
    if not heading and len(records) == 1:
        # The first entry is the curve ("mean"). The other entry marks cells without a value.
        put_legend(figure, handles, [counts, *labels[1:]])
        return
    put_legend(figure, handles, labels, title=f"{heading} ({counts})" if heading else counts)

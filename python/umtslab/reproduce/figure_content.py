"""Collects the content of the figures and tables of a reproduction from the results of its runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from umtslab.reproduce.claims import Claim
from umtslab.reproduce.counts import recorded
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.figure_curves import Gaps, curves, scattered_points, time_courses, variants
from umtslab.reproduce.figuredata import FigureData, Line, StatedNumber
from umtslab.reproduce.measure import measure_phases
from umtslab.reproduce.pdus import pdus_of
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import Figure, Plan
from umtslab.reproduce.results import Results
from umtslab.reproduce.stated_numbers import numbers_at_points, numbers_over_time


def figure_data(plan: Plan, figure: Figure, results: Results, claims: Sequence[Claim]) -> FigureData:
    """Collect the content of a figure.

    `gaps` of the result names curves that cannot be drawn yet.
    """
    match figure.kind:
        case "pdus":
            return _pdus(plan, figure, results)
        case "channels":
            return _channels(plan, figure, results)
        case _:
            return _figure_with_curves(plan, figure, results, claims)


def _pdus(plan: Plan, figure: Figure, results: Results) -> FigureData:
    """Return the PDUs of the first run at the figure's point, up to the figure's end."""
    try:
        pdus = pdus_of(results.recorded(plan.point(figure.at)))
    except Missing as missing:
        return FigureData(figure, gaps=(str(missing),))
    return FigureData(figure, pdus=pdus.filter(pdus["time_s"] < figure.until_s))


def _channels(plan: Plan, figure: Figure, results: Results) -> FigureData:
    """Return the first run at the figure's point, if it recorded its RRC states."""
    try:
        run = results.recorded(plan.point(figure.at))
        recorded(run, "rrc_state")
    except Missing as missing:
        return FigureData(figure, gaps=(str(missing),))
    return FigureData(figure, run=run)


def _figure_with_curves(plan: Plan, figure: Figure, results: Results, claims: Sequence[Claim]) -> FigureData:
    gaps = Gaps()
    lines: list[Line]
    stated: Iterable[StatedNumber] = ()
    phases: tuple[Phase, ...] = ()
    match figure.kind:
        case "time":
            lines = list(time_courses(plan, figure, results, gaps))
            stated = numbers_over_time(figure, claims)
            phases = _phases(plan, figure, results)
        case "scatter":
            lines = list(scattered_points(plan, figure, results, gaps))
        case _:
            lines = list(curves(plan, figure, results, gaps))
            stated = numbers_at_points(plan, figure, claims, results)
    return FigureData(
        figure,
        x_label=_x_label(plan, figure),
        curves_label=" and ".join(plan.dimensions[name].label for name in figure.curves if name != figure.x),
        lines=tuple(lines),
        # Several claims can state the same number.
        stated=tuple(dict.fromkeys(stated)),
        gaps=tuple(gaps),
        phases=phases,
    )


def _x_label(plan: Plan, figure: Figure) -> str:
    if figure.x_label:
        return figure.x_label
    return "Time (s)" if figure.kind == "time" else plan.dimensions[figure.x].label


def _phases(plan: Plan, figure: Figure, results: Results) -> tuple[Phase, ...]:
    """Return the phases of the first run if the figure shows a transfer with phases, else none."""
    for quantity in figure.y:
        for variant in variants(plan, figure):
            point = {**plan.defaults, **variant.values}
            if plan.metric(quantity, point).phases:
                phases_of_runs = measure_phases(plan, results, quantity, point)
                return tuple(phases_of_runs[0])
    return ()

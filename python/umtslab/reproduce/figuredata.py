"""Content of the figures and tables of a reproduction: measured curves, and the document's numbers.

A figure shows quantities over one dimension of the plan, or over time. It has a curve for each
combination of the values of other dimensions (a *variant*), and marks the numbers that the document
states for the same points. `figures` draws this content, and the report writes it as tables.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict

from umtslab.analyse.statistics import Summary, summarise
from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.conditions import matching, rank, resolve_conditions
from umtslab.reproduce.counts import recorded
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.measure import measure, measure_phases, measure_series, too_few
from umtslab.reproduce.pdus import pdus_of
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import AVERAGE, Figure, Plan, Point, same, text
from umtslab.reproduce.results import Results, Series
from umtslab.reproduce.time_course import bins

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run


@dataclass(frozen=True)
class Dot:
    """A measured point of a curve."""

    x: Value
    y: Summary


@dataclass(frozen=True)
class StatedNumber:
    """A number stated in the document, at one x or over a time span."""

    label: str
    quantity: str
    x: Value
    y: float
    x_end: float | None = None


@dataclass(frozen=True)
class Line:
    """One curve."""

    label: str
    quantity: str
    honest: bool
    """Whether the runs have 3GPP's accounting (`Plan.honest`). They are not scored."""
    dots: tuple[Dot, ...]
    one_run: tuple[tuple[float, float], ...] = ()
    """Time course of the first run, as pairs of seconds and value."""
    change: str = ""
    """The settings that differ from the scored runs."""


class Row(TypedDict):
    """A measured point as a row of a table.

    `stated` is the document's number for the point, if there is one. `change` lists the settings
    that differ from the scored runs.
    """

    curve: str
    accounting: str
    at: Value
    quantity: str
    n: int
    mean: float | None
    sd: float | None
    ci95: float | None
    stated: float | None
    change: str


@dataclass(frozen=True)
class Picture:
    """A drawn figure."""

    pixels: bytes
    """The figure as a PNG file."""
    address: str
    """Data URL of the figure as vector graphics."""


@dataclass(frozen=True)
class FigureData:
    """The content of a figure or table: lines, or the RLC PDUs of one run."""

    figure: Figure
    x_label: str
    lines: tuple[Line, ...]
    stated: tuple[StatedNumber, ...]
    gaps: tuple[str, ...]
    pdus: pl.DataFrame | None = field(default=None, compare=False)
    run: Run | None = field(default=None, compare=False)
    phases: tuple[Phase, ...] = ()
    drawn: list[Picture] = field(default_factory=list, compare=False, repr=False)
    """The picture in the house style, once drawn. At most one."""
    curves_label: str = ""
    """The quantity with the values that label the curves."""

    @property
    def is_drawn(self) -> bool:
        """Whether the figure has a picture."""
        return (
            self.run is not None
            or self.pdus is not None
            or (bool(self.lines) and self.figure.kind != "table")
        )

    def rows(self) -> Iterator[Row]:
        """Yield the points as rows of a table, with the document's number if it states one."""
        stated = {
            (number.quantity, number.label, text(number.x)): number.y
            for number in self.stated
            if number.x_end is None
        }
        for line in self.lines:
            for dot in line.dots:
                yield {
                    "curve": line.label,
                    "accounting": "honest" if line.honest else "compatible",
                    "at": dot.x,
                    "quantity": line.quantity,
                    "n": dot.y.n,
                    "mean": dot.y.mean,
                    "sd": dot.y.sd,
                    "ci95": dot.y.ci95,
                    "stated": None if line.change else stated.get((line.quantity, line.label, text(dot.x))),
                    "change": line.change,
                }


def figure_data(plan: Plan, figure: Figure, results: Results, claims: Sequence[Claim]) -> FigureData:
    """Collect the content of a figure.

    `gaps` of the result names curves that cannot be drawn yet.
    """
    gaps: dict[str, None] = {}  # an ordered set of reasons
    if figure.kind in {"pdus", "channels"}:
        return _figure_of_one_run(plan, figure, results)
    lines_of = {"time": _time_course_lines, "scatter": _scatter_lines}.get(figure.kind, _lines)
    lines = list(lines_of(plan, figure, results, gaps))
    if figure.kind == "scatter":
        stated: Iterable[StatedNumber] = ()
    else:
        stated = _marks(figure, claims) if figure.kind == "time" else _stated(plan, figure, claims, results)
    x_label = figure.x_label or ("Time (s)" if figure.kind == "time" else plan.dimensions[figure.x].label)
    spans = _phases(plan, figure, results) if figure.kind == "time" else ()
    curves_label = " and ".join(plan.dimensions[name].label for name in figure.curves if name != figure.x)
    return FigureData(
        figure,
        x_label,
        tuple(lines),
        tuple(dict.fromkeys(stated)),
        tuple(gaps),
        phases=spans,
        curves_label=curves_label,
    )


def _phases(plan: Plan, figure: Figure, results: Results) -> tuple[Phase, ...]:
    """Return the phases of the first run if the figure shows a transfer with phases, else none."""
    for quantity in figure.y:
        for variant in _variants(plan, figure):
            point = {**plan.defaults, **variant.values}
            if plan.metric(quantity, point).phases:
                return tuple(measure_phases(plan, results, quantity, point)[0])
    return ()


def with_change(data: FigureData, changed: FigureData, change: str) -> FigureData:
    """Add the curves of runs with a change to a figure. The original curves remain the scored ones.

    Curves that become equal by the change (for example if it sets the TCP version) are drawn once.
    """
    changed_lines: dict[tuple[object, ...], Line] = {}
    for line in changed.lines:
        content = (line.quantity, line.honest, line.dots)
        label = change if content in changed_lines else f"{line.label}, {change}".removeprefix(", ")
        changed_lines[content] = replace(line, label=label, one_run=(), change=change)
    new = [f"with {change}: {gap}" for gap in changed.gaps if gap not in data.gaps]
    return replace(data, lines=(*data.lines, *changed_lines.values()), gaps=(*data.gaps, *new))


def _figure_of_one_run(plan: Plan, figure: Figure, results: Results) -> FigureData:
    """Return the PDUs or the channel use of the first run at the figure's point."""
    try:
        run = results.recorded(plan.point(figure.at))
        if figure.kind == "channels":
            recorded(run, "rrc_state")
            return FigureData(figure, x_label="", lines=(), stated=(), gaps=(), run=run)
        pdus = pdus_of(run)
    except Missing as missing:
        return FigureData(figure, x_label="", lines=(), stated=(), gaps=(str(missing),))
    pdus = pdus.filter(pdus["time_s"] < figure.until_s)
    return FigureData(figure, x_label="", lines=(), stated=(), gaps=(), pdus=pdus)


@dataclass(frozen=True)
class _Variant:
    """A curve of a figure: its label, and the values that it has in some dimensions."""

    label: str
    honest: bool
    """Whether the curve has 3GPP's accounting (`Plan.honest`)."""
    values: dict[str, Value]


def _variants(plan: Plan, figure: Figure) -> Iterator[_Variant]:
    """Yield the curves of a figure. If the plan has 3GPP's accounting, each curve comes once with it."""
    names = [name for name in figure.curves if name != figure.x]
    for honest in (False, True) if plan.honest else (False,):
        for values in itertools.product(*(figure.curves[name] for name in names)):
            label = ", ".join(text(value) for value in values)
            accounting = plan.honest if honest else {}
            yield _Variant(
                label, honest, {**figure.at, **dict(zip(names, values, strict=True)), **accounting}
            )


def _lines(plan: Plan, figure: Figure, results: Results, gaps: dict[str, None]) -> Iterator[Line]:
    """Yield the curves of a figure. Reasons of missing points are added to `gaps`."""
    for quantity in figure.y:
        for variant in _variants(plan, figure):
            if (reason := plan.lacks(plan.point(variant.values))) is not None:
                gaps[reason] = None
                continue
            dots = sorted(
                _dots(plan, figure, results, quantity, variant.values, gaps), key=lambda dot: rank(dot.x)
            )
            if dots:
                yield Line(variant.label, quantity, variant.honest, tuple(dots))


def _dots(
    plan: Plan, figure: Figure, results: Results, quantity: str, values: Point, gaps: dict[str, None]
) -> Iterator[Dot]:
    """Yield the points of the curve with these values.

    There is a point at each x that was run. If the figure lists values of x, other values are left
    out. Reasons of missing points are added to `gaps`.
    """
    base = _base(plan, figure, values)
    listed = figure.curves.get(figure.x)
    matching_points = matching(
        plan,
        {name: value for name, value in base.items() if name != figure.x},
        results.sets() if figure.average else results.points(),
    )
    for x in {text(point[figure.x]): point[figure.x] for point in matching_points}.values():
        if listed is not None and not any(same(x, value) for value in listed):
            continue
        try:
            point = {**base, figure.x: x}
            if (reason := too_few(plan, results, quantity, point)) is not None:
                curve = _curve_text(plan, figure, values)
                gaps[f"{quantity} at {figure.x} {text(x)}{curve}: {reason}"] = None
                continue
            yield Dot(x, summarise(measure(plan, results, quantity, point)))
        except Missing as missing:
            gaps[str(missing)] = None


def _curve_text(plan: Plan, figure: Figure, values: Point) -> str:
    """Return the values that distinguish a curve, in brackets."""
    names = [name for name in (*figure.curves, *plan.honest) if name != figure.x and name in values]
    return f" ({', '.join(text(values[name]) for name in names)})" if names else ""


def _base(plan: Plan, figure: Figure, values: Point) -> dict[str, Value]:
    """Return the point of a curve, with default or averaged values of the dimensions not shown."""
    return plan.point({**(plan.average_point() if figure.average else {}), **values})


def _scatter_lines(plan: Plan, figure: Figure, results: Results, gaps: dict[str, None]) -> Iterator[Line]:
    """Yield one point per parameter set: the means over its runs."""
    for quantity in figure.y:
        for variant in _variants(plan, figure):
            dots = []
            for point in matching(plan, variant.values, results.sets()):
                x = summarise(measure(plan, results, figure.x, point)).mean
                y = summarise(measure(plan, results, quantity, point))
                dots += [] if x is None else [Dot(x, y)]
            if dots:
                dots.sort(key=lambda dot: float(dot.x))
                yield Line(variant.label, quantity, variant.honest, tuple(dots))
            else:
                gaps["the parameter sets were not run"] = None


def _time_course_lines(plan: Plan, figure: Figure, results: Results, gaps: dict[str, None]) -> Iterator[Line]:
    """Yield the curves of a figure over time."""
    for quantity in figure.y:
        for variant in _variants(plan, figure):
            try:
                runs = measure_series(plan, results, quantity, {**plan.defaults, **variant.values})
            except Missing as missing:
                gaps[str(missing)] = None
                continue
            yield _time_course_line(variant, quantity, runs, figure.window_s)
    yield from _levels(plan, figure, results)


def _time_course_line(variant: _Variant, quantity: str, runs: Sequence[Series], window_s: float) -> Line:
    """Return the means of all runs in bins of `window_s`, and the course of the first run."""
    end_s = min(run.end_s for run in runs)
    bins_of_runs = [bins(run, 0.0, end_s, window_s) for run in runs]
    dots = [
        Dot(same_bins[0].start_s, summarise(time_bin.mean for time_bin in same_bins))
        for same_bins in zip(*bins_of_runs, strict=True)
    ]
    first_run = tuple(
        (time_bin.start_s, time_bin.mean) for time_bin in bins_of_runs[0] if time_bin.mean is not None
    )
    dots = [dot for dot in dots if dot.y.mean is not None]
    return Line(variant.label, quantity, variant.honest, tuple(dots), first_run)


def _levels(plan: Plan, figure: Figure, results: Results) -> Iterator[Line]:
    """Yield measured numbers that are drawn as levels over a time span."""
    for level in figure.levels:
        for variant in _variants(plan, figure):
            try:
                point = {**plan.defaults, **variant.values, **level.at}
                summary = summarise(measure(plan, results, level.quantity, point))
            except Missing:
                continue  # the curve over time has named the gap
            dots = (Dot(level.start_s, summary), Dot(level.end_s, summary))
            yield Line(f"{variant.label}, {level.label}", level.quantity, variant.honest, dots)


def _stated(plan: Plan, figure: Figure, claims: Sequence[Claim], results: Results) -> Iterator[StatedNumber]:
    """Yield the numbers that the document states for points of the figure's curves."""
    curve_names = [name for name in figure.curves if name != figure.x]
    # Values of the dimensions that the figure does not show.
    hidden_values = {
        name: value
        for name, value in _base(plan, figure, figure.at).items()
        if name != figure.x and name not in curve_names and value != AVERAGE
    }
    for claim in _values(claims):
        if (
            claim.metric not in figure.y
            or not plan.covers(claim)
            or figure.average != plan.is_averaged(claim)
        ):
            continue
        for case in _all_cases(claim, plan, results):
            is_in_figure = all(same(case[name], value) for name, value in hidden_values.items())
            is_on_curve = is_in_figure and all(
                any(same(case[name], value) for value in figure.curves[name]) for name in curve_names
            )
            if is_on_curve:
                label = ", ".join(text(case[name]) for name in curve_names)
                yield StatedNumber(label, claim.metric, case[figure.x], float(claim.expected))


def _all_cases(claim: Claim, plan: Plan, results: Results) -> Iterable[dict[str, Value]]:
    try:
        return resolve_conditions(claim, plan, results.points(), results.sets()).cases
    except Missing:
        return ()


def _marks(figure: Figure, claims: Sequence[Claim]) -> Iterator[StatedNumber]:
    """Yield the numbers of the document that are drawn over a time span.

    A number is drawn for each curve of a TCP version (condition ``tcp``) that its claim names, or, if it
    names none, for a curve with the name of the claim's metric.
    """
    claim_of_id = {claim.id: claim for claim in _values(claims)}
    curve_values = {text(value) for values in figure.curves.values() for value in values}
    for mark in figure.marks:
        if (claim := claim_of_id.get(mark.claim)) is None:
            continue
        tcp_versions = claim.conditions.get("tcp")
        names = tcp_versions if isinstance(tcp_versions, list) else [tcp_versions or claim.metric]
        for name in names:
            if text(name) in curve_values:
                yield StatedNumber(
                    label=text(name),
                    quantity=claim.metric,
                    x=mark.start_s,
                    y=float(claim.expected),
                    x_end=mark.end_s,
                )


def _values(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims about a single number."""
    return [claim for claim in claims if claim.kind == "value" and not isinstance(claim.expected, str)]

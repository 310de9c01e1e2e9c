"""What a figure or table of a plan shows: our points with their intervals, and the document's numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict

from umtslab.analyse.statistics import Summary, summarise
from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.conditions import matching, question, rank
from umtslab.reproduce.counts import recorded
from umtslab.reproduce.course import bins
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.measure import measure, measure_phases, measure_series, too_few
from umtslab.reproduce.pdus import pdus_of
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import AVERAGE, Figure, Plan, Point, same, text
from umtslab.reproduce.results import Results, Series

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run


@dataclass(frozen=True)
class Dot:
    """A measured point of a curve."""

    x: Value
    y: Summary


@dataclass(frozen=True)
class Stated:
    """A number of the document: at one x, or over a span of time."""

    label: str
    quantity: str
    x: Value
    y: float
    x_end: float | None = None


@dataclass(frozen=True)
class Line:
    """One curve.

    `honest` tells that it was measured with 3GPP's accounting; `one_run` is a single run's course over time;
    `change` is what was set otherwise than in the runs that are scored.
    """

    label: str
    quantity: str
    honest: bool
    dots: tuple[Dot, ...]
    one_run: tuple[tuple[float, float], ...] = ()
    change: str = ""


class Row(TypedDict):
    """A measured point as a row of a table.

    `stated` is the document's number for it, if there is one; `change` what was set otherwise than in the
    runs that are scored.
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
    """A figure as it is drawn."""

    pixels: bytes
    """A file in PNG."""
    address: str
    """An address that holds it as lines."""


@dataclass(frozen=True)
class FigureData:
    """All that is drawn in a figure or written in a table: lines, or the RLC PDUs of one run."""

    figure: Figure
    x_label: str
    lines: tuple[Line, ...]
    stated: tuple[Stated, ...]
    gaps: tuple[str, ...]
    pdus: pl.DataFrame | None = field(default=None, compare=False)
    run: Run | None = field(default=None, compare=False)
    phases: tuple[Phase, ...] = ()
    drawn: list[Picture] = field(default_factory=list, compare=False, repr=False)
    """Its picture in the house style, once somebody asked for it."""
    curves_label: str = ""
    """What the labels of the curves are values of."""

    @property
    def is_drawn(self) -> bool:
        """Whether there is a picture of it."""
        return (
            self.run is not None
            or self.pdus is not None
            or (bool(self.lines) and self.figure.kind != "table")
        )

    def rows(self) -> Iterator[Row]:
        """The points as rows of a table, the document's number beside ours where there is one."""
        stated = {
            (mark.quantity, mark.label, text(mark.x)): mark.y for mark in self.stated if mark.x_end is None
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
    """Collect what a figure shows; curves that cannot be drawn yet are named in `gaps`."""
    gaps: dict[str, None] = {}
    if figure.kind in {"pdus", "channels"}:
        return _of_one_run(plan, figure, results)
    collect = {"time": _course_lines, "scatter": _clouds}.get(figure.kind, _lines)
    lines = list(collect(plan, figure, results, gaps))
    if figure.kind == "scatter":
        stated: Iterable[Stated] = ()
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
    """The phases of the first run, where the figure shows a transfer that has them."""
    for quantity in figure.y:
        for _, _, values in _variants(plan, figure):
            point = {**plan.defaults, **values}
            if plan.metric(quantity, point).phases:
                return tuple(measure_phases(plan, results, quantity, point)[0])
    return ()


def with_change(data: FigureData, changed: FigureData, change: str) -> FigureData:
    """A figure with the curves of other runs beside its own, which stay what is scored.

    Curves that the change makes the same (all TCP versions, where it sets the version) are one.
    """
    beside: dict[tuple[object, ...], Line] = {}
    for line in changed.lines:
        curve = (line.quantity, line.honest, line.dots)
        label = change if curve in beside else f"{line.label}, {change}".removeprefix(", ")
        beside[curve] = replace(line, label=label, one_run=(), change=change)
    new = [f"with {change}: {gap}" for gap in changed.gaps if gap not in data.gaps]
    return replace(data, lines=(*data.lines, *beside.values()), gaps=(*data.gaps, *new))


def _of_one_run(plan: Plan, figure: Figure, results: Results) -> FigureData:
    """The first run at the figure's point: its PDUs, or who was on which channel."""
    try:
        run = results.recorded(plan.point(figure.at))
        if figure.kind == "channels":
            recorded(run, "rrc_state")
            return FigureData(figure, "", (), (), (), run=run)
        pdus = pdus_of(run)
    except Missing as missing:
        return FigureData(figure, "", (), (), (str(missing),))
    return FigureData(figure, "", (), (), (), pdus.filter(pdus["time_s"] < figure.until_s))


def _variants(plan: Plan, figure: Figure) -> Iterator[tuple[str, bool, dict[str, Value]]]:
    """Label, honesty and values of each curve."""
    names = [name for name in figure.curves if name != figure.x]
    for honest in (False, True) if plan.honest else (False,):
        for values in itertools.product(*(figure.curves[name] for name in names)):
            point = {**figure.at, **dict(zip(names, values, strict=True)), **(plan.honest if honest else {})}
            yield ", ".join(text(value) for value in values), honest, point


def _lines(plan: Plan, figure: Figure, results: Results, gaps: dict[str, None]) -> Iterator[Line]:
    for quantity in figure.y:
        for label, honest, point in _variants(plan, figure):
            if (reason := plan.lacks(plan.point(point))) is not None:
                gaps[reason] = None
                continue
            dots = sorted(_dots(plan, figure, results, quantity, point, gaps), key=lambda dot: rank(dot.x))
            if dots:
                yield Line(label, quantity, honest, tuple(dots))


def _dots(
    plan: Plan, figure: Figure, results: Results, quantity: str, values: Point, gaps: dict[str, None]
) -> Iterator[Dot]:
    base = _base(plan, figure, values)
    wanted = figure.curves.get(figure.x)
    there = matching(
        plan,
        {name: value for name, value in base.items() if name != figure.x},
        results.sets() if figure.average else results.points(),
    )
    for x in {text(point[figure.x]): point[figure.x] for point in there}.values():
        if wanted is not None and not any(same(x, value) for value in wanted):
            continue
        try:
            point = {**base, figure.x: x}
            if (few := too_few(plan, results, quantity, point)) is not None:
                gaps[f"{quantity} at {figure.x} {text(x)}{_of_curve(plan, figure, values)}: {few}"] = None
                continue
            yield Dot(x, summarise(measure(plan, results, quantity, point)))
        except Missing as missing:
            gaps[str(missing)] = None


def _of_curve(plan: Plan, figure: Figure, values: Point) -> str:
    """Which curve a point belongs to."""
    names = [name for name in (*figure.curves, *plan.honest) if name != figure.x and name in values]
    return f" ({', '.join(text(values[name]) for name in names)})" if names else ""


def _base(plan: Plan, figure: Figure, values: Point) -> dict[str, Value]:
    """Where a curve lies in the dimensions that it does not show: at the defaults, or averaged over."""
    return plan.point({**(plan.average_point() if figure.average else {}), **values})


def _clouds(plan: Plan, figure: Figure, results: Results, gaps: dict[str, None]) -> Iterator[Line]:
    """A point for each set of parameters: the means over its runs."""
    for quantity in figure.y:
        for label, honest, values in _variants(plan, figure):
            dots = []
            for point in matching(plan, values, results.sets()):
                x = summarise(measure(plan, results, figure.x, point)).mean
                y = summarise(measure(plan, results, quantity, point))
                dots += [] if x is None else [Dot(x, y)]
            if dots:
                yield Line(label, quantity, honest, tuple(sorted(dots, key=lambda dot: float(dot.x))))
            else:
                gaps["the sets of parameters were not run"] = None


def _course_lines(plan: Plan, figure: Figure, results: Results, gaps: dict[str, None]) -> Iterator[Line]:
    for quantity in figure.y:
        for label, honest, values in _variants(plan, figure):
            try:
                runs = measure_series(plan, results, quantity, {**plan.defaults, **values})
            except Missing as missing:
                gaps[str(missing)] = None
                continue
            yield _course(label, quantity, honest, runs, figure.window_s)
    yield from _levels(plan, figure, results)


def _course(label: str, quantity: str, honest: bool, runs: Sequence[Series], window_s: float) -> Line:
    end = min(run.end_s for run in runs)
    columns = [bins(run, 0.0, end, window_s) for run in runs]
    dots = [Dot(row[0][0], summarise(mean for _, mean in row)) for row in zip(*columns, strict=True)]
    first = tuple((start, mean) for start, mean in columns[0] if mean is not None)
    return Line(label, quantity, honest, tuple(dot for dot in dots if dot.y.mean is not None), first)


def _levels(plan: Plan, figure: Figure, results: Results) -> Iterator[Line]:
    for level in figure.levels:
        for label, honest, values in _variants(plan, figure):
            try:
                point = {**plan.defaults, **values, **level.at}
                summary = summarise(measure(plan, results, level.quantity, point))
            except Missing:
                continue  # the curve over time has named the gap
            dots = (Dot(level.start_s, summary), Dot(level.end_s, summary))
            yield Line(f"{label}, {level.label}", level.quantity, honest, dots)


def _stated(plan: Plan, figure: Figure, claims: Sequence[Claim], results: Results) -> Iterator[Stated]:
    """The value claims about this quantity whose conditions are a point of the figure."""
    names = [name for name in figure.curves if name != figure.x]
    base = _base(plan, figure, figure.at)
    for claim in _values(claims):
        if (
            claim.metric not in figure.y
            or not plan.covers(claim)
            or figure.average != plan.is_averaged(claim)
        ):
            continue
        for case in _all_cases(claim, plan, results):
            off = [
                k
                for k, v in base.items()
                if k != figure.x and k not in names and not same(case[k], v) and v != AVERAGE
            ]
            listed = all(any(same(case[k], v) for v in figure.curves[k]) for k in names)
            if not off and listed:
                label = ", ".join(text(case[name]) for name in names)
                yield Stated(label, claim.metric, case[figure.x], float(claim.expected))


def _all_cases(claim: Claim, plan: Plan, results: Results) -> Iterable[dict[str, Value]]:
    try:
        return question(claim, plan, results.points(), results.sets()).cases
    except Missing:
        return ()


def _marks(figure: Figure, claims: Sequence[Claim]) -> Iterator[Stated]:
    values = {claim.id: claim for claim in _values(claims)}
    for mark in figure.marks:
        if (claim := values.get(mark.claim)) is not None:
            named = claim.conditions.get("tcp")
            shown = {text(value) for values in figure.curves.values() for value in values}
            for value in named if isinstance(named, list) else [named or claim.metric]:
                if text(value) in shown:
                    yield Stated(text(value), claim.metric, mark.start_s, float(claim.expected), mark.end_s)


def _values(claims: Sequence[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.kind == "value" and not isinstance(claim.expected, str)]

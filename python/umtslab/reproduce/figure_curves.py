"""The measured curves of a figure: over a dimension of the plan, over time, or as a scatter plot.

A figure has a curve for each quantity (`Figure.y`) and each *variant*: a combination of values of the
dimensions that distinguish its curves (`Figure.curves`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from umtslab.analyse.statistics import summarise
from umtslab.reproduce.claims import Value
from umtslab.reproduce.conditions import matching, rank
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.figuredata import Dot, Line
from umtslab.reproduce.measure import measure, measure_series, too_few
from umtslab.reproduce.plan import Figure, Plan, Point, same, text
from umtslab.reproduce.results import Results, Series
from umtslab.reproduce.time_course import bins


class Gaps:
    """Why curves or points of a figure are missing: each reason once, in the order of the curves."""

    def __init__(self) -> None:
        self._reasons: dict[str, None] = {}

    def add(self, reason: object) -> None:
        """Add a reason, or an exception with the reason as message."""
        self._reasons[str(reason)] = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._reasons)


@dataclass(frozen=True)
class Variant:
    """A curve of each quantity of a figure."""

    label: str
    """The values that distinguish the curve."""
    honest: bool
    """Whether the curve has 3GPP's accounting (`Plan.honest`)."""
    values: dict[str, Value]
    """All values of dimensions that the figure fixes for the curve."""


def variants(plan: Plan, figure: Figure) -> Iterator[Variant]:
    """Yield the variants of a figure. If the plan has 3GPP's accounting, each comes once with it."""
    names = [name for name in figure.curves if name != figure.x]
    for honest in (False, True) if plan.honest else (False,):
        accounting = plan.honest if honest else {}
        for combination in itertools.product(*(figure.curves[name] for name in names)):
            label = ", ".join(text(value) for value in combination)
            distinguishing = dict(zip(names, combination, strict=True))
            yield Variant(label, honest, {**figure.at, **distinguishing, **accounting})


# ── Curves over a dimension ─────────────────────────────────────────────────────────────────────────


def curves(plan: Plan, figure: Figure, results: Results, gaps: Gaps) -> Iterator[Line]:
    """Yield the curves over the dimension `Figure.x`. Reasons of missing points are added to `gaps`."""
    for quantity in figure.y:
        for variant in variants(plan, figure):
            unsupported = plan.lacks(plan.point(variant.values))
            if unsupported is not None:
                gaps.add(unsupported)
                continue
            dots = sorted(
                _dots(plan, figure, results, quantity, variant.values, gaps), key=lambda dot: rank(dot.x)
            )
            if dots:
                yield Line(variant.label, quantity, variant.honest, tuple(dots))


def _dots(
    plan: Plan, figure: Figure, results: Results, quantity: str, values: Point, gaps: Gaps
) -> Iterator[Dot]:
    """Yield the points of the curve with these values: one at each x that was run and is shown."""
    base = point_of_curve(plan, figure, values)
    for x in _shown_x(plan, figure, results, base):
        point = {**base, figure.x: x}
        try:
            if (reason := too_few(plan, results, quantity, point)) is not None:
                curve = _curve_text(plan, figure, values)
                gaps.add(f"{quantity} at {figure.x} {text(x)}{curve}: {reason}")
                continue
            yield Dot(x, summarise(measure(plan, results, quantity, point)))
        except Missing as missing:
            gaps.add(missing)


def point_of_curve(plan: Plan, figure: Figure, values: Point) -> dict[str, Value]:
    """Return the point of a curve, with default or averaged values of the dimensions not shown."""
    return plan.point({**(plan.average_point() if figure.average else {}), **values})


def _shown_x(plan: Plan, figure: Figure, results: Results, base: Point) -> list[Value]:
    """Return the values of x at which the curve was run. If the figure lists values, only these."""
    run_points = matching(
        plan,
        {name: value for name, value in base.items() if name != figure.x},
        results.sets() if figure.average else results.points(),
    )
    x_of_text = {text(point[figure.x]): point[figure.x] for point in run_points}
    listed = figure.curves.get(figure.x)
    return [x for x in x_of_text.values() if listed is None or any(same(x, value) for value in listed)]


def _curve_text(plan: Plan, figure: Figure, values: Point) -> str:
    """Return the values that distinguish a curve, in brackets."""
    names = [name for name in (*figure.curves, *plan.honest) if name != figure.x and name in values]
    return f" ({', '.join(text(values[name]) for name in names)})" if names else ""


# ── Scatter plots ───────────────────────────────────────────────────────────────────────────────────


def scattered_points(plan: Plan, figure: Figure, results: Results, gaps: Gaps) -> Iterator[Line]:
    """Yield one point per parameter set: the means of two quantities over its runs."""
    for quantity in figure.y:
        for variant in variants(plan, figure):
            dots = []
            for parameter_set in matching(plan, variant.values, results.sets()):
                x = summarise(measure(plan, results, figure.x, parameter_set)).mean
                y = summarise(measure(plan, results, quantity, parameter_set))
                if x is not None:
                    dots.append(Dot(x, y))
            if dots:
                dots.sort(key=lambda dot: float(dot.x))
                yield Line(variant.label, quantity, variant.honest, tuple(dots))
            else:
                gaps.add("the parameter sets were not run")


# ── Curves over time ────────────────────────────────────────────────────────────────────────────────


def time_courses(plan: Plan, figure: Figure, results: Results, gaps: Gaps) -> Iterator[Line]:
    """Yield the curves of a figure over time, then its levels (`Figure.levels`)."""
    for quantity in figure.y:
        for variant in variants(plan, figure):
            try:
                runs = measure_series(plan, results, quantity, {**plan.defaults, **variant.values})
            except Missing as missing:
                gaps.add(missing)
                continue
            yield _time_course(variant, quantity, runs, figure.window_s)
    yield from _levels(plan, figure, results)


def _time_course(variant: Variant, quantity: str, runs: Sequence[Series], window_s: float) -> Line:
    """Return the means of all runs in bins of `window_s`, and the course of the first run."""
    end_s = min(run.end_s for run in runs)
    bins_of_runs = [bins(run, 0.0, end_s, window_s) for run in runs]
    dots = [
        Dot(bins_of_same_time[0].start_s, summarise(time_bin.mean for time_bin in bins_of_same_time))
        for bins_of_same_time in zip(*bins_of_runs, strict=True)
    ]
    first_run = tuple(
        (time_bin.start_s, time_bin.mean) for time_bin in bins_of_runs[0] if time_bin.mean is not None
    )
    dots_with_mean = tuple(dot for dot in dots if dot.y.mean is not None)
    return Line(variant.label, quantity, variant.honest, dots_with_mean, first_run)


def _levels(plan: Plan, figure: Figure, results: Results) -> Iterator[Line]:
    """Yield measured numbers that are drawn as levels over a time span."""
    for level in figure.levels:
        for variant in variants(plan, figure):
            try:
                point = {**plan.defaults, **variant.values, **level.at}
                summary = summarise(measure(plan, results, level.quantity, point))
            except Missing:
                continue  # the curve over time has named the gap
            dots = (Dot(level.start_s, summary), Dot(level.end_s, summary))
            yield Line(f"{variant.label}, {level.label}", level.quantity, variant.honest, dots)

"""Measurement of a ledger's quantities from the results of its plan."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from contextlib import suppress

from umtslab.analyse.statistics import summarise
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.expression import Expression, Leaf
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import AVERAGE, Metric, Plan, Point, same, text
from umtslab.reproduce.reduce import mean_of, reduced
from umtslab.reproduce.results import Results, Sample, Series


def measure(plan: Plan, results: Results, name: str, point: Point) -> Sample:
    """Return a quantity of the ledger at a point, one value per run.

    Raises
    ------
    Missing
        If the quantity is a time course or words, or a point that it needs was not run.
    """
    metric = plan.metric(name, point)
    if metric.series is not None:
        raise Missing(f"{name} is a time series, not a number")
    if metric.told or metric.requests:
        raise Missing(f"{name} is a text, not a number")
    moved = {**point, **metric.at}
    if not metric.over:
        return _evaluate(plan, results, metric, metric.expr, moved)
    return _reduce(plan, results, metric, moved)


def _reduce(plan: Plan, results: Results, metric: Metric, point: Point) -> Sample:
    """Reduce the values at several points to one. Points that were not run are ignored."""
    rows = []
    for values in itertools.product(*metric.over.values()):
        at = {**point, **dict(zip(metric.over, values, strict=True))}
        try:
            rows.append((values, _evaluate(plan, results, metric, metric.expr, at)))
        except Missing:
            continue
    return reduced(metric.reduce, rows)


def too_few(plan: Plan, results: Results, name: str, point: Point) -> str | None:
    """Return why a figure omits a quantity at a point (too few samples), or None."""
    least = plan.metric(name, point).samples
    if least is None:
        return None
    found = summarise(_evaluate(plan, results, plan.metric(name, point), least.expr, point)).mean
    if found is None or found >= least.least:
        return None
    return f"{found:.3g} samples a run, fewer than {least.least:g}"


def measure_beside(plan: Plan, results: Results, name: str, point: Point) -> dict[str, Sample]:
    """Return other readings of a quantity by label, for points that were run."""
    metric = plan.metric(name, point)
    found = {}
    for label, entry in metric.beside.items():
        # No verdict depends on these readings, so missing ones are ignored.
        with suppress(Missing):
            found[label] = _evaluate(plan, results, metric, entry.expr, {**point, **entry.at})
    return found


def measure_series(plan: Plan, results: Results, name: str, point: Point) -> list[Series]:
    """Return a quantity of the ledger as a time course, per run."""
    metric = plan.metric(name, point)
    if metric.series is None:
        raise Missing(f"no series gives {name}")
    moved = {**point, **metric.at}
    user = text(point.get("user", "all"))
    return results.series(_run_point(plan, moved), metric.series, None if user == "all" else int(user))


def measure_words(plan: Plan, results: Results, name: str, point: Point) -> list[str]:
    """Return a quantity of the ledger that is expressed in words, per run."""
    metric = plan.metric(name, point)
    place = _run_point(plan, {**point, **metric.at})
    if metric.requests is not None:
        return results.answers(place, metric.requests)
    return results.words(place, metric.told)


def measure_phases(plan: Plan, results: Results, name: str, point: Point) -> list[list[Phase]]:
    """Return the phases of a transfer, per run."""
    metric = plan.metric(name, point)
    return results.phases(_run_point(plan, {**point, **metric.at}))


def _evaluate(plan: Plan, results: Results, metric: Metric, expr: Expression, point: Point) -> Sample:
    columns = {leaf: _leaf(plan, results, metric, leaf, point) for leaf in sorted(expr.leaves)}
    runs = max((len(column) for column in columns.values()), default=0)
    return [expr.value({leaf: column[run] for leaf, column in columns.items()}) for run in range(runs)]


def _leaf(plan: Plan, results: Results, metric: Metric, leaf: Leaf, point: Point) -> Sample:
    if (entry := metric.inputs.get(leaf.name)) is not None:
        return _evaluate(plan, results, metric, entry.expr, {**point, **entry.at})
    place = _run_point(plan, point)
    if leaf.name in plan.dimensions and not leaf.scope:
        return _of_point(plan, results, leaf.name, point, place)
    if AVERAGE in place.values():
        return _mean_over_sets(plan, results, leaf, place)
    return _of_run(plan, results, leaf, place)


def _of_point(plan: Plan, results: Results, name: str, point: Point, place: Point) -> Sample:
    """Return the value of a dimension at a point, repeated for all its runs."""
    value = point.get(name, plan.defaults.get(name))
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Missing(f"{name} is {value!r} there, not a number") from None
    return [number] * results.replications(place)


def _mean_over_sets(plan: Plan, results: Results, leaf: Leaf, place: Point) -> Sample:
    fixed = {name: value for name, value in place.items() if value != AVERAGE}
    sets = [one for one in results.sets() if all(same(one[name], value) for name, value in fixed.items())]
    if not sets:
        listed = ", ".join(f"{name} {text(value)}" for name, value in fixed.items())
        raise Missing(f"no parameter set was run with {listed}")
    return mean_of([_of_run(plan, results, leaf, one) for one in sets])


def _of_run(plan: Plan, results: Results, leaf: Leaf, place: Point) -> Sample:
    if (count := plan.counts.get(leaf.name)) is not None:
        return results.counted(place, count)
    if not leaf.scope:
        return results.metric(place, leaf.name)
    return [_aggregate(leaf.scope, values) for values in results.connections(place, leaf.name)]


def _run_point(plan: Plan, point: Point) -> Point:
    place = plan.point(point)
    if (reason := plan.lacks(place)) is not None:
        raise Missing(reason)
    return place


def _aggregate(scope: str, values: Iterable[float | None]) -> float | None:
    numbers = list(values)
    if not numbers:
        return None
    if scope == "first":
        return numbers[0]
    if scope == "last":
        return numbers[-1]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    return sum(known) / (len(known) if scope == "average" else 1)

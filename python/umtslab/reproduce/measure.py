"""Computes the quantities of claims from the results of a plan.

A plan defines a quantity (`Metric`) by a formula. The names in the formula are the *leaves*: inputs
with formulas of their own, dimensions of the point, metrics of the runs or of their connections, or
counts of recorded rows. The result is a sample: one value per run of the point.
"""

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
    """Return a quantity of the claims at a point, one value per run.

    Raises
    ------
    Missing
        If the quantity is a time course or a text, or a point that it needs was not run.
    """
    metric = plan.metric(name, point)
    if metric.series is not None:
        raise Missing(f"{name} is a time series, not a number")
    if metric.pdu_templates or metric.requests:
        raise Missing(f"{name} is a text, not a number")
    point_of_metric = {**point, **metric.at}  # the metric's own values replace the point's
    if not metric.over:
        return _evaluate(plan, results, metric, metric.expr, point_of_metric)
    return _reduce(plan, results, metric, point_of_metric)


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
    samples = plan.metric(name, point).samples
    if samples is None:
        return None
    count = summarise(_evaluate(plan, results, plan.metric(name, point), samples.expr, point)).mean
    if count is None or count >= samples.minimum:
        return None
    return f"{count:.3g} samples a run, fewer than {samples.minimum:g}"


def measure_alternatives(plan: Plan, results: Results, name: str, point: Point) -> dict[str, Sample]:
    """Return the quantity by other interpretations of the document, by label, for points that were run."""
    metric = plan.metric(name, point)
    values = {}
    for label, entry in metric.alternatives.items():
        # No verdict depends on these values, so missing ones are ignored.
        with suppress(Missing):
            values[label] = _evaluate(plan, results, metric, entry.expr, {**point, **entry.at})
    return values


def measure_series(plan: Plan, results: Results, name: str, point: Point) -> list[Series]:
    """Return a quantity of the claims as a time course, per run."""
    metric = plan.metric(name, point)
    if metric.series is None:
        raise Missing(f"no series gives {name}")
    point_of_metric = {**point, **metric.at}
    user = text(point.get("user", "all"))
    return results.series(
        _run_point(plan, point_of_metric), metric.series, None if user == "all" else int(user)
    )


def measure_texts(plan: Plan, results: Results, name: str, point: Point) -> list[str]:
    """Return a quantity of the claims that is a text, per run."""
    metric = plan.metric(name, point)
    run_point = _run_point(plan, {**point, **metric.at})
    if metric.requests is not None:
        return results.answers(run_point, metric.requests)
    return results.descriptions(run_point, metric.pdu_templates)


def measure_phases(plan: Plan, results: Results, name: str, point: Point) -> list[list[Phase]]:
    """Return the phases of a transfer, per run."""
    metric = plan.metric(name, point)
    return results.phases(_run_point(plan, {**point, **metric.at}))


def _evaluate(plan: Plan, results: Results, metric: Metric, expr: Expression, point: Point) -> Sample:
    """Evaluate a formula in each run of a point."""
    samples = {leaf: _leaf(plan, results, metric, leaf, point) for leaf in sorted(expr.leaves)}
    runs = max((len(sample) for sample in samples.values()), default=0)
    return [expr.value({leaf: sample[run] for leaf, sample in samples.items()}) for run in range(runs)]


def _leaf(plan: Plan, results: Results, metric: Metric, leaf: Leaf, point: Point) -> Sample:
    """Return the value of a leaf in each run: an input, a dimension or a metric."""
    if (entry := metric.inputs.get(leaf.name)) is not None:
        return _evaluate(plan, results, metric, entry.expr, {**point, **entry.at})
    run_point = _run_point(plan, point)
    if leaf.name in plan.dimensions and not leaf.scope:
        return _of_point(plan, results, leaf.name, point, run_point)
    if AVERAGE in run_point.values():
        return _mean_over_sets(plan, results, leaf, run_point)
    return _of_run(plan, results, leaf, run_point)


def _of_point(plan: Plan, results: Results, name: str, point: Point, run_point: Point) -> Sample:
    """Return the value of a dimension at a point, repeated for all its runs."""
    value = point.get(name, plan.defaults.get(name))
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Missing(f"{name} is {value!r} there, not a number") from None
    return [number] * results.replications(run_point)


def _mean_over_sets(plan: Plan, results: Results, leaf: Leaf, run_point: Point) -> Sample:
    """Return in each run the mean of a metric over all sets of parameters."""
    fixed = {name: value for name, value in run_point.items() if value != AVERAGE}
    sets = [
        set_point
        for set_point in results.sets()
        if all(same(set_point[name], value) for name, value in fixed.items())
    ]
    if not sets:
        listed = ", ".join(f"{name} {text(value)}" for name, value in fixed.items())
        raise Missing(f"no parameter set was run with {listed}")
    return mean_of([_of_run(plan, results, leaf, set_point) for set_point in sets])


def _of_run(plan: Plan, results: Results, leaf: Leaf, run_point: Point) -> Sample:
    """Return a metric, or a count of recorded rows, of each run of a point."""
    if (count := plan.counts.get(leaf.name)) is not None:
        return results.counted(run_point, count)
    if not leaf.scope:
        return results.metric(run_point, leaf.name)
    return [_aggregate(leaf.scope, values) for values in results.connections(run_point, leaf.name)]


def _run_point(plan: Plan, point: Point) -> Point:
    """Complete a point by defaults. A value that the model lacks is an error."""
    run_point = plan.point(point)
    if (reason := plan.lacks(run_point)) is not None:
        raise Missing(reason)
    return run_point


def _aggregate(scope: str, values: Iterable[float | None]) -> float | None:
    """Combine the values of all connections of a run: their total, average, first or last."""
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

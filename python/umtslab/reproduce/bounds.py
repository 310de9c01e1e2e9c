"""Verdicts on claims that are inequalities, such as ``throughput >= 50``.

A claim holds under conditions. Each *case* of the conditions fixes the values of some parameters, and
the claim may vary further parameters. There are three forms:

- an inequality of metrics: with one varied parameter, at each of its values if the inequality names it,
  otherwise at one point; with several varied parameters, at each combination that was run
- ``max - min <= 5``: a bound on the spread of the means at all varied points
- ``throughput(loss) <= throughput(loss=0)``: the value at one level of a parameter bounds the others

A claim about a *scatter* varies a measured quantity, not a parameter: its curve has one point for each
parameter set. Its inequality is about the dip of this curve (`Judge.dip_pct`), whatever name stands in it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Protocol

from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.compare import Finding, Verdict, conjunction, over_interval
from umtslab.reproduce.conditions import ResolvedConditions, rank
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.expression import Expression, Leaf, parse
from umtslab.reproduce.order import Chain, judge_order, labels
from umtslab.reproduce.plan import Plan, Point, same, text
from umtslab.reproduce.reduce import reduced
from umtslab.reproduce.results import Sample

# The form f(x) <= f(x=at): one function f of one parameter x on both sides.
LIMIT = re.compile(r"(\w+)\((?P<over>\w+)\) (?P<relation><=|>=) \1\((?P=over)=(?P<at>[\d.]+)\)")
"""The value at one level bounds the others: ``throughput(loss) <= throughput(loss=0)``."""

_SPREAD = re.compile(r"max - min (<=|<) ([\d.]+)")
"""A bound on the range of the values at all varied points."""


class Judge(Protocol):
    """Access to the results for one claim. Implementations record the numbers used, for the report."""

    claim: Claim
    plan: Plan

    def measured(self, point: Point, label: str, metric: str = "") -> Sample:
        """Return the claim's quantity, or `metric`, at a point."""
        ...

    def sample_of_label(self, resolved: ResolvedConditions, case: Point, label: str, where: str) -> Sample:
        """Return the quantity at the point that a label names."""
        ...

    def dip_pct(self, resolved: ResolvedConditions, case: Point) -> Sample:
        """Return the fall of a scatter from the first parameter set to the lowest one, in per cent.

        The first set is the one with the smallest value of the varied quantity.
        """
        ...

    def label(self, resolved: ResolvedConditions, case: Point) -> str:
        """Return a label that distinguishes this case from the claim's other cases."""
        ...

    def record(self, label: str, sample: Sample) -> None:
        """Record a number that determines the verdict."""
        ...


def judge_bound(judge: Judge, resolved: ResolvedConditions, case: Point) -> Finding:
    """Judge the inequality of a claim for one case of its conditions.

    Raises
    ------
    Missing
        If the claim is not an inequality, or a point that it needs was not run.
    """
    expected = str(judge.claim.expected)
    if (limit := LIMIT.fullmatch(expected)) is not None:
        return _limit(judge, resolved, case, over=limit["over"], relation=limit["relation"], at=limit["at"])
    if _SPREAD.fullmatch(expected) is not None:
        return _spread(judge, resolved, case, expected)
    expression = parse(expected)
    if not expression.is_inequality:
        raise Missing(f"{expression.text!r} is not an inequality")
    return conjunction(
        _inequality(judge, resolved, {**case, **point}, _label_of(judge, resolved, case, point), expression)
        for point in _points(resolved, case, expression)
    )


def _points(resolved: ResolvedConditions, case: Point, expression: Expression) -> Iterator[Point]:
    """Yield the points to test.

    With several varied dimensions these are all combinations that were run. With one varied
    dimension, each of its levels is a point if the inequality names the dimension. Otherwise there
    is one point, without values of varied dimensions.
    """
    if len(resolved.vary) > 1 and not resolved.is_scatter:
        yield from _combinations(resolved, case)
        return
    named = [name for name in resolved.vary if Leaf(name) in expression.leaves and not resolved.is_scatter]
    levels = itertools.product(*(resolved.levels(case, name) for name in named))
    yield from (dict(zip(named, values, strict=True)) for values in levels)


def _combinations(resolved: ResolvedConditions, case: Point) -> list[Point]:
    """Return the distinct combinations of the varied dimensions that were run, in order."""
    points: dict[tuple[str, ...], Point] = {}
    for point in resolved.matching(case):
        values = {name: point[name] for name in resolved.vary}
        if all(resolved.includes(name, value) for name, value in values.items()):
            points.setdefault(tuple(map(text, values.values())), values)
    return sorted(points.values(), key=lambda point: [rank(value) for value in point.values()])


def _spread(judge: Judge, resolved: ResolvedConditions, case: Point, expected: str) -> Finding:
    """Test the range of the metric over all points, determined in each run of the replications."""
    rows = [
        (tuple(point.values()), judge.measured({**case, **point}, _label_of(judge, resolved, case, point)))
        for point in _combinations(resolved, case)
    ]
    spread = reduced("range", rows)
    judge.record("largest minus smallest", spread)
    expression = parse(expected.replace("max - min", "spread"))
    return over_interval(spread, expected, lambda value: expression.holds({Leaf("spread"): value}))


def _label_of(judge: Judge, resolved: ResolvedConditions, case: Point, point: Point) -> str:
    """Return a label for a case and the values varied in it."""
    words = [judge.label(resolved, case), *(f"{name} {text(value)}" for name, value in point.items())]
    return " ".join(filter(None, words))


def _inequality(
    judge: Judge, resolved: ResolvedConditions, point: Point, where: str, expression: Expression
) -> Finding:
    """Test an inequality at one point. `where` describes the point.

    A name in the inequality is a metric, or a parameter that has one number at the point. If there is
    a single metric, the whole interval of its mean must satisfy the inequality. Several metrics, an
    equality, or a metric with ``every_run`` are tested in each run.
    """
    if resolved.is_scatter:
        dip = judge.dip_pct(resolved, point)
        leaf = next(iter(expression.leaves))
        return over_interval(dip, expression.text, lambda value: expression.holds({leaf: value}))
    subject = f"{where}: {expression.text}" if where else expression.text
    numbers_of_point: Mapping[str, Value] = {
        name: value for name, value in point.items() if not isinstance(value, str)
    }
    metrics: dict[Leaf, Sample] = {}
    for leaf in sorted(expression.leaves):
        if leaf.name == judge.claim.metric or leaf.name not in numbers_of_point:
            label = f"{where} {leaf.name}".strip() if len(expression.leaves) > 1 else where
            metrics[leaf] = judge.measured(point, label, leaf.name)
    parameters = {leaf: float(numbers_of_point[leaf.name]) for leaf in expression.leaves - metrics.keys()}
    in_each_run = expression.demands_equality or judge.plan.metric(judge.claim.metric, point).every_run
    if len(metrics) == 1 and not in_each_run:
        ((leaf, sample),) = metrics.items()
        return over_interval(sample, subject, lambda value: expression.holds({leaf: value, **parameters}))
    return _in_each_run(expression, metrics, parameters, subject)


def _in_each_run(
    expression: Expression, metrics: Mapping[Leaf, Sample], parameters: Mapping[Leaf, float], subject: str
) -> Finding:
    """Test an inequality with the values of the metrics in each run."""
    runs = range(min(len(sample) for sample in metrics.values())) if metrics else range(0)
    truths = [
        expression.holds({**parameters, **{leaf: sample[run] for leaf, sample in metrics.items()}})
        for run in runs
    ]
    if None in truths or not truths:
        return Finding(Verdict.INCONCLUSIVE, f"{subject}: a run has no value")
    if all(truths):
        return Finding(Verdict.PASS, "")
    return Finding(Verdict.FAIL, f"{subject} fails in {truths.count(False)} of {len(truths)} runs")


def _limit(
    judge: Judge, resolved: ResolvedConditions, case: Point, *, over: str, relation: str, at: str
) -> Finding:
    """Test that the quantity at level `at` of the dimension `over` bounds all other levels."""
    others = [text(value) for value in resolved.levels(case, over) if not same(value, float(at))]
    # As an order of levels, ``f(x) <= f(x=at)`` is ``at >= other, other, …``.
    relation_to_others = ">=" if relation == "<=" else "<="
    chain = Chain(groups=((at,), tuple(others)), relations=(relation_to_others,))
    where = judge.label(resolved, case)
    samples = {label: judge.sample_of_label(resolved, case, label, where) for label in labels([chain])}
    return judge_order([chain], samples, {}, f"{where}: " if where else "")

"""Verdicts on claims about trends: the shape of a quantity over the values x of one dimension.

A step is the change from one value of the dimension to the next. `increasing` and `decreasing`
require every step to be significant. `nondecreasing`, `nonincreasing` and `flat` compare all pairs
with the tolerance of "about equal" (5 %), so that small steps cannot add up unnoticed. `peak`,
`dip` and `argmax` compare the best point with others. `concave` and
`increasing_convex` compare the slopes of steps. `linear` fits a straight line to each run's points.
The other shapes are combinations of these.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import linear_regression
from typing import NamedTuple

from umtslab.analyse.statistics import summarise
from umtslab.reproduce.compare import (
    ABOUT_EQUAL,
    Finding,
    Verdict,
    about_equal,
    conjunction,
    greater,
    interval,
    negation,
    show,
    steps,
    usable_mean,
    within,
)
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.results import Sample


@dataclass(frozen=True)
class Trend:
    """A parsed trend: ``shape(over, option=value …) relation bound``.

    Examples: ``increasing(bler, from=0.1)`` and ``argmax(max_dat) <= 3``.
    """

    shape: str
    over: str
    """Name of the dimension, or ``time``."""
    options: Mapping[str, float] = field(default_factory=dict)
    relation: str = ""
    """Empty without a bound."""
    bound: float = math.nan


@dataclass(frozen=True)
class Curve:
    """A quantity over increasing values `x` of a dimension. `y` has the replications of each value."""

    x: Sequence[float]
    y: Sequence[Sample]

    def names(self) -> list[str]:
        """Return the values of x as text."""
        return [f"{x:g}" for x in self.x]

    def part(self, keep: Callable[[float], bool]) -> Curve:
        """Return the points for which `keep` returns true for x."""
        kept = [index for index, x in enumerate(self.x) if keep(x)]
        return Curve([self.x[index] for index in kept], [self.y[index] for index in kept])


def parse_trend(text: str) -> Trend:
    """Parse a trend.

    Raises
    ------
    Missing
        If it does not have the form ``shape(x, option=number) [relation number]``.
    """
    match = re.fullmatch(r"(\w+)\(([^()]*)\)\s*(?:(=|<=|>=|<|>)\s*([-+.\w]+))?", text.strip())
    if match is None:
        raise Missing(f"there is no rule for the trend {text!r}")
    over, *option_texts = [item.strip() for item in match[2].split(",")]
    options: dict[str, float] = {}
    for item in option_texts:
        name, equals, value = item.partition("=")
        if not equals:
            raise Missing(f"there is no rule for the trend {text!r}")
        options[name.strip()] = float(value)
    if "=" in over:  # steps_down(count=2, after=1500): over time
        name, _, value = over.partition("=")
        over, options = "time", {name.strip(): float(value), **options}
    return Trend(match[1], over, options, match[3] or "", float(match[4]) if match[4] else math.nan)


_COMPARE = {"=": operator.eq, "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}


def judge_trend(trend: Trend, curve: Curve) -> Finding:
    """Judge the shape of a curve.

    Raises
    ------
    Missing
        If there is no rule for the shape, or there are fewer points than the shape needs.
    """
    low, high = trend.options.get("from", -math.inf), trend.options.get("to", math.inf)
    part = curve.part(lambda x: low <= x <= high)
    rule = _RULES.get(trend.shape)
    if rule is None:
        raise Missing(f"there is no rule for the trend {trend.shape}")
    if len(part.x) < 2:
        raise Missing(f"{trend.shape} needs two values of {trend.over} or more, and {len(part.x)} were run")
    return rule(part, trend)


def _increasing(curve: Curve, trend: Trend) -> Finding:
    """Every step must be up.

    The option `rise` limits the increase from the first to the last point, as a share of the first.
    """
    findings = steps(curve.y, "<", curve.names())
    if (max_rise := trend.options.get("rise")) is not None:
        rises_pct = [
            100 * (last / first - 1) if first and last is not None else None
            for first, last in zip(curve.y[0], curve.y[-1], strict=False)
        ]
        findings.append(within(summarise(rises_pct), -100.0, 100 * max_rise, "rise from first to last (%)"))
    return conjunction(findings)


def _decreasing(curve: Curve, _: Trend) -> Finding:
    return conjunction(steps(curve.y, ">", curve.names()))


def _nondecreasing(curve: Curve, _: Trend) -> Finding:
    return conjunction(steps(curve.y, "<=", curve.names(), all_pairs=True))


def _nonincreasing(curve: Curve, _: Trend) -> Finding:
    return conjunction(steps(curve.y, ">=", curve.names(), all_pairs=True))


def _flat(curve: Curve, _: Trend) -> Finding:
    return conjunction(steps(curve.y, "~", curve.names(), all_pairs=True))


def _saturating(curve: Curve, trend: Trend) -> Finding:
    """No step may be down, the last point must be above the first, and the last two about equal."""
    names = curve.names()
    rise = greater(curve.y[-1], curve.y[0], f"{names[-1]} > {names[0]}")
    end = about_equal(curve.y[-2], curve.y[-1], f"{names[-2]} ~ {names[-1]}")
    return conjunction([_nondecreasing(curve, trend), rise, end])


def _flat_then(curve: Curve, trend: Trend, then: Callable[[Curve, Trend], Finding]) -> Finding:
    """Judge a curve that is flat up to the option `at`, and has another shape from there on."""
    at = _option(trend, "at")
    before, after = curve.part(lambda x: x <= at), curve.part(lambda x: x >= at)
    if len(before.x) < 2 or len(after.x) < 2:
        raise Missing(f"{trend.shape} needs two values on each side of {at:g}")
    return conjunction([_flat(before, trend), then(after, trend)])


def _peak(curve: Curve, trend: Trend, sign: int = 1) -> Finding:
    """The extreme point must lie beyond both ends, and no other point beyond the extreme point.

    The extreme is a maximum (`sign` 1) or a minimum (-1). The extreme point is the option ``at`` or,
    without this option, the point with the largest or smallest mean.
    """
    oriented = curve if sign > 0 else Curve(curve.x, [_negated(sample) for sample in curve.y])
    top = _index(curve, trend.options["at"]) if "at" in trend.options else _best(oriented)
    names = curve.names()
    if top in (0, len(curve.x) - 1):
        return Finding(Verdict.FAIL, f"the extreme is at the end, {trend.over} = {names[top]}")
    beyond_both_ends = [
        greater(oriented.y[top], oriented.y[end], f"{names[top]} beyond {names[end]}")
        for end in (0, len(names) - 1)
    ]
    not_beyond_top = [
        negation(greater(oriented.y[inner], oriented.y[top], f"{names[inner]} beyond {names[top]}"))
        for inner in range(1, len(names) - 1)
        if inner != top
    ]
    return conjunction([*beyond_both_ends, *not_beyond_top])


def _dip(curve: Curve, trend: Trend) -> Finding:
    return _peak(curve, trend, sign=-1)


def _argmax(curve: Curve, trend: Trend) -> Finding:
    """Judge the value of x at which the curve has its maximum, as in ``argmax(x) <= 3``.

    The best of the points that satisfy the relation must be above each of the other points.
    """
    satisfies = _COMPARE.get(trend.relation)
    if satisfies is None:
        raise Missing("argmax needs a value to compare with")
    inside = [i for i, x in enumerate(curve.x) if satisfies(x, trend.bound)]
    if not inside:
        raise Missing(f"no value of {trend.over} {trend.relation} {trend.bound:g} was run")
    best = max(inside, key=lambda i: usable_mean(curve.y[i]))
    names = curve.names()
    outside = [i for i in range(len(curve.x)) if i not in inside]
    return conjunction(greater(curve.y[best], curve.y[i], f"{names[best]} > {names[i]}") for i in outside)


def _slopes_change(curve: Curve, trend: Trend, sign: int) -> Finding:
    """The last slope must be above (`sign` 1) or below (-1) the first one.

    No slope may change significantly in the opposite direction from one step to the next.
    """
    if len(curve.x) < 3:
        raise Missing(
            f"{trend.shape} needs three values of {trend.over} or more, and {len(curve.x)} were run"
        )
    # A sample per step: in each run the slope between two points, times `sign`.
    slopes = [
        [
            None if y0 is None or y1 is None else sign * (y1 - y0) / (x1 - x0)
            for y0, y1 in zip(sample0, sample1, strict=False)
        ]
        for x0, x1, sample0, sample1 in zip(curve.x, curve.x[1:], curve.y, curve.y[1:], strict=False)
    ]
    names = [f"slope {start} to {end}" for start, end in zip(curve.names(), curve.names()[1:], strict=False)]
    overall = greater(slopes[-1], slopes[0], f"{names[-1]} against {names[0]}")
    # Because of the factor `sign`, no slope may be above the next one. A finding that passes is a
    # significant change in the opposite direction.
    contradictions = [negation(step) for step in steps(slopes, ">", names) if step.verdict is Verdict.PASS]
    return conjunction([overall, *contradictions])


def _linear(curve: Curve, trend: Trend) -> Finding:
    """The points must rise or fall, and lie within 5 % of the total rise from a straight line."""
    if len(curve.x) < 3:
        raise Missing(f"linear needs three values of {trend.over} or more, and {len(curve.x)} were run")
    runs = list(zip(*curve.y, strict=False))
    if all(len(set(run)) == 1 for run in runs):
        return Finding(Verdict.FAIL, "level in every run")
    lines = [_line(curve.x, [y for y in run if y is not None]) for run in runs]
    span = curve.x[-1] - curve.x[0]
    rises = summarise(None if line is None else line.slope * span for line in lines)
    rise_interval = interval(rises)
    if rise_interval is None:
        return Finding(Verdict.INCONCLUSIVE, f"{rises.n} runs give no interval of the rise")
    low, high = rise_interval
    if low <= 0 <= high:
        return Finding(Verdict.INCONCLUSIVE, f"the rise of {show(rises)} is inside the noise")
    margin = ABOUT_EQUAL * abs((low + high) / 2)
    return conjunction(
        within(
            summarise(_residual(line, x, y) for line, y in zip(lines, sample, strict=False)),
            -margin,
            margin,
            f"{name}: off the line by",
        )
        for x, sample, name in zip(curve.x, curve.y, curve.names(), strict=True)
    )


class _Line(NamedTuple):
    """A straight line: intercept + slope · x."""

    intercept: float
    slope: float


def _line(x: Sequence[float], y: Sequence[float]) -> _Line | None:
    """Fit a straight line by least squares. None if a point has no value."""
    if len(y) < len(x):
        return None
    fit = linear_regression(x, y)
    return _Line(fit.intercept, fit.slope)


def _residual(line: _Line | None, x: float, y: float | None) -> float | None:
    """Return the distance of a value from a straight line."""
    return None if line is None or y is None else y - line.intercept - line.slope * x


def _increasing_convex(curve: Curve, trend: Trend) -> Finding:
    return conjunction([_increasing(curve, trend), _slopes_change(curve, trend, 1)])


def judge_correlation(sign: int, x: Sequence[Sample], y: Sequence[Sample]) -> Finding:
    """Judge whether two quantities rise together (`sign` 1) or in opposite directions (−1).

    The rank correlation is computed in each run.

    Raises
    ------
    Missing
        With fewer than three points.
    """
    if len(x) < 3:
        raise Missing(f"a rank correlation needs three points or more, and {len(x)} were run")
    runs = min(len(sample) for sample in (*x, *y))
    rho = summarise(_spearman([sample[k] for sample in x], [sample[k] for sample in y]) for k in range(runs))
    span = interval(rho)
    detail = f"rank correlation {show(rho)}"
    if span is None:
        return Finding(Verdict.INCONCLUSIVE, f"{rho.n} runs give no interval of the rank correlation")
    low, high = span
    is_positive, is_negative = low > 0, high < 0
    if is_positive if sign > 0 else is_negative:
        return Finding(Verdict.PASS, detail)
    if is_negative if sign > 0 else is_positive:
        return Finding(Verdict.FAIL, detail)
    return Finding(Verdict.INCONCLUSIVE, f"{detail} is inside the noise")


def _spearman(x: Sequence[float | None], y: Sequence[float | None]) -> float | None:
    """Return Spearman's rank correlation, the correlation of the ranks of x and of y.

    None if a value is missing, or if all values of x or of y are equal.
    """
    known_x, known_y = [v for v in x if v is not None], [v for v in y if v is not None]
    if len(known_x) < len(x) or len(known_y) < len(y):
        return None
    x_ranks, y_ranks = _ranks(known_x), _ranks(known_y)
    mean_rank = (len(known_x) + 1) / 2
    x_deviations = [rank - mean_rank for rank in x_ranks]
    y_deviations = [rank - mean_rank for rank in y_ranks]
    covariance = sum(a * b for a, b in zip(x_deviations, y_deviations, strict=True))
    spread = math.sqrt(sum(a**2 for a in x_deviations) * sum(b**2 for b in y_deviations))
    return covariance / spread if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 1. Equal values share their mean rank."""
    ranks = []
    for value in values:
        smaller = sum(other < value for other in values)
        equal = sum(other == value for other in values)  # includes the value itself
        ranks.append(1 + smaller + (equal - 1) / 2)
    return ranks


def _option(trend: Trend, name: str) -> float:
    if name not in trend.options:
        raise Missing(f"{trend.shape} needs {name}=")
    return trend.options[name]


def _index(curve: Curve, at: float) -> int:
    if at not in curve.x:
        raise Missing(f"{at:g} was not run")
    return list(curve.x).index(at)


def _best(curve: Curve) -> int:
    """Return the index of the largest mean."""
    return max(range(len(curve.x)), key=lambda i: usable_mean(curve.y[i]))


def _negated(sample: Sample) -> Sample:
    return [None if value is None else -value for value in sample]


_RULES: dict[str, Callable[[Curve, Trend], Finding]] = {
    "increasing": _increasing,
    "decreasing": _decreasing,
    "nondecreasing": _nondecreasing,
    "nonincreasing": _nonincreasing,
    "flat": _flat,
    "saturating": _saturating,
    "flat_then_increasing": lambda curve, trend: _flat_then(curve, trend, _increasing),
    "flat_then_decreasing": lambda curve, trend: _flat_then(curve, trend, _decreasing),
    "peak": _peak,
    "dip": _dip,
    "argmax": _argmax,
    "concave": lambda curve, trend: _slopes_change(curve, trend, -1),
    "increasing_convex": _increasing_convex,
    "linear": _linear,
}

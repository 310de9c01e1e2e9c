"""Verdicts on trends over several dimensions, or over another measured quantity.

- ``dip(a + b)``, ``increasing(a + b)``: points with the same sum of the dimensions a and b are
  combined into their mean, and judged over the sum.
- ``argmax(a, b) in {…} x {…}``: the best of the listed points is better than each point that is not
  listed.
- ``argmax(a) differs by b``: the best value of a is not the same for all values of b.
- ``dip(quantity)``: points are sorted by the mean of the quantity, and judged as over one
  dimension (`curve_ordered_by`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from umtslab.reproduce.claims import Value
from umtslab.reproduce.compare import Finding, Verdict, conjunction, greater, usable_mean
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.plan import text
from umtslab.reproduce.reduce import mean_of
from umtslab.reproduce.results import Sample
from umtslab.reproduce.trend import Curve, Trend, judge_trend

PointSamples = Sequence[tuple[Mapping[str, Value], Sample]]
"""For each point its values in the varied dimensions, and the quantity in each run."""


def judge_surface(expected: str, rows: PointSamples) -> Finding:
    """Judge a trend over several dimensions.

    Raises
    ------
    Missing
        If there is no rule for it, or too few points were run.
    """
    for pattern, rule in _RULES.items():
        if (match := re.fullmatch(pattern, expected.strip())) is not None:
            return rule(match, rows)
    raise Missing(f"there is no rule for the trend {expected!r}")


def _over_sum(match: re.Match[str], rows: PointSamples) -> Finding:
    """Judge a trend over the sum of two dimensions."""
    names = [match[2], match[3]]
    groups: dict[float, list[Sample]] = {}
    for point, sample in rows:
        groups.setdefault(sum(float(point[name]) for name in names), []).append(sample)
    xs = sorted(groups)
    curve = Curve(xs, [mean_of(groups[x]) for x in xs])
    return judge_trend(Trend(match[1], " + ".join(names)), curve)


def _best_in_set(match: re.Match[str], rows: PointSamples) -> Finding:
    """Judge ``argmax(a, b) in {…} x {…}``: the best point of the set is better than each other point.

    The set has all combinations of the listed values of a and b.
    """
    names = [name.strip() for name in match[1].split(",")]
    listed_values = [
        {text(_number(word)) for word in part.strip(" {}").split(",")} for part in match[2].split(" x ")
    ]

    def is_in_set(point: Mapping[str, Value]) -> bool:
        return all(text(point[name]) in values for name, values in zip(names, listed_values, strict=True))

    def point_label(point: Mapping[str, Value]) -> str:
        return "/".join(text(point[name]) for name in names)

    inside = [(point, sample) for point, sample in rows if is_in_set(point)]
    outside = [(point, sample) for point, sample in rows if not is_in_set(point)]
    if not inside or not outside:
        raise Missing("the points inside and outside the set were not all run")
    best_point, best = max(inside, key=lambda row: usable_mean(row[1]))
    return conjunction(
        greater(best, sample, f"{point_label(best_point)} > {point_label(point)}")
        for point, sample in outside
    )


def _best_differs(match: re.Match[str], rows: PointSamples) -> Finding:
    """Judge ``argmax(over) differs by by``: each value of `by` has a best value of `over`.

    Two of these best values must differ, and both be significantly better than the other values.
    """
    over, by = match[1], match[2]
    best_of: dict[str, _Best] = {}
    for value in dict.fromkeys(text(point[by]) for point, _ in rows):
        candidates = [(text(point[over]), sample) for point, sample in rows if text(point[by]) == value]
        if len(candidates) < 2:
            raise Missing(f"{over} was not varied for {value}")
        best_level, best_sample = max(candidates, key=lambda candidate: usable_mean(candidate[1]))
        finding = conjunction(
            greater(best_sample, sample, "") for level, sample in candidates if level != best_level
        )
        best_of[value] = _Best(best_level, finding.verdict is Verdict.PASS)
    detail = ", ".join(f"{value}: {best.level}" for value, best in best_of.items())
    significant_levels = {best.level for best in best_of.values() if best.is_significant}
    if len(significant_levels) > 1:
        return Finding(Verdict.PASS, detail)
    uncertain = [value for value, best in best_of.items() if not best.is_significant]
    if not uncertain:
        return Finding(Verdict.FAIL, detail)
    return Finding(Verdict.INCONCLUSIVE, f"{detail}; inside the noise for {', '.join(uncertain)}")


class _Best(NamedTuple):
    """The value of a dimension with the largest mean, and whether it is significantly the best."""

    level: str
    is_significant: bool


def curve_ordered_by(x: Sequence[Sample], y: Sequence[Sample]) -> Curve:
    """Return the points as a curve of y, ordered by the mean of x.

    Raises
    ------
    Missing
        With fewer than three points.
    """
    if len(x) < 3:
        raise Missing(f"a measured quantity orders three points or more, and {len(x)} were run")
    rows = sorted(zip(x, y, strict=True), key=lambda row: usable_mean(row[0]))
    return Curve([usable_mean(x_sample) for x_sample, _ in rows], [y_sample for _, y_sample in rows])


def depth_pct(curve: Curve) -> Sample:
    """Return how far the lowest point of a curve (by means) is below the first, in per cent."""
    first, lowest = curve.y[0], min(curve.y, key=usable_mean)
    return [
        None if not first_value or lowest_value is None else 100 * (first_value - lowest_value) / first_value
        for first_value, lowest_value in zip(first, lowest, strict=False)
    ]


def _number(word: str) -> float:
    return float(word.strip())


_RULES = {
    r"(\w+)\((\w+) \+ (\w+)\)": _over_sum,
    r"argmax\(([\w, ]+)\) in (\{[^{}]*\}(?: x \{[^{}]*\})*)": _best_in_set,
    r"argmax\((\w+)\) differs by (\w+)": _best_differs,
}

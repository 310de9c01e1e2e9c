"""Comparison of two points by their replications, with verdicts that account for noise.

Run *k* of every point has the same radio channel, so points are compared by the differences within
each run. A relation passes if the whole 95 % interval of the mean difference satisfies it, fails if
no part does, and is inconclusive otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from umtslab.analyse.statistics import Summary, summarise
from umtslab.numbers import with_interval
from umtslab.reproduce.results import Sample
from umtslab.reproduce.verdict_kind import Verdict as Verdict

ABOUT_EQUAL = 0.05
"""Margin of "about equal" (`~`) in claims, as a share of the level.

The level of two samples is the absolute value of the mean of both means.
"""

_SEVERITY = [Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.NOT_YET, Verdict.FAIL]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the most severe verdict: fail, not yet, inconclusive, pass.

    Without verdicts, not yet.
    """
    return max(verdicts, key=_SEVERITY.index, default=Verdict.NOT_YET)


@dataclass(frozen=True)
class Finding:
    """A verdict and the sentence that supports it."""

    verdict: Verdict
    detail: str


def conjunction(findings: Iterable[Finding], limit: int | None = None) -> Finding:
    """Combine findings that must all hold.

    The verdict is the most severe one. The detail joins the details of all findings with this verdict,
    at most `limit` of them.
    """
    all_findings = list(findings)
    verdict = worst(finding.verdict for finding in all_findings)
    decisive = [finding for finding in all_findings if finding.verdict is verdict]
    details = list(dict.fromkeys(finding.detail for finding in decisive if finding.detail))
    omitted = 0 if limit is None else max(0, len(details) - limit)
    return Finding(verdict, "; ".join([*details[:limit], f"and {omitted} more"] if omitted else details))


_OPPOSITE = {Verdict.PASS: Verdict.FAIL, Verdict.FAIL: Verdict.PASS}


def negation(finding: Finding) -> Finding:
    """Return the opposite of a finding. Verdicts other than pass and fail are unchanged."""
    return Finding(_OPPOSITE.get(finding.verdict, finding.verdict), finding.detail)


def interval(summary: Summary) -> tuple[float, float] | None:
    """Return the 95 % interval of a mean. None with fewer than two values."""
    if summary.mean is None or summary.ci95 is None:
        return None
    return summary.mean - summary.ci95, summary.mean + summary.ci95


def usable_mean(sample: Sample) -> float:
    """Return the mean of a sample for sorting. A sample without values sorts below all others."""
    mean = summarise(sample).mean
    return float("-inf") if mean is None else mean


def within(summary: Summary, low: float, high: float, subject: str) -> Finding:
    """Judge whether a mean lies between `low` and `high`, by its interval."""
    span = interval(summary)
    if span is None:
        return Finding(Verdict.INCONCLUSIVE, f"{subject}: {summary.n} values give no interval")
    lower_end, upper_end = span
    if low <= lower_end and upper_end <= high:
        return Finding(Verdict.PASS, "")
    if upper_end < low or high < lower_end:
        return Finding(Verdict.FAIL, f"{subject}: {show(summary)} is outside {low:.4g} to {high:.4g}")
    return Finding(
        Verdict.INCONCLUSIVE, f"{subject}: the interval of {show(summary)} crosses {low:.4g} to {high:.4g}"
    )


def over_interval(sample: Sample, subject: str, holds: Callable[[float], bool | None]) -> Finding:
    """Judge whether a condition holds in the whole 95 % interval of a mean.

    The condition is an arbitrary expression, so it is tested at 101 points of the interval.
    """
    summary = summarise(sample)
    if summary.mean is None or summary.ci95 is None:
        return Finding(Verdict.INCONCLUSIVE, f"{subject}: {summary.n} values give no interval")
    tests = [holds(summary.mean + summary.ci95 * step / 50) for step in range(-50, 51)]
    if all(tests):
        return Finding(Verdict.PASS, "")
    if not any(tests):
        return Finding(Verdict.FAIL, f"{subject} fails: {show(summary)}")
    return Finding(Verdict.INCONCLUSIVE, f"{subject}: the limit lies inside {show(summary)}")


def greater(a: Sample, b: Sample, subject: str) -> Finding:
    """Judge whether a is greater than b."""
    difference = summarise(_differences(a, b))
    span = interval(difference)
    if span is None:
        return Finding(Verdict.INCONCLUSIVE, f"{subject}: {difference.n} pairs of values give no interval")
    lower_end, upper_end = span
    if lower_end > 0:
        return Finding(Verdict.PASS, f"{subject}: difference {show(difference)}")
    if span == (0.0, 0.0):
        # Small counts can agree by chance. Other metrics agree in every run only if the parameter that
        # differs between the points has no effect.
        verdict = Verdict.INCONCLUSIVE if _is_coarse(a) else Verdict.FAIL
        return Finding(verdict, f"{subject}: equal in every run")
    if upper_end < 0:
        return Finding(Verdict.FAIL, f"{subject}: difference {show(difference)}")
    return Finding(Verdict.INCONCLUSIVE, f"{subject}: difference {show(difference)} is inside the noise")


def about_equal(a: Sample, b: Sample, subject: str) -> Finding:
    """Judge whether a and b differ by less than 5 % of their level."""
    margin = ABOUT_EQUAL * _level(a, b)
    return _against_margins(a, b, -margin, margin, subject)


def at_least(a: Sample, b: Sample, subject: str) -> Finding:
    """Judge whether a is greater than b or about equal to it."""
    return _against_margins(a, b, -ABOUT_EQUAL * _level(a, b), float("inf"), subject)


def _against_margins(a: Sample, b: Sample, low: float, high: float, subject: str) -> Finding:
    """Judge whether the mean difference of a and b lies between `low` and `high`."""
    difference = summarise(_differences(a, b))
    span = interval(difference)
    if span is None:
        return Finding(Verdict.INCONCLUSIVE, f"{subject}: {difference.n} pairs of values give no interval")
    if span == (0.0, 0.0) and low <= 0.0:
        return Finding(Verdict.PASS, f"{subject}: equal in every run")
    level = _level(a, b)
    relative = f"{subject}: difference {show(difference)}" + (
        f" ({_percent(difference, level)})" if level else ""
    )
    lower_end, upper_end = span
    if low <= lower_end and upper_end <= high:
        return Finding(Verdict.PASS, relative)
    if upper_end < low or high < lower_end:
        return Finding(Verdict.FAIL, relative)
    return Finding(Verdict.INCONCLUSIVE, relative + " crosses the 5 % line")


def show(summary: Summary) -> str:
    """Format a mean with the half width of its interval."""
    if summary.mean is None:
        return "no value"
    return with_interval(summary.mean, summary.ci95)


def _percent(difference: Summary, level: float) -> str:
    assert difference.mean is not None, "the interval exists"
    return f"{100 * difference.mean / level:+.2g} %"


def _is_coarse(sample: Sample) -> bool:
    """Whether some but not all runs have equal values.

    Such a metric is a small count, which can be equal at two points by chance.
    """
    return 1 < len(set(sample)) < len(sample)


def _differences(a: Sample, b: Sample) -> Sample:
    """Return the differences within each run, of runs in which both points have a value."""
    return [x - y for x, y in zip(a, b, strict=False) if x is not None and y is not None]


def _level(a: Sample, b: Sample) -> float:
    """Return the level of two samples: the absolute value of the mean of both means."""
    means = [summary.mean for summary in (summarise(a), summarise(b)) if summary.mean is not None]
    return abs(sum(means)) / len(means) if means else 0.0


def steps(
    samples: Sequence[Sample], relation: str, names: Sequence[str], *, all_pairs: bool = False
) -> list[Finding]:
    """Judge the relation between each sample and the next one, or each sample and all later ones.

    `relation` is a key of `RELATIONS`. `names` has a name for each sample.
    """
    indices = range(len(samples))
    pairs = [
        (earlier, later)
        for earlier in indices
        for later in indices[earlier + 1 :]
        if all_pairs or later == earlier + 1
    ]
    return [
        RELATIONS[relation](samples[earlier], samples[later], f"{names[earlier]} {relation} {names[later]}")
        for earlier, later in pairs
    ]


def _less(a: Sample, b: Sample, subject: str) -> Finding:
    return greater(b, a, subject)


def _at_most(a: Sample, b: Sample, subject: str) -> Finding:
    return at_least(b, a, subject)


RELATIONS = {">": greater, "<": _less, "~": about_equal, ">=": at_least, "<=": _at_most}
"""Functions that judge a relation between two samples, with a description of both as third argument."""

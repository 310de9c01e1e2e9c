"""Scores a claim of a reproduced document: compares the claim with the measured results.

The conditions of a claim are converted to points of the plan (`conditions`). A claim can have several
*cases*, for example one per BLER, and must hold in each of them. `_Judge` judges a case by the rule for
the kind of the claim, and records the measured values for the report. The quantity at a point is a
*sample*: one value per run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from umtslab.analyse.statistics import Summary, summarise
from umtslab.reproduce.bounds import judge_bound
from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.compare import Finding, Verdict, conjunction, show, usable_mean, within
from umtslab.reproduce.conditions import ResolvedConditions, label_point, rank, resolve_conditions, side_point
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.measure import (
    measure,
    measure_alternatives,
    measure_phases,
    measure_series,
    measure_texts,
)
from umtslab.reproduce.order import OTHERS, Chain, judge_order, labels, parse_order
from umtslab.reproduce.plan import Plan, Point, key, text
from umtslab.reproduce.reduce import mean_of
from umtslab.reproduce.results import Results, Sample
from umtslab.reproduce.surface import curve_ordered_by, depth_pct, judge_surface
from umtslab.reproduce.time_course import judge_time_course, mean_between
from umtslab.reproduce.trend import Curve, Trend, judge_correlation, judge_trend, parse_trend

MAX_DETAILS = 4
"""Maximum number of decisive findings in the detail of a verdict."""


@dataclass(frozen=True)
class Measurement:
    """A measured number or `text`, on which a verdict is based or that is reported with it."""

    label: str
    summary: Summary
    text: str = ""

    @property
    def shown(self) -> str:
        """The text, or the number with its interval."""
        return self.text or show(self.summary)

    def __str__(self) -> str:
        return f"{self.label}: {self.shown}" if self.label else self.shown


@dataclass(frozen=True)
class Scored:
    """A claim with its verdict.

    `detail` gives the reason of the verdict; for *not yet* it names what is missing. `ours` has the
    measured values. `alternatives` has values of the same quantity by other interpretations of the
    document. `honest` has the verdict and values of the points with 3GPP's accounting
    (`Plan.honest`). Neither `alternatives` nor `honest` counts in the score.
    """

    claim: Claim
    verdict: Verdict
    detail: str
    ours: tuple[Measurement, ...] = ()
    alternatives: tuple[Measurement, ...] = ()
    honest: Scored | None = field(default=None, repr=False)


def score(claim: Claim, plan: Plan, results: Results) -> Scored:
    """Score a claim that the plan covers. Adds the result with 3GPP's accounting if the plan has it."""
    if (gap := plan.gaps.get(claim.id)) is not None:
        return not_yet(claim, gap)
    scored = _labelled(_score(claim, plan, results, {}), plan, results)
    honest = _score(claim, plan, results, plan.honest) if plan.honest else None
    if honest is None or (honest.verdict is Verdict.NOT_YET and not honest.ours):
        return scored
    return replace(scored, honest=honest)


def _labelled(scored: Scored, plan: Plan, results: Results) -> Scored:
    """Replace a pass by the claim's label, such as *calibrated*. Other verdicts are unchanged.

    If the label has control conditions, a pass is replaced only if the claim holds under these
    conditions too (`umtslab.reproduce.labels.Label`).
    """
    claim = scored.claim
    if claim.label is None or scored.verdict is not Verdict.PASS:
        return scored
    if claim.label.control:
        control_claim = replace(claim, conditions={**claim.conditions, **claim.label.control})
        if _score(control_claim, plan, results, {}).verdict is not Verdict.PASS:
            return scored
    return replace(scored, verdict=claim.label.verdict)


def not_yet(claim: Claim, detail: str) -> Scored:
    """Return a claim that cannot be scored yet."""
    return Scored(claim, Verdict.NOT_YET, detail)


def _score(claim: Claim, plan: Plan, results: Results, overrides: Point) -> Scored:
    """Score a claim. `overrides` are additional conditions."""
    judge = _Judge(claim, plan, results)
    try:
        resolved = resolve_conditions(claim, plan, results.points(), results.sets(), **overrides)
        if not resolved.cases:
            return not_yet(claim, "; ".join(dict.fromkeys(resolved.gaps)))
    except Missing as missing:
        return not_yet(claim, str(missing))
    if plan.is_averaged(claim) and claim.kind == "value" and not resolved.vary:
        findings = [judge.average(resolved)]
    else:
        findings = [judge.case(resolved, case) for case in resolved.cases]
    findings += [Finding(Verdict.NOT_YET, gap) for gap in dict.fromkeys(resolved.gaps)]
    finding = conjunction(findings, limit=MAX_DETAILS)
    return Scored(claim, finding.verdict, finding.detail, tuple(judge.ours), tuple(judge.alternatives))


class _Judge:
    """Judges the cases of one claim, and records the values used.

    The methods for the kinds of claims (`value`, `ratio`, `order`, `trend`, `bound`) raise `Missing`
    if the claim cannot be scored yet.
    """

    def __init__(self, claim: Claim, plan: Plan, results: Results) -> None:
        self.claim = claim
        self.plan = plan
        self.results = results
        self.ours: list[Measurement] = []
        self.alternatives: list[Measurement] = []

    def case(self, resolved: ResolvedConditions, case: Point) -> Finding:
        """Judge one case by the rule for the kind of the claim."""
        rules = {
            "value": self.value,
            "ratio": self.ratio,
            "order": self.order,
            "trend": self.trend,
            "bound": self.bound,
        }
        try:
            return rules[self.claim.kind](resolved, case)
        except Missing as missing:
            return Finding(Verdict.NOT_YET, str(missing))

    # ── One number ──────────────────────────────────────────────────────────────────────────────────────────

    def value(self, resolved: ResolvedConditions, case: Point) -> Finding:
        """Judge one number, one text, or one number for each of several labels."""
        expected = str(self.claim.expected)
        metric = self.plan.metric(self.claim.metric, case)
        if metric.pdu_templates or metric.requests:
            return self.text_value(resolved, case, expected)
        if ":" in expected:
            return self.value_by_label(resolved, case, expected)
        if resolved.vary and not set(resolved.vary) <= set(metric.over):
            raise Missing(f"no rule gives one value over several of {', '.join(resolved.vary)}")
        sample = self.measured(case, self.label(resolved, case))
        return self.compare_with_expected(sample, self.label(resolved, case) or self.claim.metric)

    def value_by_label(self, resolved: ResolvedConditions, case: Point, expected: str) -> Finding:
        """Judge values for several labels: ``free: 0.5; preempting: 1.0``."""
        findings = []
        for part in expected.split(";"):
            label, _, number = part.partition(":")
            values = label_point(label.strip(), self.plan, resolved.vary)
            if values is None:
                raise Missing(f"the plan does not know {label.strip()!r}")
            sample = self.measured({**case, **values}, label.strip())
            findings.append(self.compare_with(sample, _number(number.strip()), label.strip()))
        return conjunction(findings)

    def text_value(self, resolved: ResolvedConditions, case: Point, expected: str) -> Finding:
        """Require the expected text in every run."""
        label = self.label(resolved, case)
        outputs = measure_texts(self.plan, self.results, self.claim.metric, case)
        for output, runs in Counter(outputs).items():
            self.ours.append(
                Measurement(label, Summary(runs, mean=None, sd=None, ci95=None), output or "nothing")
            )
        wrong = [output for output in outputs if output != expected]
        if not wrong:
            return Finding(Verdict.PASS, "")
        where = f"{label}: " if label else ""
        return Finding(
            Verdict.FAIL, f"{where}{len(wrong)} of {len(outputs)} runs say {wrong[0] or 'nothing'!r}"
        )

    def average(self, resolved: ResolvedConditions) -> Finding:
        """Judge the mean over the parameter sets that were run. The mean is computed in each run."""
        sets = {key(point): point for case in resolved.cases for point in resolved.matching(case)}
        if not sets:
            return Finding(Verdict.NOT_YET, "none of its parameter sets was run")
        samples = [measure(self.plan, self.results, self.claim.metric, point) for point in sets.values()]
        means = mean_of(samples)
        label = f"mean of {len(samples)} sets"
        self.record(label, means)
        return self.compare_with_expected(means, label)

    def ratio(self, resolved: ResolvedConditions, case: Point) -> Finding:
        """Judge the quotient of the quantity at two points. The quotient is computed in each run."""
        conditions = self.claim.conditions
        if "num" not in conditions or "den" not in conditions:
            raise Missing("the two sides of the ratio are not named by num and den")
        sides = [str(conditions["num"]), str(conditions["den"])]
        points = [{**case, **side_point(side, self.plan)} for side in sides]
        numerators, denominators = (
            self.measured(point, " ".join(filter(None, (self.label(resolved, case), side))))
            for point, side in zip(points, sides, strict=True)
        )
        ratio: Sample = [
            numerator / denominator if numerator is not None and denominator else None
            for numerator, denominator in zip(numerators, denominators, strict=False)
        ]
        label = " ".join(filter(None, (self.label(resolved, case), "ratio")))
        self.record(label, ratio)
        return self.compare_with_expected(ratio, label)

    def compare_with_expected(self, sample: Sample, subject: str) -> Finding:
        """Judge whether the mean is within the tolerance of the number that the claim states."""
        expected = self.claim.expected
        try:
            number = float(expected)
        except ValueError:
            raise Missing(f"there is no rule for the expected outcome {expected!r}") from None
        return self.compare_with(sample, number, subject)

    def compare_with(self, sample: Sample, expected: float, subject: str) -> Finding:
        """Judge whether the mean is within the claim's tolerance of a number."""
        margin = (self.claim.tolerance or 0.0) * abs(expected)
        return within(summarise(sample), expected - margin, expected + margin, subject)

    # ── Several points ──────────────────────────────────────────────────────────────────────────────────────

    def order(self, resolved: ResolvedConditions, case: Point) -> Finding:
        """Judge an order of points by the quantity, such as ``reno < vegas ~ sack`` over TCP versions."""
        where = self.label(resolved, case)
        chains = [
            self.expand_others(resolved, case, chain) for chain in parse_order(str(self.claim.expected))
        ]
        samples: dict[str, Sample] = {}
        gaps: dict[str, str] = {}
        for label in labels(chains):
            try:
                samples[label] = self.sample_of_label(resolved, case, label, where)
            except Missing as missing:
                gaps[label] = str(missing)
        return judge_order(chains, samples, gaps, f"{where}: " if where else "")

    def sample_of_label(self, resolved: ResolvedConditions, case: Point, label: str, where: str) -> Sample:
        """Return the quantity at the point that a label names.

        A label that is a number, as in ``a < 5``, is a constant: it has this value in as many runs
        as the points measured so far.
        """
        values = label_point(label, self.plan, resolved.vary)
        if values is not None:
            return self.measured({**case, **values}, f"{where} {label}".strip())
        try:
            constant = float(label)
        except ValueError:
            raise Missing(self.plan.gaps.get(label, f"the plan does not know {label!r}")) from None
        runs = max((measurement.summary.n for measurement in self.ours), default=0)
        return [constant] * runs

    def expand_others(self, resolved: ResolvedConditions, case: Point, chain: Chain) -> Chain:
        """Replace the label "other combinations" of a chain by labels of the combinations that were run.

        Combinations that the chain names by another label are left out.
        """
        labels_of_chain = {label for group in chain.groups for label in group}
        if OTHERS not in labels_of_chain:
            return chain
        combinations_run = {
            tuple(text(point[name]) for name in resolved.vary) for point in resolved.matching(case)
        }
        labels_run = (
            "_".join(_word(name, value) for name, value in zip(resolved.vary, values, strict=True))
            for values in sorted(combinations_run)
        )
        named_points = [label_point(label, self.plan, resolved.vary) for label in labels_of_chain]
        others = [
            label for label in labels_run if label_point(label, self.plan, resolved.vary) not in named_points
        ]
        groups = (
            tuple(expanded for label in group for expanded in (others if label == OTHERS else [label]))
            for group in chain.groups
        )
        return Chain(tuple(groups), chain.relations)

    def trend(self, resolved: ResolvedConditions, case: Point) -> Finding:
        """Judge how the quantity changes over one or more varied dimensions, another quantity, or time."""
        if self.plan.metric(self.claim.metric, case).phases:
            return self.phases(case)
        if resolved.is_scatter:
            return self.scatter(resolved, case)
        if len(resolved.vary) > 1:
            return self.surface(resolved, case)
        trend = parse_trend(str(self.claim.expected))
        if trend.over == "time":
            return self.time_course(resolved, case, trend)
        if not resolved.vary:
            raise Missing("there is no rule for a trend without a varied dimension")
        return self.trend_over_dimension(resolved, case, trend)

    def trend_over_dimension(self, resolved: ResolvedConditions, case: Point, trend: Trend) -> Finding:
        """Judge how the quantity changes over the only varied dimension.

        Values of the dimension that the claim needs and the model does not support are gaps: with a gap
        the claim can fail, but not pass.
        """
        name = resolved.vary[0]
        levels = resolved.levels(case, name)
        unsupported = self.plan.dimensions[name].missing
        reasons = [
            unsupported[level] for level in self.stated_levels(resolved, name) if unsupported.get(level)
        ]
        where = self.label(resolved, case)
        samples = [
            self.measured({**case, name: level}, f"{where} {name} {text(level)}".strip()) for level in levels
        ]
        gaps = [Finding(Verdict.NOT_YET, reason) for reason in dict.fromkeys(reasons)]
        if trend.shape.endswith("_rank_correlation"):
            x = [measure(self.plan, self.results, trend.over, {**case, name: level}) for level in levels]
            finding = judge_correlation(_expected_sign(trend), x, samples)
            # More points can reverse a correlation, so with gaps the claim stays open.
            return conjunction(gaps) if gaps else finding
        curve = Curve([_number(level) for level in levels], samples)
        finding = judge_trend(trend, curve)
        detail = f"{where}: {finding.detail}" if where and finding.detail else finding.detail
        return conjunction([Finding(finding.verdict, detail), *gaps])

    def phases(self, case: Point) -> Finding:
        """Require the claim's phases, in order, in every run."""
        stated = re.fullmatch(r"phases\(([^()]*)\)", str(self.claim.expected).strip())
        if stated is None:
            raise Missing(f"there is no rule for {self.claim.expected!r} for phases")
        expected = [name.strip() for name in stated[1].split(",")]
        runs = measure_phases(self.plan, self.results, self.claim.metric, case)
        for index, name in enumerate(expected):
            lengths = [run[index].end_s - run[index].start_s for run in runs if len(run) > index]
            self.ours.append(Measurement(f"{name} (s)", summarise(lengths)))
        outputs = [[phase.name for phase in run] for run in runs]
        wrong = [names for names in outputs if names != expected]
        if not wrong:
            return Finding(Verdict.PASS, "")
        return Finding(Verdict.FAIL, f"{len(wrong)} of {len(outputs)} runs have {', '.join(wrong[0])}")

    def surface(self, resolved: ResolvedConditions, case: Point) -> Finding:
        """Judge a trend over several dimensions, at all combinations that were run."""
        where = self.label(resolved, case)
        points = {
            tuple(text(point[name]) for name in resolved.vary): {name: point[name] for name in resolved.vary}
            for point in resolved.matching(case)
            if all(resolved.includes(name, point[name]) for name in resolved.vary)
        }
        rows = [
            (values, self.measured({**case, **values}, f"{where} {'/'.join(labels)}".strip()))
            for labels, values in sorted(points.items(), key=lambda row: [rank(v) for v in row[1].values()])
        ]
        return judge_surface(str(self.claim.expected), rows)

    def scatter(self, resolved: ResolvedConditions, case: Point) -> Finding:
        """Judge a trend over a measured quantity, with one point per parameter set."""
        trend = parse_trend(str(self.claim.expected))
        sets = resolved.matching(case)
        x = [measure(self.plan, self.results, trend.over, point) for point in sets]
        y = [measure(self.plan, self.results, self.claim.metric, point) for point in sets]
        where = self.label(resolved, case)
        if trend.shape == "dip":
            curve = curve_ordered_by(x, y)
            lowest = min(curve.y, key=usable_mean)
            for name, sample in (("first", curve.y[0]), ("lowest", lowest), ("last", curve.y[-1])):
                self.record(f"{where} {name} by {trend.over}".strip(), sample)
            finding = judge_trend(trend, curve)
            return Finding(
                finding.verdict, f"{where}: {finding.detail}" if where and finding.detail else finding.detail
            )
        if trend.shape.endswith("_rank_correlation"):
            return judge_correlation(_expected_sign(trend), x, y)
        raise Missing(f"there is no rule for the trend {trend.shape} over all sets")

    def dip_pct(self, resolved: ResolvedConditions, case: Point) -> Sample:
        """Return how far the lowest parameter set is below the first one, in per cent.

        The first one is the set with the smallest mean of the varied quantity.
        """
        sets = resolved.matching(case)
        x = [measure(self.plan, self.results, resolved.vary[0], point) for point in sets]
        y = [measure(self.plan, self.results, self.claim.metric, point) for point in sets]
        dip = depth_pct(curve_ordered_by(x, y))
        self.record("", dip)
        return dip

    def stated_levels(self, resolved: ResolvedConditions, name: str) -> Sequence[str]:
        """Return the values of a varied dimension that the claim names, whether they were run or not.

        If the claim names none, returns the values that the model does not support.
        """
        if name in resolved.limits:
            return [text(value) for value in resolved.limits[name]]
        return list(self.plan.dimensions[name].missing)

    def time_course(self, resolved: ResolvedConditions, case: Point, trend: Trend) -> Finding:
        """Judge how the quantity changes over the time of a run."""
        runs = measure_series(self.plan, self.results, self.claim.metric, case)
        instant = trend.options.get("at", trend.options.get("after", 0.0))
        before: Sample = [mean_between(run, 0.0, instant) for run in runs]
        after: Sample = [mean_between(run, instant, run.end_s) for run in runs]
        self.record(f"before {instant:g} s", before)
        self.record(f"after {instant:g} s", after)
        return judge_time_course(trend, runs)

    # ── Inequalities ────────────────────────────────────────────────────────────────────────────────────────

    def bound(self, resolved: ResolvedConditions, case: Point) -> Finding:
        """Judge an inequality."""
        return judge_bound(self, resolved, case)

    # ── Values from results ─────────────────────────────────────────────────────────────────────────────────

    def measured(self, point: Point, label: str, metric: str = "") -> Sample:
        """Return the claim's quantity, or `metric`, at a point, and record it for the report."""
        metric = metric or self.claim.metric
        sample = measure(self.plan, self.results, metric, point)
        self.record(label, sample)
        for name, alternative in measure_alternatives(self.plan, self.results, metric, point).items():
            self.alternatives.append(Measurement(f"{label} {name}".strip(), summarise(alternative)))
        return sample

    def record(self, label: str, sample: Sample) -> None:
        """Record a number that determines the verdict, for the report."""
        self.ours.append(Measurement(label, summarise(sample)))

    def label(self, resolved: ResolvedConditions, case: Point) -> str:
        """Return a label that distinguishes this case from the claim's other cases."""
        if len(resolved.cases) < 2:
            return ""
        common_to_all = set.intersection(*(set(key(other)) for other in resolved.cases))
        return ", ".join(
            f"{name} {text(value)}"
            for name, value in case.items()
            if (name, text(value)) not in common_to_all
        )


def _expected_sign(trend: Trend) -> int:
    """Return 1 for ``positive_rank_correlation`` and -1 for ``negative_rank_correlation``."""
    return 1 if trend.shape.startswith("positive") else -1


def _word(name: str, value: str) -> str:
    """Return the label of a value in an order. Numbers follow the dimension's name: ``maxdat9000``."""
    return name + value if value[0].isdigit() else value


def _number(value: Value) -> float:
    try:
        return float(value)
    except ValueError:
        raise Missing(f"{value!r} is not a number") from None

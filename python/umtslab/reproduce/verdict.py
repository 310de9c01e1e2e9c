"""Scoring: derives a verdict from a claim, its plan and the measured results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from umtslab.analyse.statistics import Summary, summarise
from umtslab.reproduce.bounds import judge_bound
from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.compare import Finding, Verdict, conjunction, show, usable_mean, within
from umtslab.reproduce.conditions import Question, label_point, rank, resolve_conditions, side_point
from umtslab.reproduce.course import judge_course, mean_between
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.measure import (
    measure,
    measure_beside,
    measure_phases,
    measure_series,
    measure_words,
)
from umtslab.reproduce.order import OTHERS, Chain, judge_order, labels, parse_order
from umtslab.reproduce.plan import Plan, Point, key, text
from umtslab.reproduce.reduce import mean_of
from umtslab.reproduce.results import Results, Sample
from umtslab.reproduce.surface import depth_pct, in_order_of, judge_surface
from umtslab.reproduce.trend import Curve, Trend, judge_correlation, judge_trend, parse_trend

SHOWN = 4
"""Maximum number of decisive findings in the detail of a verdict."""


@dataclass(frozen=True)
class Reading:
    """A measured number, or `words`, on which a verdict is based or that is shown beside it."""

    label: str
    summary: Summary
    words: str = ""

    @property
    def shown(self) -> str:
        """The words, or the number with its interval."""
        return self.words or show(self.summary)

    def __str__(self) -> str:
        return f"{self.label}: {self.shown}" if self.label else self.shown


@dataclass(frozen=True)
class Scored:
    """A claim with its verdict.

    `detail` gives the reason of the verdict; for *not yet* it names what is missing. `beside`
    contains other readings of the same quantity, `honest` the verdict and numbers with 3GPP's
    accounting.
    """

    claim: Claim
    verdict: Verdict
    detail: str
    ours: tuple[Reading, ...] = ()
    beside: tuple[Reading, ...] = ()
    honest: Scored | None = field(default=None, repr=False)


def score(claim: Claim, plan: Plan, results: Results) -> Scored:
    """Score a claim that the plan covers, with the honest result beside it."""
    if (gap := plan.gaps.get(claim.id)) is not None:
        return not_yet(claim, gap)
    scored = _labelled(_score(claim, plan, results, {}), plan, results)
    honest = _score(claim, plan, results, plan.honest) if plan.honest else None
    if honest is None or (honest.verdict is Verdict.NOT_YET and not honest.ours):
        return scored
    return Scored(claim, scored.verdict, scored.detail, scored.ours, scored.beside, honest)


def _labelled(scored: Scored, plan: Plan, results: Results) -> Scored:
    """Replace a pass by the claim's label.

    Mismatches, and passes with a failing control, are unchanged.
    """
    claim = scored.claim
    if claim.label is None or scored.verdict is not Verdict.PASS:
        return scored
    if claim.label.control:
        elsewhere = replace(claim, conditions={**claim.conditions, **claim.label.control})
        if _score(elsewhere, plan, results, {}).verdict is not Verdict.PASS:
            return scored
    return replace(scored, verdict=claim.label.verdict)


def not_yet(claim: Claim, detail: str) -> Scored:
    """Return a claim that cannot be scored yet."""
    return Scored(claim, Verdict.NOT_YET, detail)


def _score(claim: Claim, plan: Plan, results: Results, overrides: Point) -> Scored:
    judge = _Judge(claim, plan, results)
    try:
        question = resolve_conditions(claim, plan, results.points(), results.sets(), **overrides)
        if not question.cases:
            return not_yet(claim, "; ".join(dict.fromkeys(question.gaps)))
    except Missing as missing:
        return not_yet(claim, str(missing))
    if plan.is_averaged(claim) and claim.kind == "value" and not question.vary:
        findings = [judge.average(question)]
    else:
        findings = [judge.case(question, case) for case in question.cases]
    findings += [Finding(Verdict.NOT_YET, gap) for gap in dict.fromkeys(question.gaps)]
    found = conjunction(findings, limit=SHOWN)
    return Scored(claim, found.verdict, found.detail, tuple(judge.ours), tuple(judge.beside))


class _Judge:
    """Judges the cases of one claim, and records the numbers used."""

    def __init__(self, claim: Claim, plan: Plan, results: Results) -> None:
        self.claim = claim
        self.plan = plan
        self.results = results
        self.ours: list[Reading] = []
        self.beside: list[Reading] = []

    def case(self, question: Question, case: Point) -> Finding:
        rules = {
            "value": self.value,
            "ratio": self.ratio,
            "order": self.order,
            "trend": self.trend,
            "bound": self.bound,
        }
        try:
            return rules[self.claim.kind](question, case)
        except Missing as missing:
            return Finding(Verdict.NOT_YET, str(missing))

    # ── One number ──────────────────────────────────────────────────────────────────────────────────────────

    def value(self, question: Question, case: Point) -> Finding:
        expected = str(self.claim.expected)
        metric = self.plan.metric(self.claim.metric, case)
        if metric.told or metric.requests:
            return self.words(question, case, expected)
        if ":" in expected:
            return self.value_by_label(question, case, expected)
        if question.vary and not set(question.vary) <= set(metric.over):
            raise Missing(f"no rule gives one value over several of {', '.join(question.vary)}")
        sample = self.look(case, self.label(question, case))
        return self.against_expected(sample, self.label(question, case) or self.claim.metric)

    def value_by_label(self, question: Question, case: Point, expected: str) -> Finding:
        """Judge values for several labels: ``free: 0.5; preempting: 1.0``."""
        findings = []
        for part in expected.split(";"):
            label, _, number = part.partition(":")
            values = label_point(label.strip(), self.plan, question.vary)
            if values is None:
                raise Missing(f"the plan does not know {label.strip()!r}")
            sample = self.look({**case, **values}, label.strip())
            findings.append(self.against(sample, _number(number.strip()), label.strip()))
        return conjunction(findings)

    def words(self, question: Question, case: Point, expected: str) -> Finding:
        """Require the same words in every run."""
        label = self.label(question, case)
        outputs = measure_words(self.plan, self.results, self.claim.metric, case)
        for words, runs in Counter(outputs).items():
            self.ours.append(Reading(label, Summary(runs, None, None, None), words or "nothing"))
        wrong = [words for words in outputs if words != expected]
        if not wrong:
            return Finding(Verdict.PASS, "")
        where = f"{label}: " if label else ""
        return Finding(
            Verdict.FAIL, f"{where}{len(wrong)} of {len(outputs)} runs say {wrong[0] or 'nothing'!r}"
        )

    def average(self, question: Question) -> Finding:
        """Judge the mean over the sets that were run, computed in each run."""
        sets = {key(point): point for case in question.cases for point in question.matching(case)}
        if not sets:
            return Finding(Verdict.NOT_YET, "none of its parameter sets was run")
        columns = [measure(self.plan, self.results, self.claim.metric, point) for point in sets.values()]
        means = mean_of(columns)
        label = f"mean of {len(columns)} sets"
        self.ours.append(Reading(label, summarise(means)))
        return self.against_expected(means, label)

    def ratio(self, question: Question, case: Point) -> Finding:
        conditions = self.claim.conditions
        if "num" not in conditions or "den" not in conditions:
            raise Missing("the two sides of the ratio are not named by num and den")
        sides = [str(conditions["num"]), str(conditions["den"])]
        points = [{**case, **side_point(side, self.plan)} for side in sides]
        top, bottom = (
            self.look(point, " ".join(filter(None, (self.label(question, case), side))))
            for point, side in zip(points, sides, strict=True)
        )
        ratio: Sample = [a / b if a is not None and b else None for a, b in zip(top, bottom, strict=False)]
        label = " ".join(filter(None, (self.label(question, case), "ratio")))
        self.ours.append(Reading(label, summarise(ratio)))
        return self.against_expected(ratio, label)

    def against_expected(self, sample: Sample, subject: str) -> Finding:
        expected = self.claim.expected
        try:
            number = float(expected)
        except ValueError:
            raise Missing(f"no rule reads the expected outcome {expected!r}") from None
        return self.against(sample, number, subject)

    def against(self, sample: Sample, expected: float, subject: str) -> Finding:
        margin = (self.claim.tolerance or 0.0) * abs(expected)
        return within(summarise(sample), expected - margin, expected + margin, subject)

    # ── Several points ──────────────────────────────────────────────────────────────────────────────────────

    def order(self, question: Question, case: Point) -> Finding:
        where = self.label(question, case)
        chains = [self.spelled_out(question, case, chain) for chain in parse_order(str(self.claim.expected))]
        samples: dict[str, Sample] = {}
        gaps: dict[str, str] = {}
        for label in labels(chains):
            try:
                samples[label] = self.labelled(question, case, label, where)
            except Missing as missing:
                gaps[label] = str(missing)
        return judge_order(chains, samples, gaps, f"{where}: " if where else "")

    def labelled(self, question: Question, case: Point, label: str, where: str) -> Sample:
        values = label_point(label, self.plan, question.vary)
        if values is not None:
            return self.look({**case, **values}, f"{where} {label}".strip())
        try:
            constant = float(label)
        except ValueError:
            raise Missing(self.plan.gaps.get(label, f"the plan does not know {label!r}")) from None
        runs = max((reading.summary.n for reading in self.ours), default=0)
        return [constant] * runs

    def spelled_out(self, question: Question, case: Point, chain: Chain) -> Chain:
        """Replace "other combinations" in a chain by the other combinations that were run."""
        named = {label for group in chain.groups for label in group}
        if OTHERS not in named:
            return chain
        run = {tuple(text(point[name]) for name in question.vary) for point in question.matching(case)}
        spelled = (
            "_".join(_word(name, value) for name, value in zip(question.vary, row, strict=True))
            for row in sorted(run)
        )
        known = [label_point(label, self.plan, question.vary) for label in named]
        others = [label for label in spelled if label_point(label, self.plan, question.vary) not in known]
        groups = (
            tuple(o for label in group for o in (others if label == OTHERS else [label]))
            for group in chain.groups
        )
        return Chain(tuple(groups), chain.relations)

    def trend(self, question: Question, case: Point) -> Finding:
        if self.plan.metric(self.claim.metric, case).phases:
            return self.phases(case)
        if question.is_scatter:
            return self.scatter(question, case)
        if len(question.vary) > 1:
            return self.surface(question, case)
        trend = parse_trend(str(self.claim.expected))
        if trend.over == "time":
            return self.course(question, case, trend)
        if not question.vary:
            raise Missing("no rule reads a trend without a varied dimension")
        name = question.vary[0]
        levels = question.levels(case, name)
        lacking = [
            reason
            for v in self.wanted(question, name)
            if (reason := self.plan.dimensions[name].missing.get(v))
        ]
        where = self.label(question, case)
        samples = [
            self.look({**case, name: level}, f"{where} {name} {text(level)}".strip()) for level in levels
        ]
        gaps = [Finding(Verdict.NOT_YET, reason) for reason in dict.fromkeys(lacking)]
        if trend.shape.endswith("_rank_correlation"):
            others = [measure(self.plan, self.results, trend.over, {**case, name: level}) for level in levels]
            sign = 1 if trend.shape.startswith("positive") else -1
            found = judge_correlation(sign, others, samples)
            # More points can reverse a correlation, so with gaps the claim stays open.
            return conjunction(gaps) if gaps else found
        curve = Curve([_number(level) for level in levels], samples)
        found = judge_trend(trend, curve)
        detail = f"{where}: {found.detail}" if where and found.detail else found.detail
        return conjunction([Finding(found.verdict, detail), *gaps])

    def phases(self, case: Point) -> Finding:
        """Require the claim's phases, in order, in every run."""
        stated = re.fullmatch(r"phases\(([^()]*)\)", str(self.claim.expected).strip())
        if stated is None:
            raise Missing(f"no rule reads {self.claim.expected!r} for phases")
        wanted = [word.strip() for word in stated[1].split(",")]
        runs = measure_phases(self.plan, self.results, self.claim.metric, case)
        for place, word in enumerate(wanted):
            lengths = [run[place].end_s - run[place].start_s for run in runs if len(run) > place]
            self.ours.append(Reading(f"{word} (s)", summarise(lengths)))
        outputs = [[phase.word for phase in run] for run in runs]
        wrong = [words for words in outputs if words != wanted]
        if not wrong:
            return Finding(Verdict.PASS, "")
        return Finding(Verdict.FAIL, f"{len(wrong)} of {len(outputs)} runs have {', '.join(wrong[0])}")

    def surface(self, question: Question, case: Point) -> Finding:
        """Judge a trend over several dimensions, at all combinations that were run."""
        where = self.label(question, case)
        points = {
            tuple(text(point[name]) for name in question.vary): {name: point[name] for name in question.vary}
            for point in question.matching(case)
            if all(question.lists(name, point[name]) for name in question.vary)
        }
        rows = [
            (values, self.look({**case, **values}, f"{where} {'/'.join(words)}".strip()))
            for words, values in sorted(points.items(), key=lambda row: [rank(v) for v in row[1].values()])
        ]
        return judge_surface(str(self.claim.expected), rows)

    def scatter(self, question: Question, case: Point) -> Finding:
        """Judge a trend over a measured quantity, with one point per parameter set."""
        trend = parse_trend(str(self.claim.expected))
        sets = question.matching(case)
        x = [measure(self.plan, self.results, trend.over, point) for point in sets]
        y = [measure(self.plan, self.results, self.claim.metric, point) for point in sets]
        where = self.label(question, case)
        if trend.shape == "dip":
            curve = in_order_of(x, y)
            lowest = min(curve.y, key=usable_mean)
            for name, part in (("first", curve.y[0]), ("lowest", lowest), ("last", curve.y[-1])):
                self.ours.append(Reading(f"{where} {name} by {trend.over}".strip(), summarise(part)))
            found = judge_trend(trend, curve)
            return Finding(
                found.verdict, f"{where}: {found.detail}" if where and found.detail else found.detail
            )
        if trend.shape.endswith("_rank_correlation"):
            return judge_correlation(1 if trend.shape.startswith("positive") else -1, x, y)
        raise Missing(f"no rule reads the trend {trend.shape} over all sets")

    def dip_pct(self, question: Question, case: Point) -> Sample:
        """Return how far the lowest set is below the first by the varied quantity, in per cent."""
        sets = question.matching(case)
        x = [measure(self.plan, self.results, question.vary[0], point) for point in sets]
        y = [measure(self.plan, self.results, self.claim.metric, point) for point in sets]
        dip = depth_pct(in_order_of(x, y))
        self.ours.append(Reading("", summarise(dip)))
        return dip

    def wanted(self, question: Question, name: str) -> Sequence[str]:
        """Return the values of the varied dimension in the claim, whether they were run or not."""
        if name in question.limits:
            return [text(value) for value in question.limits[name]]
        return list(self.plan.dimensions[name].missing)

    def course(self, question: Question, case: Point, trend: Trend) -> Finding:
        runs = measure_series(self.plan, self.results, self.claim.metric, case)
        instant = trend.options.get("at", trend.options.get("after", 0.0))
        before: Sample = [mean_between(run, 0.0, instant) for run in runs]
        after: Sample = [mean_between(run, instant, run.end_s) for run in runs]
        self.ours.append(Reading(f"before {instant:g} s", summarise(before)))
        self.ours.append(Reading(f"after {instant:g} s", summarise(after)))
        return judge_course(trend, runs)

    # ── Inequalities ────────────────────────────────────────────────────────────────────────────────────────

    def bound(self, question: Question, case: Point) -> Finding:
        return judge_bound(self, question, case)

    # ── Looking at results ──────────────────────────────────────────────────────────────────────────────────

    def look(self, point: Point, label: str, metric: str = "") -> Sample:
        """Return the claim's quantity, or `metric`, at a point, and record it for the report."""
        metric = metric or self.claim.metric
        sample = measure(self.plan, self.results, metric, point)
        self.ours.append(Reading(label, summarise(sample)))
        for name, other in measure_beside(self.plan, self.results, metric, point).items():
            self.beside.append(Reading(f"{label} {name}".strip(), summarise(other)))
        return sample

    def remember(self, label: str, sample: Sample) -> None:
        """Record a number that determines the verdict, for the report."""
        self.ours.append(Reading(label, summarise(sample)))

    def label(self, question: Question, case: Point) -> str:
        """Return a label that distinguishes this case from the claim's other cases."""
        if len(question.cases) < 2:
            return ""
        shared = set.intersection(*(set(key(other)) for other in question.cases))
        return ", ".join(
            f"{name} {text(value)}" for name, value in case.items() if (name, text(value)) not in shared
        )


def _word(name: str, value: str) -> str:
    """Format a value as a word of an order: ``maxdat9000``, but ``reno``."""
    return name + value if value[0].isdigit() else value


def _number(value: Value) -> float:
    try:
        return float(value)
    except ValueError:
        raise Missing(f"{value!r} is not a number") from None

"""Verdicts of ``umts reproduce`` on claims of a document, with synthetic results.

A claim passes if the whole 95 % interval of the mean over the runs agrees with it, fails if no part
of the interval does, and is inconclusive otherwise. It is "not yet" scored if a point, a metric or a
rule is missing.

The tests use a small plan (`reproduce_synthetic.PLAN`) with the dimensions ``tcp`` (tahoe, reno,
newreno), ``bler`` (0.01, 0.1, 0.5), ``maxdat`` (2, 5, 8, 9000) and ``part`` of a run. Results are
functions of the point (`by_tcp`, `by_bler` and so on), for five runs. Without `NOISE` the five runs are
equal and the interval has no width. Each test scores a claim with results that fit it and with results
that do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from reproduce_synthetic import NOISE, Synthetic, claim, plan_in
from umtslab.reproduce.claims import Claim
from umtslab.reproduce.compare import Finding, Verdict, negation
from umtslab.reproduce.labels import Label
from umtslab.reproduce.plan import Plan, Point
from umtslab.reproduce.results import Sample, Series
from umtslab.reproduce.verdict import Scored, score

PASS, FAIL, INCONCLUSIVE, NOT_YET = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_YET


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_in(tmp_path)


def goodput(
    plan: Plan, of: Callable[[Point], float | Sample | None], noise: list[float] | None = None
) -> Synthetic:
    """Return results with a goodput that is a function of the point. The default is no noise."""
    return Synthetic(plan, {"sent_kbps": of}, noise=noise or [0.0] * 5)


def constant(value: float | Sample) -> Callable[[Point], float | Sample]:
    """Return a function with the same value at every point."""
    return lambda _: value


# The next functions return functions with a value for each level of one dimension of `PLAN`.


def by_tcp(**values: float) -> Callable[[Point], float]:
    return lambda point: values[str(point["tcp"])]


def by_bler(*values: float) -> Callable[[Point], float]:
    return lambda point: values[[0.01, 0.1, 0.5].index(float(point["bler"]))]


def by_maxdat(*values: float) -> Callable[[Point], float]:
    return lambda point: values[[2, 5, 8, 9000].index(int(point["maxdat"]))]


def by_part(part_1: float, other_parts: float) -> Callable[[Point], float]:
    """Return a function with one value in part 1, and another in part 2 and in the whole run."""
    return lambda point: part_1 if point["part"] == 1 else other_parts


# ── Labels ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [Verdict.CALIBRATED, Verdict.BY_CONSTRUCTION])
def test_a_label_replaces_only_a_pass(plan: Plan, kind: Verdict) -> None:
    stated = replace(claim("value", 30.0, tolerance=0.1, tcp="reno"), label=Label(kind, "Because."))
    for level, verdict in [(30.5, kind), (36.0, FAIL)]:
        assert score(stated, plan, goodput(plan, constant(level))).verdict is verdict
    assert score(stated, plan, goodput(plan, lambda _: 32.0, NOISE)).verdict is INCONCLUSIVE


def test_a_pass_with_a_failing_control_stays_a_pass(plan: Plan) -> None:
    """The claim is about an error rate of 0.5. The control tests whether it also holds at 0.01."""
    label = Label(Verdict.BY_CONSTRUCTION, "It holds without errors too.", {"bler": 0.01})
    stated = replace(claim("value", 20.0, tcp="reno", bler=0.5), label=label)
    assert score(stated, plan, goodput(plan, by_bler(30.0, 25.0, 20.0))).verdict is PASS
    assert score(stated, plan, goodput(plan, lambda _: 20.0)).verdict is Verdict.BY_CONSTRUCTION


# ── Values and ratios ───────────────────────────────────────────────────────────────────────────────────────


def test_value_is_judged_by_its_whole_interval(plan: Plan) -> None:
    # 27 to 33 are allowed. The standard deviation of `NOISE` is 1.581, and Student's t for four degrees
    # of freedom 2.776, so the interval with noise has a half width of 2.776 * 1.581 / √5 = 1.96.
    stated = claim("value", 30.0, tolerance=0.1, tcp="reno")
    assert score(stated, plan, goodput(plan, lambda _: 30.5)).verdict is PASS
    assert score(stated, plan, goodput(plan, lambda _: 30.5, NOISE)).verdict is PASS
    assert score(stated, plan, goodput(plan, lambda _: 32.0, NOISE)).verdict is INCONCLUSIVE
    assert score(stated, plan, goodput(plan, lambda _: 34.0, NOISE)).verdict is INCONCLUSIVE
    assert score(stated, plan, goodput(plan, lambda _: 36.0, NOISE)).verdict is FAIL
    assert score(stated, plan, goodput(plan, lambda _: 33.1)).verdict is FAIL


def test_value_without_tolerance_must_be_equal(plan: Plan) -> None:
    assert score(claim("value", 1), plan, goodput(plan, lambda _: 1.0)).verdict is PASS
    assert score(claim("value", "1"), plan, goodput(plan, lambda _: 1.0)).verdict is PASS
    assert score(claim("value", 1), plan, goodput(plan, lambda _: 1.001)).verdict is FAIL


def test_several_values_have_labels(plan: Plan) -> None:
    results = goodput(plan, by_tcp(tahoe=20.0, reno=30.0, newreno=31.0))
    assert score(claim("value", "tahoe: 20; reno: 30", vary="tcp"), plan, results).verdict is PASS
    assert score(claim("value", "tahoe: 20; reno: 31", vary="tcp"), plan, results).verdict is FAIL
    unread = score(claim("value", "tahoe: 20; reno: many", vary="tcp"), plan, results)
    assert (unread.verdict, unread.detail) == (Verdict.NOT_YET, "'many' is not a number")


def test_value_shows_our_number_and_its_second_interpretation(plan: Plan) -> None:
    """`PLAN` measures goodput of part 2 at the point "whole", and beside it at part 2 itself."""

    def whole_or_part(point: Point) -> float:
        return 25.7 if point["part"] == "whole" else 24.6

    scored = score(claim("value", 25.76, tolerance=0.08, part=2), plan, goodput(plan, whole_or_part))
    assert scored.verdict is PASS
    assert [str(measurement) for measurement in scored.ours] == ["25.7 ± 0"]
    assert [str(measurement) for measurement in scored.alternatives] == ["phase alone: 24.6 ± 0"]


def test_value_must_hold_for_each_listed_case(plan: Plan) -> None:
    both = claim("value", 30.0, tolerance=0.02, tcp=["tahoe", "reno"])
    assert score(both, plan, goodput(plan, by_tcp(tahoe=30.1, reno=29.9, newreno=0))).verdict is PASS
    scored = score(both, plan, goodput(plan, by_tcp(tahoe=30.1, reno=20.0, newreno=0)))
    assert scored.verdict is FAIL
    assert "tcp reno" in scored.detail


def test_a_claim_about_an_average_is_judged_by_the_mean_of_each_run(plan: Plan) -> None:
    stated = claim("value", 30.0, tolerance=0.01, bler=[0.01, 0.1, 0.5])
    averaging = replace(plan, averaged=(stated.id,), average_over=("all",))
    # The mean of the three values is 30.
    noisy = goodput(averaging, by_bler(33.0, 30.0, 27.0), NOISE)
    assert score(stated, plan, noisy).verdict is FAIL
    scored = score(stated, averaging, noisy)
    assert scored.verdict is INCONCLUSIVE
    [measurement] = scored.ours
    assert measurement.label.startswith("mean of ")
    assert measurement.summary.n == 5
    exact = goodput(averaging, by_bler(33.0, 30.0, 27.0))
    assert score(stated, averaging, exact).verdict is PASS
    too_large = goodput(averaging, by_bler(36.0, 30.0, 27.0))
    assert score(stated, averaging, too_large).verdict is FAIL


def test_value_with_a_missing_case_is_not_yet_unless_a_present_one_fails(plan: Plan) -> None:
    both = claim("value", 30.0, tolerance=0.02, tcp=["reno", "sack"])
    scored = score(both, plan, goodput(plan, lambda _: 30.0))
    assert (scored.verdict, scored.detail) == (NOT_YET, "TCP SACK is missing")
    assert score(both, plan, goodput(plan, lambda _: 20.0)).verdict is FAIL


def test_a_value_missing_in_every_run_is_inconclusive(plan: Plan) -> None:
    scored = score(claim("value", 30.0, tolerance=0.1), plan, goodput(plan, lambda _: None))
    assert scored.verdict is INCONCLUSIVE


def test_value_from_one_run_is_inconclusive(plan: Plan) -> None:
    scored = score(claim("value", 30.0, tolerance=0.1), plan, goodput(plan, lambda _: [30.0]))
    assert scored.verdict is INCONCLUSIVE


def test_ratio_is_formed_within_each_run(plan: Plan) -> None:
    stated = claim("ratio", 0.5, tolerance=0.1, num="bler 0.5", den="bler 0.01")
    runs = [10.0, 20.0, 30.0, 40.0, 50.0]

    def halved(point: Point) -> Sample:
        return [run / 2 for run in runs] if point["bler"] == 0.5 else list(runs)

    scored = score(stated, plan, goodput(plan, halved))
    assert scored.verdict is PASS  # The levels vary widely, their ratio does not.
    assert scored.ours[-1].summary.ci95 == 0.0
    assert score(stated, plan, goodput(plan, by_bler(30, 20, 21))).verdict is FAIL
    assert score(stated, plan, goodput(plan, by_bler(0, 20, 21))).verdict is INCONCLUSIVE


def test_the_sides_of_a_ratio_may_be_versions_or_users(plan: Plan) -> None:
    versions = claim("ratio", 1.04, tolerance=0.01, num="newreno", den="reno")
    assert score(versions, plan, goodput(plan, by_tcp(tahoe=1, reno=1, newreno=1.04))).verdict is PASS
    users = claim("ratio", 3.0, "window", tolerance=0.01, num="both users, part 2", den="user1, part 2")
    assert score(users, plan, Synthetic(plan, {}, connections={"window": [1.0, 2.0]})).verdict is PASS
    assert score(users, plan, Synthetic(plan, {}, connections={"window": [2.0, 2.0]})).verdict is FAIL


# ── Orders ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_greater_is_judged_on_paired_differences(plan: Plan) -> None:
    order = claim("order", "newreno > reno", vary="tcp")
    # The difference of 0.1 is much smaller than the variation between runs, but equal in each run.
    assert score(order, plan, goodput(plan, by_tcp(tahoe=1, reno=1, newreno=1.1), NOISE)).verdict is PASS
    assert score(order, plan, goodput(plan, by_tcp(tahoe=1, reno=1, newreno=0.9), NOISE)).verdict is FAIL


def test_greater_inside_the_noise_is_inconclusive(plan: Plan) -> None:
    order = claim("order", "newreno > reno", vary="tcp")

    def noisy(point: Point) -> Sample:
        return [1.0, 1.3, 0.9, 1.2, 1.0] if point["tcp"] == "newreno" else [1.1, 1.0, 1.0, 1.0, 1.2]

    assert score(order, plan, goodput(plan, noisy)).verdict is INCONCLUSIVE


def test_greater_fails_if_both_are_equal_in_every_run(plan: Plan) -> None:
    order = claim("order", "newreno > reno", vary="tcp")
    assert score(order, plan, goodput(plan, lambda _: 1.0)).verdict is FAIL
    assert score(order, plan, goodput(plan, lambda _: 1.0, NOISE)).verdict is FAIL
    # Small counts, of which several runs have the same, can agree by chance.
    counts: Sample = [0.0, 1.0, 1.0, 2.0, 0.0]
    assert score(order, plan, goodput(plan, constant(counts))).verdict is INCONCLUSIVE


def test_about_equal_means_within_five_percent(plan: Plan) -> None:
    order = claim("order", "tahoe ~ reno ~ newreno", vary="tcp")
    assert score(order, plan, goodput(plan, by_tcp(tahoe=30, reno=30.5, newreno=30))).verdict is PASS
    assert score(order, plan, goodput(plan, by_tcp(tahoe=30, reno=33, newreno=30))).verdict is FAIL

    def noisy(point: Point) -> Sample:
        return [30.0, 33.0, 27.0, 31.0, 30.0] if point["tcp"] == "reno" else [30.0] * 5

    assert score(order, plan, goodput(plan, noisy)).verdict is INCONCLUSIVE


def test_at_least_allows_five_percent_less(plan: Plan) -> None:
    order = claim("order", "newreno >= reno", vary="tcp")
    assert score(order, plan, goodput(plan, by_tcp(tahoe=0, reno=30, newreno=29.5))).verdict is PASS
    assert score(order, plan, goodput(plan, by_tcp(tahoe=0, reno=30, newreno=40))).verdict is PASS
    assert score(order, plan, goodput(plan, by_tcp(tahoe=0, reno=30, newreno=27))).verdict is FAIL


def test_an_order_may_have_groups_and_several_parts(plan: Plan) -> None:
    each = claim("order", "tahoe, newreno > reno", vary="tcp")
    assert score(each, plan, goodput(plan, by_tcp(tahoe=2, reno=1, newreno=3))).verdict is PASS
    assert score(each, plan, goodput(plan, by_tcp(tahoe=2, reno=1, newreno=0))).verdict is FAIL
    both = claim("order", "tahoe > reno; newreno > reno", vary="tcp")
    assert score(both, plan, goodput(plan, by_tcp(tahoe=2, reno=1, newreno=3))).verdict is PASS
    assert score(both, plan, goodput(plan, by_tcp(tahoe=0, reno=1, newreno=3))).verdict is FAIL


def test_labels_of_an_order_are_levels_named_levels_or_constants(plan: Plan) -> None:
    numbers = claim("order", "8 > 5 > 2", vary="maxdat")
    assert score(numbers, plan, goodput(plan, by_maxdat(1, 2, 3, 4))).verdict is PASS
    named = claim("order", "maxdat2 > maxdat9000", vary="maxdat")
    assert score(named, plan, goodput(plan, by_maxdat(1, 2, 3, 4))).verdict is FAIL
    parts = claim("order", "part1 > part2", vary="part")
    assert score(parts, plan, goodput(plan, by_part(part_1=30.0, other_parts=25.0))).verdict is PASS
    assert score(parts, plan, goodput(plan, by_part(part_1=20.0, other_parts=25.0))).verdict is FAIL
    sign = claim("order", "reno > 0; newreno < 0", vary="tcp")
    assert score(sign, plan, goodput(plan, by_tcp(tahoe=0, reno=1, newreno=-1))).verdict is PASS
    assert score(sign, plan, goodput(plan, by_tcp(tahoe=0, reno=1, newreno=1))).verdict is FAIL


def test_order_with_a_missing_version_is_not_yet_unless_already_wrong(plan: Plan) -> None:
    order = claim("order", "tahoe > vegas > reno", vary="tcp")
    scored = score(order, plan, goodput(plan, by_tcp(tahoe=3, reno=1, newreno=0)))
    assert (scored.verdict, scored.detail) == (NOT_YET, "TCP Vegas is missing")
    wrong = score(order, plan, goodput(plan, by_tcp(tahoe=1, reno=3, newreno=0)))
    assert wrong.verdict is FAIL
    assert "tahoe > reno" in wrong.detail
    equals = claim("order", "tahoe ~ vegas ~ reno", vary="tcp")
    assert score(equals, plan, goodput(plan, by_tcp(tahoe=1, reno=1, newreno=0))).verdict is NOT_YET


def test_order_must_hold_over_the_whole_range(plan: Plan) -> None:
    # The points 0.1 and 0.5 are in this range.
    order = claim("order", "newreno > reno", vary="tcp", bler=[0.05, 0.9])

    def crossing(point: Point) -> float:
        """NewReno is better below an error rate of 0.3, and the others above."""
        is_newreno_better = float(point["bler"]) < 0.3
        return 2.0 if (point["tcp"] == "newreno") == is_newreno_better else 1.0

    scored = score(order, plan, goodput(plan, crossing))
    assert scored.verdict is FAIL
    assert "bler 0.5" in scored.detail
    assert "bler 0.1" not in scored.detail
    low = claim("order", "newreno > reno", vary="tcp", bler=[0.01, 0.1])
    assert score(low, plan, goodput(plan, crossing)).verdict is PASS


def test_one_combination_may_be_greater_than_all_others(plan: Plan) -> None:
    best = claim("order", "maxdat9000_newreno > other combinations", vary=["maxdat", "tcp"])

    def top(point: Point) -> float:
        return 9.0 if (point["maxdat"], point["tcp"]) == (9000, "newreno") else 1.0

    assert score(best, plan, goodput(plan, top)).verdict is PASS
    # 5 where MaxDAT is 2, and 3 at the named combination.
    other_is_best = goodput(plan, lambda point: 5.0 if point["maxdat"] == 2 else top(point) / 3)
    assert score(best, plan, other_is_best).verdict is FAIL


# ── Trends ──────────────────────────────────────────────────────────────────────────────────────────────────

# The values are at the block error rates 0.01, 0.1 and 0.5. A straight line through (0.01, 1) with
# a slope of 20 has the values 1, 2.8 and 10.8.
TRENDS = [
    ("increasing(bler)", (1, 2, 3), PASS),
    ("increasing(bler)", (1, 3, 2), FAIL),
    ("increasing(bler)", (1, 1, 2), FAIL),
    ("decreasing(bler)", (3, 2, 1), PASS),
    ("decreasing(bler)", (3, 2, 2.5), FAIL),
    ("decreasing(bler, from=0.1)", (1, 3, 2), PASS),
    ("decreasing(bler, to=0.1)", (1, 3, 2), FAIL),
    ("nondecreasing(bler)", (30, 31, 30.5), PASS),
    ("nondecreasing(bler)", (30, 31, 28), FAIL),
    ("nonincreasing(bler)", (30, 29, 29.5), PASS),
    ("nonincreasing(bler)", (30, 29, 32), FAIL),
    ("flat(bler)", (30, 30.5, 29.8), PASS),
    ("flat(bler)", (30, 31.2, 32.4), FAIL),  # Each step is small, the sum is not.
    ("concave(bler)", (0, 10, 12), PASS),
    ("concave(bler)", (0, 1, 30), FAIL),
    ("increasing_convex(bler)", (0, 1, 30), PASS),
    ("increasing_convex(bler)", (0, 10, 12), FAIL),
    ("linear(bler)", (1, 2.8, 10.8), PASS),
    ("linear(bler)", (10.8, 9, 1.2), PASS),
    ("linear(bler)", (0, 10, 12), FAIL),
    ("linear(bler)", (7, 7, 7), FAIL),
    ("peak(bler, at=0.1)", (1, 3, 2), PASS),
    ("peak(bler, at=0.1)", (3, 2, 1), FAIL),
    ("peak(bler, at=0.5)", (1, 2, 3), FAIL),
    ("dip(bler)", (3, 1, 2), PASS),
    ("dip(bler)", (3, 2, 1), FAIL),
    ("argmax(bler)=0.5", (1, 2, 3), PASS),
    ("argmax(bler)=0.1", (1, 2, 3), FAIL),
    ("argmax(bler) <= 0.1", (1, 2, 1.5), PASS),
    ("argmax(bler) <= 0.1", (1, 2, 3), FAIL),
]


@pytest.mark.parametrize(("expected", "values", "verdict"), TRENDS)
def test_a_trend_is_judged_by_its_shape(
    plan: Plan, expected: str, values: tuple[float, ...], verdict: Verdict
) -> None:
    trend = claim("trend", expected, vary="bler")
    assert score(trend, plan, goodput(plan, by_bler(*values))).verdict is verdict


@pytest.mark.parametrize(
    ("expected", "values", "verdict"),
    [
        ("saturating(maxdat)", (10, 28, 30, 30.2), PASS),
        ("saturating(maxdat)", (10, 28, 30, 35), FAIL),
        ("saturating(maxdat)", (30, 30, 30, 30), FAIL),
        ("flat_then_increasing(maxdat, at=5)", (10, 10.1, 11, 12), PASS),
        ("flat_then_increasing(maxdat, at=5)", (10, 12, 13, 14), FAIL),
        ("flat_then_increasing(maxdat, at=5)", (10, 10, 10, 14), FAIL),
        ("flat_then_decreasing(maxdat, at=5)", (10, 10.1, 9, 8), PASS),
        ("flat_then_decreasing(maxdat, at=5)", (10, 10.1, 11, 8), FAIL),
    ],
)
def test_a_trend_with_a_bend_is_judged_by_its_shape(
    plan: Plan, expected: str, values: tuple[float, ...], verdict: Verdict
) -> None:
    trend = claim("trend", expected, vary="maxdat")
    assert score(trend, plan, goodput(plan, by_maxdat(*values))).verdict is verdict


def test_an_increasing_trend_may_have_a_maximum_rise(plan: Plan) -> None:
    # From 20 to at most 30.
    stated = claim("trend", "increasing(bler, rise=0.5)", vary="bler", tcp="reno")
    assert score(stated, plan, goodput(plan, by_bler(20.0, 25.0, 29.0))).verdict is PASS
    assert score(stated, plan, goodput(plan, by_bler(20.0, 25.0, 31.0))).verdict is FAIL
    assert score(stated, plan, goodput(plan, by_bler(20.0, 19.0, 29.0))).verdict is FAIL


def test_trend_inside_the_noise_is_inconclusive(plan: Plan) -> None:
    def noisy(point: Point) -> Sample:
        level = by_bler(1, 2, 2.05)(point)
        return [level + noise for noise in NOISE] if point["bler"] == 0.5 else [level] * 5

    rises = claim("trend", "increasing(bler)", vary="bler")
    assert score(rises, plan, goodput(plan, noisy)).verdict is INCONCLUSIVE


@pytest.mark.parametrize(
    ("verdict", "contrary"),
    [(PASS, FAIL), (FAIL, PASS), (INCONCLUSIVE, INCONCLUSIVE), (NOT_YET, NOT_YET)],
)
def test_negation_swaps_pass_and_fail_and_keeps_open_verdicts(verdict: Verdict, contrary: Verdict) -> None:
    assert negation(Finding(verdict, "why")) == Finding(contrary, "why")


def test_a_trend_ignores_values_that_the_claim_does_not_list(plan: Plan) -> None:
    trend = claim("trend", "increasing(bler)", vary="bler", bler=[0.01, 0.1])
    assert score(trend, plan, goodput(plan, by_bler(1, 2, 0))).verdict is PASS


def test_rank_correlation_needs_numbers(plan: Plan) -> None:
    rtt = by_bler(1, 2, 3)
    falling = claim("trend", "negative_rank_correlation(rtt_s)", vary="bler")
    for values, verdict in [((9, 5, 1), PASS), ((1, 5, 9), FAIL), ((5, 5, 5), INCONCLUSIVE)]:
        results = Synthetic(plan, {"sent_kbps": by_bler(*values), "rtt_s": rtt})
        assert score(falling, plan, results).verdict is verdict
    versions = claim("trend", "negative_rank_correlation(rtt_s)", vary="tcp")
    results = Synthetic(plan, {"sent_kbps": by_bler(1, 2, 3), "rtt_s": rtt})
    assert score(versions, plan, results).verdict is NOT_YET


# ── Steps over time ─────────────────────────────────────────────────────────────────────────────────────────


def stepped(*levels: tuple[float, float], end_s: float = 7500.0) -> list[Series]:
    """Five runs with a step to each level at its time in seconds."""
    times, values = [time_s for time_s, _ in levels], [level for _, level in levels]
    return [Series(times, values, end_s)] * 5


@pytest.mark.parametrize(
    ("levels", "verdict"),
    [
        ([(0.0, 5.0), (1510.0, 12.0)], PASS),
        ([(0.0, 5.0), (1510.0, 12.0), (5000.0, 5.0)], FAIL),
        ([(0.0, 5.0), (1900.0, 12.0)], FAIL),  # Too slow: the mean of the first 500 s is low.
        ([(0.0, 5.0)], FAIL),
        ([(0.0, 5.0), (1510.0, 2.0)], FAIL),
    ],
)
def test_step_up_and_stay_needs_a_fast_rise_that_lasts(
    plan: Plan, levels: list[tuple[float, float]], verdict: Verdict
) -> None:
    rises = claim("trend", "step_up_and_stay(at=1500)", "window_vs_time", user=1)
    assert score(rises, plan, Synthetic(plan, {}, series={"window": stepped(*levels)})).verdict is verdict


@pytest.mark.parametrize(
    ("levels", "verdict"),
    [
        ([(0.0, 4.0), (1600.0, 3.0), (1700.0, 2.0)], PASS),
        ([(0.0, 4.0), (1600.0, 2.0)], FAIL),
        ([(0.0, 4.0), (1600.0, 3.3), (1700.0, 2.6), (1800.0, 2.0)], FAIL),
        ([(0.0, 4.0), (1600.0, 3.0), (1610.0, 4.0), (1700.0, 2.0)], FAIL),  # A dip of 10 s is no step.
        ([(0.0, 4.0)], FAIL),
    ],
)
def test_steps_down_must_have_the_stated_number(
    plan: Plan, levels: list[tuple[float, float]], verdict: Verdict
) -> None:
    falls = claim("trend", "steps_down(count=2, after=1500)", "window_vs_time", user=1)
    assert score(falls, plan, Synthetic(plan, {}, series={"window": stepped(*levels)})).verdict is verdict


# ── Bounds ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("expected", "value", "noise", "verdict"),
    [
        ("goodput_kbps < 1", 0.5, None, PASS),
        ("goodput_kbps < 1", 1.5, None, FAIL),
        ("goodput_kbps < 1", 0.5, NOISE, INCONCLUSIVE),
        ("31 <= goodput_kbps <= 33", 32.0, None, PASS),
        ("31 <= goodput_kbps <= 33", 34.0, None, FAIL),
        ("31 <= goodput_kbps <= 33", 34.0, NOISE, INCONCLUSIVE),
        # The default of maxdat is 9000.
        ("goodput_kbps > 2 * maxdat", 19_000.0, None, PASS),
        ("goodput_kbps > 2 * maxdat", 17_000.0, None, FAIL),
        ("goodput_kbps == 0", 0.0, None, PASS),
    ],
)
def test_a_bound_is_tested_over_the_whole_interval(
    plan: Plan, expected: str, value: float, noise: list[float] | None, verdict: Verdict
) -> None:
    assert score(claim("bound", expected), plan, goodput(plan, lambda _: value, noise)).verdict is verdict


def test_equality_must_hold_in_every_run(plan: Plan) -> None:
    zero = claim("bound", "goodput_kbps == 0")
    scored = score(zero, plan, goodput(plan, lambda _: [0.0, 0.0, 0.0, 0.0, 1.0]))
    assert scored.verdict is FAIL
    assert "1 of 5 runs" in scored.detail


def test_bound_on_two_quantities_is_tested_in_every_run(plan: Plan) -> None:
    limit = claim("bound", "goodput_kbps <= window_bits / rtt_s")
    # The bounds are 20 / 1 and 20 / 3.
    for rtt, verdict in [(1.0, PASS), (3.0, FAIL)]:
        results = Synthetic(
            plan, {"sent_kbps": lambda _: 10.0, "window_bits": lambda _: 20.0, "rtt_s": constant([rtt] * 5)}
        )
        assert score(limit, plan, results).verdict is verdict


@pytest.mark.parametrize(
    "expected", ["goodput_kbps", "__import__('os')", "goodput_kbps in {0, x}", "f(x) < 1", "<"]
)
def test_invalid_inequalities_are_not_evaluated(plan: Plan, expected: str) -> None:
    assert score(claim("bound", expected), plan, goodput(plan, lambda _: 0.5)).verdict is NOT_YET


# ── What is missing ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("unscorable", "named_part"),
    [
        (claim("value", 1, "happiness"), "happiness"),
        (claim("value", 1, channel="dch"), "channel"),
        (claim("value", 1, bler=0.2), "not run"),
        (claim("value", 1, bler=[0.6, 0.9]), "bler from 0.6 to 0.9"),
        (claim("value", "ack=2"), "ack=2"),
        (claim("value", 1, tcp="vegas"), "TCP Vegas"),
        (claim("order", "high > low", vary="tcp"), "high"),
        (claim("order", "best", vary="tcp"), "best"),
        (claim("trend", "cubic(bler)", vary="bler"), "cubic"),
        (claim("trend", "differs by tcp", vary="bler"), "differs"),
        (claim("trend", "increasing(inactivity_s)", vary="inactivity_s"), "inactivity_s"),
        (claim("ratio", 1, num="TO900", den="reno"), "TO900"),
    ],
)
def test_not_yet_names_the_missing_part(plan: Plan, unscorable: Claim, named_part: str) -> None:
    scored = score(unscorable, plan, goodput(plan, lambda _: 1.0))
    assert scored.verdict is NOT_YET
    assert named_part in scored.detail


def test_another_scenario_is_not_scored_with_this_plan(plan: Plan) -> None:
    of_large = replace(claim("value", 1), conditions={"scenario": "large"})
    assert score(of_large, plan, goodput(plan, lambda _: 1.0)).verdict is NOT_YET


def test_an_interpretation_adds_conditions_to_a_claim(plan: Plan) -> None:
    """`PLAN` reads the claim "everywhere" as one about error rates from 0.01 to 0.9."""
    everywhere = claim("bound", "goodput_kbps > 1", place="sec1.everywhere")
    assert score(everywhere, plan, goodput(plan, by_bler(3, 3, 3))).verdict is PASS
    assert score(everywhere, plan, goodput(plan, by_bler(3, 3, 0))).verdict is FAIL


def test_the_result_with_3gpp_accounting_is_shown_but_not_scored(plan: Plan) -> None:
    def honest(point: Point) -> float:
        return 20.0 if point["accounting"] == "honest" else 30.0

    scored = score(claim("value", 30.0, tolerance=0.01), plan, goodput(plan, honest))
    assert scored.verdict is PASS
    assert isinstance(scored.honest, Scored)
    assert scored.honest.verdict is FAIL
    assert scored.honest.ours[0].summary.mean == 20.0


def test_a_quantity_may_combine_the_runs_of_two_points(plan: Plan) -> None:
    """`PLAN` defines the loss as the goodput of part 1 minus the goodput of the whole run."""
    falling = claim("trend", "decreasing(bler)", "loss_kbps", vary="bler")

    def shrinking(point: Point) -> float:
        loss = by_bler(6, 4, 1)(point) if point["part"] == "whole" else 0.0
        return 30.0 - loss

    assert score(falling, plan, goodput(plan, shrinking)).verdict is PASS
    # A loss of 10 at each error rate.
    assert score(falling, plan, goodput(plan, by_part(part_1=30.0, other_parts=20.0))).verdict is FAIL

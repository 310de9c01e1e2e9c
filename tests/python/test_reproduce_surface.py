"""Averages over sets of parameters, quantities over several points, trends over several dimensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from reproduce_synthetic import NOISE, PLAN, Synthetic, claim, plan_in, write_plan
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.errors import BadData
from umtslab.reproduce.figuredata import figure_data
from umtslab.reproduce.plan import Plan, Point
from umtslab.reproduce.plan_file import load_plan
from umtslab.reproduce.results import Sample
from umtslab.reproduce.verdict import score

PASS, FAIL, INCONCLUSIVE, NOT_YET = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_YET

METRICS = """
[[metric]]
name = "spread"
expr = "sent_kbps"
over = { tcp = ["tahoe", "reno", "newreno"] }
reduce = "REDUCTION"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_in(tmp_path)


def reducing(folder: Path, how: str) -> Plan:
    text = PLAN.replace("[[sweep]]", METRICS.replace("REDUCTION", how) + "\n[[sweep]]", 1)
    return load_plan(write_plan(folder, text))


def sent(plan: Plan, of: Callable[[Point], float], noise: list[float] | None = None) -> Synthetic:
    return Synthetic(plan, {"sent_kbps": of}, noise=noise or [0.0] * 5)


def by_tcp(point: Point) -> float:
    return {"tahoe": 10.0, "reno": 12.0, "newreno": 16.0}[str(point["tcp"])]


@pytest.mark.parametrize(("how", "expected"), [("range", 6.0), ("range_pct", 37.5), ("min", 10.0)])
def test_a_quantity_over_several_points_is_one_number(tmp_path: Path, how: str, expected: float) -> None:
    plan = reducing(tmp_path, how)
    right = claim("value", expected, "spread")
    assert score(right, plan, sent(plan, by_tcp)).verdict is PASS
    assert score(claim("value", expected + 1, "spread"), plan, sent(plan, by_tcp)).verdict is FAIL


def test_a_range_does_not_grow_with_noise_that_all_points_share(tmp_path: Path) -> None:
    plan = reducing(tmp_path, "range")
    [reading] = score(claim("value", 6.0, "spread"), plan, sent(plan, by_tcp, NOISE)).ours
    assert (reading.summary.mean, reading.summary.ci95) == (6.0, 0.0)


def test_an_unknown_reduction_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="mode"):
        reducing(tmp_path, "mode")


def test_means_need_a_sweep_to_be_taken_over(tmp_path: Path) -> None:
    text = PLAN.replace("runs = 5", 'runs = 5\naverage_over = "nowhere"', 1)
    with pytest.raises(BadData, match="nowhere"):
        load_plan(write_plan(tmp_path, text))


def test_an_order_of_means_covers_all_sets_not_only_the_defaults(plan: Plan) -> None:
    """Reno is better at the default error rate and worse at the other rates."""

    def of(point: Point) -> float:
        if str(point["tcp"]) != "reno":
            return 10.0
        return 12.0 if float(point["bler"]) == 0.01 else 1.0

    order = claim("order", "newreno > reno", vary="tcp")
    assert score(order, plan, sent(plan, of)).verdict is FAIL
    assert score(order, replace(plan, averaged=("paper.*",)), sent(plan, of)).verdict is PASS


def test_the_best_level_may_differ_between_versions(plan: Plan) -> None:
    def differs(point: Point) -> float:
        best = 0.01 if str(point["tcp"]) == "reno" else 0.5
        return 10.0 - abs(float(point["bler"]) - best)

    stated = claim("trend", "argmax(bler) differs by tcp", vary=["bler", "tcp"])
    assert score(stated, plan, sent(plan, differs)).verdict is PASS
    assert score(stated, plan, sent(plan, lambda point: -float(point["bler"]))).verdict is FAIL
    assert score(stated, plan, sent(plan, lambda _: 1.0)).verdict is INCONCLUSIVE


def test_the_best_of_a_set_must_beat_each_point_outside(plan: Plan) -> None:
    stated = claim("trend", "argmax(bler) in {0.01, 0.1}", vary=["bler", "tcp"])
    assert score(stated, plan, sent(plan, lambda point: -float(point["bler"]))).verdict is PASS
    assert score(stated, plan, sent(plan, lambda point: float(point["bler"]))).verdict is FAIL


def test_points_with_the_same_sum_are_one(plan: Plan) -> None:
    stated = claim("trend", "increasing(bler + maxdat)", vary=["bler", "maxdat"])
    rising = sent(plan, lambda point: float(point["bler"]) + float(point["maxdat"]))
    assert score(stated, plan, rising).verdict is PASS
    falling = sent(plan, lambda point: -float(point["bler"]) - float(point["maxdat"]))
    assert score(stated, plan, falling).verdict is FAIL


def scattered(plan: Plan, goodput: Callable[[float], float]) -> Synthetic:
    """Results with a different delay at each point, and a goodput that depends on the delay."""
    index = {str(sorted(point.items())): float(i) for i, point in enumerate(Synthetic(plan, {}).points())}

    def delay(point: Point) -> float:
        return index[str(sorted(point.items()))]

    metrics: dict[str, Callable[[Point], float | Sample | None]] = {
        "delay_s": delay,
        "sent_kbps": lambda point: goodput(delay(point) / (len(index) - 1)),
    }
    return Synthetic(plan, metrics, noise=[0.0] * 5)


def test_a_dip_over_a_measured_quantity_is_one_between_its_ends(plan: Plan) -> None:
    plan = replace(plan, averaged=("paper.*",), average_over=("all",))
    stated = claim("trend", "dip(delay_s)", vary="delay_s", part=1)
    assert score(stated, plan, scattered(plan, lambda x: abs(x - 0.5))).verdict is PASS
    assert score(stated, plan, scattered(plan, lambda x: x)).verdict is FAIL


def test_all_sets_are_points_of_a_correlation(plan: Plan) -> None:
    plan = replace(plan, averaged=("paper.*",), average_over=("all",))
    stated = claim("trend", "positive_rank_correlation(delay_s)", vary="all", part=1)
    assert score(stated, plan, scattered(plan, lambda x: x * x)).verdict is PASS
    assert score(stated, plan, scattered(plan, lambda x: -x)).verdict is FAIL


def test_a_gap_of_the_document_is_the_reason_of_the_verdict(plan: Plan) -> None:
    stated = claim("value", 1.0)
    scored = score(stated, replace(plan, gaps={stated.id: "the page is missing"}), sent(plan, by_tcp))
    assert (scored.verdict, scored.detail) == (NOT_YET, "the page is missing")


def test_a_scatter_has_a_point_for_each_set(plan: Plan) -> None:
    figure = replace(plan.figures[0], kind="scatter", x="delay_s", x_label="Delay (s)", y=("goodput_kbps",))
    plan, figure = replace(plan, average_over=("all",)), replace(figure, at={"part": 1})
    data = figure_data(plan, figure, scattered(plan, lambda x: x), [])
    assert data.x_label == "Delay (s)"
    dots = [dot for line in data.lines for dot in line.dots]
    assert len(dots) > 5
    assert all(dot.y.n == 5 for dot in dots)

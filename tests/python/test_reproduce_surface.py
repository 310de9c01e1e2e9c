"""Claims of ``umts reproduce`` about several points: averages, ranges, trends over two dimensions.

A set of parameters is one point of the sweep that a plan names in ``average_over``. The results are
synthetic: each test chooses the metric ``sent_kbps`` as a function of the point.

The plan `PLAN` has these dimensions. The values belong to its sweep "all" unless noted:

- ``tcp``: reno by default, tahoe, newreno. The model lacks vegas and sack.
- ``bler``: block error rate, 0.01 by default, 0.1, 0.5.
- ``maxdat``: 9000 by default. The sweep "maxdat" has 2, 5, 8 and 9000.
- ``part``: part of the document, 1 by default, 2 or "whole", the whole run of which part 2 measures
  the end. The sweep "maxdat" has only 1 and 2.
- ``accounting``: of the RNC, "plain" by default or "honest" (3GPP's accounting), in both sweeps.
  The plan's key ``honest`` names the latter: lines of a figure with it have `honest` set.
- ``user``: a connection of the runs, in no sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from reproduce_synthetic import NOISE, PLAN, Synthetic, claim, plan_in, write_plan
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.errors import BadData
from umtslab.reproduce.figure_content import figure_data
from umtslab.reproduce.plan import Plan, Point, key
from umtslab.reproduce.plan_file import load_plan
from umtslab.reproduce.results import Sample
from umtslab.reproduce.verdict import score

PASS, FAIL, INCONCLUSIVE, NOT_YET = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_YET

SPREAD_METRIC = """
[[metric]]
name = "spread"
expr = "sent_kbps"
over = { tcp = ["tahoe", "reno", "newreno"] }
reduce = "REDUCTION"
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_in(tmp_path)


def plan_with_spread(folder: Path, reduction: str) -> Plan:
    """Load a plan with the quantity "spread": `reduction` of the goodput over three TCP versions."""
    text = PLAN.replace("[[sweep]]", SPREAD_METRIC.replace("REDUCTION", reduction) + "\n[[sweep]]", 1)
    return load_plan(write_plan(folder, text))


def results(plan: Plan, sent_kbps: Callable[[Point], float], noise: list[float] | None = None) -> Synthetic:
    """Return results of five runs per point, without noise unless it is given."""
    return Synthetic(plan, {"sent_kbps": sent_kbps}, noise=noise or [0.0] * 5)


def by_tcp(point: Point) -> float:
    """Return the goodput of each TCP version. Its range is 6, 37.5 % of the largest value."""
    return {"tahoe": 10.0, "reno": 12.0, "newreno": 16.0}[str(point["tcp"])]


@pytest.mark.parametrize(("reduction", "expected"), [("range", 6.0), ("range_pct", 37.5), ("min", 10.0)])
def test_a_quantity_over_several_points_is_one_number(
    tmp_path: Path, reduction: str, expected: float
) -> None:
    plan = plan_with_spread(tmp_path, reduction)
    true_claim = claim("value", expected, "spread")
    assert score(true_claim, plan, results(plan, by_tcp)).verdict is PASS
    assert score(claim("value", expected + 1, "spread"), plan, results(plan, by_tcp)).verdict is FAIL


def test_a_range_does_not_grow_with_noise_that_all_points_share(tmp_path: Path) -> None:
    plan = plan_with_spread(tmp_path, "range")
    [value] = score(claim("value", 6.0, "spread"), plan, results(plan, by_tcp, NOISE)).ours
    assert (value.summary.mean, value.summary.ci95) == (6.0, 0.0)


def test_an_unknown_reduction_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="mode"):
        plan_with_spread(tmp_path, "mode")


def test_an_unknown_sweep_to_average_over_is_refused(tmp_path: Path) -> None:
    text = PLAN.replace("runs = 5", 'runs = 5\naverage_over = "nowhere"', 1)
    with pytest.raises(BadData, match="nowhere"):
        load_plan(write_plan(tmp_path, text))


def test_only_an_averaged_order_covers_all_sets_of_parameters(plan: Plan) -> None:
    """Reno is better at the default error rate (0.01) and worse at the other rates.

    An order is tested at the defaults, unless the plan lists its claim in `averaged`. Then it is
    tested with means. The plan has no `average_over`, so `Synthetic.sets` has the points of both
    sweeps.
    """

    def goodput(point: Point) -> float:
        if str(point["tcp"]) != "reno":
            return 10.0
        return 12.0 if float(point["bler"]) == 0.01 else 1.0

    order = claim("order", "newreno > reno", vary="tcp")
    assert score(order, plan, results(plan, goodput)).verdict is FAIL
    assert score(order, replace(plan, averaged=("paper.*",)), results(plan, goodput)).verdict is PASS


def test_best_values_differ_only_if_the_maxima_are_clear(plan: Plan) -> None:
    def best_at_another_rate_with_reno(point: Point) -> float:
        best_bler = 0.01 if str(point["tcp"]) == "reno" else 0.5
        return 10.0 - abs(float(point["bler"]) - best_bler)

    stated = claim("trend", "argmax(bler) differs by tcp", vary=["bler", "tcp"])
    assert score(stated, plan, results(plan, best_at_another_rate_with_reno)).verdict is PASS
    assert score(stated, plan, results(plan, lambda point: -float(point["bler"]))).verdict is FAIL
    assert score(stated, plan, results(plan, lambda _: 1.0)).verdict is INCONCLUSIVE


def test_the_best_of_a_set_must_beat_each_point_outside(plan: Plan) -> None:
    stated = claim("trend", "argmax(bler) in {0.01, 0.1}", vary=["bler", "tcp"])
    assert score(stated, plan, results(plan, lambda point: -float(point["bler"]))).verdict is PASS
    assert score(stated, plan, results(plan, lambda point: float(point["bler"]))).verdict is FAIL


def test_a_trend_over_a_sum_of_two_dimensions_is_judged(plan: Plan) -> None:
    stated = claim("trend", "increasing(bler + maxdat)", vary=["bler", "maxdat"])
    rising = results(plan, lambda point: float(point["bler"]) + float(point["maxdat"]))
    assert score(stated, plan, rising).verdict is PASS
    falling = results(plan, lambda point: -float(point["bler"]) - float(point["maxdat"]))
    assert score(stated, plan, falling).verdict is FAIL


def scattered(plan: Plan, goodput: Callable[[float], float]) -> Synthetic:
    """Return results with another delay at each point, and a goodput that depends on the delay.

    The delay of point i is i seconds. `goodput` is called with the delay divided by the largest
    delay, a number from 0 to 1.
    """
    delays_s = {key(point): float(i) for i, point in enumerate(Synthetic(plan, {}).points())}

    def delay_s(point: Point) -> float:
        return delays_s[key(point)]

    metrics: dict[str, Callable[[Point], float | Sample | None]] = {
        "delay_s": delay_s,
        "sent_kbps": lambda point: goodput(delay_s(point) / (len(delays_s) - 1)),
    }
    return Synthetic(plan, metrics, noise=[0.0] * 5)


def test_a_dip_over_a_measured_quantity_has_its_minimum_between_the_ends(plan: Plan) -> None:
    plan = replace(plan, averaged=("paper.*",), average_over=("all",))
    stated = claim("trend", "dip(delay_s)", vary="delay_s", part=1)
    assert score(stated, plan, scattered(plan, lambda x: abs(x - 0.5))).verdict is PASS
    assert score(stated, plan, scattered(plan, lambda x: x)).verdict is FAIL


def test_each_set_of_parameters_is_a_point_of_a_correlation(plan: Plan) -> None:
    plan = replace(plan, averaged=("paper.*",), average_over=("all",))
    stated = claim("trend", "positive_rank_correlation(delay_s)", vary="all", part=1)
    assert score(stated, plan, scattered(plan, lambda x: x * x)).verdict is PASS
    assert score(stated, plan, scattered(plan, lambda x: -x)).verdict is FAIL


def test_a_claim_with_a_gap_in_the_document_is_not_yet_and_names_the_gap(plan: Plan) -> None:
    stated = claim("value", 1.0)
    scored = score(stated, replace(plan, gaps={stated.id: "the page is missing"}), results(plan, by_tcp))
    assert (scored.verdict, scored.detail) == (NOT_YET, "the page is missing")


def test_a_scatter_has_a_point_for_each_set(plan: Plan) -> None:
    plan = replace(plan, average_over=("all",))
    figure = replace(
        plan.figures[0], kind="scatter", x="delay_s", x_label="Delay (s)", y=("goodput_kbps",), at={"part": 1}
    )
    data = figure_data(plan, figure, scattered(plan, lambda x: x), [])
    assert data.x_label == "Delay (s)"
    # A line has all points of the sweep "all" with its TCP version and part 1. Accounting is fixed
    # only for the honest lines: 3 error rates · 2 accountings = 6 points, or 3 error rates = 3
    # points.
    assert [(line.label, line.honest, len(line.dots)) for line in data.lines] == [
        ("reno", False, 6),
        ("newreno", False, 6),
        ("reno", True, 3),
        ("newreno", True, 3),
    ]
    assert all(dot.y.n == 5 for line in data.lines for dot in line.dots)

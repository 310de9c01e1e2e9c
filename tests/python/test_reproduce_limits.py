"""Expressions in claims and plans of ``umts reproduce`` that compare several points.

A dimension is a parameter that a plan varies, and a point has a value of each. The tests cover:

- bounds that must hold at every value of a dimension, and bounds to a set of numbers,
- ``reaches_95pct``, the first value at which a curve reaches 95 % of its maximum,
- labels of points in orders, units in ratios, and dimensions in formulas.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reproduce_synthetic import Synthetic, claim, plan_in
from umtslab.reproduce.bounds import LIMIT
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.conditions import label_point, side_point
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.expression import parse
from umtslab.reproduce.measure import measure
from umtslab.reproduce.plan import Point
from umtslab.reproduce.plan_file import plans
from umtslab.reproduce.reduce import PointSamples, reduced
from umtslab.reproduce.verdict import score

ROOT = Path(__file__).parents[2] / "reproductions"


def test_reaches_95pct_is_the_first_value_of_each_run_within_95_percent_of_its_best() -> None:
    # Values of two runs at 0, 2, 4 and 16, whose maxima are 100. The first run has 95 at 2, the second
    # 96 at 4.
    rows: PointSamples = [
        ((0,), [10.0, 1.0]),
        ((2,), [95.0, 2.0]),
        ((4,), [97.0, 96.0]),
        ((16,), [100.0, 100.0]),
    ]
    assert reduced("reaches_95pct", rows) == [2.0, 4.0]


def test_reaches_95pct_needs_a_value_at_every_point() -> None:
    assert reduced("reaches_95pct", [((0,), [None]), ((2,), [5.0])]) == [None]


@pytest.mark.parametrize(
    ("expected", "parts"),
    [
        ("throughput(wired_loss) <= throughput(wired_loss=0)", ("wired_loss", "<=", "0")),
        ("rtt(n) >= rtt(n=0.5)", ("n", ">=", "0.5")),
        ("throughput(wired_loss) <= goodput(wired_loss=0)", None),
        ("throughput(wired_loss) <= throughput(max_retr=0)", None),
        ("rate <= 4000 * n", None),
    ],
)
def test_a_limit_compares_one_quantity_with_itself_at_one_value(
    expected: str, parts: tuple[str, str, str] | None
) -> None:
    match = LIMIT.fullmatch(expected)
    assert (match and match.group("over", "relation", "at")) == parts


@pytest.mark.parametrize(
    ("goodputs", "verdict"),
    [((2.9, 29.0, 149.0), Verdict.PASS), ((2.9, 31.0, 149.0), Verdict.FAIL), ((2.9, 29.0), Verdict.PASS)],
)
def test_an_inequality_over_the_varied_dimension_must_hold_at_each_value(
    tmp_path: Path, goodputs: tuple[float, ...], verdict: Verdict
) -> None:
    plan = plan_in(tmp_path)
    # The bounds at these block error rates are 3, 30 and 150 kbit/s. The claim lists only the rates
    # for which the test has a goodput.
    by_bler = dict(zip((0.01, 0.1, 0.5), goodputs, strict=False))
    results = Synthetic(plan, {"sent_kbps": lambda point: by_bler.get(float(point["bler"]))}, noise=[0.0] * 5)
    limits: dict[str, Any] = {"bler": list(by_bler)} if len(by_bler) < 3 else {}
    scored = score(claim("bound", "goodput_kbps <= 300 * bler", vary="bler", **limits), plan, results)
    assert scored.verdict is verdict
    assert [reading.label for reading in scored.ours] == [f"bler {bler:g} goodput_kbps" for bler in by_bler]
    assert ("bler 0.1" in scored.detail) == (verdict is Verdict.FAIL)


def test_a_label_of_an_order_may_begin_with_the_last_word_of_a_dimension() -> None:
    [plan] = [plan for plan in plans(ROOT, "baiocchi2002") if "wired_loss" in plan.dimensions]
    assert label_point("loss0_05", plan, ["wired_loss"]) == {"wired_loss": 0.05}
    assert label_point("loss7", plan, ["wired_loss"]) is None


def test_a_side_of_a_ratio_may_have_a_unit() -> None:
    [plan] = [plan for plan in plans(ROOT, "hu-split") if plan.name == "goals"]
    assert side_point("file 200 kB", plan) == {"file_kbytes": 200}
    assert side_point("dch 64 kbit/s", plan) == {"dch_kbps": 64}
    with pytest.raises(Missing, match="'file 200 GB'"):
        side_point("file 200 GB", plan)


def test_a_formula_may_name_a_dimension() -> None:
    [plan] = [plan for plan in plans(ROOT, "hu-split") if plan.name == "goals"]
    point = plan.point({"dch_kbps": 384})
    results = Synthetic(plan, {})
    # dch_kbps * delay_ms / 8. The plan's default delay is 500 ms.
    assert set(measure(plan, results, "bdp_bytes", point)) == {24_000.0}
    assert set(measure(plan, results, "bler_pct", {**point, "bler": 0.05})) == {5.0}
    with pytest.raises(Missing, match="bler is 'as written' there, not a number"):
        measure(plan, results, "bler_pct", {**point, "bler": "as written"})


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({16.0, 64.0}, Verdict.PASS),
        ({0.0}, Verdict.PASS),
        ({16.0, 24.0}, Verdict.FAIL),
        ({63.0}, Verdict.FAIL),
    ],
)
def test_a_bound_to_a_set_requires_a_listed_number_in_each_run(
    tmp_path: Path, values: set[float], verdict: Verdict
) -> None:
    plan = plan_in(tmp_path)
    results = Synthetic(
        plan, {"sent_kbps": lambda point: min(values)}, noise=[0.0, max(values) - min(values)]
    )
    scored = score(claim("bound", "goodput_kbps in {0, 16,64}"), plan, results)
    assert scored.verdict is verdict, scored.detail


def test_a_set_of_numbers_contains_only_numbers() -> None:
    assert parse("x in {1, 2.5}").demands_equality
    with pytest.raises(Missing, match="there is no rule for"):
        parse("x in {1, y}")
    with pytest.raises(Missing, match="there is no rule for"):
        parse("x in {1} in {2}")


@pytest.mark.parametrize(
    ("largest", "verdict"),
    [
        ([92.4] * 5, Verdict.PASS),
        ([92.6] * 5, Verdict.FAIL),
        ([92.0, 93.0, 92.5, 92.5, 92.5], Verdict.INCONCLUSIVE),
    ],
)
def test_a_bound_on_max_minus_min_covers_all_points_of_the_claim(
    tmp_path: Path, largest: list[float | None], verdict: Verdict
) -> None:
    plan = plan_in(tmp_path)

    def sent(point: Point) -> float | list[float | None]:
        # The smallest value of the claim's points is 90.1, so the largest allowed one is 92.5.
        if (point["tcp"], point["bler"]) == ("newreno", 0.1):
            return largest
        return 90.0 + 10 * float(point["bler"])

    results = Synthetic(plan, {"sent_kbps": sent}, noise=[0.0] * 5)
    sets: dict[str, Any] = {"vary": ["tcp", "bler"], "tcp": ["reno", "newreno"], "bler": [0.01, 0.1]}
    scored = score(claim("bound", "max - min <= 2.4", **sets), plan, results)
    assert scored.verdict is verdict, scored.detail
    *points, spread = (reading.label for reading in scored.ours)
    assert spread == "largest minus smallest"
    # Two TCP versions and two error rates: the claim excludes tahoe and a BLER of 0.5.
    assert len(points) == 4


# NewReno has the largest value, 91 + 10 * 0.5 = 96.
@pytest.mark.parametrize(("limit", "verdict"), [(95.9, Verdict.FAIL), (96.1, Verdict.PASS)])
def test_a_bound_over_several_dimensions_must_hold_at_every_point(
    tmp_path: Path, limit: float, verdict: Verdict
) -> None:
    plan = plan_in(tmp_path)
    sent = {"reno": 90.0, "newreno": 91.0}
    results = Synthetic(
        plan, {"sent_kbps": lambda point: sent[str(point["tcp"])] + 10 * float(point["bler"])}
    )
    sets: dict[str, Any] = {"vary": ["tcp", "bler"], "tcp": ["reno", "newreno"], "bler": [0.01, 0.5]}
    scored = score(claim("bound", f"goodput_kbps < {limit}", **sets), plan, results)
    assert scored.verdict is verdict
    assert [reading.label for reading in scored.ours] == [
        "tcp newreno bler 0.01",
        "tcp newreno bler 0.5",
        "tcp reno bler 0.01",
        "tcp reno bler 0.5",
    ]

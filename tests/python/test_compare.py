"""Comparisons of results: differences of metrics, and their statistical significance."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from conftest import FTP, Umts
from umtslab import Scenario, compare, simulate
from umtslab.comparison import Verdict
from umtslab.run import Identity, Run
from umtslab.version import CodeVersion


def runs(values: Sequence[float | None], seed: int = 1) -> list[Run]:
    """Return runs with the metric "x". Runs of equal seeds and numbers are paired."""
    code = CodeVersion("1", "c", "f")
    return [
        Run("made-up", Identity("hash", code, seed, number), {"x": value}, events=1, duration_s=20.0)
        for number, value in enumerate(values)
    ]


def test_paired_differences_are_significant_where_means_are_not() -> None:
    first, second = [1.0, 5.0, 9.0, 13.0], [1.1, 5.2, 9.1, 13.2]
    paired = compare(runs(first), runs(second))
    assert paired.pairs == 4
    assert paired["x"].verdict is Verdict.HIGHER
    # Differences 0.1, 0.2, 0.1, 0.2: standard deviation 0.0577, Student's t for three degrees of
    # freedom 3.182, half width 3.182 * 0.0577 / √4 = 0.0919.
    assert paired["x"].difference == pytest.approx(0.15)
    assert paired["x"].ci95 == pytest.approx(0.0919, rel=1e-3)
    assert paired["x"].percent == pytest.approx(100 * 0.15 / 7)
    unpaired = compare(runs(first), runs(second, seed=2))
    assert unpaired.pairs == 0
    assert unpaired["x"].verdict is Verdict.NOT_SHOWN


def test_an_interval_that_contains_zero_shows_no_difference() -> None:
    assert compare(runs([1.0, 2.0, 3.0]), runs([1.5, 1.5, 3.5]))["x"].verdict is Verdict.NOT_SHOWN


def test_a_second_result_below_the_first_is_lower() -> None:
    assert compare(runs([5.0, 6.0, 7.0]), runs([1.0, 2.0, 3.1]))["x"].verdict is Verdict.LOWER


def test_one_pair_has_no_interval() -> None:
    difference = compare(runs([1.0]), runs([2.0]))["x"]
    assert (difference.difference, difference.ci95) == (1.0, None)
    assert difference.verdict is Verdict.ONE_RUN


def test_three_equal_differences_are_significant_and_two_are_not() -> None:
    assert compare(runs([1.0, 2.0]), runs([1.5, 2.5]))["x"].verdict is Verdict.TOO_FEW
    assert compare(runs([1.0, 2.0, 3.0]), runs([1.5, 2.5, 3.5]))["x"].verdict is Verdict.HIGHER
    assert compare(runs([1.0, 2.0]), runs([1.0, 2.0]))["x"].verdict is Verdict.EQUAL


def test_a_metric_missing_on_one_side_is_not_measured() -> None:
    assert compare(runs([None, None]), runs([1.0, 2.0]))["x"].verdict is Verdict.NOT_MEASURED


def test_only_runs_of_both_sides_are_paired() -> None:
    assert compare(runs([1.0, 2.0, 3.0]), runs([1.0, 2.0])).pairs == 2


def test_a_scenario_equals_itself(scenario: Scenario) -> None:
    comparison = compare(simulate(scenario, runs=2), simulate(scenario, runs=2))
    verdicts = {difference.verdict for difference in comparison.differences}
    assert verdicts <= {Verdict.EQUAL, Verdict.NOT_MEASURED}


def test_more_block_errors_reduce_goodput(umts: Umts) -> None:
    for bler, out in ((0.01, "few"), (0.3, "many")):
        umts("run", FTP, "--duration", "100 s", "--runs", 4, "--set", f"radio.bler={bler}", "--out", out)
    answer = json.loads(umts("compare", "few", "many", "--json").stdout)
    assert answer["pairs"] == 4
    assert answer["differences"]["goodput_kbps"]["verdict"] == "lower"
    table = umts("compare", "few", "many").stdout
    [line] = [line for line in table.splitlines() if line.startswith("goodput_kbps")]
    assert line.rstrip().endswith("lower")


def test_results_of_one_store_are_selected_by_name(umts: Umts) -> None:
    names = []
    for bler in (0.01, 0.3):
        done = umts("run", FTP, "--duration", "50 s", "--runs", 2, "--set", f"radio.bler={bler}")
        names.append(done.stdout.split("result ")[1].split(":")[0])
    answer = json.loads(umts("compare", *names, "--json").stdout)
    assert [answer["first"]["result"], answer["second"]["result"]] == names


TWO_METRICS = ("--metric", "rto_count", "--metric", "goodput_kbps")


@pytest.mark.slow
def test_chosen_metrics_are_compared_in_the_given_order(umts: Umts) -> None:
    for bler, out in ((0.1, "few"), (0.3, "many")):
        umts("run", FTP, "--duration", "5 s", "--set", f"radio.bler={bler}", "--runs", 2, "--out", out)
    lines = umts("compare", "few", "many", *TWO_METRICS).stdout.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["rto_count", "goodput_kbps"]
    answer = json.loads(umts("compare", "few", "many", *TWO_METRICS, "--json").stdout)
    assert list(answer["differences"]) == ["rto_count", "goodput_kbps"]
    assert "no metric 'speed'" in umts("compare", "few", "many", "--metric", "speed", status=2).stderr


@pytest.mark.slow
def test_chosen_metrics_of_points_of_a_campaign_are_compared(umts: Umts) -> None:
    umts("sweep", FTP, "--set", "duration=5 s", "-P", "radio.bler=0.1,0.3", "--runs", 2, "--name", "two")
    words = ("compare", "two@radio.bler=0.1", "two@radio.bler=0.3", *TWO_METRICS)
    rows = [line for line in umts(*words).stdout.splitlines() if line.startswith(("rto_count", "goodput"))]
    assert rows == ["rto_count", "goodput_kbps (kbit/s)"]
    answer = json.loads(umts(*words, "--json").stdout)
    assert answer["metrics"] == ["rto_count", "goodput_kbps"]
    assert {"rto_count", "goodput_kbps"} <= set(answer["points"][0])

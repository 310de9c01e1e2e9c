"""The number of replications for a requested precision: the half width of the 95 % confidence interval.

`Precision(0.05)` requires a half width of at most 5 % of the mean.
"""

from __future__ import annotations

import json
import math

import pytest
from conftest import FTP, Umts
from hypothesis import given
from hypothesis import strategies as st
from umtslab.cli.failures import UsageError
from umtslab.cli.options import relative_precision
from umtslab.precision import Precision


def test_fewer_runs_than_the_minimum_are_never_enough() -> None:
    # The default minimum is five runs.
    assert not Precision(0.05).is_met([1.0, 1.0, 1.0, 1.0])
    assert Precision(0.05).is_met([1.0, 1.0, 1.0, 1.0, 1.0])


def test_half_width_is_relative_to_the_mean() -> None:
    values: list[float | None] = [99.0, 100.0, 101.0, 100.0, 100.0]
    # Standard deviation 0.7071, Student's t for four degrees of freedom 2.776: the half width is
    # 2.776 * 0.7071 / √5 = 0.878, and the mean is 100.
    assert Precision(0.009).is_met(values)
    assert not Precision(0.008).is_met(values)


def test_a_metric_that_no_run_measured_is_never_precise() -> None:
    precision = Precision(0.05)
    assert not precision.is_met([None] * 10)
    assert precision.next_total([None] * 10) == 2 * 10


def test_a_mean_of_zero_with_spread_is_never_precise() -> None:
    assert Precision(0.05).relative_half_width([-1.0, 1.0, -1.0, 1.0, 0.0]) == math.inf


@given(st.lists(st.floats(0.1, 10), max_size=199))
def test_each_step_adds_runs_and_at_most_doubles_them(values: list[float]) -> None:
    precision = Precision(0.01)
    total = precision.next_total(values)
    assert len(values) < total <= max(precision.least, min(precision.most, 2 * len(values)))


def test_the_command_stops_when_it_is_precise_enough(umts: Umts) -> None:
    words = ("run", FTP, "--duration", "20 s", "--set", "radio.bler=0.2", "--precision", "10%", "--json")
    answer = json.loads(umts(*words, "--jobs", 1).stdout)
    goodput = answer["summary"]["goodput_kbps"]
    assert goodput["n"] == len(answer["runs"]) >= 5
    assert goodput["ci95"] <= 0.1 * goodput["mean"]
    assert json.loads(umts(*words, "--jobs", 2, "--out", "other").stdout) == answer


def test_a_precision_is_a_percentage_or_a_fraction() -> None:
    assert relative_precision("5%") == relative_precision(" 0.05 ") == 0.05
    for word in ("5", "0", "0%", "100%", "nan", "five"):
        with pytest.raises(UsageError, match=r"5% or 0\.05"):
            relative_precision(word)


def test_the_command_fails_when_the_precision_is_not_reached(umts: Umts) -> None:
    # A greedy flow never ends, so it has no download time.
    words = ("--metric", "download_time_s", "--precision", "1%", "--quiet")
    done = umts("run", FTP, "--duration", "2 s", *words, status=1)
    assert "precision not reached: download_time_s has no interval after 200 runs" in done.stderr

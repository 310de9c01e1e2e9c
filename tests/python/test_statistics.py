"""Means, deviations and intervals, compared with manual calculations and scipy."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from umtslab.analyse.statistics import (
    CONFIDENCE,
    Summary,
    difference_paired,
    difference_unpaired,
    summarise,
    summarise_metrics,
    t_quantile,
)


@pytest.fixture(scope="module")
def stats() -> Any:
    """The statistics of SciPy, which the package does not need."""
    return pytest.importorskip("scipy.stats")


SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60)


def test_three_values_match_a_manual_calculation() -> None:
    summary = summarise([1.0, 2.0, 3.0])
    assert (summary.n, summary.mean, summary.sd) == (3, 2.0, 1.0)
    # Student's t for two degrees of freedom and 95 % is 4.303.
    assert summary.ci95 == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)


def test_one_value_has_no_interval() -> None:
    assert summarise([5.0]).as_dict() == {"n": 1, "mean": 5.0, "sd": None, "ci95": None}


@given(st.floats(-1e6, 1e6), st.integers(2, 60))
def test_equal_values_have_no_deviation(value: float, count: int) -> None:
    assert summarise([value] * count) == Summary(count, value, sd=0.0, ci95=0.0)


def test_values_that_differ_by_rounding_have_no_deviation() -> None:
    assert summarise([29.73, math.nextafter(29.73, 30), 29.73]).ci95 == 0.0
    assert difference_paired([(0.1, 0.3), (0.2, 0.4), (1e3, 1e3 + 0.2)]).ci95 == 0.0
    assert difference_paired([(0.3, 0.1 + 0.2), (0.5, 0.5)]).as_dict()["mean"] == 0.0


def test_no_value_has_no_mean() -> None:
    assert summarise([None, None]).as_dict() == {"n": 0, "mean": None, "sd": None, "ci95": None}


def test_missing_values_are_ignored_and_not_counted() -> None:
    assert summarise([1.0, None, 3.0]) == summarise([1.0, 3.0])


def test_a_run_without_the_metric_counts_as_not_measured() -> None:
    assert summarise_metrics([{"a": 1.0, "b": 2.0}, {"a": 3.0}])["b"].n == 1


@given(SAMPLES)
def test_intervals_equal_scipy(stats: Any, sample: list[float]) -> None:
    summary = summarise(sample)
    assert summary.mean is not None
    assert summary.ci95 is not None
    # The standard error times the 97.5 % quantile of Student's t.
    expected = stats.sem(sample) * stats.t.ppf(0.975, len(sample) - 1)
    assert summary.mean == pytest.approx(sum(sample) / len(sample), rel=1e-9, abs=1e-6)
    assert summary.ci95 == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(SAMPLES, SAMPLES)
def test_unpaired_differences_use_welchs_test(stats: Any, first: list[float], second: list[float]) -> None:
    difference, half_width = difference_unpaired(summarise(first), summarise(second))
    assert difference is not None
    assert half_width is not None
    # Variances of both means
    first_variance, second_variance = stats.sem(first) ** 2, stats.sem(second) ** 2
    variance = first_variance + second_variance
    if variance < 1e-9:
        assert half_width == pytest.approx(0, abs=1e-3)
        return
    # Degrees of freedom by Welch and Satterthwaite.
    freedom = variance**2 / (first_variance**2 / (len(first) - 1) + second_variance**2 / (len(second) - 1))
    expected = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert half_width == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_equal_paired_differences_have_an_interval_of_zero() -> None:
    summary = difference_paired([(10.0, 11.0), (20.0, 21.0), (30.0, 31.0)])
    assert (summary.n, summary.mean, summary.ci95) == (3, 1.0, 0.0)


def test_pairs_without_both_values_are_ignored() -> None:
    assert difference_paired([(1.0, None), (None, 2.0), (1.0, 2.0)]).n == 1


def test_the_t_distribution_approaches_the_normal_distribution() -> None:
    assert t_quantile(1e6) == pytest.approx(1.95996, abs=1e-4)


def test_quantiles_of_students_t_equal_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    for freedom in (*range(1, 1_000), 0.5, 3.25, 199.5, 1e4, 1e6):
        expected = float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))
        assert t_quantile(freedom) == pytest.approx(expected, rel=1e-14 if freedom < 1_000 else 1e-10)

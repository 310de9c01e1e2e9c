"""Formatting of numbers for readers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from umtslab.numbers import estimate, number, numbers, with_interval


@pytest.mark.parametrize(
    ("mean", "half_width", "shown"),
    [
        (796.1, 130.0, "796 ± 130"),
        (796.1, 127.3, "796 ± 130"),
        (50.2416, 0.0213, "50.242 ± 0.021"),
        (1158.4, 12.0, "1158 ± 12"),
        (12.3456, 1.996, "12.3 ± 2.0"),
        (0.0095584, 0.00012, "0.00956 ± 0.00012"),
        (-3.14159, 0.05, "-3.142 ± 0.050"),
        (29.73, 0.0, "29.73 ± 0"),
        (5.0, None, "5"),
        (None, None, "–"),
        (0.0, 0.31, "0.00 ± 0.31"),
        (3.1e-6, 2e-7, "3.10e-06 ± 0.20e-06"),
        (0.1, 0.0999999, "0.10 ± 0.10"),
    ],
)
def test_the_half_width_of_the_interval_decides_the_number_of_digits(
    mean: float | None, half_width: float | None, shown: str
) -> None:
    assert with_interval(mean, half_width) == shown


@given(st.floats(-1e8, 1e8), st.floats(1e-3, 1e7))
def test_rounding_is_small_compared_with_the_interval(mean: float, half_width: float) -> None:
    """The half width has two digits, so rounding changes both numbers by at most 5 % of it."""
    written_mean, written_half_width = (float(word) for word in estimate(mean, half_width))
    assert math.isclose(written_half_width, half_width, rel_tol=0.06)
    assert abs(written_mean - mean) <= 0.051 * half_width + 1e-9 * abs(mean)


def test_a_single_number_has_four_digits_and_integers_all() -> None:
    assert [number(value) for value in (1234567.0, 1.23456, 0.000012345, None)] == [
        "1234567",
        "1.235",
        "1.234e-05",
        "–",
    ]


def test_infinite_values_and_nan_are_printable() -> None:
    assert [number(value) for value in (math.nan, math.inf, -math.inf)] == ["–", "∞", "-∞"]


def test_a_column_has_enough_digits_to_distinguish_its_values() -> None:
    assert numbers([1500.115, 1501.115, 1501.116]) == ["1500.115", "1501.115", "1501.116"]
    assert numbers([0.1, 0.3, None, 0.3]) == ["0.1000", "0.3000", "–", "0.3000"]
    # Values that differ only by rounding errors.
    assert numbers([0.3, 0.1 + 0.2]) == ["0.3000", "0.3000"]
    assert numbers([1e-12, 5.0, math.nan]) == ["1.000e-12", "5", "–"]


@given(st.lists(st.integers(0, 10**9), min_size=2))
def test_times_in_nanoseconds_stay_distinct(times: list[int]) -> None:
    column = [time / 1e9 for time in times]
    written = numbers(column)
    assert len(set(written)) == len(set(column))


def test_fewer_than_three_equal_values_have_no_interval_of_zero() -> None:
    assert estimate(mean=8.0, half_width=0.0, n=2) == ("8", "equal in 2 runs")
    assert with_interval(mean=8.0, half_width=0.0, n=2) == "8 (equal in 2 runs)"
    assert with_interval(mean=8.0, half_width=0.0, n=3) == "8 ± 0"
    assert with_interval(mean=8.0, half_width=0.5, n=2) == "8.00 ± 0.50"

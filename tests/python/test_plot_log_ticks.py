"""Ticks of logarithmic axes: 1, 2 and 5, without overlapping labels."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from umtslab.plot.log_ticks import label, log_ticks
from umtslab.plot.look import Look, printable
from umtslab.plot.style import new_figure

DIGITS = {"1", "2", "5"}


@settings(max_examples=25, deadline=None)
@given(low=st.floats(-8, 8), decades=st.floats(0.05, 12), width=st.sampled_from([2.0, 3.5, 6.3, 10.0]))
def test_labels_of_any_logarithmic_axis_do_not_overlap(low: float, decades: float, width: float) -> None:
    with printable(Look(width_in=width)):
        figure, axes = new_figure("", "y (s)")
        for which, scale, limits in (
            ("x", axes.set_xscale, axes.set_xlim),
            ("y", axes.set_yscale, axes.set_ylim),
        ):
            scale("log")
            limits(10.0**low, 10.0 ** (low + decades))
            log_ticks(axes, which)
        figure.draw_without_rendering()
        for axis in (axes.xaxis, axes.yaxis):
            ticks = [tick for tick in axis.get_major_ticks() if tick.label1.get_text()]
            boxes = [tick.label1.get_window_extent() for tick in ticks]
            assert not any(box.overlaps(following) for box, following in pairwise(boxes))


def ticks_of(low: float, high: float) -> list[float]:
    """Return the ticks of a logarithmic axis between two values."""
    with printable():
        figure, axes = new_figure("", "y (s)")
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        log_ticks(axes, "y")
        figure.draw_without_rendering()
        return [float(tick) for tick in axes.get_yticks() if low <= tick <= high]


def test_ticks_are_1_2_and_5_where_there_is_room() -> None:
    assert ticks_of(low=0.9, high=110) == pytest.approx([1, 2, 5, 10, 20, 50, 100])
    assert {label(tick).strip("0.")[0] for tick in ticks_of(low=1e-3, high=10)} <= DIGITS


def test_ticks_of_many_decades_are_powers_of_ten() -> None:
    ticks = ticks_of(low=1e-12, high=1e12)
    assert len(ticks) >= 2
    assert all(math.log10(tick) == pytest.approx(round(math.log10(tick))) for tick in ticks)
    # Numbers from 100,000 on are written as powers.
    assert all(label(tick).startswith("$10^") for tick in ticks if tick >= 1e5)


def test_a_small_part_of_a_decade_has_two_ticks_at_least() -> None:
    assert len(ticks_of(low=2.1, high=4.4)) >= 2

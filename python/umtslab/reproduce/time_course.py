"""Verdicts on claims about a series over time, such as a congestion window after the error rate changes.

``step_up_and_stay(at=T)``: the series rises at T seconds and stays up. ``steps_down(count=N, after=T)``:
it falls in N steps after T. A series is averaged over bins of equal length first. The level before the
instant T is the mean over the 500 s before it. Bins are compared by their values in all runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from umtslab.analyse.statistics import Summary, summarise
from umtslab.reproduce.compare import Finding, Verdict, conjunction, greater, interval, show
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.results import Sample, Series
from umtslab.reproduce.trend import Trend

BEFORE_S = 500.0
"""Length of the period that determines the level before the instant."""
STAY_BIN_S = 500.0
"""Length of the bins of ``step_up_and_stay``, long compared with the sawtooth of a window."""
STEP_BIN_S = 25.0
"""Length of the bins of ``steps_down``, several round-trip times."""
STEP_SIZE = 0.1
"""A step is a decrease by at least 10 % of the initial level that lasts for at least two bins."""


def judge_time_course(trend: Trend, runs: Sequence[Series]) -> Finding:
    """Judge the shape of a series from all its replications.

    Raises
    ------
    Missing
        If there is no rule for the shape, or the runs are too short for it.
    """
    if trend.shape == "step_up_and_stay":
        return _step_up_and_stay(runs, _instant(trend, "at"))
    if trend.shape == "steps_down":
        return _steps_down(runs, int(trend.options["count"]), _instant(trend, "after"))
    raise Missing(f"there is no rule for {trend.shape} over time")


def mean_between(series: Series, start_s: float, end_s: float) -> float | None:
    """Return the time average of a series recorded on change. None before the first value."""
    integral = 0.0
    covered_s = 0.0
    # Each value holds until the next change, the last one until the end of the series.
    value_ends_s = [*series.times_s[1:], series.end_s]
    for value_start_s, value_end_s, value in zip(series.times_s, value_ends_s, series.values, strict=True):
        length_s = min(value_end_s, end_s) - max(value_start_s, start_s)
        if length_s > 0:
            integral += length_s * value
            covered_s += length_s
    return integral / covered_s if covered_s else None


class TimeBin(NamedTuple):
    """The time average of a series in a bin. None before the first value of the series."""

    start_s: float
    mean: float | None


def bins(series: Series, start_s: float, end_s: float, width_s: float) -> list[TimeBin]:
    """Return the complete bins between two instants, in one pass over the series."""
    count = int((end_s - start_s) / width_s + 1e-9)  # the summand covers rounding of the quotient
    integrals, covered_s = [0.0] * count, [0.0] * count
    value_ends_s = [*series.times_s[1:], series.end_s]
    for value_start_s, value_end_s, value in zip(series.times_s, value_ends_s, series.values, strict=True):
        # Divide the time of the value at the borders of the bins.
        part_start_s = max(value_start_s, start_s)
        last_end_s = min(value_end_s, start_s + count * width_s)
        index = int((part_start_s - start_s) / width_s)
        while part_start_s < last_end_s and index < count:
            part_end_s = min(last_end_s, start_s + (index + 1) * width_s)
            integrals[index] += (part_end_s - part_start_s) * value
            covered_s[index] += part_end_s - part_start_s
            part_start_s, index = part_end_s, index + 1
    return [
        TimeBin(start_s + index * width_s, integral / covered if covered else None)
        for index, (integral, covered) in enumerate(zip(integrals, covered_s, strict=True))
    ]


def _instant(trend: Trend, name: str) -> float:
    if name not in trend.options:
        raise Missing(f"{trend.shape} needs {name}=")
    return trend.options[name]


def _step_up_and_stay(runs: Sequence[Series], at_s: float) -> Finding:
    """Every bin after the instant must lie above half of the rise to the highest bin."""
    before = [mean_between(run, at_s - BEFORE_S, at_s) for run in runs]
    means_of_runs: list[Sample] = [
        [time_bin.mean for time_bin in bins(run, at_s, run.end_s, STAY_BIN_S)] for run in runs
    ]
    after = _transposed(means_of_runs)  # for each bin, its mean in every run
    if not after:
        raise Missing(f"the runs end less than {STAY_BIN_S:g} s after {at_s:g} s")
    highest = [
        max((mean for mean in means if mean is not None), default=None) for means in _transposed(after)
    ]
    half_rise = [
        None if low is None or high is None else (low + high) / 2
        for low, high in zip(before, highest, strict=True)
    ]
    rise = greater(highest, before, f"highest level after {at_s:g} s above the level before")
    stays = [
        greater(sample, half_rise, f"from {at_s + i * STAY_BIN_S:g} s on, above half of the rise")
        for i, sample in enumerate(after)
    ]
    finding = conjunction([rise, *stays])
    if finding.verdict is Verdict.PASS:
        levels = f"{show(summarise(before))} before, lowest {show(_lowest(after))} after"
        return Finding(finding.verdict, levels)
    return finding


def _steps_down(runs: Sequence[Series], count: int, after_s: float) -> Finding:
    """Every run must have `count` steps down. The verdict is open if the interval of the mean has `count`."""
    step_counts = [_count_steps(run, after_s) for run in runs]
    steps = summarise(step_counts)
    if all(number == count for number in step_counts):
        return Finding(Verdict.PASS, f"{count} steps in every run")
    span = interval(steps)
    if span is not None and span[0] <= count <= span[1]:
        return Finding(Verdict.INCONCLUSIVE, f"{show(steps)} steps down, {count} stated")
    return Finding(Verdict.FAIL, f"{show(steps)} steps down, {count} stated")


def _count_steps(series: Series, after_s: float) -> float | None:
    """Return the number of steps down after an instant; None if the series begins too late.

    A step begins where two successive bins lie at least one step size below the current level.
    These bins lower the level. Further falls without a pause belong to the same step.
    """
    initial_level = mean_between(series, after_s - BEFORE_S, after_s)
    if initial_level is None:
        return None
    time_bins = bins(series, after_s, series.end_s, STEP_BIN_S)
    means = [time_bin.mean for time_bin in time_bins if time_bin.mean is not None]
    size = STEP_SIZE * initial_level
    level, steps, was_falling = initial_level, 0, False
    for mean, next_mean in pairwise(means):
        is_falling = mean < level - size and next_mean < level - size
        if is_falling and not was_falling:
            steps += 1
        was_falling = is_falling
        if is_falling:
            level = min(mean, next_mean)
    return float(steps)


def _lowest(columns: Sequence[Sample]) -> Summary:
    """Return the summary with the smallest mean."""
    return min(
        (summarise(column) for column in columns),
        key=lambda summary: summary.mean if summary.mean is not None else float("inf"),
    )


def _transposed(rows: Sequence[Sample]) -> list[Sample]:
    return [list(column) for column in zip(*rows, strict=False)]

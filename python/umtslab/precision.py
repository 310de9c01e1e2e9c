"""Stopping rule for replications: a required precision of the mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from umtslab.analyse.statistics import summarise
from umtslab.numbers import MIN_VALUES_FOR_ZERO_WIDTH


@dataclass(frozen=True)
class Precision:
    """Required half width of the 95 % interval, relative to the mean.

    Parameters
    ----------
    relative : float
        0.05 for 5 %.
    metric : str, default "goodput_kbps"
        The metric to which the requirement applies.
    least, most : int
        Bounds on the number of runs.
    """

    relative: float
    metric: str = "goodput_kbps"
    least: int = 5
    most: int = 200

    def relative_half_width(self, values: Sequence[float | None]) -> float | None:
        """Return the half width relative to the mean.

        None if there is no interval yet, or if only two values exist and they are equal.
        """
        summary = summarise(values)
        if summary.mean is None or summary.ci95 is None:
            return None
        if summary.ci95 == 0:
            return 0.0 if summary.n >= MIN_VALUES_FOR_ZERO_WIDTH else None
        return summary.ci95 / abs(summary.mean) if summary.mean else math.inf

    def is_met(self, values: Sequence[float | None]) -> bool:
        """Whether these values of the metric reach the precision."""
        half_width = self.relative_half_width(values)
        return len(values) >= self.least and half_width is not None and half_width <= self.relative

    def next_total(self, values: Sequence[float | None]) -> int:
        """Return the total number of runs after which the rule is evaluated again.

        The half width shrinks with the square root of the number of runs, which gives an estimate
        of the runs needed. The total at most doubles, because the estimate is uncertain. The result
        depends only on the values, so any number of workers stops after the same runs.
        """
        done = len(values)
        if done < self.least:
            return self.least
        half_width = self.relative_half_width(values)
        total = 2 * done
        if half_width is not None and math.isfinite(half_width):
            total = min(total, math.ceil(done * (half_width / self.relative) ** 2))
        return min(max(total, done + 1), self.most)

"""When enough replications have been run for a stated precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from umtslab.analyse.statistics import summarise
from umtslab.numbers import LEAST_FOR_ZERO


@dataclass(frozen=True)
class Precision:
    """Half width of the 95 % interval, relative to the mean, that replications have to reach.

    Parameters
    ----------
    relative : float
        0.05 for 5 %.
    metric : str, default "goodput_kbps"
        The metric that has to be that precise.
    least, most : int
        Bounds on the number of runs.
    """

    relative: float
    metric: str = "goodput_kbps"
    least: int = 5
    most: int = 200

    def reached(self, values: Sequence[float | None]) -> float | None:
        """Half width relative to the mean; None if it has none yet, or of two values that are equal."""
        summary = summarise(values)
        if summary.mean is None or summary.ci95 is None:
            return None
        if summary.ci95 == 0:
            return 0.0 if summary.n >= LEAST_FOR_ZERO else None
        return summary.ci95 / abs(summary.mean) if summary.mean else math.inf

    def is_met(self, values: Sequence[float | None]) -> bool:
        """Whether these values of the metric are enough."""
        reached = self.reached(values)
        return len(values) >= self.least and reached is not None and reached <= self.relative

    def next_total(self, values: Sequence[float | None]) -> int:
        """How many runs there should be when the rule is asked again.

        The half width shrinks with the root of the number of runs, so the excess says how many more are
        needed; no more than twice as many as there are, since it is an estimate. The answer depends on
        results alone, so that any number of workers stops after the same runs.
        """
        done = len(values)
        if done < self.least:
            return self.least
        reached = self.reached(values)
        wanted = 2 * done
        if reached is not None and math.isfinite(reached):
            wanted = min(wanted, math.ceil(done * (reached / self.relative) ** 2))
        return min(max(wanted, done + 1), self.most)

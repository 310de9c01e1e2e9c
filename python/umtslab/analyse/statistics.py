"""Means of replications, and their confidence intervals.

Intervals use Student's t distribution, because replications are few. Values that a run could not
measure (None) are ignored; n is the number of the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

CONFIDENCE = 0.95
"""Confidence level of all intervals."""

ROUNDING = 1e-12
"""Relative difference below which values count as equal, because rounding may explain it."""


@dataclass(frozen=True)
class Summary:
    """Size, mean, standard deviation, and half width of the mean's 95 % interval of a sample."""

    n: int
    mean: float | None
    sd: float | None
    ci95: float | None

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the fields as in ``--json``."""
        return {"n": self.n, "mean": self.mean, "sd": self.sd, "ci95": self.ci95}


def summarise(values: Iterable[float | None]) -> Summary:
    """Summarise a sample: the mean needs one value, deviation and interval need two."""
    sample = [value for value in values if value is not None]
    if not sample:
        return Summary(n=0, mean=None, sd=None, ci95=None)
    mean = math.fsum(sample) / len(sample)
    if len(sample) == 1:
        return Summary(n=1, mean=mean, sd=None, ci95=None)
    low, high = min(sample), max(sample)
    if low == high:
        # The exact value: the rounded mean could differ from it.
        return Summary(len(sample), sample[0], sd=0.0, ci95=0.0)
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        return Summary(len(sample), mean, sd=0.0, ci95=0.0)
    sd = math.sqrt(_sum_of_squares(sample, mean) / (len(sample) - 1))
    return Summary(len(sample), mean, sd, t_quantile(len(sample) - 1) * sd / math.sqrt(len(sample)))


def summarise_metrics(runs: Sequence[Mapping[str, float | None]]) -> dict[str, Summary]:
    """Summarise each metric over runs. A run that lacks a metric counts as not measured."""
    names = sorted({name for metrics in runs for name in metrics})
    return {name: summarise(metrics.get(name) for metrics in runs) for name in names}


def difference_paired(pairs: Iterable[tuple[float | None, float | None]]) -> Summary:
    """Summarise second minus first over the pairs with both values."""
    known = [(first, second) for first, second in pairs if first is not None and second is not None]
    differences = [second - first for first, second in known]
    # Rounding errors are relative to the values, not to their differences.
    noise = ROUNDING * max((abs(value) for pair in known for value in pair), default=0.0)
    if differences and max(differences) - min(differences) <= noise:
        # All differences are equal except for rounding, and perhaps 0.
        difference = differences[0] if abs(differences[0]) > noise else 0.0
        differences = [difference] * len(differences)
    return summarise(differences)


def difference_unpaired(first: Summary, second: Summary) -> tuple[float | None, float | None]:
    """Return the difference of independent means (second minus first) and its half width.

    References
    ----------
    Welch (1947), The generalization of "Student's" problem when several different population
    variances are involved.
    """
    if first.mean is None or second.mean is None:
        return None, None
    difference = second.mean - first.mean
    if first.sd is None or second.sd is None:
        return difference, None
    # Variances of the two means, and of their difference.
    first_variance, second_variance = first.sd**2 / first.n, second.sd**2 / second.n
    variance = first_variance + second_variance
    if variance == 0:
        return difference, 0.0
    # Degrees of freedom by Welch and Satterthwaite, from shares of the variance: squares of tiny
    # variances would underflow to 0.
    first_share, second_share = first_variance / variance, second_variance / variance
    freedom = 1 / (first_share**2 / (first.n - 1) + second_share**2 / (second.n - 1))
    return difference, t_quantile(freedom) * math.sqrt(variance)


@lru_cache(maxsize=1024)
def t_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t distribution with `freedom` degrees of freedom."""
    from umtslab import _core

    return _core.t_quantile(freedom, 1 - CONFIDENCE)


def _sum_of_squares(sample: Sequence[float], mean: float) -> float:
    """Return the sum of squared deviations from the mean."""
    return math.fsum((value - mean) ** 2 for value in sample)

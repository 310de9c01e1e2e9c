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
        return Summary(0, None, None, None)
    mean = math.fsum(sample) / len(sample)
    if len(sample) == 1:
        return Summary(1, mean, None, None)
    low, high = min(sample), max(sample)
    if low == high:
        # The exact value: the rounded mean could differ from it.
        return Summary(len(sample), sample[0], 0.0, 0.0)
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        return Summary(len(sample), mean, 0.0, 0.0)
    sd = math.sqrt(_sum_of_squares(sample, mean) / (len(sample) - 1))
    return Summary(len(sample), mean, sd, t_quantile(len(sample) - 1) * sd / math.sqrt(len(sample)))


def summarise_metrics(runs: Sequence[Mapping[str, float | None]]) -> dict[str, Summary]:
    """Summarise each metric over runs. A run that lacks a metric counts as not measured."""
    names = sorted({name for metrics in runs for name in metrics})
    return {name: summarise(metrics.get(name) for metrics in runs) for name in names}


def difference_paired(pairs: Iterable[tuple[float | None, float | None]]) -> Summary:
    """Summarise second minus first over the pairs with both values."""
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    differences = [b - a for a, b in both]
    noise = ROUNDING * max((abs(value) for pair in both for value in pair), default=0.0)
    if differences and max(differences) - min(differences) <= noise:
        # The rounding error is relative to the values, not to their difference.
        differences = [differences[0] if abs(differences[0]) > noise else 0.0] * len(differences)
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
    variances = (first.sd**2 / first.n, second.sd**2 / second.n)
    total = sum(variances)
    if total == 0:
        return difference, 0.0
    # The formula of Welch and Satterthwaite, normalised: squares of tiny variances would underflow
    # to 0.
    shares = variances[0] / total, variances[1] / total
    freedom = 1 / (shares[0] ** 2 / (first.n - 1) + shares[1] ** 2 / (second.n - 1))
    return difference, t_quantile(freedom) * math.sqrt(total)


@lru_cache(maxsize=1024)
def t_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t distribution."""
    from umtslab import _core

    return _core.t_quantile(freedom, 1 - CONFIDENCE)


def _sum_of_squares(sample: Sequence[float], mean: float) -> float:
    """Return the sum of squared deviations from the mean."""
    return math.fsum((value - mean) ** 2 for value in sample)

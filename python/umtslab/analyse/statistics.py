"""Means of replications and what can be said about them.

Replications are few, so intervals are Student's t, never the normal distribution's 1.96. Values that a run
could not measure (None) are left out, and n says how many remain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from umtslab.analyse.student import QUANTILES

CONFIDENCE = 0.95
"""Of every interval that the package reports."""

ROUNDING = 1e-12
"""Values that differ by less than this share of their size are equal: rounding tells them apart."""


@dataclass(frozen=True)
class Summary:
    """A sample's size, mean, standard deviation and the half width of the mean's 95 % interval."""

    n: int
    mean: float | None
    sd: float | None
    ci95: float | None

    def as_dict(self) -> dict[str, float | int | None]:
        """As in ``--json``."""
        return {"n": self.n, "mean": self.mean, "sd": self.sd, "ci95": self.ci95}


def summarise(values: Iterable[float | None]) -> Summary:
    """Summary of a sample: mean from one value on, deviation and interval from two."""
    sample = [value for value in values if value is not None]
    if not sample:
        return Summary(0, None, None, None)
    mean = math.fsum(sample) / len(sample)
    if len(sample) == 1:
        return Summary(1, mean, None, None)
    low, high = min(sample), max(sample)
    if low == high:
        # Exactly, and not what rounding makes of a mean that lies beside its values.
        return Summary(len(sample), sample[0], 0.0, 0.0)
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        return Summary(len(sample), mean, 0.0, 0.0)
    sd = math.sqrt(_sum_of_squares(sample, mean) / (len(sample) - 1))
    return Summary(len(sample), mean, sd, t_quantile(len(sample) - 1) * sd / math.sqrt(len(sample)))


def summarise_metrics(runs: Sequence[Mapping[str, float | None]]) -> dict[str, Summary]:
    """Summary of each metric over runs, by name; a run that lacks a metric could not measure it."""
    names = sorted({name for metrics in runs for name in metrics})
    return {name: summarise(metrics.get(name) for metrics in runs) for name in names}


def difference_paired(pairs: Iterable[tuple[float | None, float | None]]) -> Summary:
    """Summary of second minus first, over the pairs in which both were measured."""
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    differences = [b - a for a, b in both]
    noise = ROUNDING * max((abs(value) for pair in both for value in pair), default=0.0)
    if differences and max(differences) - min(differences) <= noise:
        # As large as what was subtracted, so is its rounding.
        differences = [differences[0] if abs(differences[0]) > noise else 0.0] * len(differences)
    return summarise(differences)


def difference_unpaired(first: Summary, second: Summary) -> tuple[float | None, float | None]:
    """Difference of two means (second minus first) and its half width, of samples that are not paired.

    References
    ----------
    Welch (1947), The generalization of "Student's" problem when several different population variances are
    involved.
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
    # Welch and Satterthwaite's formula, divided through: squares of tiny variances would be 0.
    shares = variances[0] / total, variances[1] / total
    freedom = 1 / (shares[0] ** 2 / (first.n - 1) + shares[1] ** 2 / (second.n - 1))
    return difference, t_quantile(freedom) * math.sqrt(total)


@lru_cache(maxsize=1024)
def t_quantile(freedom: float) -> float:
    """Quantile of Student's t that leaves 2.5 % above it."""
    if 1 <= freedom <= len(QUANTILES) and freedom == int(freedom):
        return QUANTILES[int(freedom) - 1]
    # scipy.stats holds the same function and takes half a second longer to import.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _sum_of_squares(sample: Sequence[float], mean: float) -> float:
    return math.fsum((value - mean) ** 2 for value in sample)

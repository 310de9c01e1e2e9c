"""Comparison of two results, metric by metric: second minus first, with a 95 % interval.

Runs of the same seed and number have the same radio channel, so their differences are taken in
pairs. If no runs match, the means are compared as independent samples (Welch).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from umtslab.analyse.statistics import Summary, difference_paired, difference_unpaired, summarise
from umtslab.numbers import MIN_VALUES_FOR_ZERO_WIDTH
from umtslab.run import Metrics, Run


class Verdict(StrEnum):
    """Conclusion from the interval of a difference."""

    HIGHER = "higher"
    LOWER = "lower"
    EQUAL = "equal"
    NOT_SHOWN = "no difference shown"
    ONE_RUN = "one run, no interval"
    TOO_FEW = "too few runs to tell"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Difference:
    """One metric of two results. `difference` is the second mean minus the first."""

    metric: str
    first: Summary
    second: Summary
    n: int
    """Number of pairs, or of values of the result that has fewer."""
    difference: float | None
    ci95: float | None
    """Half width of the 95 % interval of the difference."""
    equal: bool

    @property
    def percent(self) -> float | None:
        """The difference in per cent of the absolute first mean."""
        if self.difference is None or not self.first.mean:
            return None
        return 100 * self.difference / abs(self.first.mean)

    @property
    def verdict(self) -> Verdict:
        """Conclusion: higher or lower only if 0 is outside the 95 % interval.

        An interval of width 0 needs at least `MIN_VALUES_FOR_ZERO_WIDTH` equal differences: two may
        be equal by rounding alone.
        """
        if self.difference is None:
            return Verdict.NOT_MEASURED
        if self.equal:
            return Verdict.EQUAL
        if self.ci95 is None:
            return Verdict.ONE_RUN
        if self.ci95 == 0 and self.n < MIN_VALUES_FOR_ZERO_WIDTH:
            return Verdict.TOO_FEW
        if abs(self.difference) <= self.ci95:
            return Verdict.NOT_SHOWN
        return Verdict.HIGHER if self.difference > 0 else Verdict.LOWER

    def as_dict(self) -> dict[str, object]:
        """Return the fields as in ``--json``."""
        return {
            "first": self.first.as_dict(),
            "second": self.second.as_dict(),
            "n": self.n,
            "difference": self.difference,
            "ci95": self.ci95,
            "percent": self.percent,
            "verdict": self.verdict.value,
        }


@dataclass(frozen=True)
class Comparison:
    """Differences of all metrics.

    `pairs` is the number of matching runs, 0 for independent samples.
    """

    pairs: int
    differences: tuple[Difference, ...]

    def of(self, metric: str) -> Difference:
        """Return the difference of a metric. A metric that no run has is `Verdict.NOT_MEASURED`."""
        try:
            return self[metric]
        except KeyError:
            no_values = Summary(n=0, mean=None, sd=None, ci95=None)
            return Difference(metric, no_values, no_values, n=0, difference=None, ci95=None, equal=False)

    def __getitem__(self, metric: str) -> Difference:
        for difference in self.differences:
            if difference.metric == metric:
                return difference
        raise KeyError(metric)


def compare(first: Sequence[Run], second: Sequence[Run]) -> Comparison:
    """Compare two results: runs of two scenarios, variants or versions."""
    pairs = _pairs(first, second)
    names = sorted({name for run in (*first, *second) for name in run.metrics})
    if pairs:
        return Comparison(len(pairs), tuple(_paired(name, pairs) for name in names))
    first_metrics, second_metrics = [run.metrics for run in first], [run.metrics for run in second]
    return Comparison(0, tuple(_unpaired(name, first_metrics, second_metrics) for name in names))


def _pairs(first: Sequence[Run], second: Sequence[Run]) -> list[tuple[Metrics, Metrics]]:
    """Return the metrics of runs with the same seed and number."""
    second_metrics = {(run.seed, run.run): run.metrics for run in second}
    return [
        (run.metrics, second_metrics[run.seed, run.run])
        for run in first
        if (run.seed, run.run) in second_metrics
    ]


def _paired(name: str, pairs: Sequence[tuple[Metrics, Metrics]]) -> Difference:
    values = [(first.get(name), second.get(name)) for first, second in pairs]
    difference = difference_paired(values)
    return Difference(
        metric=name,
        first=summarise(first for first, _ in values),
        second=summarise(second for _, second in values),
        n=difference.n,
        difference=difference.mean,
        ci95=difference.ci95,
        equal=all(first == second for first, second in values),
    )


def _unpaired(name: str, first: Sequence[Metrics], second: Sequence[Metrics]) -> Difference:
    first_summary = summarise(metrics.get(name) for metrics in first)
    second_summary = summarise(metrics.get(name) for metrics in second)
    difference, half_width = difference_unpaired(first_summary, second_summary)
    return Difference(
        metric=name,
        first=first_summary,
        second=second_summary,
        n=min(first_summary.n, second_summary.n),
        difference=difference,
        ci95=half_width,
        equal=difference == 0 and half_width == 0,
    )

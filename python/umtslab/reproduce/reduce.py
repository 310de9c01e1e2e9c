"""Quantities over several points, such as the range over TCP versions.

For minimum and range, the extreme points are chosen by the means over all runs. The quantity is then
computed in each run at these points. A range of the extremes of each run would grow with the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from umtslab.analyse.statistics import summarise
from umtslab.reproduce.claims import Value
from umtslab.reproduce.compare import usable_mean
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.results import Sample

Rows = Sequence[tuple[Sequence[Value], Sample]]
"""For each point the values of its dimensions, and the quantity in each run."""


def mean_of(samples: Sequence[Sample]) -> Sample:
    """Return the mean over points in each run. None in runs in which a point has no value."""
    means: Sample = []
    for values in zip(*samples, strict=False):
        known = [value for value in values if value is not None]
        means.append(sum(known) / len(known) if known and len(known) == len(values) else None)
    return means


def reduced(how: str, rows: Rows) -> Sample:
    """Reduce the values at several points to one value per run.

    Raises
    ------
    Missing
        If there are fewer than two points, or fewer than the quantity needs.
    """
    if len(rows) < 2:
        raise Missing(f"{how} needs two points or more, and {len(rows)} were run")
    return REDUCTIONS[how](rows)


def _minimum(rows: Rows) -> Sample:
    """Return the sample with the smallest mean."""
    return min((sample for _, sample in rows), key=usable_mean)


def _extremes(rows: Rows) -> tuple[Sample, Sample]:
    """Return the samples with the smallest and the largest mean."""
    samples = [sample for _, sample in rows]
    return min(samples, key=usable_mean), max(samples, key=usable_mean)


def _range(rows: Rows) -> Sample:
    """Return the range between the extremes, in each run."""
    low, high = _extremes(rows)
    return [None if a is None or b is None else b - a for a, b in zip(low, high, strict=False)]


def _range_pct(rows: Rows) -> Sample:
    """Return the range in percent of the largest mean."""
    low, high = _extremes(rows)
    top = summarise(high).mean
    if not top:
        raise Missing("the highest of the points is zero")
    return [None if a is None or b is None else 100 * (b - a) / top for a, b in zip(low, high, strict=False)]


def _argmax(rows: Rows) -> Sample:
    """Return in each run the value of the dimension at which the quantity is largest.

    Needs one dimension of numbers.
    """
    values: Sample = []
    for run in range(min(len(sample) for _, sample in rows)):
        known = [(value, float(at[0])) for at, sample in rows if (value := sample[run]) is not None]
        values.append(max(known)[1] if len(known) == len(rows) else None)
    return values


def _reaches_95pct(rows: Rows) -> Sample:
    """Return in each run the smallest value of the dimension with at least 95 % of the maximum.

    Needs one dimension of numbers.
    """
    values: Sample = []
    for run in range(min(len(sample) for _, sample in rows)):
        known = sorted((float(at[0]), value) for at, sample in rows if (value := sample[run]) is not None)
        threshold = 0.95 * max((value for _, value in known), default=0.0)
        positions = [position for position, value in known if value >= threshold]
        values.append(positions[0] if len(known) == len(rows) else None)
    return values


def _residual_variance(rows: Rows) -> Sample:
    """Return in each run the residual variance of a fit by a sum of two functions, one per dimension.

    It is the interaction of a two-way analysis of variance: how irregular the surface is. For values
    x(a, b) with means r(a) over b, c(b) over a and m over both, and with A values of a and B of b,
    it is the sum of (x(a, b) − r(a) − c(b) + m)², divided by (A − 1)(B − 1).
    """
    firsts, seconds = (list(dict.fromkeys(at[i] for at, _ in rows)) for i in (0, 1))
    if len(rows) != len(firsts) * len(seconds) or min(len(firsts), len(seconds)) < 2:
        raise Missing(
            "irregularity over two dimensions needs a complete grid with at least two values of each"
        )
    freedom = (len(firsts) - 1) * (len(seconds) - 1)
    variances: Sample = []
    for run in range(min(len(sample) for _, sample in rows)):
        values = {(at[0], at[1]): value for at, sample in rows if (value := sample[run]) is not None}
        if len(values) < len(rows):
            variances.append(None)
            continue
        mean = sum(values.values()) / len(values)
        row_mean = {a: sum(values[a, b] for b in seconds) / len(seconds) for a in firsts}
        column_mean = {b: sum(values[a, b] for a in firsts) / len(firsts) for b in seconds}
        squares = ((values[a, b] - row_mean[a] - column_mean[b] + mean) ** 2 for a, b in values)
        variances.append(sum(squares) / freedom)
    return variances


REDUCTIONS: dict[str, Callable[[Rows], Sample]] = {
    "min": _minimum,
    "range": _range,
    "range_pct": _range_pct,
    "argmax": _argmax,
    "reaches_95pct": _reaches_95pct,
    "residual_variance": _residual_variance,
}

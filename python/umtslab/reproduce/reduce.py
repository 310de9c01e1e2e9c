"""Reduces a quantity at several points to one value per run, such as its range over TCP versions.

For minimum and range, the extreme points are chosen once, by the means over all runs. Then the values
of each run at these points are used. Extremes chosen in each run anew would make the range grow with
the noise. For the same reason a value of one run is never compared with a value of another run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from umtslab.analyse.statistics import summarise
from umtslab.reproduce.claims import Value
from umtslab.reproduce.compare import usable_mean
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.results import Sample

PointSamples = Sequence[tuple[Sequence[Value], Sample]]
"""For each point its values in the dimensions over which is reduced, and the quantity in each run."""


def mean_of(samples: Sequence[Sample]) -> Sample:
    """Return the mean over points in each run. None in runs in which a point has no value."""
    means: Sample = []
    for values in zip(*samples, strict=False):
        known = [value for value in values if value is not None]
        means.append(sum(known) / len(known) if known and len(known) == len(values) else None)
    return means


def reduced(how: str, points: PointSamples) -> Sample:
    """Reduce the values at several points to one value per run.

    Raises
    ------
    Missing
        If there are fewer than two points, or fewer than the quantity needs.
    """
    if len(points) < 2:
        raise Missing(f"{how} needs two points or more, and {len(points)} were run")
    return REDUCTIONS[how](points)


def _minimum(points: PointSamples) -> Sample:
    """Return the sample with the smallest mean."""
    return min((sample for _, sample in points), key=usable_mean)


def _extremes(points: PointSamples) -> tuple[Sample, Sample]:
    """Return the samples with the smallest and the largest mean."""
    samples = [sample for _, sample in points]
    return min(samples, key=usable_mean), max(samples, key=usable_mean)


def _range(points: PointSamples) -> Sample:
    """Return the range between the extremes, in each run."""
    low_sample, high_sample = _extremes(points)
    return [
        None if low is None or high is None else high - low
        for low, high in zip(low_sample, high_sample, strict=False)
    ]


def _range_pct(points: PointSamples) -> Sample:
    """Return the range in percent of the largest mean."""
    low_sample, high_sample = _extremes(points)
    largest_mean = summarise(high_sample).mean
    if not largest_mean:
        raise Missing("the highest of the points is zero")
    return [
        None if low is None or high is None else 100 * (high - low) / largest_mean
        for low, high in zip(low_sample, high_sample, strict=False)
    ]


def _argmax(points: PointSamples) -> Sample:
    """Return in each run the value of the dimension at which the quantity is largest.

    Needs one dimension of numbers. None in runs in which a point has no value.
    """
    best_positions: Sample = []
    for run in range(min(len(sample) for _, sample in points)):
        known = [
            (value, float(position[0])) for position, sample in points if (value := sample[run]) is not None
        ]
        _, best_position = max(known, default=(0.0, 0.0))
        best_positions.append(best_position if len(known) == len(points) else None)
    return best_positions


def _reaches_95pct(points: PointSamples) -> Sample:
    """Return in each run the smallest value of the dimension with at least 95 % of the maximum.

    Needs one dimension of numbers. None in runs in which a point has no value.
    """
    smallest_positions: Sample = []
    for run in range(min(len(sample) for _, sample in points)):
        known = sorted(
            (float(position[0]), value) for position, sample in points if (value := sample[run]) is not None
        )
        threshold = 0.95 * max((value for _, value in known), default=0.0)
        positions = [position for position, value in known if value >= threshold]
        smallest_positions.append(positions[0] if len(known) == len(points) else None)
    return smallest_positions


def _residual_variance(points: PointSamples) -> Sample:
    """Return in each run the residual variance of a fit by a sum of two functions, one per dimension.

    It is the interaction of a two-way analysis of variance: how irregular the surface is. For values
    x(a, b) with means r(a) over b, c(b) over a and m over both, and with A values of a and B of b,
    it is the sum of (x(a, b) − r(a) − c(b) + m)², divided by (A − 1)(B − 1).
    """
    values_a = list(dict.fromkeys(position[0] for position, _ in points))
    values_b = list(dict.fromkeys(position[1] for position, _ in points))
    if len(points) != len(values_a) * len(values_b) or min(len(values_a), len(values_b)) < 2:
        raise Missing(
            "irregularity over two dimensions needs a complete grid with at least two values of each"
        )
    degrees_of_freedom = (len(values_a) - 1) * (len(values_b) - 1)
    variances: Sample = []
    for run in range(min(len(sample) for _, sample in points)):
        x = {
            (position[0], position[1]): value
            for position, sample in points
            if (value := sample[run]) is not None
        }
        if len(x) < len(points):
            variances.append(None)
            continue
        m = sum(x.values()) / len(x)
        r = {a: sum(x[a, b] for b in values_b) / len(values_b) for a in values_a}
        c = {b: sum(x[a, b] for a in values_a) / len(values_a) for b in values_b}
        squares = ((x[a, b] - r[a] - c[b] + m) ** 2 for a, b in x)
        variances.append(sum(squares) / degrees_of_freedom)
    return variances


REDUCTIONS: dict[str, Callable[[PointSamples], Sample]] = {
    "min": _minimum,
    "range": _range,
    "range_pct": _range_pct,
    "argmax": _argmax,
    "reaches_95pct": _reaches_95pct,
    "residual_variance": _residual_variance,
}

"""Sensitivity analysis by SALib: Morris's elementary effects or Sobol's variance shares.

A metric's value at a point is its mean over runs. All points use the same seed and run numbers, so
effects are due to the parameters and not to random draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umtslab.analyse.statistics import summarise
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.file import check_metric
from umtslab.campaign.table import Value
from umtslab.extras import missing_library_text
from umtslab.studies.file import Frame, study_file
from umtslab.studies.parameters import Parameter
from umtslab.studies.runner import StudyRunner

METHODS = ("morris", "sobol")
_LEVELS = 4
"""Number of levels of each parameter in Morris's method."""
_MAX_POINTS = 100_000
_SEED_MODULUS = 2**32
"""SALib's seeds are below this number."""

_PRECISE_SHARE = 0.05
"""Half width of an interval that is narrow enough for any share of the variance, even for 0."""


@dataclass(frozen=True)
class Sensitivity:
    """A sensitivity study: the effect of each parameter on each metric.

    `method` is one of `METHODS`. `samples` is the number of samples of this method; each consists
    of several points.
    """

    frame: Frame
    method: str
    samples: int
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class Effect:
    """Effect of a parameter on a metric, with half widths of 95 % intervals.

    The fields are named for Sobol's method: the first-order and the total share of the variance.
    With Morris's method, `first` is mu*, the mean absolute effect of crossing the range, in the
    metric's unit. `total` is sigma, the standard deviation of the effects (by interaction or
    curvature), which has no interval.
    """

    parameter: str
    first: float
    first_ci95: float | None
    total: float
    total_ci95: float | None

    @property
    def has_too_few_samples(self) -> bool:
        """Whether an interval (Sobol) is wider than its share and than 5 % of the variance."""
        pairs = ((self.first, self.first_ci95), (self.total, self.total_ci95))
        return any(ci95 is not None and ci95 > max(abs(share), _PRECISE_SHARE) for share, ci95 in pairs)


@dataclass(frozen=True)
class Findings:
    """The effects by metric, in the order of the parameters, and the number of distinct points."""

    study: Sensitivity
    seed: int
    points: int
    effects: dict[str, tuple[Effect, ...]]


def load_sensitivity(path: Path) -> Sensitivity:
    """Read a study file.

    Raises
    ------
    CampaignError
        If the file cannot be read, a key is unknown, or a value is wrong.
    """
    with study_file(path) as (table, frame):
        method = table.text("method", "morris")
        if method not in METHODS:
            raise table.wrong("method", f"{method!r} is not one of {', '.join(METHODS)}")
        samples = table.whole("samples", 8, minimum=2)
        if method == "sobol" and samples & (samples - 1):
            raise table.wrong(
                "samples", f"Sobol's sequence needs a power of 2, for example 64, not {samples}"
            )
        metrics = tuple(str(metric) for metric in table.listed("metrics"))
        for metric in metrics:
            check_metric(table, "metrics", metric)
        for parameter in frame.parameters:
            if parameter.choices:
                raise table.wrong(
                    parameter.key, "choices have no order, so they have no measurable effect: give a range"
                )
        if len(frame.parameters) < 2:
            raise table.wrong(
                "parameters", "a sensitivity study needs at least two parameters: use umts sweep for one"
            )
        # A sample of Morris is a trajectory of k + 1 points for k parameters. A sample of Sobol,
        # without second-order shares, is k + 2 points: two base points, and k mixtures of the two.
        points = samples * (len(frame.parameters) + (2 if method == "sobol" else 1))
        if points > _MAX_POINTS:
            raise table.wrong(
                "samples",
                f"{samples:,} samples give {points:,} points, more than the limit of {_MAX_POINTS:,}",
            )
    return Sensitivity(frame, method=method, samples=samples, metrics=metrics)


def analyse_sensitivity(study: Sensitivity, runner: StudyRunner) -> Findings:
    """Run the missing points, and compute the effects.

    Raises
    ------
    CampaignError
        If SALib is not installed, the scenario of a point is wrong, or a run could not measure a
        metric.
    OSError
        If results cannot be written.
    """
    seed = study.frame.base_study().seed
    problem = {
        "num_vars": len(study.frame.parameters),
        "names": [parameter.key for parameter in study.frame.parameters],
        "bounds": [_bounds(parameter) for parameter in study.frame.parameters],
    }
    samples_drawn = _sample(study, problem, seed)
    rows = [_row(study.frame, numbers) for numbers in samples_drawn.tolist()]
    distinct = list({tuple(row.items()): row for row in rows}.values())
    cells = runner.run(study.frame.campaign(distinct))
    by_row = {tuple(cell.parameters.items()): cell for cell in cells}
    effects = {}
    for metric in study.metrics:
        means = [summarise(by_row[tuple(row.items())].values(metric)).mean for row in rows]
        if None in means:
            raise CampaignError(
                f"no run measured {metric} at {by_row[tuple(rows[means.index(None)].items())].label}"
            )
        effects[metric] = _effects(study, problem, samples_drawn, means, seed)
    return Findings(study, seed=seed, points=len(distinct), effects=effects)


def _sample(study: Sensitivity, problem: dict[str, Any], seed: int) -> Any:
    try:
        from SALib.sample import morris, sobol
    except ImportError as error:
        raise CampaignError(missing_library_text("SALib", error)) from None
    if study.method == "morris":
        return morris.sample(problem, study.samples, num_levels=_LEVELS, seed=seed % _SEED_MODULUS)
    return sobol.sample(problem, study.samples, calc_second_order=False, seed=seed % _SEED_MODULUS)


def _effects(
    study: Sensitivity, problem: dict[str, Any], samples_drawn: Any, means: Sequence[float | None], seed: int
) -> tuple[Effect, ...]:
    import numpy as np

    values = np.array(means, dtype=float)
    keys = problem["names"]
    # Without differences between the points, no parameter has an effect.
    if float(np.ptp(values)) == 0.0:
        return tuple(Effect(key, first=0.0, first_ci95=0.0, total=0.0, total_ci95=0.0) for key in keys)
    if study.method == "morris":
        from SALib.analyze import morris

        effects = morris.analyze(
            problem, samples_drawn, values, num_levels=_LEVELS, seed=seed % _SEED_MODULUS
        )
        # Columns: `first` and `first_ci95`, then `total` and `total_ci95`.
        columns = effects["mu_star"], effects["mu_star_conf"], effects["sigma"], [None] * len(keys)
    else:
        from SALib.analyze import sobol

        effects = sobol.analyze(problem, values, calc_second_order=False, seed=seed % _SEED_MODULUS)
        columns = effects["S1"], effects["S1_conf"], effects["ST"], effects["ST_conf"]
    return tuple(
        Effect(
            key,
            first=float(first),
            first_ci95=_finite(first_ci),
            total=float(total),
            total_ci95=_finite(total_ci),
        )
        for key, first, first_ci, total, total_ci in zip(keys, *columns, strict=True)
    )


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(float(value)) else float(value)


def _bounds(parameter: Parameter) -> list[float]:
    """Return the range for drawing numbers. For a logarithmic parameter, the exponents."""
    ends = [parameter.low, parameter.high]
    return [math.log10(end) for end in ends] if parameter.log else ends


def _row(frame: Frame, numbers: Sequence[float]) -> dict[str, Value]:
    """Return the values of the keys for a sample of SALib."""
    return {
        parameter.key: parameter.value(10**number if parameter.log else number)
        for parameter, number in zip(frame.parameters, numbers, strict=True)
    }

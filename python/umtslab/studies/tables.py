"""Studies as tables, for CSV and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.studies.optimise import Outcome, Trial
from umtslab.studies.sensitivity import Findings

if TYPE_CHECKING:
    import polars as pl

BASELINE = "unchanged scenario"


def trials_table(outcome: Outcome) -> pl.DataFrame:
    """Return one row per trial: parameters, objective, metrics of constraints, verdicts.

    The unchanged scenario is the last row. ``feasible`` is whether the means satisfy the constraints,
    ``sure`` whether the whole 95 % intervals do.
    """
    import polars as pl

    study = outcome.study
    keys = [parameter.key for parameter in study.frame.parameters]
    rows = []
    for trial in (*outcome.trials, outcome.baseline):
        row: dict[str, object] = {"trial": _name(outcome, trial)}
        row |= {key: _text(trial.parameters.get(key)) for key in keys}
        row |= {
            "n": trial.objective.n,
            study.metric: trial.objective.mean,
            f"{study.metric}_ci95": trial.objective.ci95,
        }
        for constraint in study.constraints:
            summary = trial.limits[str(constraint)]
            row |= {constraint.metric: summary.mean, f"{constraint.metric}_ci95": summary.ci95}
        rows.append({**row, "feasible": trial.feasible, "sure": trial.sure})
    return pl.DataFrame(rows, infer_schema_length=None)


def effects_table(findings: Findings) -> pl.DataFrame:
    """Return one row per metric and parameter, with the effects and their 95 % intervals.

    The method of Morris yields mu* and sigma, the method of Sobol first-order and total indices.
    """
    import polars as pl

    is_morris = findings.study.method == "morris"
    # With Morris's method `first` is mu*, and `total` is sigma, which has no interval.
    names = (
        ("mu_star", "mu_star_ci95", "sigma") if is_morris else ("first", "first_ci95", "total", "total_ci95")
    )
    rows = []
    for metric, effects in findings.effects.items():
        for effect in effects:
            numbers = (effect.first, effect.first_ci95, effect.total, effect.total_ci95)
            rows.append((metric, effect.parameter, *numbers[: len(names)]))
    schema = {"metric": pl.String, "parameter": pl.String, **dict.fromkeys(names, pl.Float64)}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    if is_morris:
        return table
    few = [effect.has_too_few_samples for effects in findings.effects.values() for effect in effects]
    return table.with_columns(pl.Series("too_few_samples", few, dtype=pl.Boolean))


def _name(outcome: Outcome, trial: Trial) -> str:
    return BASELINE if trial is outcome.baseline else str(trial.number)


def _text(value: object) -> str | None:
    return None if value is None else str(value)

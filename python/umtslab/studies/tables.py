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

    The unchanged scenario is last. ``feasible`` is whether the means satisfy the constraints,
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
            found = trial.limits[str(constraint)]
            row |= {constraint.metric: found.mean, f"{constraint.metric}_ci95": found.ci95}
        rows.append({**row, "feasible": trial.feasible, "sure": trial.sure})
    return pl.DataFrame(rows, infer_schema_length=None)


def effects_table(findings: Findings) -> pl.DataFrame:
    """Return one row per metric and parameter, with the effects and intervals of the method."""
    import polars as pl

    morris = findings.study.method == "morris"
    names = ("mu_star", "mu_star_ci95", "sigma") if morris else ("first", "first_ci95", "total", "total_ci95")
    rows = [
        (metric, one.parameter, *(one.first, one.first_ci95, one.total, one.total_ci95)[: len(names)])
        for metric, effects in findings.effects.items()
        for one in effects
    ]
    schema = {"metric": pl.String, "parameter": pl.String, **dict.fromkeys(names, pl.Float64)}
    found = pl.DataFrame(rows, schema=schema, orient="row")
    if morris:
        return found
    few = [one.has_too_few_samples for effects in findings.effects.values() for one in effects]
    return found.with_columns(pl.Series("too_few_samples", few, dtype=pl.Boolean))


def _name(outcome: Outcome, trial: Trial) -> str:
    return BASELINE if trial is outcome.baseline else str(trial.number)


def _text(value: object) -> str | None:
    return None if value is None else str(value)

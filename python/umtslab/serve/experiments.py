"""Content of the pages of campaigns and studies in ``umts serve``, from their records in the store.

A campaign has points, each with runs at one combination of the varied keys; its page shows one metric
over one key. A study is an optimisation (`Outcome`, with trials) or a sensitivity study (`Findings`,
with the effect of each parameter on some metrics).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from umtslab.analyse.statistics import Summary, summarise
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.headline_metrics import headline_names
from umtslab.labels import key_label, metric_label, metric_with_unit, value_label, with_unit
from umtslab.metrics import definitions, units
from umtslab.numbers import number, with_interval
from umtslab.page.study import about, command
from umtslab.quantity import in_one_unit
from umtslab.store import StoreReader
from umtslab.studies.optimise import Outcome, Trial
from umtslab.studies.sensitivity import Findings
from umtslab.studies.tables import effects_table, trials_table


class UnknownMetric(LookupError):
    """No run of the campaign measured the metric, or the campaign does not vary the key."""


def campaign(record: Record, metric: str | None, over: str | None) -> dict[str, Any]:
    """Collect the content of `models.CampaignPage`.

    Parameters
    ----------
    record : Record
        The campaign.
    metric : str, optional
        The metric to show; by default the first metric that the campaign's file names.
    over : str, optional
        Key of the horizontal axis; by default the first varied key with numbers as values.

    Raises
    ------
    UnknownMetric
        If there is no such metric, or the campaign does not vary the key.
    """
    choices = _metrics(record)
    shown = metric or (record.shown_metrics[0] if record.shown_metrics else choices[0])
    if shown not in choices:
        raise UnknownMetric("no run of this campaign measured that metric")
    values_of = {key: _values(record, key) for key in record.axes}
    if over is not None and over not in values_of:
        raise UnknownMetric("this campaign does not vary that key")
    numeric_keys = [key for key, values in values_of.items() if in_one_unit(values) is not None]
    x_key = over or next(iter(numeric_keys or values_of), "")
    x_values = values_of.get(x_key, [])
    # Position of each value on the axis, if all values are numbers in comparable units.
    x_of_value: dict[str, float] = {}
    x_unit = ""
    numbers_and_unit = in_one_unit(x_values)
    if numbers_and_unit is not None:
        numbers, x_unit = numbers_and_unit
        x_of_value = dict(zip(map(str, x_values), numbers, strict=True))
    return {
        "name": record.name,
        "title": record.title or record.name,
        "seed": record.seed,
        "axes": [_axis(key, values) for key, values in values_of.items()],
        "metrics": [_described(name) for name in choices],
        "metric": _described(shown),
        "over": _axis(x_key, x_values),
        "x_label": with_unit(key_label(x_key), x_unit),
        "points": [_point(record, cell, shown, x_key, x_of_value) for cell in record.cells],
        "runs": sum(len(cell.runs) for cell in record.cells),
        "missing": sum(not cell.runs for cell in record.cells),
    }


def _metrics(record: Record) -> list[str]:
    """Return the metrics to choose from: those of the campaign's file, then the headline metrics."""
    means = [run.metrics for cell in record.cells for run in cell.runs]
    return list(dict.fromkeys([*record.metrics, *headline_names(*means)])) or ["goodput_kbps"]


def _described(name: str) -> dict[str, Any]:
    meaning = next((entry["meaning"] for entry in definitions() if entry["name"] == name), "")
    return {"name": name, "label": metric_label(name), "unit": units().get(name, ""), "meaning": meaning}


def _values(record: Record, key: str) -> list[object]:
    """Return the values of a key, in the order of the points."""
    return list(dict.fromkeys(cell.parameters[key] for cell in record.cells if key in cell.parameters))


def _axis(key: str, values: list[object]) -> dict[str, Any]:
    return {"key": key, "label": key_label(key), "values": [value_label(value) for value in values]}


def _point(
    record: Record, cell: Cell, metric: str, x_key: str, x_of_value: dict[str, float]
) -> dict[str, Any]:
    """Return a point. ``group`` has its values of all keys except `x_key`; a curve connects one group."""
    others = [value_label(cell.parameters.get(key, "")) for key in record.axes if key != x_key]
    return {
        "at": [value_label(cell.parameters.get(key, "")) for key in record.axes],
        "x": x_of_value.get(str(cell.parameters.get(x_key))),
        "group": ", ".join(others),
        "runs": [{"key": run.key, "run": run.run} for run in cell.runs],
        "mean": _mean(summarise(cell.values(metric))),
    }


def _mean(summary: Summary) -> dict[str, Any]:
    """Return the mean over a point's runs and the ends of its 95 % interval."""
    low = high = None
    if summary.mean is not None and summary.ci95 is not None:
        low, high = summary.mean - summary.ci95, summary.mean + summary.ci95
    return {
        "value": summary.mean,
        "low": low,
        "high": high,
        "text": with_interval(summary.mean, summary.ci95, summary.n),
        "n": summary.n,
    }


# ── Studies ─────────────────────────────────────────────────────────────────────────────────────────


def study_row(study: Outcome | Findings) -> dict[str, Any]:
    """Return name, method and result of a study."""
    frame = study.study.frame
    if isinstance(study, Outcome):
        method = f"optimisation, {len(study.trials)} trials of {frame.runs} runs"
    else:
        method = f"sensitivity, {study.study.method.capitalize()}, {study.points} points of {frame.runs} runs"
    result = _best(study) if isinstance(study, Outcome) else _strongest(study)
    return {"name": frame.name, "title": frame.title or "", "method": method, "result": result}


def study_page(study: Outcome | Findings, store: StoreReader) -> dict[str, Any]:
    """Collect the content of `models.StudyPage`."""
    table = trials_table(study) if isinstance(study, Outcome) else effects_table(study)
    pareto = _pareto_chart(study) if isinstance(study, Outcome) else _ParetoChart()
    return study_row(study) | {
        "title": study.study.frame.title or study.study.frame.name,
        "method": about(study),
        "charts": _importance(study) if isinstance(study, Outcome) else _effects(study),
        "front": pareto.trials,
        "front_x": pareto.x_label,
        "front_y": pareto.y_label,
        "table": {
            "heads": table.columns,
            "rows": [[_cell_text(value) for value in row] for row in table.iter_rows()],
        },
        "command": command(study, store) if isinstance(study, Outcome) else "",
    }


def _best(outcome: Outcome) -> str:
    """Describe the best trial of an optimisation in a sentence."""
    ranking = outcome.ranking()
    if not ranking:
        return "No trial keeps the constraints."
    best = ranking[0]
    name, objective = metric_with_unit(outcome.study.metric), best.objective
    objective_text = with_interval(objective.mean, objective.ci95, objective.n)
    return f"Best of {len(ranking)} points: {name} {objective_text}, trial {best.number}."


def _strongest(findings: Findings) -> str:
    """Name the parameter with the largest effect on the first metric of a sensitivity study."""
    metric, effects = next(iter(findings.effects.items()), ("", ()))
    strongest = max(effects, key=lambda effect: effect.first, default=None)
    if strongest is None:
        return "No effect was measured."
    measure = _measure(findings)
    unit = f" {units().get(metric, '')}".rstrip() if findings.study.method == "morris" else ""
    return (
        f"{metric_label(metric)} depends most on {key_label(strongest.parameter)}: "
        f"{measure} {with_interval(strongest.first, strongest.first_ci95)}{unit}."
    )


def _measure(findings: Findings) -> str:
    """Name the quantity of `Effect.first`, which depends on the method."""
    is_morris = findings.study.method == "morris"
    return "mean absolute effect" if is_morris else "first-order share of the variance"


def _effects(findings: Findings) -> list[dict[str, Any]]:
    """Return a bar chart for each metric, with a bar per parameter, the largest effect first."""
    is_morris = findings.study.method == "morris"
    return [
        {
            "title": f"{metric_label(metric)}: {_measure(findings)}",
            "unit": units().get(metric, "") if is_morris else "",
            "bars": [
                {
                    "label": key_label(effect.parameter),
                    "value": effect.first,
                    "low": None if effect.first_ci95 is None else effect.first - effect.first_ci95,
                    "high": None if effect.first_ci95 is None else effect.first + effect.first_ci95,
                    "text": with_interval(effect.first, effect.first_ci95),
                }
                for effect in sorted(effects, key=lambda effect: -effect.first)
            ],
        }
        for metric, effects in findings.effects.items()
    ]


def _importance(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the bar chart of the parameters' importance, or no chart if it cannot be computed."""
    from umtslab.studies.importance import importance

    try:
        shares = importance(outcome)
    except CampaignError:
        return []  # Optuna is not installed, or too few trials
    bars = [
        {"label": key_label(key), "value": share, "low": None, "high": None, "text": number(share, 3)}
        for key, share in shares.items()
    ]
    return [{"title": "Importance for being among the better trials (PED-ANOVA)", "unit": "", "bars": bars}]


class _ParetoChart(NamedTuple):
    """The trials of an optimisation by a constrained metric (x) and the objective (y)."""

    trials: Sequence[dict[str, Any]] = ()
    x_label: str = ""
    y_label: str = ""


class _Point(NamedTuple):
    """Means over the runs of a trial."""

    constrained: float
    objective: float


def _pareto_chart(outcome: Outcome) -> _ParetoChart:
    """Return the chart for the first constraint. Without constraints it is empty.

    A trial is on the Pareto front if no other trial is at least as good in both metrics and better in
    one of them.
    """
    if not outcome.study.constraints:
        return _ParetoChart()
    constraint = outcome.study.constraints[0]

    def point_of(trial: Trial) -> _Point | None:
        constrained, objective = trial.limits[str(constraint)].mean, trial.objective.mean
        return None if constrained is None or objective is None else _Point(constrained, objective)

    measured = [(trial, point) for trial in outcome.trials if (point := point_of(trial)) is not None]
    # Differences times these signs are positive if the metric becomes better: a metric with a lower
    # bound should be large, one with an upper bound small.
    x_sign = 1 if constraint.least is not None else -1
    y_sign = 1 if outcome.study.maximise else -1

    def is_dominated(point: _Point) -> bool:
        return any(
            x_sign * (other.constrained - point.constrained) >= 0
            and y_sign * (other.objective - point.objective) >= 0
            and other != point
            for _, other in measured
        )

    trials = [
        {
            "trial": str(trial.number),
            "x": point.constrained,
            "y": point.objective,
            "is_feasible": trial.feasible,
            "is_on_front": not is_dominated(point),
        }
        for trial, point in measured
    ]
    return _ParetoChart(trials, metric_with_unit(constraint.metric), metric_with_unit(outcome.study.metric))


def _cell_text(value: object) -> str:
    """Format a value of a study's table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else "–" if value is None else str(value)

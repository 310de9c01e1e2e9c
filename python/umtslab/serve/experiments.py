"""Campaigns and studies of the store."""

from __future__ import annotations

from typing import Any

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
    """No run of a campaign measured the metric, or the campaign does not vary the key."""


def campaign(record: Record, metric: str | None, over: str | None) -> dict[str, Any]:
    """Collect the content of `models.CampaignPage`.

    Parameters
    ----------
    record : Record
        The campaign.
    metric : str, optional
        The metric to show; by default the first of the campaign's own.
    over : str, optional
        Key of the horizontal axis; by default the first with numbers.

    Raises
    ------
    UnknownMetric
        If there is no such metric, or the campaign does not vary the key.
    """
    choices = _metrics(record)
    shown = metric or (record.shown_metrics[0] if record.shown_metrics else choices[0])
    if shown not in choices:
        raise UnknownMetric("no run of this campaign measured that metric")
    axes = {key: _values(record, key) for key in record.axes}
    if over is not None and over not in axes:
        raise UnknownMetric("this campaign does not vary that key")
    numeric = [key for key, values in axes.items() if in_one_unit(values) is not None]
    x_key = over or next(iter(numeric or axes), "")
    x_values = axes.get(x_key, [])
    numbers_and_unit = in_one_unit(x_values)
    if numbers_and_unit is None:
        x_of_value, x_unit = {}, ""
    else:
        numbers, x_unit = numbers_and_unit
        x_of_value = dict(zip(map(str, x_values), numbers, strict=True))
    return {
        "name": record.name,
        "title": record.title or record.name,
        "seed": record.seed,
        "axes": [_axis(key, values) for key, values in axes.items()],
        "metrics": [_described(name) for name in choices],
        "metric": _described(shown),
        "over": _axis(x_key, x_values),
        "x_label": with_unit(key_label(x_key), x_unit),
        "points": [_point(record, cell, shown, x_key, x_of_value) for cell in record.cells],
        "runs": sum(len(cell.runs) for cell in record.cells),
        "missing": sum(not cell.runs for cell in record.cells),
    }


def _metrics(record: Record) -> list[str]:
    """Return the metrics to choose from: the campaign's, then the headline metrics."""
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
    others = [value_label(cell.parameters.get(key, "")) for key in record.axes if key != x_key]
    return {
        "at": [value_label(cell.parameters.get(key, "")) for key in record.axes],
        "x": x_of_value.get(str(cell.parameters.get(x_key))),
        "group": ", ".join(others),
        "runs": [{"key": run.key, "run": run.run} for run in cell.runs],
        "mean": _mean(summarise(cell.values(metric))),
    }


def _mean(summary: Summary) -> dict[str, Any]:
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
    front, x_label, y_label = _front(study) if isinstance(study, Outcome) else ([], "", "")
    return study_row(study) | {
        "title": study.study.frame.title or study.study.frame.name,
        "method": about(study),
        "charts": _importance(study) if isinstance(study, Outcome) else _effects(study),
        "front": front,
        "front_x": x_label,
        "front_y": y_label,
        "table": {
            "heads": table.columns,
            "rows": [[_text(value) for value in row] for row in table.iter_rows()],
        },
        "command": command(study, store) if isinstance(study, Outcome) else "",
    }


def _best(outcome: Outcome) -> str:
    ranking = outcome.ranking()
    if not ranking:
        return "No trial keeps the constraints."
    best = ranking[0]
    name, objective = metric_with_unit(outcome.study.metric), best.objective
    written = with_interval(objective.mean, objective.ci95, objective.n)
    return f"Best of {len(ranking)} points: {name} {written}, trial {best.number}."


def _strongest(findings: Findings) -> str:
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
    is_morris = findings.study.method == "morris"
    return "mean absolute effect" if is_morris else "first-order share of the variance"


def _effects(findings: Findings) -> list[dict[str, Any]]:
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


def _front(outcome: Outcome) -> tuple[list[dict[str, Any]], str, str]:
    """Return the trials by the first bounded metric and the objective, and the labels of both axes.

    A trial is on the front if no other trial is at least as good in both.
    """
    if not outcome.study.constraints:
        return [], "", ""
    bound = outcome.study.constraints[0]

    def position(trial: Trial) -> tuple[float, float] | None:
        x, y = trial.limits[str(bound)].mean, trial.objective.mean
        return None if x is None or y is None else (x, y)

    points = [(trial, at) for trial in outcome.trials if (at := position(trial)) is not None]
    # With these signs, larger is better.
    x_sign = 1 if bound.least is not None else -1
    y_sign = 1 if outcome.study.maximise else -1

    def is_bettered(x: float, y: float) -> bool:
        return any(
            x_sign * (other_x - x) >= 0 and y_sign * (other_y - y) >= 0 and (other_x, other_y) != (x, y)
            for _, (other_x, other_y) in points
        )

    rows = [
        {
            "trial": str(trial.number),
            "x": x,
            "y": y,
            "is_feasible": trial.feasible,
            "is_on_front": not is_bettered(x, y),
        }
        for trial, (x, y) in points
    ]
    return rows, metric_with_unit(bound.metric), metric_with_unit(outcome.study.metric)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, float) else "–" if value is None else str(value)

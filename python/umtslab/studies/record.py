"""Records of studies in the store: ``studies/NAME.json``.

The file lists the runs of each trial but not their results. Effects, which depend on all runs, are
included. To create the file again, run the study, which takes its runs from the store.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.atomic_files import atomic_file, describe_irregular
from umtslab.campaign.errors import CampaignError
from umtslab.run import Run
from umtslab.store.damaged import set_aside
from umtslab.store.seal import sealed, unsealed
from umtslab.studies.file import Frame
from umtslab.studies.optimise import Constraint, Optimisation, Outcome, Trial, evaluate_trial
from umtslab.studies.parameters import Parameter
from umtslab.studies.sensitivity import Effect, Findings, Sensitivity

if TYPE_CHECKING:
    from umtslab.store import StoreReader

FORMAT = 1
"""Version of the layout of the file."""


def save_outcome(store: Path, outcome: Outcome) -> Path:
    """Write the record of an optimisation into a store atomically."""
    study = outcome.study
    return _save(
        store,
        study.frame,
        {
            "kind": "optimisation",
            "seed": outcome.seed,
            "objective": {"metric": study.metric, "maximise": study.maximise},
            "constraints": [asdict(constraint) for constraint in study.constraints],
            "trials": [_trial(trial) for trial in outcome.trials],
            "as_it_is": _trial(outcome.baseline),
        },
    )


def save_findings(store: Path, findings: Findings) -> Path:
    """Write the record of a sensitivity study into a store atomically."""
    study = findings.study
    return _save(
        store,
        study.frame,
        {
            "kind": "sensitivity",
            "seed": findings.seed,
            "method": study.method,
            "samples": study.samples,
            "points": findings.points,
            "effects": {
                metric: [asdict(effect) for effect in effects] for metric, effects in findings.effects.items()
            },
        },
    )


def recorded_studies(store: Path) -> list[str]:
    """Return the names of the studies in a store."""
    return sorted(path.stem for path in (store / "studies").glob("*.json"))


def load_study(store: StoreReader, name: str) -> Outcome | Findings | None:
    """Return the study `name` with its remaining runs, or None.

    Raises
    ------
    CampaignError
        If its record is damaged, or another version wrote it.
    """
    path = store.path / "studies" / f"{name}.json"
    if "/" in name or "\0" in name or not os.path.lexists(path):
        return None
    try:
        content = unsealed(path)
        if content["format"] != FORMAT:
            raise CampaignError(f"{path}: layout {content['format']}, but this version reads layout {FORMAT}")
        frame = _frame(content["frame"])
        if content["kind"] == "sensitivity":
            return _findings(frame, content)
        return _outcome(frame, content, {run.key: run for run in store.runs()})
    except CampaignError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        advice = "the command of the study creates it again from the stored runs"
        raise CampaignError(f"{path} is damaged ({error}): {advice}") from error


def _save(store: Path, frame: Frame, content: Mapping[str, Any]) -> Path:
    folder = store / "studies"
    folder.mkdir(exist_ok=True)
    path = folder / f"{frame.name}.json"
    described = {
        **{name: value for name, value in asdict(frame).items() if name != "allow_code"},
        "source": str(frame.source),
        "scenario": str(frame.scenario),
        "settings": dict(frame.settings),
        "parameters": [asdict(parameter) for parameter in frame.parameters],
    }
    if describe_irregular(path) is not None:
        set_aside(store, [path])
    with atomic_file(path) as file:
        file.write(sealed({"format": FORMAT, "frame": described, **content}).encode())
    return path


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "number": trial.number,
        "parameters": dict(trial.parameters),
        "runs": [run.key for run in trial.runs],
    }


def _frame(described: Mapping[str, Any]) -> Frame:
    parameters = (
        Parameter(**{**entry, "choices": tuple(entry["choices"])}) for entry in described["parameters"]
    )
    return Frame(
        **{
            **described,
            "source": Path(described["source"]),
            "scenario": Path(described["scenario"]),
            "parameters": tuple(parameters),
        }
    )


def _outcome(frame: Frame, content: Mapping[str, Any], runs: Mapping[str, Run]) -> Outcome:
    constraints = tuple(Constraint(**entry) for entry in content["constraints"])
    objective = content["objective"]
    study = Optimisation(
        frame,
        metric=objective["metric"],
        maximise=objective["maximise"],
        constraints=constraints,
        trials=len(content["trials"]),
    )
    trials = tuple(_trial_from_record(study, entry, runs) for entry in content["trials"])
    baseline = _trial_from_record(study, content["as_it_is"], runs)
    return Outcome(study, seed=content["seed"], trials=trials, baseline=baseline)


def _trial_from_record(study: Optimisation, entry: Mapping[str, Any], runs: Mapping[str, Run]) -> Trial:
    stored_runs = tuple(runs[key] for key in entry["runs"] if key in runs)
    return evaluate_trial(study, entry["number"], entry["parameters"], stored_runs)


def _findings(frame: Frame, content: Mapping[str, Any]) -> Findings:
    study = Sensitivity(
        frame, method=content["method"], samples=content["samples"], metrics=tuple(content["effects"])
    )
    effects = {
        metric: tuple(Effect(**entry) for entry in listed) for metric, listed in content["effects"].items()
    }
    return Findings(study, seed=content["seed"], points=content["points"], effects=effects)

"""``umts optimise``: the best parameters under constraints."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULTS, Out
from umtslab.cli.purposes import check_purpose
from umtslab.cli.studies import study_place, tell
from umtslab.exit_status import FAILED
from umtslab.run import code_version
from umtslab.studies.optimise import Outcome, Trial, load_optimisation
from umtslab.studies.optimise import optimise as find_best

_SHOWN = 5


def optimise(
    study: Path,
    /,
    *,
    trials: int | None = None,
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
    dask: str | None = None,
    out: Out = RESULTS,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Find the parameters that give the best mean of a metric and keep the constraints.

    The same command goes on where it was interrupted, and with more --trials where it had ended. Exit status:
    0 done, 1 no trial keeps the constraints, 2 wrong usage or input.

    Parameters
    ----------
    study
        A study file (TOML).
    trials
        Points to try (default: the file's, else 40).
    jobs
        Worker threads for the runs of a trial (default: as many as there are processors).
    dask
        Run on the workers of the Dask scheduler at this address instead.
    out
        Where results go, Optuna's study (studies/NAME.sqlite) among them.
    json
        Print one JSON object on standard output and nothing else there.
    quiet
        No progress bar and no remarks.
    """
    check_purpose(study, "optimise")
    wanted = load_optimisation(study)
    if trials is not None:
        if trials < 1:
            raise UsageError(f"--trials takes a number of at least 1, not {trials}")
        wanted = replace(wanted, trials=trials)
    with study_place(wanted.frame, out, jobs, dask, quiet=quiet or json, kept="trials") as place:
        outcome = find_best(wanted, place)
        best = outcome.ranking()[0] if outcome.ranking() else None
        command = _command(place.store.command(best.runs[0]), wanted.frame.runs) if best is not None else ""
    tell(lambda: _as_json(outcome, command), lambda: _print(outcome, command), json=json)
    if best is None:
        print(f"umts: none of {len(outcome.trials)} trials keeps the constraints", file=sys.stderr)
        return FAILED
    return 0


def _command(one_run: str, runs: int) -> str:
    """The command for all runs of a point, from that of its first."""
    return one_run.replace("--first-run 0", f"--runs {runs}")


def _as_json(outcome: Outcome, command: str) -> dict[str, Any]:
    study = outcome.study
    ranking = outcome.ranking()
    return {
        "study": study.frame.name,
        "version": str(code_version()),
        "seed": outcome.seed,
        "objective": {"metric": study.metric, "goal": "maximise" if study.maximise else "minimise"},
        "constraints": [str(constraint) for constraint in study.constraints],
        "trials": [_trial_json(trial) for trial in outcome.trials],
        "as_it_is": _trial_json(outcome.as_it_is),
        "best": None
        if not ranking
        else {
            **_trial_json(ranking[0]),
            "gain": outcome.gain(ranking[0]).as_dict(),
            "command": command,
        },
    }


def _trial_json(trial: Trial) -> dict[str, Any]:
    return {
        "number": trial.number,
        "parameters": dict(trial.parameters),
        "objective": trial.objective.as_dict(),
        "constraints": {name: summary.as_dict() for name, summary in trial.limits.items()},
        "feasible": trial.feasible,
        "sure": trial.sure,
    }


def _print(outcome: Outcome, command: str) -> None:
    from umtslab.metrics import units
    from umtslab.numbers import number
    from umtslab.terminal import output, plain_table

    study = outcome.study
    keys = [parameter.key for parameter in study.frame.parameters]
    unit = units().get(study.metric, "")
    heading = f">{study.metric} ({unit})" if unit else f">{study.metric}"
    limits = [heading for constraint in study.constraints for heading in (f">{constraint}", ">± 95 %")]
    table = plain_table(">trial", *keys, heading, ">± 95 %", *limits)

    def add(name: str, trial: Trial) -> None:
        cells = []
        for constraint in study.constraints:
            found = trial.limits[str(constraint)]
            cells += [number(found.mean), number(found.ci95, 2)]
        values = [str(trial.parameters.get(key, "")) for key in keys]
        table.add_row(name, *values, number(trial.objective.mean), number(trial.objective.ci95, 2), *cells)

    ranking = outcome.ranking()
    for trial in ranking[:_SHOWN]:
        add(str(trial.number), trial)
    add("as it is", outcome.as_it_is)
    console = output()
    console.print(f"[bold]{study.frame.title or study.frame.name}[/bold]", soft_wrap=True)
    goal = "highest" if study.maximise else "lowest"
    bounds = "".join(f", {constraint}" for constraint in study.constraints)
    console.print(
        f"{goal} {study.metric}{bounds}; {len(outcome.trials)} trials, {len(ranking)} different points keep "
        f"the constraints; {study.frame.runs} runs each, seed {outcome.seed}",
        soft_wrap=True,
    )
    console.print()
    console.print(table)
    if not ranking:
        return
    gain = outcome.gain(ranking[0])
    console.print()
    if gain.mean is not None:
        shown = f"{number(gain.mean, 3)} ± {number(gain.ci95, 2)} {unit}".rstrip()
        console.print(f"The best differs from the scenario as it is by {shown} (paired).", soft_wrap=True)
    if not ranking[0].sure:
        console.print("Its mean keeps the constraints, its 95 % interval does not: give the study more runs.")
    console.print(f"Again: {command}", soft_wrap=True, markup=False)

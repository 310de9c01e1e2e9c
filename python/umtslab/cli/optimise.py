"""``umts optimise``: the best parameters under constraints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_allow_code, add_dask, add_jobs, add_json, add_out, add_quiet
from umtslab.cli.parser import whole_number
from umtslab.cli.purposes import check_purpose
from umtslab.cli.studies import print_result, study_runner
from umtslab.exit_status import FAILED
from umtslab.studies.optimise import Outcome, Trial, load_optimisation
from umtslab.studies.optimise import optimise as find_best
from umtslab.studies.record import save_outcome
from umtslab.version import code_version

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser

_MAX_SHOWN = 5
"""Number of best trials in the printed table."""


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts optimise``."""
    parser.explain(
        "The same command continues an interrupted study, and with more --trials a finished one. "
        "Exit status: 0 done; 1 no trial satisfies the constraints; 2 wrong usage or input."
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="A study file (TOML).")
    work = parser.add_argument_group("runs")
    work.add_argument(
        "--trials",
        type=whole_number,
        metavar="N",
        help="Number of trials (default: from the file, otherwise 40).",
    )
    add_jobs(work, "Worker threads for the runs of a trial")
    add_dask(work)
    add_allow_code(work)
    results = parser.add_argument_group("results")
    add_out(results, "Results folder, which also holds Optuna's study (studies/NAME.sqlite)")
    add_json(results)
    add_quiet(results)


def optimise(
    study: Path,
    *,
    trials: int | None,
    jobs: int | None,
    dask: str | None,
    allow_code: bool,
    out: Path,
    json: bool,
    quiet: bool,
) -> int:
    """Find the parameters that give the best mean of a metric and keep the constraints."""
    check_purpose(study, "optimise")
    loaded = load_optimisation(study)
    loaded = replace(loaded, frame=replace(loaded.frame, allow_code=allow_code))
    if trials is not None:
        if trials < 1:
            raise UsageError(f"--trials must be at least 1 (got {trials})")
        loaded = replace(loaded, trials=trials)
    with study_runner(loaded.frame, out, jobs, dask, quiet=quiet or json, kept="trials") as runner:
        outcome = find_best(loaded, runner)
        save_outcome(runner.store.path, outcome)
        best = outcome.ranking()[0] if outcome.ranking() else None
        command = _command(runner.store.command(best.runs[0]), loaded.frame.runs) if best is not None else ""
    print_result(lambda: _as_json(outcome, command), lambda: _print(outcome, command), json=json)
    if best is None:
        print(f"umts: none of {len(outcome.trials)} trials satisfies the constraints", file=sys.stderr)
        return FAILED
    return 0


def _command(command: str, runs: int) -> str:
    """Return the command for all runs of a point, made from the command of the first run."""
    return command.replace("--first-run 0", f"--runs {runs}")


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
        "as_it_is": _trial_json(outcome.baseline),
        "best": None
        if not ranking
        else {
            **_trial_json(ranking[0]),
            "gain": outcome.gain(ranking[0]).as_dict(),
            "as_it_is_breaks": [str(constraint) for constraint in outcome.violated(outcome.baseline)],
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
    """Print the best trials and the unchanged scenario as a table, and a comparison of the two."""
    from umtslab.metrics import units
    from umtslab.numbers import estimate
    from umtslab.text_table import Table, heading, show

    study = outcome.study
    keys = [parameter.key for parameter in study.frame.parameters]
    unit = units().get(study.metric, "")
    objective = f">{study.metric} ({unit})" if unit else f">{study.metric}"
    limits = [title for constraint in study.constraints for title in (f">{constraint}", ">± 95 %")]
    table = Table(">trial", *keys, objective, ">± 95 %", *limits)

    def add(name: str, trial: Trial) -> None:
        limit_cells: list[str] = []
        for constraint in study.constraints:
            summary = trial.limits[str(constraint)]
            limit_cells += estimate(summary.mean, summary.ci95, summary.n)
        values = [str(trial.parameters.get(key, "")) for key in keys]
        objective_cells = estimate(trial.objective.mean, trial.objective.ci95, trial.objective.n)
        table.add_row(name, *values, *objective_cells, *limit_cells)

    ranking = outcome.ranking()
    for trial in ranking[:_MAX_SHOWN]:
        add(str(trial.number), trial)
    add("unchanged scenario", outcome.baseline)
    heading(study.frame.title or study.frame.name)
    goal = "highest" if study.maximise else "lowest"
    bounds = "".join(f", {constraint}" for constraint in study.constraints)
    print(
        f"{goal} {study.metric}{bounds}; {len(outcome.trials)} trials, {len(ranking)} different "
        f"points satisfy the constraints; {study.frame.runs} runs each, seed {outcome.seed}\n"
    )
    show(table)
    if not ranking:
        return
    print()
    for line in _comparison(outcome, ranking[0]):
        print(line)
    print(f"Again: {command}")


def _comparison(outcome: Outcome, best: Trial) -> Iterator[str]:
    """Yield sentences that compare the best trial with the unchanged scenario."""
    from umtslab.metrics import units
    from umtslab.numbers import number, with_interval

    study = outcome.study
    violated = outcome.violated(outcome.baseline)
    for constraint in violated:
        baseline_mean = outcome.baseline.limits[str(constraint)].mean
        best_mean = best.limits[str(constraint)].mean
        yield (
            f"The unchanged scenario violates {constraint} (mean {number(baseline_mean)}); the best trial "
            f"satisfies it (mean {number(best_mean)})."
        )
    gain = outcome.gain(best)
    unit = units().get(study.metric, "")
    if violated:
        yield ("The difference of their objectives is not a gain, because only the best trial is feasible.")
    elif gain.mean == 0 and gain.ci95 == 0:
        yield (
            f"The best trial has the same {study.metric} as the unchanged scenario in all {gain.n} "
            "pairs of runs."
        )
    elif gain.mean is not None:
        shown = f"{with_interval(gain.mean, gain.ci95, gain.n)} {unit}".rstrip()
        yield f"The best trial differs from the unchanged scenario by {shown} (paired)."
    if not best.sure:
        yield "Its mean satisfies the constraints, its 95 % interval does not: use more runs."

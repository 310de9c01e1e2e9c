"""Optimisation of parameters under constraints, by Optuna's tree-structured Parzen estimator.

Every trial is one point. All trials have the same seed and run numbers, so trials differ by their
parameters only. Trials run one after the other, the runs of a trial in parallel. The next trial
depends only on the seed, the trial's number and the trials before it, so an interrupted study
continues as if it had not been interrupted.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from umtslab.analyse.statistics import Summary, difference_paired, summarise
from umtslab.atomic_files import describe_irregular
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.file import SCENARIO, check_metric
from umtslab.campaign.table import Table, Value
from umtslab.extras import missing_library_text
from umtslab.run import Run
from umtslab.store.damaged import set_aside
from umtslab.store.seal import Damage
from umtslab.studies.file import Frame, study_file
from umtslab.studies.parameters import Parameter
from umtslab.studies.runner import StudyRunner
from umtslab.studies.trials import DIGEST, ChangedTrial, check_trials, digest
from umtslab.system_errors import is_disk_full
from umtslab.version import code_version

if TYPE_CHECKING:
    from umtslab.store import Store

_STARTUP_TRIALS = 10
"""Number of random trials before the estimator is used."""

_BASELINE_NUMBER = -1
"""Number of the trial with the unchanged scenario. The other trials are numbered from 0."""


@dataclass(frozen=True)
class Constraint:
    """A lower bound (`least`) or an upper bound (`most`) of the mean of a metric."""

    metric: str
    least: float | None
    most: float | None

    def violation(self, mean: float) -> float:
        """Return by how much a mean violates the constraint. 0 or negative without a violation."""
        if self.least is not None:
            return self.least - mean
        assert self.most is not None, "a constraint has exactly one bound"
        return mean - self.most

    @property
    def bound(self) -> str:
        """The bound as text, without the metric."""
        return f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}"

    def __str__(self) -> str:
        return f"{self.metric} {self.bound}"


@dataclass(frozen=True)
class Optimisation:
    """An optimisation: the best mean of a metric among the points that satisfy the constraints.

    `trials` is the number of points to try.
    """

    frame: Frame
    metric: str
    maximise: bool
    constraints: tuple[Constraint, ...]
    trials: int

    def fingerprint(self) -> str:
        """Return a hash of everything that determines the trials, except their number."""
        base = self.frame.base_study()
        parts = {
            "code": code_version().code,
            "scenario": base.points[0].scenario.content_hash,
            "seed": base.seed,
            "runs": self.frame.runs,
            "parameters": [parameter.as_dict() for parameter in self.frame.parameters],
            "objective": [self.metric, self.maximise],
            "constraints": [str(constraint) for constraint in self.constraints],
        }
        return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Trial:
    """A point with its runs.

    `objective` summarises the metric that is optimised. `limits` has the summaries of the
    constrained metrics, by the text of the constraint. `feasible`
    is whether their means satisfy all constraints, `sure` whether their whole 95 % intervals do.
    """

    number: int
    parameters: Mapping[str, Value]
    runs: tuple[Run, ...]
    objective: Summary
    limits: Mapping[str, Summary]
    feasible: bool
    sure: bool


@dataclass(frozen=True)
class Outcome:
    """All trials in order, and the unchanged scenario as `baseline`."""

    study: Optimisation
    seed: int
    trials: tuple[Trial, ...]
    baseline: Trial

    def ranking(self) -> list[Trial]:
        """Return the feasible trials, best first.

        Of equal points only the first trial is included.
        """
        # Reversed, so that the first trial of a point replaces the later ones.
        first_trials = {
            tuple(trial.parameters.items()): trial for trial in reversed(self.trials) if trial.feasible
        }
        sign = -1 if self.study.maximise else 1
        return sorted(
            first_trials.values(), key=lambda trial: (sign * (trial.objective.mean or 0.0), trial.number)
        )

    def violated(self, trial: Trial) -> list[Constraint]:
        """Return the constraints that the means of a trial violate, or that none of its runs measured."""
        violated = []
        for constraint in self.study.constraints:
            mean = trial.limits[str(constraint)].mean
            if mean is None or constraint.violation(mean) > 0:
                violated.append(constraint)
        return violated

    def gain(self, trial: Trial) -> Summary:
        """Return the paired difference between a trial's objective and the unchanged scenario's."""
        metric = self.study.metric
        return difference_paired(
            (unchanged.metrics.get(metric), changed.metrics.get(metric))
            for unchanged, changed in zip(self.baseline.runs, trial.runs, strict=True)
        )


def load_optimisation(path: Path) -> Optimisation:
    """Read a study file.

    Raises
    ------
    CampaignError
        If the file cannot be read, a key is unknown, or a value is wrong.
    """
    with study_file(path) as (table, frame):
        trials = table.whole("trials", 40, minimum=1)
        objective = table.table("objective")
        metric = objective.text("metric")
        check_metric(objective, "metric", metric)
        goal = objective.text("goal", "maximise")
        if goal not in {"maximise", "minimise"}:
            raise objective.wrong("goal", f"{goal!r} is not a goal: write maximise or minimise")
        objective.done()
        constraints = tuple(_constraint(row) for row in table.rows("constraint"))
    return Optimisation(
        frame, metric=metric, maximise=goal == "maximise", constraints=constraints, trials=trials
    )


def optimise(study: Optimisation, runner: StudyRunner) -> Outcome:
    """Run the missing trials, and return all.

    Raises
    ------
    CampaignError
        If Optuna is not installed, or the scenario of a point is wrong.
    OSError
        If results cannot be written.
    """
    seed = study.frame.base_study().seed
    if runner.expect is not None:
        runner.expect((study.trials + 1) * study.frame.runs)
    without_expect = replace(runner, expect=None)  # the runs of all trials are announced above
    search = _Search(study, seed, _stored(study, runner.store))
    trials = [
        _run_trial(study, number, values, without_expect) for number, values in enumerate(search.stored())
    ]
    while len(trials) < study.trials:
        trial = _run_trial(study, len(trials), search.ask(), without_expect)
        search.tell(trial)
        trials.append(trial)
    baseline = _run_trial(study, _BASELINE_NUMBER, {}, without_expect)
    return Outcome(study, seed=seed, trials=tuple(trials[: study.trials]), baseline=baseline)


class _Search:
    """Optuna's study in memory, which proposes trials, and the study in the file.

    A trial is added to the file when its result is known, so that the file has no incomplete trials.
    """

    def __init__(self, study: Optimisation, seed: int, stored: Any) -> None:
        import optuna

        self._study = study
        self._seed = seed
        self._stored = stored
        self._in_memory = optuna.create_study(direction="maximize" if study.maximise else "minimize")
        self._in_memory.add_trials(stored.get_trials(deepcopy=False))
        self._current: Any = None

    def stored(self) -> list[dict[str, Value]]:
        """Return the parameters of the trials so far."""
        return [self._values(trial.params) for trial in self._in_memory.get_trials(deepcopy=False)]

    def ask(self) -> dict[str, Value]:
        """Return the parameters of the next trial."""
        import optuna

        number = len(self._in_memory.get_trials(deepcopy=False))
        text = f"{self._seed}/{number}".encode()
        # Each trial has its own sampler, so that no state is lost by an interruption.
        self._in_memory.sampler = optuna.samplers.TPESampler(
            seed=int.from_bytes(hashlib.blake2b(text, digest_size=4).digest()),
            n_startup_trials=_STARTUP_TRIALS,
            constant_liar=False,
        )
        self._current = self._in_memory.ask(
            {parameter.key: distribution(parameter) for parameter in self._study.frame.parameters}
        )
        return self._values(self._current.params)

    def tell(self, trial: Trial) -> None:
        """Record the result of the trial returned by `ask`."""
        import optuna

        for constraint in self._study.constraints:
            mean = trial.limits[str(constraint)].mean
            if mean is not None:
                self._current.set_constraint(str(constraint), constraint.violation(mean))
        if trial.objective.mean is None:
            self._in_memory.tell(self._current, state=optuna.trial.TrialState.FAIL)
        else:
            self._in_memory.tell(self._current, trial.objective.mean)
        reported = self._in_memory.get_trials()[-1]
        reported.set_user_attr(DIGEST, digest(reported))
        self._stored.add_trial(reported)

    def _values(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """Convert drawn numbers to values of scenario keys."""
        return {
            parameter.key: params[parameter.key]
            if parameter.choices
            else parameter.value(params[parameter.key])
            for parameter in self._study.frame.parameters
        }


def _stored(study: Optimisation, store: Store) -> Any:
    """Open or create Optuna's study with this fingerprint in the store.

    A damaged file is set aside. Its trials are then repeated in the same order, with their runs
    from the store.
    """
    try:
        import optuna
    except ImportError as error:
        raise CampaignError(missing_library_text("optuna", error)) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder = store.path / "studies"
    folder.mkdir(exist_ok=True)
    file = folder / f"{study.frame.name}.sqlite"
    if (irregularity := describe_irregular(file)) is not None:
        return _replace_damaged(study, store, file, f"{file.name} is {irregularity}, not a file")
    try:
        return _open(study, file)
    except ChangedTrial as error:
        return _replace_damaged(study, store, file, str(error))
    except Exception as error:  # broken content raises many kinds of errors in Optuna and SQLAlchemy
        if not file.is_file() or not os.access(file, os.W_OK) or _is_disk_full(error):
            raise
        return _replace_damaged(study, store, file, f"Optuna cannot read it ({type(error).__name__})")


def _replace_damaged(study: Optimisation, store: Store, file: Path, flaw: str) -> Any:
    """Set the damaged file aside and create a new one."""
    aside = set_aside(store.path, [file])
    text = f"{flaw}; the file was moved to {aside}, and the trials are read from their runs"
    store.report_damage(Damage("study", study.frame.name, (text,)))
    return _open(study, file)


def _is_disk_full(error: BaseException | None) -> bool:
    """Whether the cause of a wrapped database error is a full disk."""
    return error is not None and (
        (isinstance(error, OSError | sqlite3.Error) and is_disk_full(error)) or _is_disk_full(error.__cause__)
    )


def _open(study: Optimisation, file: Path) -> Any:
    """Open the study in Optuna's file, or create it."""
    import optuna

    stored = optuna.create_study(
        storage=f"sqlite:///{file.absolute()}",
        study_name=f"{study.frame.name}-{study.fingerprint()}",
        direction="maximize" if study.maximise else "minimize",
        load_if_exists=True,
    )
    check_trials(stored)
    return stored


def distribution(parameter: Parameter) -> Any:
    """Return Optuna's distribution of a parameter."""
    import optuna

    if parameter.choices:
        return optuna.distributions.CategoricalDistribution(parameter.choices)
    if parameter.whole:
        step = int(parameter.step or 1)
        return optuna.distributions.IntDistribution(
            int(parameter.low), int(parameter.high), log=parameter.log, step=step
        )
    return optuna.distributions.FloatDistribution(
        parameter.low, parameter.high, log=parameter.log, step=parameter.step
    )


def _run_trial(study: Optimisation, number: int, values: Mapping[str, Value], runner: StudyRunner) -> Trial:
    """Run a trial with the given values.

    Without values, runs the unchanged scenario with the study's settings.
    """
    row: Mapping[str, Value] = values or {SCENARIO: str(study.frame.scenario.absolute())}
    [cell] = runner.run(study.frame.campaign([row]))
    return evaluate_trial(study, number, values, cell.runs)


def evaluate_trial(
    study: Optimisation, number: int, values: Mapping[str, Value], runs: tuple[Run, ...]
) -> Trial:
    """Evaluate objective and constraints of a trial from its runs."""

    def summary(metric: str) -> Summary:
        return summarise(run.metrics.get(metric) for run in runs)

    limits = {str(constraint): summary(constraint.metric) for constraint in study.constraints}
    checks = [_check(constraint, limits[str(constraint)]) for constraint in study.constraints]
    objective = summary(study.metric)
    return Trial(
        number=number,
        parameters=values,
        runs=runs,
        objective=objective,
        limits=limits,
        feasible=objective.mean is not None and all(check.by_mean for check in checks),
        sure=all(check.by_interval for check in checks),
    )


class _Satisfied(NamedTuple):
    """Whether a constraint is satisfied by the mean, and by the whole 95 % interval."""

    by_mean: bool
    by_interval: bool


def _check(constraint: Constraint, summary: Summary) -> _Satisfied:
    if summary.mean is None:
        return _Satisfied(by_mean=False, by_interval=False)
    half_width = summary.ci95 or 0.0
    ends = (summary.mean - half_width, summary.mean + half_width)
    return _Satisfied(
        by_mean=constraint.violation(summary.mean) <= 0,
        by_interval=all(constraint.violation(end) <= 0 for end in ends),
    )


def _constraint(row: Table) -> Constraint:
    metric = row.text("metric")
    check_metric(row, "metric", metric)
    bounds = {name: _number(row, name) for name in ("at_least", "at_most") if name in row}
    row.done()
    if len(bounds) != 1:
        raise row.wrong("metric", f"give {metric} either at_least or at_most")
    return Constraint(metric, least=bounds.get("at_least"), most=bounds.get("at_most"))


def _number(row: Table, name: str) -> float:
    value = row.value(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise row.wrong(name, f"{value!r} is not a number: write it in the metric's unit, see `umts metrics`")
    return float(value)

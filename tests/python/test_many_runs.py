"""Many runs: each needs little work, and no work for all runs precedes the first one."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FTP, short
from umtslab import Progress, Scenario, open_store, simulate
from umtslab.campaign import run_missing
from umtslab.cli import replications
from umtslab.cli.progress import ProgressBar
from umtslab.run import Run
from umtslab.simulation import execute
from umtslab.store import Store
from umtslab.store.folder import _in_lines
from umtslab.task import Task

MANY = 10**12
"""A number of runs so large that a list of them would not fit into memory."""

SHIPPED = sorted(FTP.parent.glob("*.toml"))


def test_very_many_runs_are_listed_lazily(
    store: Store, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers: list[int] = []

    def take_three(tasks: Iterable[Task], **_: Any) -> Iterator[Run]:
        numbers.extend(task.run for task in itertools.islice(tasks, 3))
        return iter(())

    monkeypatch.setattr(replications, "execute", take_three)
    with ProgressBar("many", quiet=True) as bar:
        plan = replications.Replications(
            scenario,
            seed=1,
            first_run=7,
            series=False,
            pcap=False,
            resume=True,
            threads=2,
            store=store,
            bar=bar,
        )
        plan.run_up_to(MANY)
    assert numbers == [7, 8, 9]


def test_the_library_starts_the_first_of_very_many_runs_at_once(scenario: Scenario) -> None:
    def stop(task: Task, _: float) -> None:
        raise InterruptedError(task.run)

    with pytest.raises(InterruptedError, match="0"):
        simulate(scenario, runs=MANY, watch=stop)


def test_a_number_that_is_too_high_is_refused_before_the_first_run(scenario: Scenario) -> None:
    with pytest.raises(ValueError, match="must be from 0 to"):
        simulate(scenario, runs=2, first_run=2**63 - 1, watch=lambda *_: pytest.fail("a run started"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_parameters_of_a_scenario_equal_its_file(path: Path) -> None:
    scenario = Scenario.load(path)
    assert json.loads(scenario.parameters) == tomllib.loads(scenario.to_toml())


def test_nan_and_infinity_are_never_stored() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        _in_lines({"goodput_kbps": float("nan")})


def test_batch_lookup_of_runs_equals_single_lookups(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        runs = simulate(short(), runs=40, store=store)
        simulate(short(), runs=2, store=store, series=True)
    (runs[5].folder or tmp_path).joinpath("metrics.json").write_text("{}")  # Damage.
    identities = [run.identity for run in runs]
    with open_store(tmp_path / "store", tell=lambda _: None) as store:
        unknown = Task(short(), seed=99, run=0).identity
        assert store.get_all([*identities, unknown]) == {run.key: run for run in runs if run != runs[5]}
        assert [damage.name for damage in store.damage] == [runs[5].key]
        assert set(store.get_all(identities, series=True)) == {runs[0].key, runs[1].key}
        assert store.get(runs[5].identity) is None
        assert store.get(runs[0].identity, series=True) == runs[0]


def test_progress_counts_finished_runs_and_fractions() -> None:
    scenario, progress = short(), Progress()
    progress.expect(4)
    # Four tasks are expected. One is half finished, two are finished, and one has not started.
    for number, fractions in enumerate([(0.25, 0.5), (0.5, 1.0), (1.0, 1.0)]):
        for fraction in fractions:
            progress(Task(scenario, seed=1, run=number), fraction)
    assert (progress.done, progress.total, progress.fraction) == (2, 4, 0.625)


def test_the_first_of_two_tasks_of_a_run_decides_the_recording(store: Store, scenario: Scenario) -> None:
    tasks = [Task(scenario, seed=1, run=0, series=True), Task(scenario, seed=1, run=0)]
    [(key, run)] = run_missing(tasks, store)
    assert (key, bool(run.series_kinds())) == (tasks[0].identity.key, True)


def test_progress_is_reported_for_every_task() -> None:
    reports: list[tuple[Task, float]] = []
    tasks = [Task(short(), seed=1, run=number) for number in range(2)]
    list(execute(tasks, watch=lambda task, fraction: reports.append((task, fraction))))
    for task in tasks:
        fractions = [fraction for reported_task, fraction in reports if reported_task is task]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0
        assert len(fractions) > 50  # About one report per cent.


def test_tasks_that_differ_in_measure_have_the_results_of_separate_executions() -> None:
    tasks = [
        Task(short().with_overrides(measure), seed=1, run=0)
        for measure in ({}, {"measure.from": "2 s", "measure.to": "8 s", "measure.budget": True})
    ]
    measured_whole, measured_part = execute(tasks)
    assert [measured_whole, measured_part] == [run for task in tasks for run in execute([task])]
    assert measured_whole.metrics["goodput_kbps"] != measured_part.metrics["goodput_kbps"]

"""Tasks that differ only in measurements share one simulation, with equal results."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from conftest import short, tree
from umtslab import Scenario, _core, open_store, simulate, sweep
from umtslab.simulation import execute
from umtslab.task import MOST_TOGETHER, Task, side_by_side, together

MEASURES: tuple[dict[str, object], ...] = (
    {},
    {"measure.from": "5 s"},
    {"measure.from": "2 s", "measure.to": "8 s", "measure.budget": True},
    {"measure.budget": True, "measure.waterfall": 0, "measure.rlc_pdus": True},
)


@pytest.fixture(scope="module")
def alike() -> list[Scenario]:
    return [short().with_overrides(measure) for measure in MEASURES]


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of scenarios of each simulation."""
    counts: list[int] = []
    as_it_is = _core.simulate_together

    def counted(wanted: list[Any], *arguments: Any, **options: Any) -> list[_core.RunResult]:
        counts.append(len(wanted))
        return as_it_is(wanted, *arguments, **options)

    monkeypatch.setattr(_core, "simulate_together", counted)
    return counts


@pytest.mark.parametrize("jobs", [1, 2])
def test_stored_results_equal_separate_simulations(
    tmp_path: Path, alike: list[Scenario], groups: list[int], jobs: int
) -> None:
    with open_store(tmp_path / "alone") as store:
        for scenario in alike:
            simulate(scenario, runs=2, store=store, series=True, pcap=True)
    assert groups == [1] * 8
    groups.clear()
    with open_store(tmp_path / "together") as store:
        sweep(short(), MEASURES, runs=2, store=store, jobs=jobs, series=True, pcap=True)
    assert groups == [4, 4]
    assert tree(tmp_path / "together" / "runs") == tree(tmp_path / "alone" / "runs")


def test_results_in_memory_equal_separate_simulations(alike: list[Scenario], groups: list[int]) -> None:
    tasks = [Task(scenario, 1, 0, series) for scenario, series in zip(alike, [True, False] * 2, strict=True)]
    runs = list(execute(tasks))
    assert groups == [4]
    for task, run in zip(tasks, runs, strict=True):
        [alone] = execute([task])
        assert run == alone
        assert run.series_kinds() == alone.series_kinds()
        assert all(run.tables[name].equals(table) for name, table in alone.tables.items())


def test_other_processes_give_equal_results(tmp_path: Path, alike: list[Scenario]) -> None:
    with open_store(tmp_path / "alone") as store:
        for scenario in alike:
            simulate(scenario, runs=3, store=store, series=True, pcap=True)
    with (
        open_store(tmp_path / "together") as store,
        ProcessPoolExecutor(1, get_context("spawn")) as executor,
    ):
        sweep(short(), MEASURES, runs=3, store=store, executor=executor, series=True, pcap=True)
    assert tree(tmp_path / "together" / "runs") == tree(tmp_path / "alone" / "runs")


def test_tasks_with_different_events_are_simulated_separately(alike: list[Scenario]) -> None:
    first = Task(alike[0], 1, 0)
    lossy = Task(alike[1].with_overrides({"radio.bler": "0.3"}), 1, 0)
    others = [lossy, replace(first, seed=2), replace(first, run=1)]
    assert [len(group) for group in together([first, *others])] == [1, 1, 1, 1]
    late = Task(alike[1], 1, 0)
    assert side_by_side([first, *others, late]) == [first, late, *others]


def test_a_simulation_has_a_maximum_number_of_tasks() -> None:
    tasks = [Task(short().with_overrides({"measure.from": f"{at} s"}), 1, 0) for at in range(9)]
    assert [len(group) for group in together(tasks)] == [MOST_TOGETHER, 1]


def test_progress_is_reported_for_every_task(alike: list[Scenario]) -> None:
    told: list[tuple[Task, float]] = []
    tasks = [Task(scenario, 1, 0) for scenario in alike]
    list(execute(tasks, watch=lambda task, part: told.append((task, part))))
    for task in tasks:
        parts = [part for of, part in told if of is task]
        assert parts == sorted(parts)
        assert parts[-1] == 1.0
        assert len(parts) > 50

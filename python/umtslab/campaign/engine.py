"""Running what the store lacks: tasks in any number, on threads or on an executor."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from umtslab.campaign.points import Axes, Point, grid, points
from umtslab.campaign.results import PointResult, PointResults
from umtslab.progress import Progress
from umtslab.run import Run
from umtslab.runs import Runs
from umtslab.scenario import Scenario, as_scenario
from umtslab.simulation import check_runs, execute
from umtslab.task import Task, Watch, side_by_side

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from umtslab.store import Store


def sweep(
    scenario: Scenario | str | os.PathLike[str],
    axes: Axes | Iterable[Mapping[str, object]],
    *,
    store: Store | None = None,
    runs: int = 1,
    first_run: int = 0,
    seed: int | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    series: bool = False,
    pcap: bool = False,
    watch: Watch | None = None,
) -> PointResults:
    """Run a grid of overrides, each cell `runs` times; runs that the store has are taken from it.

    Parameters
    ----------
    scenario : Scenario or path
        What the overrides are applied to.
    axes : mapping, or iterable of mappings
        Values by key, of which every combination is run; or the combinations themselves.
    store : Store, optional
        Where runs are looked up and kept, so that a sweep that was killed goes on from what it holds; in
        memory by default.
    runs, first_run, seed, jobs, executor, series, pcap, watch
        As for `umtslab.simulate`.

    Returns
    -------
    PointResults
        A list of `PointResult` in the order of the combinations, which is a data frame too: ``to_frame``.

    Raises
    ------
    umtslab.ScenarioError
        If a combination is wrong; nothing is run then.
    umtslab.campaign.CampaignError
        If a key has no values; nothing is run then.
    ValueError
        If `runs` is below 1 or `first_run` below 0.
    OSError
        If results cannot be written.
    """
    check_runs(runs, first_run)
    combinations = grid(axes) if isinstance(axes, Mapping) else axes
    cells = points(as_scenario(scenario), combinations)
    numbers = range(first_run, first_run + runs)
    wanted = {
        index: [Task(cell.scenario, _seed(cell, seed), number, series, pcap) for number in numbers]
        for index, cell in enumerate(cells)
    }
    tasks = list(itertools.chain(*wanted.values()))
    if isinstance(watch, Progress):
        watch.expect(len({_key(task) for task in tasks}))
    finished = dict(run_missing(tasks, store, jobs, executor, watch))
    return PointResults(
        PointResult(cell, Runs(finished[_key(task)] for task in wanted[index]))
        for index, cell in enumerate(cells)
    )


def run_missing(
    tasks: Iterable[Task],
    store: Store | None,
    jobs: int = 1,
    executor: Executor | None = None,
    watch: Watch | None = None,
) -> Iterator[tuple[str, Run]]:
    """Yield the run of every task with its key: from the store if it is there, else when it is finished."""
    wanted: dict[str, Task] = {}
    for task in tasks:
        wanted.setdefault(_key(task), task)  # of two that differ in what they record, as the first has it
    there = {} if store is None else _there(wanted.values(), store)
    for key, found in there.items():
        if watch is not None:
            watch(wanted[key], 1.0)
        yield key, found
    lacking = side_by_side(task for key, task in wanted.items() if key not in there)
    for run in execute(lacking, store=store, jobs=jobs, executor=executor, watch=watch):
        yield run.key, run


def _there(tasks: Iterable[Task], store: Store) -> dict[str, Run]:
    """The runs that the store has; what is recorded is asked for alike by all tasks of a kind."""
    kinds: dict[tuple[bool, bool], list[Task]] = {}
    for task in tasks:
        kinds.setdefault((task.series, task.pcap), []).append(task)
    found: dict[str, Run] = {}
    for (series, pcap), alike in kinds.items():
        found |= store.get_all((task.identity for task in alike), series=series, pcap=pcap)
    return found


def _key(task: Task) -> str:
    return task.identity.key


def _seed(cell: Point, seed: int | None) -> int:
    return cell.scenario.seed if seed is None else seed

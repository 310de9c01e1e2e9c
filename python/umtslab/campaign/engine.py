"""Runs points of a campaign or sweep, on threads or on an executor. Runs in the store are not repeated."""

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
from umtslab.task import ProgressHandler, Task

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
    watch: ProgressHandler | None = None,
) -> PointResults:
    """Run a grid of overrides with `runs` replications per point. Runs in the store are reused.

    Parameters
    ----------
    scenario : Scenario or path
        The scenario to which the overrides are applied.
    axes : mapping, or iterable of mappings
        Values by key, of which every combination is run, or the combinations themselves.
    store : Store, optional
        Store of the runs, so that an interrupted sweep can continue; by default runs are kept in
        memory.
    runs, first_run, seed, jobs, executor, series, pcap, watch
        As for `umtslab.simulate`.

    Returns
    -------
    PointResults
        A list of `PointResult` in the order of the combinations. ``to_frame`` returns a data frame.

    Raises
    ------
    umtslab.ScenarioError
        If a combination is wrong. Nothing is run in this case.
    umtslab.campaign.CampaignError
        If a key has no values. Nothing is run in this case.
    ValueError
        If `runs` is below 1 or `first_run` below 0.
    OSError
        If results cannot be written.
    """
    check_runs(runs, first_run)
    combinations = grid(axes) if isinstance(axes, Mapping) else axes
    swept_points = points(as_scenario(scenario), combinations)
    numbers = range(first_run, first_run + runs)
    tasks_by_point = [
        [Task(point.scenario, _seed(point, seed), number, series, pcap) for number in numbers]
        for point in swept_points
    ]
    tasks = list(itertools.chain(*tasks_by_point))
    if isinstance(watch, Progress):
        watch.expect(len({_key(task) for task in tasks}))
    finished = dict(run_missing(tasks, store, jobs, executor, watch))
    return PointResults(
        PointResult(point, Runs(finished[_key(task)] for task in tasks_of_point))
        for point, tasks_of_point in zip(swept_points, tasks_by_point, strict=True)
    )


def run_missing(
    tasks: Iterable[Task],
    store: Store | None,
    jobs: int = 1,
    executor: Executor | None = None,
    watch: ProgressHandler | None = None,
) -> Iterator[tuple[str, Run]]:
    """Yield the key and the run of each task: first the stored runs, then the others as they finish."""
    tasks_by_key: dict[str, Task] = {}
    for task in tasks:
        tasks_by_key.setdefault(_key(task), task)  # the first task of a key decides what is recorded
    stored = {} if store is None else _stored_runs(tasks_by_key.values(), store)
    for key, run in stored.items():
        if watch is not None:
            watch(tasks_by_key[key], 1.0)
        yield key, run
    missing = [task for key, task in tasks_by_key.items() if key not in stored]
    for run in execute(missing, store=store, jobs=jobs, executor=executor, watch=watch):
        yield run.key, run


def _stored_runs(tasks: Iterable[Task], store: Store) -> dict[str, Run]:
    """Return the runs that the store has.

    Tasks with the same `series` and `pcap` are looked up together.
    """
    tasks_by_outputs: dict[tuple[bool, bool], list[Task]] = {}
    for task in tasks:
        tasks_by_outputs.setdefault((task.series, task.pcap), []).append(task)
    runs_by_key: dict[str, Run] = {}
    for (series, pcap), alike in tasks_by_outputs.items():
        runs_by_key |= store.get_all((task.identity for task in alike), series=series, pcap=pcap)
    return runs_by_key


def _key(task: Task) -> str:
    return task.identity.key


def _seed(point: Point, seed: int | None) -> int:
    """Return the given seed, or the seed of the point's scenario."""
    return point.scenario.seed if seed is None else seed

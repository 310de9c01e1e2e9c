"""Runs of a scenario: replications, one after the other or on an executor.

The core releases the GIL while it simulates, so threads use all cores. For executors of other processes (a
process pool, Dask's) see `umtslab.remote`.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from umtslab.progress import Progress
from umtslab.run import Run
from umtslab.runs import Runs
from umtslab.scenario import Scenario, as_scenario
from umtslab.task import Task, Watch, perform, together

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future, ThreadPoolExecutor

    from umtslab.store import Store

_GROUPS_AHEAD = 256
"""Groups of tasks handed to an executor before their turn, so that a million does not sit in its queue."""


class Stopped(Exception):
    """The run was stopped because the whole was."""


def simulate(
    scenario: Scenario | str | os.PathLike[str],
    *,
    runs: int = 1,
    first_run: int = 0,
    seed: int | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    store: Store | None = None,
    series: bool = False,
    pcap: bool = False,
    watch: Watch | None = None,
    congestion: type | None = None,
    scheduler: type | None = None,
) -> Runs:
    """Run a scenario and wait for the results.

    Parameters
    ----------
    scenario : Scenario or path
        What to run.
    runs, first_run : int
        Replications `first_run` to ``first_run + runs - 1``.
    seed : int, optional
        Seed of the random streams; the scenario's own by default.
    jobs : int, default 1
        Worker threads, unless an `executor` is given.
    executor : concurrent.futures.Executor, optional
        Where to run instead.
    store : Store, optional
        Where to keep the runs; in memory by default.
    series, pcap : bool
        Whether to record time series, and captures (which need a store).
    watch : callable, optional
        Told the progress of each run, as `umtslab.Progress` shows it.
    congestion : type, optional
        A class that decides in place of the scenario's `tcp.variant`, as by `Scenario.with_congestion`.
    scheduler : type, optional
        A class that gives the DSCHs of a layout away, as by `Scenario.with_scheduler`.

    Returns
    -------
    Runs
        A list of them in order of the run number, which is a data frame too: ``to_frame``, ``connections``.

    Raises
    ------
    umtslab.ScenarioError
        If the scenario is wrong.
    umtslab.CongestionControlError, umtslab.SchedulerError
        If the class fails.
    OSError
        If results cannot be written.
    """
    check_runs(runs, first_run)
    checked = as_scenario(scenario)
    if congestion is not None:
        checked = checked.with_congestion(congestion)
    if scheduler is not None:
        checked = checked.with_scheduler(scheduler)
    chosen = checked.seed if seed is None else seed
    numbers = range(first_run, first_run + runs)
    tasks = (Task(checked, chosen, number, series, pcap) for number in numbers)
    Task(checked, chosen, numbers[-1])  # a number that is too high is an error before anything is run
    if isinstance(watch, Progress):
        watch.expect(runs)
    found = execute(tasks, store=store, jobs=jobs, executor=executor, watch=watch)
    return Runs(sorted(found, key=lambda run: run.run))


def check_runs(runs: int, first_run: int) -> None:
    """Check the number of replications and the number of the first one.

    Raises
    ------
    ValueError
        If `runs` is below 1 or `first_run` below 0.
    """
    if runs < 1:
        raise ValueError(f"runs must be at least 1 (got {runs})")
    if first_run < 0:
        raise ValueError(f"first_run must be at least 0 (got {first_run})")


def execute(
    tasks: Iterable[Task],
    *,
    store: Store | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    workers: Callable[[], int] | None = None,
    watch: Watch | None = None,
) -> Iterator[Run]:
    """Perform tasks; yield each run when it is finished, in whatever order that is.

    The first failure stops the rest. Runs that were finished by then are in the store. `workers` tells how
    many workers an executor of other processes has at the moment. Tasks are taken as workers come free, so
    there may be more of them than would fit into memory. Neighbours that differ in what is measured alone
    are performed in one go: `umtslab.task.together`, which `side_by_side` makes neighbours for.
    """
    waiting = iter(tasks)
    if (first := next(waiting, None)) is None:
        return
    tasks = itertools.chain([first], waiting)
    if executor is None and jobs == 1:
        for group in together(tasks):
            yield from _watched(group, store, watch, None)
        return
    from concurrent.futures import ThreadPoolExecutor

    if executor is None or isinstance(executor, ThreadPoolExecutor):
        yield from _on_threads(tasks, store, jobs, executor, watch)
    else:
        from umtslab.remote import execute_elsewhere

        width = workers or _width_of(executor)
        yield from execute_elsewhere(tasks, executor, store=store, workers=width, watch=watch)


def _width_of(executor: Executor) -> Callable[[], int]:
    """As many workers as a pool says it has, else as many as there are processors here."""
    width = getattr(executor, "_max_workers", None) or len(os.sched_getaffinity(0))
    return lambda: int(width)


def _on_threads(
    tasks: Iterable[Task],
    store: Store | None,
    jobs: int,
    executor: ThreadPoolExecutor | None,
    watch: Watch | None,
) -> Iterator[Run]:
    from concurrent.futures import ThreadPoolExecutor

    stop = threading.Event()
    with ExitStack() as clean_up:
        pool = executor or clean_up.enter_context(ThreadPoolExecutor(jobs, thread_name_prefix="umts"))
        clean_up.callback(stop.set)

        def submit(group: list[Task]) -> Future[list[Run]]:
            return pool.submit(_watched, group, store, watch, stop)

        yield from _as_finished(together(tasks), submit)


def _as_finished(
    groups: Iterator[list[Task]], submit: Callable[[list[Task]], Future[list[Run]]]
) -> Iterator[Run]:
    # Ctrl-C may come at any instant, and a queue of the interpreter's own stands that.
    # `concurrent.futures.wait` does not: between letting go of its lock and taking it again it fails with
    # that instead.
    from queue import SimpleQueue

    pending: set[Future[list[Run]]] = set()
    finished: SimpleQueue[Future[list[Run]]] = SimpleQueue()
    try:
        while True:
            while len(pending) < _GROUPS_AHEAD and (group := next(groups, None)) is not None:
                future = submit(group)
                pending.add(future)
                future.add_done_callback(finished.put)
            if not pending:
                return
            done = finished.get()
            pending.remove(done)
            yield from done.result()
    finally:
        for future in pending:
            future.cancel()


def _watched(
    group: list[Task], store: Store | None, watch: Watch | None, stop: threading.Event | None
) -> list[Run]:
    """Perform a group of tasks, and tell also that they are done."""
    runs = perform(group, store, _report_to(watch, group, stop))
    if watch is not None:
        for task in group:
            watch(task, 1.0)
    return runs


def _report_to(
    watch: Watch | None, group: list[Task], stop: threading.Event | None
) -> Callable[[float], None]:
    """What the core calls as it goes on, even if nobody watches: a stop is noticed there."""

    def report(fraction: float) -> None:
        if stop is not None and stop.is_set():
            raise Stopped
        if watch is not None:
            for task in group:
                watch(task, fraction)

    return report

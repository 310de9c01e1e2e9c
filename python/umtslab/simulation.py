"""Runs of a scenario: replications in sequence, on threads, or on an executor.

The core releases the GIL while it simulates, so threads use all cores. Executors of other processes
(a process pool, Dask) are used by `umtslab.remote`.
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
from umtslab.task import ProgressHandler, Task, perform

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future, ThreadPoolExecutor

    from umtslab.store import Store

_TASKS_AHEAD = 256
"""Maximum number of tasks that are submitted to an executor and not finished."""


class Stopped(Exception):
    """The run was stopped because another run failed or the whole execution ended."""


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
    watch: ProgressHandler | None = None,
    congestion: type | None = None,
    scheduler: type | None = None,
) -> Runs:
    """Run a scenario and wait for the results.

    Parameters
    ----------
    scenario : Scenario or path
        The scenario, or its file.
    runs, first_run : int
        Replications `first_run` to ``first_run + runs - 1``.
    seed : int, optional
        Seed of the random streams; by default the scenario's own.
    jobs : int, default 1
        Number of worker threads, unless an `executor` is given.
    executor : concurrent.futures.Executor, optional
        Executor to use instead of threads.
    store : Store, optional
        Store for the runs; by default they are kept in memory.
    series, pcap : bool
        Whether to record time series, and captures (which need a store).
    watch : callable, optional
        Called with the progress of each run, for example a `umtslab.Progress`.
    congestion : type, optional
        A class that replaces the scenario's `tcp.variant` (see `Scenario.with_congestion`).
    scheduler : type, optional
        A class that schedules the DSCHs of a layout (see `Scenario.with_scheduler`).

    Returns
    -------
    Runs
        The runs, ordered by run number. ``to_frame`` and ``connections`` return data frames.

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
    loaded = as_scenario(scenario)
    if congestion is not None:
        loaded = loaded.with_congestion(congestion)
    if scheduler is not None:
        loaded = loaded.with_scheduler(scheduler)
    used_seed = loaded.seed if seed is None else seed
    numbers = range(first_run, first_run + runs)
    tasks = (Task(loaded, used_seed, number, series, pcap) for number in numbers)
    Task(loaded, used_seed, numbers[-1])  # raises if the number is too high, before anything is run
    if isinstance(watch, Progress):
        watch.expect(runs)
    finished = execute(tasks, store=store, jobs=jobs, executor=executor, watch=watch)
    return Runs(sorted(finished, key=lambda run: run.run))


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
    watch: ProgressHandler | None = None,
) -> Iterator[Run]:
    """Perform tasks, and yield each run when it is finished, in any order.

    The first failure stops the other tasks. Runs that were finished by then are in the store.
    `workers` returns the current number of workers of an executor of other processes. A task is
    taken from `tasks` when a worker becomes free, so `tasks` may yield more than fit into memory.
    """
    waiting = iter(tasks)
    if (first := next(waiting, None)) is None:
        return
    tasks = itertools.chain([first], waiting)
    if executor is None and jobs == 1:
        for task in tasks:
            yield _perform_and_report(task, store, watch, None)
        return
    from concurrent.futures import ThreadPoolExecutor

    if executor is None or isinstance(executor, ThreadPoolExecutor):
        yield from _on_threads(tasks, store, jobs, executor, watch)
    else:
        from umtslab.remote import execute_in_processes

        count = workers or _worker_count(executor)
        yield from execute_in_processes(tasks, executor, store=store, workers=count, watch=watch)


def _worker_count(executor: Executor) -> Callable[[], int]:
    """Return a function for the number of workers of a pool, by default the number of processors."""
    count = getattr(executor, "_max_workers", None) or len(os.sched_getaffinity(0))
    return lambda: int(count)


def _on_threads(
    tasks: Iterable[Task],
    store: Store | None,
    jobs: int,
    executor: ThreadPoolExecutor | None,
    watch: ProgressHandler | None,
) -> Iterator[Run]:
    from concurrent.futures import ThreadPoolExecutor

    stop = threading.Event()
    with ExitStack() as clean_up:
        pool = executor or clean_up.enter_context(ThreadPoolExecutor(jobs, thread_name_prefix="umts"))
        clean_up.callback(stop.set)

        def submit(task: Task) -> Future[Run]:
            return pool.submit(_perform_and_report, task, store, watch, stop)

        yield from _as_finished(iter(tasks), submit)


def _as_finished(tasks: Iterator[Task], submit: Callable[[Task], Future[Run]]) -> Iterator[Run]:
    # Not `concurrent.futures.wait`: Ctrl-C can arrive at any time, and if it arrives while `wait`
    # releases and reacquires its lock, `wait` raises another error instead. A `SimpleQueue` of the
    # interpreter has no such gap.
    from queue import SimpleQueue

    pending: set[Future[Run]] = set()
    finished: SimpleQueue[Future[Run]] = SimpleQueue()
    try:
        while True:
            while len(pending) < _TASKS_AHEAD and (task := next(tasks, None)) is not None:
                future = submit(task)
                pending.add(future)
                future.add_done_callback(finished.put)
            if not pending:
                return
            done = finished.get()
            pending.remove(done)
            yield done.result()
    finally:
        for future in pending:
            future.cancel()


def _perform_and_report(
    task: Task, store: Store | None, watch: ProgressHandler | None, stop: threading.Event | None
) -> Run:
    """Perform a task, and report its end to `watch`."""
    run = perform(task, store, _progress_callback(watch, task, stop))
    if watch is not None:
        watch(task, 1.0)
    return run


def _progress_callback(
    watch: ProgressHandler | None, task: Task, stop: threading.Event | None
) -> Callable[[float], None]:
    """Return the progress callback for the core. It raises `Stopped` when the run must stop.

    The core therefore needs the callback even without `watch`.
    """

    def report(fraction: float) -> None:
        if stop is not None and stop.is_set():
            raise Stopped
        if watch is not None:
            watch(task, fraction)

    return report

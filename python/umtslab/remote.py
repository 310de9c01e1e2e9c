"""Runs in other processes: batches of tasks are sent out, and whole run folders are returned.

Only the calling process writes the store. A worker that dies leaves nothing there, and workers on
other machines need no access to its files. A scenario is sent as its full text with defaults.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from umtslab.run import Identity, Run
from umtslab.scenario import Scenario
from umtslab.task import ProgressHandler, Task, TaskOutput, perform, simulate_task

if TYPE_CHECKING:
    from umtslab.store import Store

BATCH_S = 1.0
"""Target duration of a batch. The overhead of an executor is some milliseconds per batch."""

MAX_RUNS = 512
"""Maximum number of runs in a batch."""

_BATCHES_AHEAD = 2
"""Maximum number of unfinished batches per worker."""

_TRIES = 5
"""Number of lost batches with the same run after which the execution fails."""


class WorkersFailed(RuntimeError):
    """Execution on workers failed. Finished runs are kept."""


class OtherCode(WorkersFailed):
    """A worker has another version of the code, so its results would differ."""


@dataclass(frozen=True)
class ReturnedRun:
    """A finished run, with the files of its folder if it is to be stored."""

    run: Run
    files: dict[str, bytes]


@dataclass(frozen=True)
class BatchResult:
    """Result of a batch: finished runs, duration in seconds, and the error that ended it."""

    runs: list[ReturnedRun]
    seconds: float
    error: Exception | None


def perform_batch(tasks: Sequence[tuple[Task, Identity]], *, keep: bool) -> BatchResult:
    """Perform the runs of a batch in this process.

    Each task comes with the identity that the sender computed. A different identity here ends the
    batch with `OtherCode`. Errors are returned in the result, not raised.
    """
    start_s = time.monotonic()
    runs: list[ReturnedRun] = []
    try:
        for task, identity in tasks:
            if task.identity != identity:
                raise OtherCode(_difference(identity, task.identity))
            runs.append(_with_files(task) if keep else ReturnedRun(perform(task, None), {}))
    except Exception as error:
        return BatchResult(runs, time.monotonic() - start_s, error)
    return BatchResult(runs, time.monotonic() - start_s, error=None)


def execute_in_processes(
    tasks: Iterable[Task],
    executor: Executor,
    *,
    store: Store | None,
    workers: Callable[[], int],
    watch: ProgressHandler | None,
) -> Iterator[Run]:
    """Perform tasks on an executor of other processes.

    Yields each run when it is received and stored.
    """
    waiting = list(tasks)
    waiting.reverse()
    size = BatchSize()
    pending: dict[Future[BatchResult], list[Task]] = {}
    # Not `concurrent.futures.wait`, for the reason in `umtslab.simulation._as_finished`: Ctrl-C.
    finished: SimpleQueue[Future[BatchResult]] = SimpleQueue()
    losses: Counter[str] = Counter()
    try:
        while waiting or pending:
            while waiting and len(pending) < _BATCHES_AHEAD * workers():
                count = size.next(len(waiting), workers())
                batch = [waiting.pop() for _ in range(min(count, len(waiting)))]
                portable = [(_portable(task), task.identity) for task in batch]
                future = executor.submit(perform_batch, portable, keep=store is not None)
                pending[future] = batch
                future.add_done_callback(finished.put)
            done = finished.get()
            batch = pending.pop(done)
            try:
                result = done.result()
            except BrokenExecutor as error:
                raise WorkersFailed(f"the workers failed: {type(error).__name__}: {error}") from error
            except Exception as error:  # the executor gave up the batch because its workers died
                _count_losses(losses, batch, error)
                waiting += reversed(batch)
                size = BatchSize()  # small batches isolate the run that kills workers, if there is one
                continue
            size.update(len(result.runs), result.seconds)
            yield from _stored(result, batch, store, watch)
            if result.error is not None:
                raise result.error
    finally:
        for future in pending:
            future.cancel()


class BatchSize:
    """Number of runs per batch: enough to last `BATCH_S`, but at most a fair share per worker."""

    def __init__(self) -> None:
        self._run_s: float | None = None

    def update(self, runs: int, seconds: float) -> None:
        """Update the estimate with a returned batch, which counts as much as all earlier batches."""
        if runs:
            mean = seconds / runs
            self._run_s = mean if self._run_s is None else (self._run_s + mean) / 2

    def next(self, remaining: int, workers: int) -> int:
        """Return the size of the next batch, 1 until the first estimate."""
        if self._run_s is None:
            return 1
        minimum = math.ceil(BATCH_S / self._run_s) if self._run_s > 0 else MAX_RUNS
        maximum = int(4 * BATCH_S / self._run_s) if self._run_s > 0 else MAX_RUNS
        fair = remaining // (_BATCHES_AHEAD * max(1, workers))
        return max(1, min(max(minimum, min(fair, maximum)), remaining, MAX_RUNS))


def _count_losses(losses: Counter[str], batch: Sequence[Task], error: Exception) -> None:
    """Count for each task of a lost batch how many of its batches were lost. `_TRIES` are an error."""
    for task in batch:
        losses[task.identity.key] += 1
        if losses[task.identity.key] >= _TRIES:
            raise WorkersFailed(f"the workers failed: {type(error).__name__}: {error}") from error


def _with_files(task: Task) -> ReturnedRun:
    """Perform a task in a temporary folder and return the run with its files."""
    with TemporaryDirectory(prefix="umts-run-") as name:
        folder = Path(name)
        captures = folder / "captures" if task.pcap else None
        if captures is not None:
            captures.mkdir()
        output = TaskOutput(task, folder, captures)
        return _read_files(output, simulate_task(output))


def _read_files(output: TaskOutput, run: Run) -> ReturnedRun:
    from umtslab.store.folder import write_run

    assert output.tables is not None, "a run for another process has a folder"
    write_run(output.tables, run, output.task.scenario)
    files = sorted(path for path in output.tables.rglob("*") if path.is_file())
    content = {path.relative_to(output.tables).as_posix(): path.read_bytes() for path in files}
    return ReturnedRun(replace(run, tables={}), content)


def _stored(
    result: BatchResult, batch: Sequence[Task], store: Store | None, watch: ProgressHandler | None
) -> Iterator[Run]:
    """Store the runs of a result, if there is a store, and yield them."""
    for returned, task in zip(islice(result.runs, len(batch)), batch, strict=False):
        # The scenario was sent with its overrides applied, so the returned run has none.
        run = replace(returned.run, overrides=task.scenario.overrides)
        if store is not None:
            run = store.keep_files(run, returned.files, task.scenario, series=task.series, pcap=task.pcap)
        if watch is not None:
            watch(task, 1.0)
        yield run


def _portable(task: Task) -> Task:
    """Return the task with a self-contained scenario, except for trace files that it names."""
    return replace(task, scenario=_self_contained(task.scenario))


@lru_cache(maxsize=16)
def _self_contained(scenario: Scenario) -> Scenario:
    """Return the scenario as its full text with defaults.

    Replications share the returned object, so a batch contains it once.
    """
    return Scenario.parse(scenario.to_toml(), name=scenario.name, base_dir=scenario.base_dir)


def _difference(expected: Identity, at_worker: Identity) -> str:
    """Return the error text for a task that has another identity at the worker than expected."""
    here, there = expected.code, at_worker.code
    if here != there:
        return (
            f"a worker has umts {there}, code {there.code[:12]}; this machine has {here}, "
            f"code {here.code[:12]}: install the same version on the worker"
        )
    return "a worker reads the scenario differently: check that its trace files are the same"

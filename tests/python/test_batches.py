"""Batches of runs for executors (processes or a Dask cluster): their size, and failures.

A batch is the list of runs that a worker simulates with one call. Its size follows from the durations
of earlier batches: see `BATCH_S`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any, TypeVar

import pytest
from conftest import short, tree
from umtslab import Scenario, open_store, simulate
from umtslab.remote import BATCH_S, MAX_RUNS, BatchSize, OtherCode, WorkersFailed, perform_batch
from umtslab.run import Identity
from umtslab.store import Store
from umtslab.task import Task

T = TypeVar("T")


def after_a_batch(run_s: float) -> BatchSize:
    """Return the size of batches after ten runs that took `run_s` each."""
    size = BatchSize()
    size.update(10, 10 * run_s)
    return size


def test_a_first_batch_is_one_run() -> None:
    assert BatchSize().next(1000, 2) == 1


@pytest.mark.parametrize("run_s", [0.003, 0.01, 0.3])
def test_batches_have_the_target_duration_while_work_remains(run_s: float) -> None:
    size = after_a_batch(run_s)
    # 100,000 runs remain for two workers.
    assert BATCH_S <= size.next(100_000, 2) * run_s < 6 * BATCH_S


def test_long_runs_are_batches_of_one() -> None:
    assert after_a_batch(5.0).next(100, 8) == 1


def test_batches_never_exceed_the_remaining_runs_or_the_limit() -> None:
    assert after_a_batch(0.001).next(7, 1) == 7
    assert after_a_batch(1e-9).next(10**6, 1) == MAX_RUNS
    assert after_a_batch(0.0).next(10**6, 1) == MAX_RUNS


def test_the_size_follows_the_latest_batches() -> None:
    size = after_a_batch(1.0)
    for _ in range(12):
        size.update(1, 0.01)
    assert size.next(10_000, 1) > 50


def test_a_process_pool_and_one_thread_write_the_same_bytes(store: Store, scenario: Scenario) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        simulate(scenario, runs=3, store=store, executor=executor, series=True, pcap=True)
    with open_store(store.path.parent / "here") as here:
        simulate(scenario, runs=3, store=here, series=True, pcap=True)
    assert tree(store.path / "runs") == tree(store.path.parent / "here" / "runs")


def test_runs_before_a_failure_are_returned(scenario: Scenario) -> None:
    task = Task(scenario, seed=1, run=0)
    # The second run fails, because it is expected to have another identity.
    other = Identity(scenario.content_hash, task.identity.code, seed=2, run=0)
    result = perform_batch([(task, task.identity), (task, other)], keep=True)
    assert [returned.run.run for returned in result.runs] == [0]
    assert isinstance(result.error, OtherCode)


class FailingExecutor(Executor):
    """An executor that fails the first `failures` batches, as if their workers had died."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        if self.failures > 0:
            self.failures -= 1
            future.set_exception(RuntimeError("the worker died"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_runs_of_a_dead_worker_are_repeated(store: Store, scenario: Scenario) -> None:
    runs = simulate(scenario, runs=4, store=store, executor=FailingExecutor(6))
    assert [run.run for run in runs] == [0, 1, 2, 3]
    assert store.runs() == runs


def test_a_run_that_kills_every_worker_ends_the_work(store: Store, scenario: Scenario) -> None:
    with pytest.raises(WorkersFailed, match="the worker died"):
        simulate(scenario, runs=2, store=store, executor=FailingExecutor(1000))


def test_another_version_of_the_code_is_refused() -> None:
    task = Task(short(), seed=1, run=0)
    other_code = replace(task.identity.code, code="0" * 64)
    result = perform_batch([(task, replace(task.identity, code=other_code))], keep=True)
    assert result.runs == []
    assert "install the same version" in str(result.error)

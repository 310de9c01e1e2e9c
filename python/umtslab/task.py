"""Single runs: description and execution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import _core
from umtslab.run import Identity, Run, finite
from umtslab.scenario import Scenario
from umtslab.version import code_version

if TYPE_CHECKING:
    from umtslab.store import Store


MAX_RUNS = 2**63
"""Upper bound of run numbers (exclusive), so that every database can store them."""


@dataclass(frozen=True)
class Task:
    """One run to be performed.

    Raises
    ------
    ValueError
        If the run number is negative, or not below `MAX_RUNS`.
    """

    scenario: Scenario
    seed: int
    run: int
    series: bool = False
    pcap: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.run < MAX_RUNS:
            raise ValueError(f"the run number {self.run} must be from 0 to 2^63 - 1")

    @cached_property
    def identity(self) -> Identity:
        """Identity that the run will have."""
        return Identity(self.scenario.content_hash, code_version(), self.seed, self.run)


ProgressHandler = Callable[[Task, float], None]
"""Called with the progress of each task, from 0 to 1, from worker threads."""


def perform(task: Task, store: Store | None, progress: Callable[[float], None] | None = None) -> Run:
    """Perform a task, and store the run if there is a store."""
    if store is None:
        if task.pcap:
            raise ValueError("captures are files: pass a store for them")
        return _in_memory(simulate_task(TaskOutput(task), progress))
    with store.draft() as draft:
        output = TaskOutput(task, draft.folder, draft.captures if task.pcap else None)
        run = simulate_task(output, progress)
        return store.keep(draft, run, task.scenario, series=task.series, pcap=task.pcap)


@dataclass(frozen=True)
class TaskOutput:
    """A task, and the folders for its tables and captures, if any.

    Without a folder, the tables stay in the memory of the core.
    """

    task: Task
    tables: Path | None = None
    captures: Path | None = None


def simulate_task(output: TaskOutput, progress: Callable[[float], None] | None = None) -> Run:
    """Simulate a task with the core."""
    task = output.task
    result = _core.simulate(
        task.scenario.core,
        task.seed,
        task.run,
        series=task.series,
        pcap_dir=_path(output.captures),
        tables_dir=_path(output.tables),
        progress=progress,
    )
    return _run(output, result)


def _path(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)


def _run(output: TaskOutput, result: _core.RunResult) -> Run:
    """Convert a result of the core to a run. Tables in a folder are read from there on demand."""
    scenario = output.task.scenario
    return Run(
        scenario=scenario.name,
        identity=output.task.identity,
        metrics=finite(result.metrics),
        events=result.events,
        duration_s=scenario.duration_s,
        folder=None,
        tables={} if output.tables is not None else {"connections": result.connections, **result.series},
        overrides=scenario.overrides,
    )


def _in_memory(run: Run) -> Run:
    import polars as pl

    tables = {name: pl.DataFrame(table) for name, table in run.tables.items()}
    return replace(run, tables=tables)

"""One run to be made, and the making of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import _core
from umtslab.run import Identity, Run, code_version, finite
from umtslab.scenario import Scenario

if TYPE_CHECKING:
    from umtslab.store import Store


MOST_RUNS = 2**63
"""Replications of a scenario have numbers below this, so that every database can hold them."""


@dataclass(frozen=True)
class Task:
    """One run to be made.

    Raises
    ------
    ValueError
        If its number is below 0, or not below `MOST_RUNS`.
    """

    scenario: Scenario
    seed: int
    run: int
    series: bool = False
    pcap: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.run < MOST_RUNS:
            raise ValueError(f"run {self.run} is not from 0 to 2^63 - 1, as the numbers of runs are")

    @cached_property
    def identity(self) -> Identity:
        """Identity that the run will have."""
        return Identity(self.scenario.content_hash, code_version(), self.seed, self.run)


Watch = Callable[[Task, float], None]
"""Told how far each task is, from 0 to 1. Called from worker threads."""


def perform(task: Task, store: Store | None, progress: Callable[[float], None] | None = None) -> Run:
    """Make one run here, and keep it in the store if there is one."""
    if store is None:
        if task.pcap:
            raise ValueError("captures are files: give a store to put them in")
        return _in_memory(simulate_task(task, progress=progress))
    with store.draft() as draft:
        captures = draft.captures if task.pcap else None
        run = simulate_task(task, captures=captures, tables=draft.folder, progress=progress)
        return store.keep(draft, run, task.scenario, series=task.series, pcap=task.pcap)


def simulate_task(
    task: Task,
    *,
    captures: Path | None = None,
    tables: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Let the core make a run; captures and tables go into folders, if any.

    Tables that go into none are in the run, and still the core's.
    """
    result = _core.simulate(
        task.scenario.core,
        task.seed,
        task.run,
        series=task.series,
        pcap_dir=None if captures is None else str(captures),
        tables_dir=None if tables is None else str(tables),
        progress=progress,
    )
    return Run(
        task.scenario.name,
        task.identity,
        finite(result.metrics),
        result.events,
        task.scenario.duration_s,
        None,
        {} if tables is not None else {"connections": result.connections, **result.series},
        overrides=task.scenario.overrides,
    )


def _in_memory(run: Run) -> Run:
    import polars as pl

    tables = {name: pl.DataFrame(table) for name, table in run.tables.items()}
    return replace(run, tables=tables)

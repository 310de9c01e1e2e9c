"""One run to be made, and the making of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import _core
from umtslab.run import Identity, Run, code_version, finite
from umtslab.scenario import Scenario

if TYPE_CHECKING:
    from umtslab.store import Store


@dataclass(frozen=True)
class Task:
    """One run to be made."""

    scenario: Scenario
    seed: int
    run: int
    series: bool = False
    pcap: bool = False

    @property
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
        run = simulate_task(task, captures=captures, keep=draft.parts().keep, progress=progress)
        return store.keep(draft, run, task.scenario, series=task.series, pcap=task.pcap)


def simulate_task(
    task: Task,
    *,
    captures: Path | None = None,
    keep: Callable[[str, _core.Columns], None] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Run:
    """Let the core make a run, whose tables are still the core's.

    Captures go into a folder, if any. `keep` takes the tables in parts while the run goes on; what it does
    not get is left in the run.
    """
    result = _core.simulate(
        task.scenario.core,
        task.seed,
        task.run,
        series=task.series,
        pcap_dir=None if captures is None else str(captures),
        progress=progress,
        keep=keep,
    )
    return _as_run(task, result)


def _as_run(task: Task, result: _core.RunResult) -> Run:
    tables = {"connections": result.connections, **result.series}
    return Run(
        task.scenario.name,
        task.identity,
        finite(result.metrics),
        result.events,
        task.scenario.duration_s,
        None,
        tables,
        overrides=task.scenario.overrides,
    )


def _in_memory(run: Run) -> Run:
    import polars as pl

    tables = {name: pl.DataFrame(table) for name, table in run.tables.items()}
    return replace(run, tables=tables)

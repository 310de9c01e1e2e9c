"""Single runs: description and execution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import _core
from umtslab.run import Identity, Run, finite
from umtslab.scenario import Scenario
from umtslab.version import code_version

if TYPE_CHECKING:
    from umtslab.store import Store


MOST_RUNS = 2**63
"""Upper bound of run numbers (exclusive), so that every database can store them."""


@dataclass(frozen=True)
class Task:
    """One run to be performed.

    Raises
    ------
    ValueError
        If the run number is negative, or not below `MOST_RUNS`.
    """

    scenario: Scenario
    seed: int
    run: int
    series: bool = False
    pcap: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.run < MOST_RUNS:
            raise ValueError(f"the run number {self.run} must be from 0 to 2^63 - 1")

    @cached_property
    def identity(self) -> Identity:
        """Identity that the run will have."""
        return Identity(self.scenario.content_hash, code_version(), self.seed, self.run)


Watch = Callable[[Task, float], None]
"""Called with the progress of each task, from 0 to 1, from worker threads."""


MOST_TOGETHER = 8
"""Maximum number of tasks in one simulation. More tasks are better distributed over processors."""


def side_by_side(tasks: Iterable[Task]) -> list[Task]:
    """Reorder tasks so that those that can share a simulation follow the first of them."""
    alike: dict[tuple[str, int, int], list[Task]] = {}
    for task in tasks:
        alike.setdefault((task.scenario.network_hash, task.seed, task.run), []).append(task)
    return list(chain.from_iterable(alike.values()))


def together(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """Group adjacent tasks that can share a simulation. Tasks are taken as groups are.

    The events of a run are determined by its scenario, seed and number, but not by ``[measure]``,
    which only selects measurements. So tasks that differ in ``[measure]`` or in what they record
    need only one simulation.
    """
    group: list[Task] = []
    for task in tasks:
        if group and (len(group) == MOST_TOGETHER or not _are_alike(group[0], task)):
            yield group
            group = []
        group.append(task)
    if group:
        yield group


def _are_alike(one: Task, other: Task) -> bool:
    numbers = (one.seed, one.run) == (other.seed, other.run)
    return numbers and one.scenario.network_hash == other.scenario.network_hash


def perform(
    tasks: Sequence[Task], store: Store | None, progress: Callable[[float], None] | None = None
) -> list[Run]:
    """Perform a group of tasks in one simulation, and keep the runs in the store if given."""
    if store is None:
        if any(task.pcap for task in tasks):
            raise ValueError("captures are files: pass a store for them")
        runs = simulate_tasks([Recorded(task) for task in tasks], progress)
        return [_in_memory(run) for run in runs]
    with ExitStack() as clean_up:
        drafts = [clean_up.enter_context(store.draft()) for _ in tasks]
        recorded = [
            Recorded(task, draft.folder, draft.captures if task.pcap else None)
            for task, draft in zip(tasks, drafts, strict=True)
        ]
        runs = simulate_tasks(recorded, progress)
        return [
            store.keep(draft, run, task.scenario, series=task.series, pcap=task.pcap)
            for draft, run, task in zip(drafts, runs, tasks, strict=True)
        ]


@dataclass(frozen=True)
class Recorded:
    """A task, and the folders for its tables and captures, if any.

    Without a folder the tables stay in memory, owned by the core.
    """

    task: Task
    tables: Path | None = None
    captures: Path | None = None


def simulate_tasks(
    recorded: Sequence[Recorded], progress: Callable[[float], None] | None = None
) -> list[Run]:
    """Perform tasks in one simulation of the core."""
    first = recorded[0].task
    wanted = [
        (of.task.scenario.core, of.task.series, _path(of.captures), _path(of.tables)) for of in recorded
    ]
    results = _core.simulate_together(wanted, first.seed, first.run, progress=progress)
    return [_run(of, result) for of, result in zip(recorded, results, strict=True)]


def _path(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)


def _run(of: Recorded, result: _core.RunResult) -> Run:
    scenario = of.task.scenario
    return Run(
        scenario.name,
        of.task.identity,
        finite(result.metrics),
        result.events,
        scenario.duration_s,
        None,
        {} if of.tables is not None else {"connections": result.connections, **result.series},
        overrides=scenario.overrides,
    )


def _in_memory(run: Run) -> Run:
    import polars as pl

    tables = {name: pl.DataFrame(table) for name, table in run.tables.items()}
    return replace(run, tables=tables)

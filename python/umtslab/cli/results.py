"""Results named by RESULT: a run folder, a store, or a name in the store of ``--out``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import CannotOpen, UsageError

if TYPE_CHECKING:
    from umtslab.run import Run
    from umtslab.store import Damage, Store, StoreReader

_MAX_REPORTED = 10
"""Maximum number of damaged items that are reported one by one."""

_reported_damage: dict[Path, set[Damage]] = {}
"""Damage already reported for each results folder. A command may open a folder twice."""


def find_runs(name: str, out: Path) -> list[Run]:
    """Return the runs of the result `name`, ordered by seed and number.

    A run folder is one run. A store stands for its latest result with all replications. Any other
    name is looked up in the store `out` as the key of a run, a result, or the name of a scenario.
    """
    from umtslab.store.folder import is_run_folder, read_run
    from umtslab.store.reader import NoSuchName, is_store

    path = Path(name)
    if is_run_folder(path):
        return [_as_catalogued(read_run(path.resolve()))]
    if is_store(path):
        with read_results(path) as store:
            return store.latest()
    if not is_store(out):
        raise NoSuchName(
            f"{name} is neither a run folder nor a results folder, and {out} is not a results folder "
            "to look it up in"
        )
    with read_results(out) as store:
        return store.find(name)


def find_run(name: str, out: Path, reason: str) -> Run:
    """Return the only run of the result `name`. `reason` says in the error why there must be one."""
    runs = find_runs(name, out)
    if len(runs) > 1:
        raise UsageError(f"{name} has {len(runs)} runs, and {reason}: give the folder of a run")
    return runs[0]


def _as_catalogued(run: Run) -> Run:
    """Return the run as the catalogue of its store describes it.

    The folder alone does not record the identity of the program that made the run.
    """
    from umtslab.store import RunNotFound
    from umtslab.store.reader import is_store

    if run.folder is None or not is_store(store := run.folder.parent.parent):
        return run
    try:
        with read_results(store) as results:
            [catalogued] = results.find(run.key)
    except RunNotFound:
        return run
    return catalogued if catalogued.folder == run.folder else run


def read_results(path: Path) -> StoreReader:
    """Open a store for reading.

    Raises
    ------
    CannotOpen
        If the folder or its catalogue cannot be read.
    """
    import sqlite3

    from umtslab.store import read_store

    try:
        return read_store(path, _reporter(path))
    except (OSError, sqlite3.Error) as error:
        raise CannotOpen(path, error) from error


def open_results(path: Path) -> Store:
    """Open a store for writing.

    Raises
    ------
    CannotOpen
        If the folder or its catalogue cannot be opened.
    """
    import sqlite3

    from umtslab.store import open_store

    try:
        return open_store(path, _reporter(path))
    except (OSError, sqlite3.Error) as error:
        raise CannotOpen(path, error) from error


def _reporter(path: Path) -> Callable[[Damage], None]:
    """Return a function that reports damage in a results folder, each item once.

    Damage is reported with ``--quiet`` too, because damaged runs are left out of the results.
    """
    reported = _reported_damage.setdefault(path, set())

    def report(damage: Damage) -> None:
        """Print a damaged item once."""
        if damage in reported:
            return
        reported.add(damage)
        if len(reported) <= _MAX_REPORTED:
            note = " (left out)" if damage.kind == "run" else ""
            print(f"umts: damaged: {damage}{note}", file=sys.stderr)
        elif len(reported) == _MAX_REPORTED + 1:
            print(f"umts: more files are damaged: umts doctor {path} lists all", file=sys.stderr)

    return report

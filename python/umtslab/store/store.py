"""Write access to a store: runs are added atomically."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import _core
from umtslab.run import Run
from umtslab.store import catalogue_file
from umtslab.store.catalogue import Catalogue, Row
from umtslab.store.damaged import DamageHandler, set_aside
from umtslab.store.folder import carry_over, seal_run, write_run
from umtslab.store.reader import StoreReader
from umtslab.store.reconcile import reconcile
from umtslab.store.remake import now, repeating_command
from umtslab.store.seal import Damage, flaws_of_run
from umtslab.store.staging import Staging

if TYPE_CHECKING:
    from umtslab.scenario import Scenario


@dataclass
class Draft:
    """A run being written.

    The core writes captures to `captures` and tables to `folder` during the run. `Store.keep` adds
    the rest.
    """

    folder: Path

    @property
    def captures(self) -> Path:
        """The folder for captures, created on first use."""
        path = self.folder / "captures"
        path.mkdir(exist_ok=True)
        return path


class Store(StoreReader):
    """A directory of runs. Several threads and processes may write to it at the same time."""

    def __init__(self, path: str | os.PathLike[str], tell: DamageHandler | None = None) -> None:
        super().__init__(path, tell)
        catalogue_file.refuse_other_layout(self.path)
        self._runs.mkdir(parents=True, exist_ok=True)
        self._staging = Staging(self.path)
        try:
            with self._staging.exclusively():
                self._catalogue = self._open_catalogue()
        except BaseException:
            self._staging.close()
            raise

    def _open_catalogue(self) -> Catalogue:
        """Open the catalogue and reconcile it with the folders.

        A damaged one is set aside and rebuilt.
        """
        salvaged = {}
        try:
            catalogue = catalogue_file.open_to_write(self.path)
        except catalogue_file.BrokenCatalogue as broken:
            new_path = set_aside(self.path, catalogue_file.files(self.path))
            salvaged = catalogue_file.salvage(new_path)
            description = f"{broken}; it was moved to {new_path}, and a new one was created"
            self.report_damage(Damage("catalogue", catalogue_file.NAME, (description,)))
            catalogue = catalogue_file.open_to_write(self.path)
        reconcile(self.path, catalogue, self.report_damage, salvaged)
        return catalogue

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def draft(self) -> Iterator[Draft]:
        """Yield a folder for a new run. It is deleted at the end unless `keep` was called."""
        with self._staging.folder() as folder:
            yield Draft(folder)

    def keep(
        self,
        draft: Draft,
        run: Run,
        scenario: Scenario,
        *,
        series: bool,
        pcap: bool,
        command: str | None = None,
    ) -> Run:
        """Write the run's tables, move it into place, and catalogue it with its `command`.

        Replaces a run with the same key. Series and captures that only the old run has are kept if
        the results are equal.
        """
        write_run(draft.folder, run, scenario)
        return self._move_into_place(draft, run, scenario, series=series, pcap=pcap, command=command)

    def keep_files(
        self, run: Run, files: Mapping[str, bytes], scenario: Scenario, *, series: bool, pcap: bool
    ) -> Run:
        """Store a run that another machine has executed, given as names and contents of its files."""
        with self.draft() as draft:
            for name, content in files.items():
                target = draft.folder / name
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(content)
            return self._move_into_place(draft, run, scenario, series=series, pcap=pcap)

    def _move_into_place(
        self,
        draft: Draft,
        run: Run,
        scenario: Scenario,
        *,
        series: bool,
        pcap: bool,
        command: str | None = None,
    ) -> Run:
        """Seal the files of a draft, and move its folder to ``runs/``."""
        target = self._runs / run.key
        if command is None:
            command = repeating_command(scenario, run.identity, self.path, target, series=series, pcap=pcap)
        # The catalogue stores text: in paths that are not UTF-8, the other bytes become question marks.
        command = command.encode(errors="replace").decode()
        stored = replace(run, folder=target, tables={}, command=command)
        row = Row(parameters=scenario.parameters, created=now(), command=command)
        digests = _core.digests(str(draft.folder))
        # The row is added first. A row without a folder is removed when the store is opened next,
        # but a folder without a row would lose its command.
        with self._staging.exclusively():
            if target.exists() and carry_over(target, draft.folder, digests):
                digests = _core.digests(str(draft.folder))
            seal_run(draft.folder, stored, digests)
            self._catalogue.add(stored, row)
            self._clear_target(target)
            draft.folder.rename(target)
        self._sound.add(run.key)
        self._unchanged.discard(run.key)
        self._loaded[run.key] = stored
        return stored

    def _clear_target(self, target: Path) -> None:
        """Remove the old copy of a run: deleted if sound, else set aside."""
        if not target.exists():
            return
        if flaws_of_run(target):
            set_aside(self.path, [target])
        else:
            self._staging.remove_from_store(target)

    # ── Upkeep ──────────────────────────────────────────────────────────────────────────────────────────

    def reinsert(self, keys: Iterable[str]) -> None:
        """Replace the catalogue rows of some runs by rows derived from their folders."""
        self._loaded.clear()
        with self._staging.exclusively():
            self._catalogue.remove(keys)
            reconcile(self.path, self._catalogue, self.report_damage)

    def close(self) -> None:
        """Release the staging area and close the catalogue."""
        self._staging.close()
        self._record_states()
        self._catalogue.close()
        catalogue_file.record_state(self.path)

    def _record_states(self) -> None:
        """Record the file system state of sound runs, so that later changes are detected."""
        keys = sorted(self._sound - self._unchanged)
        states = zip(keys, _core.states(self._folders(keys)), strict=True)
        new = {key: state for key, state in states if state is not None}
        if new:
            with suppress(sqlite3.Error):  # runs without a recorded state are checked again
                self._catalogue.add_states(new)


def open_store(path: str | os.PathLike[str], tell: DamageHandler | None = None) -> Store:
    """Open or create a store, and repair the effects of killed processes.

    Parameters
    ----------
    path : path
        Its folder.
    tell : callable, optional
        Called for each damaged item, which is left out; by default a `DamagedStore` warning.

    Raises
    ------
    OtherLayout
        If the store has the layout of another version. It is not changed.
    OSError
        If the directory cannot be written.
    """
    return Store(path, tell)

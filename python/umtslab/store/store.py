"""The store: runs go in whole."""

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
from umtslab.store.damaged import Tell, set_aside
from umtslab.store.folder import carry_over, seal_run, write_run
from umtslab.store.reader import StoreReader
from umtslab.store.reconcile import reconcile
from umtslab.store.remake import now, remaking_command
from umtslab.store.seal import Damage, flaws_of_run
from umtslab.store.staging import Staging

if TYPE_CHECKING:
    from umtslab.scenario import Scenario


@dataclass
class Draft:
    """A run being written.

    The core puts captures into `captures` and tables into `folder` while the run goes on; `Store.keep` puts
    the rest there.
    """

    folder: Path

    @property
    def captures(self) -> Path:
        """Where captures go; made on first use."""
        path = self.folder / "captures"
        path.mkdir(exist_ok=True)
        return path


class Store(StoreReader):
    """A directory of runs. Several threads and processes may write to it at once."""

    def __init__(self, path: str | os.PathLike[str], tell: Tell | None = None) -> None:
        super().__init__(path, tell)
        catalogue_file.refuse_other_layout(self.path)
        self._runs.mkdir(parents=True, exist_ok=True)
        self._staging = Staging(self.path)
        try:
            with self._staging.exclusively():
                self._catalogue = self._whole_catalogue()
        except BaseException:
            self._staging.close()
            raise

    def _whole_catalogue(self) -> Catalogue:
        """The catalogue, agreeing with the folders; a damaged one is set aside, and made anew from them."""
        known = {}
        try:
            catalogue = catalogue_file.open_to_write(self.path)
        except catalogue_file.BrokenCatalogue as broken:
            aside = set_aside(self.path, catalogue_file.files(self.path))
            known = catalogue_file.salvage(aside)
            where = f"{broken}; it is set aside as {aside}, and made anew"
            self.note(Damage("catalogue", catalogue_file.NAME, (where,)))
            catalogue = catalogue_file.open_to_write(self.path)
        reconcile(self.path, catalogue, self.note, known)
        return catalogue

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def draft(self) -> Iterator[Draft]:
        """A folder to write a run in; gone afterwards unless `keep` was called."""
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
        """Write the run's tables, move it into place and catalogue it, with the `command` that remakes it.

        A run of the same key is replaced. What the old one has beyond the new (series, captures) is carried
        over if their results are the same.
        """
        write_run(draft.folder, run, scenario)
        return self._settle(draft, run, scenario, series=series, pcap=pcap, command=command)

    def take_in(
        self, run: Run, files: Mapping[str, bytes], scenario: Scenario, *, series: bool, pcap: bool
    ) -> Run:
        """Keep a run whose folder was written elsewhere: relative name and content of each file."""
        with self.draft() as draft:
            for name, content in files.items():
                place = draft.folder / name
                place.parent.mkdir(exist_ok=True)
                place.write_bytes(content)
            return self._settle(draft, run, scenario, series=series, pcap=pcap)

    def _settle(
        self,
        draft: Draft,
        run: Run,
        scenario: Scenario,
        *,
        series: bool,
        pcap: bool,
        command: str | None = None,
    ) -> Run:
        place = self._runs / run.key
        if command is None:
            command = remaking_command(scenario, run.identity, self.path, place, series=series, pcap=pcap)
        kept = replace(run, folder=place, tables={}, command=command)
        row = Row(scenario.parameters, now(), command)
        digests = _core.digests(str(draft.folder))
        # The row first: a row without a folder is struck off when the store is opened next, whereas a folder
        # without a row would come back without its command.
        with self._staging.exclusively():
            if place.exists() and carry_over(place, draft.folder, digests):
                digests = _core.digests(str(draft.folder))
            seal_run(draft.folder, kept, digests)
            self._catalogue.add(kept, row)
            self._clear(place)
            draft.folder.rename(place)
        self._sound.add(run.key)
        self._noted.discard(run.key)
        self._found[run.key] = kept
        return kept

    def _clear(self, place: Path) -> None:
        """Make room for a run: what was there is deleted if it is sound, else set aside."""
        if not place.exists():
            return
        if flaws_of_run(place):
            set_aside(self.path, [place])
        else:
            self._staging.swap_out(place)

    # ── Upkeep ──────────────────────────────────────────────────────────────────────────────────────────

    def enter_anew(self, keys: Iterable[str]) -> None:
        """Let the catalogue tell of some runs what their folders tell."""
        self._found.clear()
        with self._staging.exclusively():
            self._catalogue.remove(keys)
            reconcile(self.path, self._catalogue, self.note)

    def close(self) -> None:
        """Give up the staging area and close the catalogue."""
        self._staging.close()
        self._note_states()
        self._catalogue.close()
        catalogue_file.note(self.path)

    def _note_states(self) -> None:
        """Note of sound runs what will show that nobody wrote to them since."""
        keys = sorted(self._sound - self._noted)
        states = zip(keys, _core.states(self._folders(keys)), strict=True)
        new = {key: state for key, state in states if state is not None}
        if new:
            with suppress(sqlite3.Error):  # what is not noted is looked at again
                self._catalogue.add_states(new)


def open_store(path: str | os.PathLike[str], tell: Tell | None = None) -> Store:
    """Open a store, making it if it is not there, and repair what a killed process left.

    Parameters
    ----------
    path : path
        Its folder.
    tell : callable, optional
        Told of what is damaged in it, which is left out; by default a warning of the kind `DamagedStore`.

    Raises
    ------
    OtherLayout
        If a version of the program made it that keeps runs differently; it is left as it is.
    OSError
        If the directory cannot be written.
    """
    return Store(path, tell)

"""The store: runs go in whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.run import Run
from umtslab.store.catalogue import Catalogue, Row, check_version
from umtslab.store.folder import is_run_folder, same_metrics, write_run
from umtslab.store.reader import StoreReader, reconcile
from umtslab.store.remake import now, parameters, remaking_command
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

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        check_version(self.path)
        self._runs.mkdir(parents=True, exist_ok=True)
        self._staging = Staging(self.path)
        try:
            self._catalogue = Catalogue(self.path)
            with self._staging.exclusively():
                reconcile(self.path, self._catalogue)
        except BaseException:
            self._staging.close()
            raise

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
        row = Row(parameters(scenario.to_toml()), now(), command)
        # The row first: a row without a folder is struck off when the store is opened next, whereas a folder
        # without a row would come back without its command.
        with self._staging.exclusively():
            self._catalogue.add(kept, row)
            if place.exists():
                _carry_over(place, draft.folder)
                self._staging.swap_out(place)
            draft.folder.rename(place)
        return kept

    # ── Upkeep ──────────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Give up the staging area and close the catalogue."""
        self._staging.close()
        self._catalogue.close()


def open_store(path: str | os.PathLike[str]) -> Store:
    """Open a store, making it if it is not there, and repair what a killed process left.

    Raises
    ------
    OtherLayout
        If a version of the program made it that keeps runs differently; it is left as it is.
    OSError
        If the directory cannot be written.
    """
    return Store(path)


def _carry_over(old: Path, new: Path) -> None:
    if not (is_run_folder(old) and same_metrics(old, new)):
        return
    import shutil

    for part in ("series", "captures"):
        if (old / part).is_dir() and not (new / part).exists():
            shutil.copytree(old / part, new / part)

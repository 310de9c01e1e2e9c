"""Read access to a store: runs by key, result or scenario. Nothing here writes.

A run is compared with its digests before it is returned, unless the file system state shows no
change since the last comparison. A damaged run is reported and left out, as if it did not exist.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from umtslab import _core
from umtslab.run import Identity, Run
from umtslab.store import catalogue_file
from umtslab.store.campaign_tables import campaign_content
from umtslab.store.catalogue import Catalogue
from umtslab.store.damaged import DamageHandler, warn
from umtslab.store.folder import UnusablePath
from umtslab.store.reconcile import differences, reconcile
from umtslab.store.seal import Damage, flaws_of_runs

if TYPE_CHECKING:
    import polars as pl

    from umtslab.store.sql_tables import Contents


class RunNotFound(LookupError):
    """No run has this name or key."""


class NoSuchName(RunNotFound):
    """No run, result or scenario in the store has the given name."""


class StoreReader:
    """Reads the runs of a store and collects the damage that it finds."""

    _catalogue: Catalogue

    def __init__(self, path: str | os.PathLike[str], tell: DamageHandler | None = None) -> None:
        self.path = _text_path(Path(path))
        self.damage: list[Damage] = []
        """Damage found so far."""
        self._on_damage = tell or warn
        self._sound: set[str] = set()
        """Keys of the runs that were checked and are undamaged."""
        self._unchanged: set[str] = set()
        """Keys of the runs that the catalogue records as sound, and whose files have not changed since."""
        self._loaded: dict[str, Run] = {}
        """Cache of sound runs by key, because a campaign requests the same runs several times."""

    def get(self, identity: Identity, *, series: bool = False, pcap: bool = False) -> Run | None:
        """Return the run of an identity if it is sound and has the required series and captures."""
        return self.get_all([identity], series=series, pcap=pcap).get(identity.key)

    def get_all(
        self, identities: Iterable[Identity], *, series: bool = False, pcap: bool = False
    ) -> dict[str, Run]:
        """Return the existing runs of several identities, by key, under the conditions of `get`."""
        stored_runs = self.of_keys(identity.key for identity in identities)
        return {
            key: run
            for key, run in stored_runs.items()
            if (not series or run.series_kinds()) and (not pcap or run.captures())
        }

    def runs(self, result: str | None = None) -> list[Run]:
        """Return all runs or the runs of one result, ordered by result, seed and run."""
        return self._sound_of(self._catalogue.all() if result is None else self._catalogue.of_result(result))

    def of_keys(self, keys: Iterable[str]) -> dict[str, Run]:
        """Return the existing runs with these keys, by key."""
        requested = list(keys)
        new = self._catalogue.of_keys(key for key in requested if key not in self._loaded)
        self._loaded |= {run.key: run for run in self._sound_of(new)}
        return {key: self._loaded[key] for key in requested if key in self._loaded}

    def latest(self, scenario: str | None = None) -> list[Run]:
        """Return the replications of the latest result, of any scenario or of the given one."""
        result = self._catalogue.latest_result(scenario)
        if result is None:
            missing = "no runs" if scenario is None else f"no runs of {scenario!r}"
            raise RunNotFound(f"{self.path} has {missing}")
        return self._sound_or_error(self._catalogue.of_result(result), f"the latest runs in {self.path}")

    def find(self, name: str) -> list[Run]:
        """Return runs by prefix of key or result, or the latest runs of a scenario.

        Raises
        ------
        RunNotFound
            If nothing matches, or the name is ambiguous.
        """
        matching = self._catalogue.by_prefix(name)
        if any(run.scenario == name for run in matching):
            return self.latest(name)
        results = sorted({run.identity.result for run in matching})
        if len(matching) == 1 or (len(results) == 1 and results[0].startswith(name)):
            return self._sound_or_error(matching, f"the runs {name!r} in {self.path}")
        if not matching:
            raise NoSuchName(f"{self.path} has no run, result or scenario {name!r}")
        raise RunNotFound(
            f"{name!r} is ambiguous in {self.path}: {', '.join(run.key[:12] for run in matching[:5])}, …"
        )

    def scenarios(self) -> list[str]:
        """Names of the scenarios of which there are runs."""
        return self._catalogue.scenarios()

    def command(self, run: Run) -> str:
        """Return the command that repeats the run."""
        row = self._catalogue.row(run.key)
        if row is None:
            raise RunNotFound(f"{self.path} has no run {run.key}")
        return row.command

    def made_at(self, run: Run) -> str | None:
        """Return when the run was made, in ISO format, or None if the catalogue does not know."""
        row = self._catalogue.row(run.key)
        return None if row is None else row.created or None

    def parameters(self, run: Run) -> dict[str, Any]:
        """The run's whole scenario as nested dictionaries, units in text."""
        row = self._catalogue.row(run.key)
        if row is None:
            raise RunNotFound(f"{self.path} has no run {run.key}")
        parameters: dict[str, Any] = json.loads(row.parameters)
        return parameters

    def query(self, sql: str) -> pl.DataFrame:
        """Run a query in DuckDB.

        The table ``runs`` has a row per run, with a column for every parameter and every metric.
        ``connections`` has a row per connection of every run. Each recorded time series is a table
        with the name of the series. ``campaigns``, ``points`` and ``keys`` describe campaigns and
        the units of parameters. The SQL can neither read nor write any file. See docs/results.md.

        Raises
        ------
        umtslab.store.query.WrongQuery
            If `sql` is not a query, or names something that does not exist.
        """
        from umtslab.store.query import query

        return query(self._contents(), sql)

    def write_dataset(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the tables of `query` as Parquet files into a new folder. Returns the files.

        Raises
        ------
        FileExistsError
            If the folder exists.
        """
        from umtslab.store.query import write_dataset

        return write_dataset(self._contents(), Path(folder))

    def campaigns(self) -> list[dict[str, Any]]:
        """Return the contents of the campaigns' records, ordered by name.

        Damaged records are reported and left out.
        """
        contents = []
        for path in sorted((self.path / "campaigns").glob("*.json")):
            try:
                content = campaign_content(path)
            except ValueError as error:
                self.report_damage(Damage("campaign", path.stem, (str(error),)))
            else:
                contents.append(content)
        return contents

    def _contents(self) -> Contents:
        from umtslab.store.sql_tables import Contents

        runs = self.runs()
        return Contents(runs, [self.parameters(run) for run in runs], self.campaigns())

    # ── Damage ──────────────────────────────────────────────────────────────────────────────────────────

    def report_damage(self, damage: Damage) -> None:
        """Report a damaged item, which is left out."""
        self.damage.append(damage)
        self._on_damage(damage)

    def _sound_of(self, runs: list[Run]) -> list[Run]:
        """Return the sound runs of `runs`. Damaged ones are reported."""
        checked = self._sound | {damage.name for damage in self.damage}
        new = self._possibly_changed([run.key for run in runs if run.key not in checked])
        for key, flaws in zip(new, flaws_of_runs(self._folders(new)), strict=True):
            if flaws:
                self.report_damage(Damage("run", key, flaws))
            else:
                self._sound.add(key)
        return [run for run in runs if run.key in self._sound]

    def _possibly_changed(self, keys: list[str]) -> list[str]:
        """Return the keys of runs that may have changed since they were found sound.

        The other runs are marked as sound.
        """
        recorded_states = self._catalogue.states() if keys else {}
        states = dict(zip(keys, _core.states(self._folders(keys)), strict=True)) if recorded_states else {}
        changed = [
            key for key in keys if (state := states.get(key)) is None or recorded_states.get(key) != state
        ]
        self._unchanged |= set(keys).difference(changed)
        self._sound |= self._unchanged
        return changed

    def _folders(self, keys: Iterable[str]) -> list[str]:
        return [f"{self._runs}/{key}" for key in keys]

    def _sound_or_error(self, runs: list[Run], name: str) -> list[Run]:
        """Return the sound runs of `runs`. It is an error if there are none."""
        if not (sound := self._sound_of(runs)):
            raise RunNotFound(
                f"all {len(runs)} of {name} are damaged; umts doctor {self.path} lists the damage"
            )
        return sound

    # ── Upkeep ──────────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Close the catalogue."""
        self._catalogue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    @property
    def _runs(self) -> Path:
        return self.path / "runs"


def read_store(path: str | os.PathLike[str], tell: DamageHandler | None = None) -> StoreReader:
    """Open a store for reading. Nothing is written, so it may be write-protected.

    Parameters
    ----------
    path : path
        Folder of the store.
    tell : callable, optional
        Called with each damaged item. Damaged items are skipped. By default, each causes a
        `DamagedStore` warning.

    Raises
    ------
    OtherLayout
        If the store has the layout of another version.
    OSError
        If it cannot be read.
    """
    reader = StoreReader(path, tell)
    catalogue_file.refuse_other_layout(reader.path)
    salvaged = {}
    try:
        reader._catalogue = catalogue_file.open_to_read(reader.path)
    except catalogue_file.NoCatalogue:
        reader._catalogue = Catalogue.in_memory(reader.path)
    except catalogue_file.BrokenCatalogue as broken:
        reader.report_damage(Damage("catalogue", catalogue_file.NAME, (str(broken),)))
        salvaged = catalogue_file.salvage(reader.path / catalogue_file.NAME)
        reader._catalogue = Catalogue.in_memory(reader.path)
    if any(differences(reader.path, reader._catalogue)):
        # Rows and folders differ: a process was killed between adding a run's row and moving its
        # folder, or runs were deleted.
        reader._catalogue = reader._catalogue.copied()
        reconcile(reader.path, reader._catalogue, reader.report_damage, salvaged)
    return reader


def _text_path(path: Path) -> Path:
    """Return the path of a store, which must be UTF-8.

    The catalogue stores paths as text, and the libraries that read tables open no other ones.
    """
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise UnusablePath(
            f"the path of a results folder must be UTF-8 (got {os.fsencode(path.absolute())!r})"
        ) from None
    return path


def is_store(path: Path) -> bool:
    """Whether `path` is a store."""
    return os.path.lexists(path / catalogue_file.NAME) or (path / "runs").is_dir()

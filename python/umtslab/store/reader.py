"""A store as its readers see it: runs come out by key, result or scenario. Nothing here writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from umtslab.run import Identity, Run
from umtslab.store.catalogue import Catalogue, NoCatalogue, Row, check_version
from umtslab.store.folder import is_run_folder, read_run
from umtslab.store.remake import now, parameters, run_command

if TYPE_CHECKING:
    import polars as pl


class RunNotFound(LookupError):
    """No run of that name; the message says what there is."""


class StoreReader:
    """A directory of runs, to read from."""

    _catalogue: Catalogue

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def get(self, identity: Identity, *, series: bool = False, pcap: bool = False) -> Run | None:
        """The run of that identity, if it is there and has the series and captures wanted."""
        run = self._catalogue.find(identity.key)
        if run is None or run.folder is None or not is_run_folder(run.folder):
            return None
        if (series and not run.series_kinds()) or (pcap and not run.captures()):
            return None
        return run

    def runs(self, result: str | None = None) -> list[Run]:
        """All runs, or those of one result, ordered by result, seed and run."""
        return self._catalogue.all() if result is None else self._catalogue.of_result(result)

    def latest(self, scenario: str | None = None) -> list[Run]:
        """The replications of the result that was added to last (of the scenario of that name, if given)."""
        result = self._catalogue.latest_result(scenario)
        if result is None:
            what = "no runs" if scenario is None else f"no runs of {scenario!r}"
            raise RunNotFound(f"{self.path} has {what}")
        return self._catalogue.of_result(result)

    def find(self, name: str) -> list[Run]:
        """The run whose key, or the runs whose result, begins with `name`; or the latest of a scenario.

        Raises
        ------
        RunNotFound
            If nothing matches, or more than one thing does.
        """
        found = self._catalogue.by_prefix(name)
        if any(run.scenario == name for run in found):
            return self.latest(name)
        if len(found) == 1:
            return found
        results = sorted({run.identity.result for run in found})
        if len(results) == 1 and results[0].startswith(name):
            return found
        if not found:
            raise RunNotFound(f"{self.path} has no run, result or scenario {name!r}")
        raise RunNotFound(
            f"{name!r} is ambiguous in {self.path}: {', '.join(run.key[:12] for run in found[:5])}, …"
        )

    def command(self, run: Run) -> str:
        """The command that makes this run again."""
        row = self._catalogue.row(run.key)
        if row is None:
            raise RunNotFound(f"{self.path} has no run {run.key}")
        return row.command

    def parameters(self, run: Run) -> dict[str, Any]:
        """The run's whole scenario as nested dictionaries, units in text."""
        row = self._catalogue.row(run.key)
        if row is None:
            raise RunNotFound(f"{self.path} has no run {run.key}")
        parameters: dict[str, Any] = json.loads(row.parameters)
        return parameters

    def query(self, sql: str) -> pl.DataFrame:
        """Ask DuckDB.

        The table ``runs`` has a row per run, with a column for every parameter and every metric;
        ``connections`` has a row per connection of every run, and each recorded time series is a table of its
        own name. See docs/reference/store.md.

        Raises
        ------
        umtslab.store.query.WrongQuery
            If it is no query, or asks for what there is not.
        """
        from umtslab.store.query import query

        return query(*self._with_scenarios(), sql)

    def write_dataset(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the tables that `query` knows as Parquet files into a new folder; the files.

        Raises
        ------
        FileExistsError
            If there is something of that name.
        """
        from umtslab.store.query import write_dataset

        return write_dataset(*self._with_scenarios(), Path(folder))

    def _with_scenarios(self) -> tuple[list[Run], list[dict[str, Any]]]:
        runs = self.runs()
        return runs, [self.parameters(run) for run in runs]

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


def read_store(path: str | os.PathLike[str]) -> StoreReader:
    """Open a store to read: nothing in it is written, made or removed, so it may be a write-protected one.

    Raises
    ------
    OtherLayout
        If a version of the program made it that keeps runs differently.
    OSError
        If it cannot be read.
    """
    reader = StoreReader(path)
    check_version(reader.path)
    try:
        reader._catalogue = Catalogue.to_read(reader.path)
    except NoCatalogue:
        reader._catalogue = Catalogue.in_memory(reader.path)
    if any(_differences(reader.path, reader._catalogue)):
        # A process was killed between a run's folder and its row, or somebody deletes runs.
        reader._catalogue = reader._catalogue.copied()
        reconcile(reader.path, reader._catalogue)
    return reader


def is_store(path: Path) -> bool:
    """Whether `path` is a store."""
    return (path / "catalogue.sqlite").is_file() or (path / "runs").is_dir()


def reconcile(store: Path, catalogue: Catalogue) -> None:
    """Make a catalogue agree with the folders, which are the truth."""
    new, gone = _differences(store, catalogue)
    for key in sorted(new):
        _catalogue_again(store, store / "runs" / key, catalogue)
    if gone:
        catalogue.remove(gone)


def _differences(store: Path, catalogue: Catalogue) -> tuple[set[str], set[str]]:
    """Runs that the catalogue lacks, and runs that it has and nobody else."""
    catalogued = catalogue.keys()
    runs = store / "runs"
    present = set(os.listdir(runs)) if runs.is_dir() else set()
    return {key for key in present - catalogued if is_run_folder(runs / key)}, catalogued - present


def _catalogue_again(store: Path, folder: Path, catalogue: Catalogue) -> None:
    run = read_run(folder)
    scenario_file = folder / "scenario.toml"
    command = run_command(
        scenario_file,
        (),
        run.identity,
        store,
        series=bool(run.series_kinds()),
        pcap=bool(run.captures()),
    )
    catalogue.add(run, Row(parameters(scenario_file.read_text(encoding="utf-8")), now(), command))

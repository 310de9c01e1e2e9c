"""The store: runs go in whole, and come out by key, result or scenario."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from umtslab.run import Identity, Run
from umtslab.store.catalogue import Catalogue, Row
from umtslab.store.folder import is_run_folder, read_run, same_metrics, write_run
from umtslab.store.staging import Staging

if TYPE_CHECKING:
    import polars as pl

    from umtslab.scenario import Scenario


class RunNotFound(LookupError):
    """No run of that name; the message says what there is."""


@dataclass
class Draft:
    """A run being written: the core puts captures into `captures`, `Store.keep` the rest into `folder`."""

    folder: Path

    @property
    def captures(self) -> Path:
        """Where captures go; made on first use."""
        path = self.folder / "captures"
        path.mkdir(exist_ok=True)
        return path


class Store:
    """A directory of runs. Several threads and processes may write to it at once."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._runs.mkdir(parents=True, exist_ok=True)
        self._staging = Staging(self.path)
        try:
            self._catalogue = Catalogue(self.path)
            self._reconcile()
        except BaseException:
            self._staging.close()
            raise

    # ── Writing ─────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def draft(self) -> Iterator[Draft]:
        """A folder to write a run in; gone afterwards unless `keep` was called."""
        with self._staging.folder() as folder:
            yield Draft(folder)

    def keep(self, draft: Draft, run: Run, scenario: Scenario, *, series: bool, pcap: bool) -> Run:
        """Write the run's tables, move it into place and catalogue it.

        A run of the same key is replaced. What the old one has beyond the new (series, captures) is carried
        over if their results are the same.
        """
        write_run(draft.folder, run, scenario)
        place = self._runs / run.key
        self._move_in(draft.folder, place)
        kept = replace(run, folder=place, tables={})
        command = _command(scenario, run.identity, self.path, place, series=series, pcap=pcap)
        self._catalogue.add(kept, Row(_parameters(scenario.to_toml()), _now(), command))
        return kept

    # ── Reading ─────────────────────────────────────────────────────────────────────────────────────────

    def get(self, identity: Identity, *, series: bool = False, pcap: bool = False) -> Run | None:
        """The run of that identity, if it is there and has the series and captures wanted."""
        run = self._catalogue.find(identity.key)
        if run is None or (series and not run.series_kinds()) or (pcap and not run.captures()):
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

        The view ``runs`` has a row per run (key, scenario, seed, run, one column per metric),
        ``connections`` a row per connection of every run, with the ``key`` of its run.
        """
        from umtslab.store.query import query

        return query(self.path, self.runs(), sql)

    # ── Upkeep ──────────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Give up the staging area and close the catalogue."""
        self._staging.close()
        self._catalogue.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _runs(self) -> Path:
        return self.path / "runs"

    def _move_in(self, folder: Path, place: Path) -> None:
        with self._staging.exclusively():
            if place.exists():
                _carry_over(place, folder)
                self._staging.swap_out(place)
            folder.rename(place)

    def _reconcile(self) -> None:
        """Make the catalogue agree with the folders, which are the truth."""
        catalogued = self._catalogue.keys()
        present = set(os.listdir(self._runs))
        for key in sorted(present - catalogued):
            folder = self._runs / key
            if is_run_folder(folder):
                self._catalogue_again(folder)
        gone = catalogued - present
        if gone:
            self._catalogue.remove(gone)

    def _catalogue_again(self, folder: Path) -> None:
        run = read_run(folder)
        scenario_file = folder / "scenario.toml"
        command = _run_command(
            scenario_file,
            (),
            run.identity,
            self.path,
            series=bool(run.series_kinds()),
            pcap=bool(run.captures()),
        )
        self._catalogue.add(run, Row(_parameters(scenario_file.read_text(encoding="utf-8")), _now(), command))


def open_store(path: str | os.PathLike[str]) -> Store:
    """Open a store, making it if it is not there, and repair what a killed process left.

    Raises
    ------
    OSError
        If the directory cannot be written.
    """
    return Store(path)


def is_store(path: Path) -> bool:
    """Whether `path` is a store."""
    return (path / "catalogue.sqlite").is_file() or (path / "runs").is_dir()


def _carry_over(old: Path, new: Path) -> None:
    if not (is_run_folder(old) and same_metrics(old, new)):
        return
    for part in ("series", "captures"):
        if (old / part).is_dir() and not (new / part).exists():
            shutil.copytree(old / part, new / part)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _parameters(scenario_toml: str) -> str:
    return json.dumps(tomllib.loads(scenario_toml), sort_keys=True, default=str)


def _command(
    scenario: Scenario, identity: Identity, store: Path, place: Path, *, series: bool, pcap: bool
) -> str:
    if scenario.path is None:
        return _run_command(place / "scenario.toml", (), identity, store, series=series, pcap=pcap)
    return _run_command(Path(scenario.path), scenario.overrides, identity, store, series=series, pcap=pcap)


def _run_command(
    scenario_file: Path,
    overrides: Sequence[tuple[str, str]],
    identity: Identity,
    store: Path,
    *,
    series: bool,
    pcap: bool,
) -> str:
    words = ["umts", "run", str(scenario_file.absolute())]
    for key, value in overrides:
        words += ["--set", f"{key}={value}"]
    words += ["--seed", str(identity.seed), "--first-run", str(identity.run)]
    words += ["--series"] * series + ["--pcap"] * pcap
    return shlex.join([*words, "--out", str(store.absolute())])

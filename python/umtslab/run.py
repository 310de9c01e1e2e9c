"""One finished run: who it is, what it measured, where its tables are."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.atomic_files import stored_text
from umtslab.overrides import OverridePairs, changes, changes_of_command, in_words
from umtslab.version import CodeVersion

if TYPE_CHECKING:
    import polars as pl

Metrics = dict[str, float | None]
"""Metric name to value; None where the run has nothing to measure it on."""


@dataclass(frozen=True)
class Identity:
    """What decides a run's result to the bit."""

    scenario_hash: str
    code: CodeVersion
    seed: int
    run: int

    @cached_property
    def result(self) -> str:
        """Name of all replications of this scenario by this code: 16 hexadecimal digits."""
        return _digest(self.scenario_hash, self.code.version, self.code.code)[:16]

    @cached_property
    def key(self) -> str:
        """Name of this run: 32 hexadecimal digits."""
        return _digest(self.scenario_hash, self.code.version, self.code.code, str(self.seed), str(self.run))


def _digest(*parts: str) -> str:
    from hashlib import blake2b

    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


class MissingSeries(LookupError):
    """A time series was asked for that the run did not record."""


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run, in memory or in a run folder."""

    scenario: str
    identity: Identity
    metrics: Metrics
    events: int
    duration_s: float
    folder: Path | None = None
    tables: Mapping[str, Any] = field(default_factory=dict, compare=False)
    command: str = field(default="", compare=False)
    """What makes it again, of a run in a store."""
    overrides: tuple[tuple[str, str], ...] | None = field(default=None, compare=False)
    """Those of its scenario, of a run that was made here; of one from a store the command has them."""

    @cached_property
    def changes(self) -> OverridePairs:
        """What was changed of the scenario that has the run's name."""
        return changes_of_command(self.command) if self.overrides is None else changes(self.overrides)

    @property
    def heading(self) -> str:
        """Who it is, in a line: scenario, seed, number, and what was changed."""
        return ", ".join(
            filter(None, [f"{self.scenario}, seed {self.seed}, run {self.run}", in_words(self.changes)])
        )

    @property
    def seed(self) -> int:
        """Seed of the run's random streams."""
        return self.identity.seed

    @property
    def run(self) -> int:
        """Number of the replication, from 0."""
        return self.identity.run

    @property
    def key(self) -> str:
        """Name of the run's folder."""
        return self.identity.key

    @property
    def is_emulated(self) -> bool:
        """Whether real programs were run: then TCP is as their packets tell it."""
        return self.folder is not None and (self.folder / "emulation.json").is_file()

    def connections(self) -> pl.DataFrame:
        """One row per TCP connection, in the order of their numbers."""
        return self._table("connections", "connections.parquet").sort("connection")

    def connection_rows(self) -> list[dict[str, Any]]:
        """The rows of `connections` as dictionaries, read without a library of data frames."""
        from umtslab import _core

        if self.folder is None:
            return self.connections().to_dicts()
        lines = _core.read_table(str(self.folder / "connections.parquet")).json_lines()
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines.splitlines()]
        return sorted(rows, key=lambda row: int(row["connection"]))

    def connection_text(self, depth: int) -> str:
        """The rows of `connections` as a list of JSON with a line for each value; it stands `depth` deep."""
        from umtslab import _core

        if self.folder is None:
            from umtslab.indented import indented

            return indented(self.connection_rows(), depth)
        return _core.read_table(str(self.folder / "connections.parquet")).json_list("connection", depth)

    def connection_count(self) -> int:
        """How many rows `connections` has; none of them is read."""
        return self._rows("connections", "connections.parquet")

    def series_kinds(self) -> list[str]:
        """Time series that were recorded; empty without ``series=True``."""
        if self.folder is None:
            return sorted(name for name in self.tables if name != "connections")
        return sorted(file.stem for file in (self.folder / "series").glob("*.parquet"))

    def series(self, kind: str) -> pl.DataFrame:
        """One time series; ``time_s`` is its first column.

        Raises
        ------
        MissingSeries
            If `kind` was not recorded; the message says how to record it.
        """
        if kind not in self.series_kinds():
            raise MissingSeries(_advice(kind, self.series_kinds()))
        return self._table(kind, f"series/{kind}.parquet")

    def series_rows(self, kind: str) -> int:
        """How many rows a time series has, none of which is read; 0 for one that was not recorded."""
        return self._rows(kind, f"series/{kind}.parquet") if kind in self.series_kinds() else 0

    def budget(self) -> pl.DataFrame:
        """What the time of all connections was spent on: a row per cause, in the order of precedence.

        Raises
        ------
        umtslab.budget.MissingBudget
            If the scenario does not say ``measure.budget = true``.
        """
        from umtslab.budget import budget_frame

        return budget_frame(self.metrics)

    def waterfall_connection(self) -> int | None:
        """The connection whose waterfall its scenario wants; None if of none, or the run is in no store."""
        import tomllib

        if self.folder is None:
            return None
        scenario = tomllib.loads(stored_text(self.folder / "scenario.toml"))
        found = scenario.get("measure", {}).get("waterfall")
        return None if found is None else int(found)

    def lacks_connection(self, number: int) -> str | None:
        """That the run had no such connection, and which it had; None if it had it."""
        numbers = [row["connection"] for row in self.connection_rows()]
        if number in numbers:
            return None
        had = f"connections {numbers[0]} to {numbers[-1]}" if numbers else "no connection"
        return f"run {self.run} had {had}, so nothing of connection {number} was recorded"

    def captures(self) -> list[Path]:
        """Captures of the run: a file per capture point, and per direction and view of RLC PDUs."""
        return [] if self.folder is None else sorted((self.folder / "captures").glob("*"))

    def __repr__(self) -> str:
        """As in ``Run('ftp-on-fach', seed=1, run=0, key='0123456789ab')``."""
        return f"Run({self.scenario!r}, seed={self.seed}, run={self.run}, key={self.key[:12]!r})"

    def _repr_html_(self) -> str:
        from umtslab.analyse.statistics import summarise_metrics
        from umtslab.notebook import caption, table
        from umtslab.tables import metrics_table

        shown = metrics_table(summarise_metrics([self.metrics]))
        who = f"{self.duration_s:g} s, seed {self.seed}, run {self.run}, umtslab {self.identity.code}"
        where = "" if self.folder is None else str(self.folder)
        return caption(self.scenario, in_words(self.changes), who, where) + table(shown)

    def _rows(self, name: str, file: str) -> int:
        from umtslab import _core

        if self.folder is None:
            return len(self.tables[name])
        return _core.count_rows(str(self.folder / file))

    def _table(self, name: str, file: str) -> pl.DataFrame:
        import polars as pl

        if self.folder is None:
            return pl.DataFrame(self.tables[name])
        return pl.read_parquet(self.folder / file)


def _advice(kind: str, recorded: list[str]) -> str:
    if not recorded:
        return "the run recorded no time series: run it again with --series (in Python: series=True)"
    if kind == "rlc_pdus":
        return "the run recorded no RLC PDUs: run it again with --series and --set measure.rlc_pdus=true"
    if kind == "slots":
        return "the run recorded no slots: run a TDD cell with --series and --set measure.slots=true"
    if kind == "dsch":
        return (
            "the run recorded no requests for a DSCH: run a layout with --series and --set measure.dsch=true"
        )
    if kind == "cells":
        return "the run recorded no load of cells: only those of a layout have one, with --series"
    return f"the run recorded no series {kind!r}; it has {', '.join(recorded)}"


def finite(metrics: Mapping[str, float | None]) -> Metrics:
    """Metrics in order of their names, None for whatever is not a finite number."""
    return {
        name: value if value is not None and math.isfinite(value) else None
        for name, value in sorted(metrics.items())
    }

"""A finished run: identity, metrics and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.atomic_files import stored_text
from umtslab.overrides import OverridePairs, changes, changes_of_command, changes_text
from umtslab.version import CodeVersion

if TYPE_CHECKING:
    import polars as pl

Metrics = dict[str, float | None]
"""Value of each metric. None if the run has no data for it."""


@dataclass(frozen=True)
class Identity:
    """The inputs that determine a run's result to the bit."""

    scenario_hash: str
    code: CodeVersion
    seed: int
    run: int

    @cached_property
    def result(self) -> str:
        """Key shared by all replications of this scenario with this code: 16 hexadecimal digits."""
        return _digest(self.scenario_hash, self.code.version, self.code.code)[:16]

    @cached_property
    def key(self) -> str:
        """Key of this run: 32 hexadecimal digits."""
        return _digest(self.scenario_hash, self.code.version, self.code.code, str(self.seed), str(self.run))


def _digest(*parts: str) -> str:
    from hashlib import blake2b

    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


class MissingSeries(LookupError):
    """The run did not record a requested time series."""


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
    """Command that repeats the run. Only runs from a store have one."""
    overrides: tuple[tuple[str, str], ...] | None = field(default=None, compare=False)
    """Overrides of the scenario, for a run of this process.

    None for a run from a store (see `command`).
    """

    @cached_property
    def changes(self) -> OverridePairs:
        """Changes to the scenario of this name."""
        return changes_of_command(self.command) if self.overrides is None else changes(self.overrides)

    @property
    def heading(self) -> str:
        """One line with scenario, seed, number and changes."""
        return ", ".join(
            filter(None, [f"{self.scenario}, seed {self.seed}, run {self.run}", changes_text(self.changes)])
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
        """Whether the run is an emulation.

        Its TCP metrics are then derived from captured packets.
        """
        return self.folder is not None and (self.folder / "emulation.json").is_file()

    def connections(self) -> pl.DataFrame:
        """Return one row per TCP connection, ordered by number."""
        return self._table("connections", "connections.parquet").sort("connection")

    def connection_rows(self) -> list[dict[str, Any]]:
        """Return the rows of `connections` as dictionaries. Imports no data frame library."""
        from umtslab import _core

        if self.folder is None:
            return self.connections().to_dicts()
        lines = _core.read_table(str(self.folder / "connections.parquet")).json_lines()
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines.splitlines()]
        return sorted(rows, key=lambda row: int(row["connection"]))

    def connection_count(self) -> int:
        """Return the number of rows of `connections` without reading them."""
        return self._rows("connections", "connections.parquet")

    def series_kinds(self) -> list[str]:
        """Return the names of the recorded time series. Empty without ``series=True``."""
        if self.folder is None:
            return sorted(name for name in self.tables if name != "connections")
        return sorted(file.stem for file in (self.folder / "series").glob("*.parquet"))

    def series(self, kind: str) -> pl.DataFrame:
        """Return one time series. Its first column is ``time_s``.

        Raises
        ------
        MissingSeries
            If `kind` was not recorded. The message says how to record it.
        """
        if kind not in self.series_kinds():
            raise MissingSeries(_missing_series_text(kind, self.series_kinds()))
        table = self._table(kind, f"series/{kind}.parquet")
        return with_last(table.lazy()).collect() if kind == "timeline_pdus" else table

    def series_rows(self, kind: str) -> int:
        """Return the number of rows of a time series without reading them.

        0 if it was not recorded.
        """
        return self._rows(kind, f"series/{kind}.parquet") if kind in self.series_kinds() else 0

    def budget(self) -> pl.DataFrame:
        """Return the time of all connections by cause, one row per cause in order of precedence.

        Raises
        ------
        umtslab.budget.MissingBudget
            If the scenario does not set ``measure.budget = true``.
        """
        from umtslab.budget import budget_frame

        return budget_frame(self.metrics)

    def waterfall_connection(self) -> int | None:
        """Return the number of the connection of the waterfall. None for runs in memory."""
        import tomllib

        if self.folder is None:
            return None
        scenario = tomllib.loads(stored_text(self.folder / "scenario.toml"))
        number = scenario.get("measure", {}).get("waterfall")
        return None if number is None else int(number)

    def lacks_connection(self, number: int) -> str | None:
        """Return an error text if the run has no connection `number`, else None."""
        numbers = [row["connection"] for row in self.connection_rows()]
        if number in numbers:
            return None
        existing = f"connections {numbers[0]} to {numbers[-1]}" if numbers else "no connection"
        return f"run {self.run} had {existing}, so connection {number} was not recorded"

    def captures(self) -> list[Path]:
        """Return the captures: one per capture point, and per direction and view of RLC PDUs."""
        return [] if self.folder is None else sorted((self.folder / "captures").glob("*"))

    def __repr__(self) -> str:
        """As in ``Run('ftp-on-fach', seed=1, run=0, key='0123456789ab')``."""
        return f"Run({self.scenario!r}, seed={self.seed}, run={self.run}, key={self.key[:12]!r})"

    def _repr_html_(self) -> str:
        from umtslab.analyse.statistics import summarise_metrics
        from umtslab.notebook import caption, table
        from umtslab.tables import metrics_table

        rows = metrics_table(summarise_metrics([self.metrics]))
        identity = f"{self.duration_s:g} s, seed {self.seed}, run {self.run}, umtslab {self.identity.code}"
        folder = "" if self.folder is None else str(self.folder)
        return caption(self.scenario, changes_text(self.changes), identity, folder) + table(rows)

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


def _missing_series_text(kind: str, recorded: list[str]) -> str:
    if not recorded:
        return "the run recorded no time series: run it again with --series (in Python: series=True)"
    if kind == "rlc_pdus":
        return "the run recorded no RLC PDUs: run it again with --series and --set measure.rlc_pdus=true"
    if kind == "slots":
        return (
            "the run recorded no slots: run a scenario with a TDD cell with --series and --set "
            "measure.slots=true"
        )
    if kind == "dsch":
        return (
            "the run recorded no DSCH requests: run a scenario with a layout with --series and --set "
            "measure.dsch=true"
        )
    if kind == "cells":
        return "the run recorded no cell load: run a scenario with a layout with --series"
    return f"the run recorded no series {kind!r}; it has {', '.join(recorded)}"


def finite(metrics: Mapping[str, float | None]) -> Metrics:
    """Return the metrics sorted by name, with None for values that are not finite."""
    return {
        name: value if value is not None and math.isfinite(value) else None
        for name, value in sorted(metrics.items())
    }


def with_last(pdus: pl.LazyFrame) -> pl.LazyFrame:
    """Add the column ``last``, the number of a row's last PDU: ``first + count - 1``, null without `first`.

    A table without the column ``count``, or with ``last``, is returned unchanged.
    """
    import polars as pl

    names = pdus.collect_schema().names()
    if "count" not in names or "last" in names:
        return pdus
    last = (pl.col("first").cast(pl.Int64) + pl.col("count") - 1).cast(pl.UInt32)
    position = names.index("count")
    return pdus.with_columns(last.alias("last")).select(*names[:position], "last", *names[position:])

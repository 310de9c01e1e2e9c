"""The tables of a store that SQL can query, made in a DuckDB database.

``runs`` has a row per run, with every parameter and metric as a column. ``connections`` and each
time series have the rows of all runs. Their first columns are the identity of the run, and the
parameters in which the runs differ. ``campaigns``, ``points`` and ``keys`` describe campaigns and
the units of parameters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.store.campaign_tables import campaigns_frame, points_frame
from umtslab.store.parameters import IDENTITY, keys_frame, wide_table

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from umtslab.run import Run

RUNS, CONNECTIONS = "runs", "connections"
CAMPAIGNS, POINTS, KEYS = "campaigns", "points", "keys"
NOT_SERIES = (RUNS, CONNECTIONS, CAMPAIGNS, POINTS, KEYS)
"""The tables that are not time series."""


@dataclass(frozen=True)
class Contents:
    """Runs, scenarios and campaigns of a store, from which its tables are made."""

    runs: Sequence[Run]
    scenarios: Sequence[Mapping[str, Any]]
    """The scenario of each run, as tables in tables."""
    campaigns: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    """The content of each campaign's record."""

    def series_files(self) -> dict[str, list[Path]]:
        """Return the Parquet files of ``connections`` and of each time series, by name of the table.

        ``connections`` comes first, the series follow in alphabetical order.
        """
        files_of_table: dict[str, list[Path]] = {CONNECTIONS: []}
        for run in self.runs:
            assert run.folder is not None, "runs of a store have folders"
            files_of_table[CONNECTIONS].append(run.folder / "connections.parquet")
            for kind in run.series_kinds():
                files_of_table.setdefault(kind, []).append(run.folder / "series" / f"{kind}.parquet")
        if not self.runs:
            return {}
        return {CONNECTIONS: files_of_table.pop(CONNECTIONS), **dict(sorted(files_of_table.items()))}

    def table_names(self) -> list[str]:
        """Return the names of all tables."""
        return [RUNS, *self.series_files(), CAMPAIGNS, POINTS, KEYS]


def define_tables(
    db: duckdb.DuckDBPyConnection,
    contents: Contents,
    folder: Path,
    names: Collection[str],
    *,
    as_views: bool = False,
) -> None:
    """Create the tables `names` in `db`, with `folder` for temporary files.

    The table ``runs`` is always created, because the others are joined with it. A view reads the
    files of the runs at each use. A table holds a copy of their rows.
    """
    runs_table = wide_table(contents.runs, contents.scenarios)
    frames = {
        RUNS: runs_table.table,
        CAMPAIGNS: campaigns_frame(contents.campaigns),
        POINTS: points_frame(contents.campaigns),
        KEYS: keys_frame(contents.scenarios),
    }
    kind = "view" if as_views else "table"
    for name, frame in frames.items():
        if name in names or name == RUNS:
            _define_frame(db, kind, name, frame, folder)
    leading_columns = [*IDENTITY, *runs_table.differing()]
    for name, files in contents.series_files().items():
        if name in names:
            _define_series(db, kind, name, files, leading_columns)


def _define_frame(
    db: duckdb.DuckDBPyConnection, kind: str, name: str, frame: pl.DataFrame, folder: Path
) -> None:
    """Define a table with the rows of a data frame, which is written to a file in `folder`."""
    file = folder / f"{name}.parquet"
    frame.write_parquet(file)
    db.execute(f"create {kind} {_quoted_name(name)} as select * from read_parquet({_quoted_text(str(file))})")


def _define_series(
    db: duckdb.DuckDBPyConnection, kind: str, name: str, files: list[Path], leading_columns: list[str]
) -> None:
    """Define a table with the rows of many runs' files, in the order of the runs.

    The `leading_columns` of ``runs`` come first.
    """
    listed = ", ".join(_quoted_text(str(file)) for file in files)
    # The run's key is a part of the path: KEY/connections.parquet or KEY/series/KIND.parquet.
    key_index = -2 if name == CONNECTIONS else -3
    columns = ", ".join(f"r.{_quoted_name(column)}" for column in leading_columns)
    db.execute(
        f"create {kind} {_quoted_name(name)} as select {columns}, f.* exclude (filename, file_row_number) "
        f"from read_parquet([{listed}], filename = true, file_row_number = true, union_by_name = true) f "
        f"join {RUNS} r on r.key = parse_path(f.filename)[{key_index}] "
        "order by r.result, r.seed, r.run, f.file_row_number"
    )


def _quoted_name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _quoted_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

"""SQL over a store, by DuckDB, and a store as one set of Parquet files.

Both know the same tables: ``runs``, with every parameter and metric as a column, ``connections`` and each
time series. The rows of these have in front who their run is, and the parameters in which the runs differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from umtslab.store.parameters import IDENTITY, wide_table

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from umtslab.run import Run

Scenario = Mapping[str, Any]
"""A scenario as the catalogue has it: tables in tables."""

RUNS, CONNECTIONS = "runs", "connections"


class WrongQuery(ValueError):
    """SQL that DuckDB cannot answer; the message is its own, with the tables that there are."""


def query(runs: Sequence[Run], scenarios: Sequence[Scenario], sql: str) -> pl.DataFrame:
    """Answer `sql` over the tables of stored runs and their scenarios.

    Raises
    ------
    WrongQuery
        If it is no query, or asks for what there is not.
    """
    import duckdb
    import polars as pl

    with _opened(runs, scenarios) as (db, tables, folder):
        # By a file: handed over as an Arrow stream, DuckDB 2.0 reports leaks on standard error when Python
        # ends.
        answer = folder / "answer.parquet"
        try:
            found = db.sql(sql)
            if found is None:
                raise WrongQuery("that asks for nothing: a query begins with select")
            found.write_parquet(str(answer))
        except duckdb.Error as error:
            raise WrongQuery(f"{error}\nthere are {', '.join(tables)}") from None
        return pl.read_parquet(answer)


def write_dataset(runs: Sequence[Run], scenarios: Sequence[Scenario], folder: Path) -> list[Path]:
    """Write stored runs as Parquet files into `folder`, which must not be there: one file for each table.

    ``runs.parquet``, ``connections.parquet``, and ``series/KIND.parquet`` for each kind that a run recorded.
    The same runs give the same rows in the same order.

    Raises
    ------
    FileExistsError
        If there is something of that name.
    """
    folder.mkdir(parents=True)
    written = []
    with _opened(runs, scenarios) as (db, tables, _):
        for table in tables:
            path = folder / (
                f"{table}.parquet" if table in (RUNS, CONNECTIONS) else f"series/{table}.parquet"
            )
            path.parent.mkdir(exist_ok=True)
            db.table(table).write_parquet(str(path), compression="zstd")
            written.append(path)
    return written


@contextmanager
def _opened(
    runs: Sequence[Run], scenarios: Sequence[Scenario]
) -> Iterator[tuple[duckdb.DuckDBPyConnection, list[str], Path]]:
    """A database in memory with the runs' tables, the names of these, and a folder for what is in between."""
    import duckdb

    with TemporaryDirectory(prefix="umts-query-") as folder, duckdb.connect() as db:
        place = Path(folder)
        wide = wide_table(runs, scenarios)
        wide.table.write_parquet(place / "runs.parquet")
        db.read_parquet(str(place / "runs.parquet")).create_view(RUNS)
        tables = [RUNS]
        if runs:
            in_front = [*IDENTITY, *wide.differing()]
            for name, files in _files(runs).items():
                _view(db, name, files, in_front)
                tables.append(name)
        yield db, tables, place


def _files(runs: Sequence[Run]) -> dict[str, list[Path]]:
    """The files of each table, by its name; of connections first."""
    found: dict[str, list[Path]] = {CONNECTIONS: []}
    for run in runs:
        assert run.folder is not None, "it is in a store"
        found[CONNECTIONS].append(run.folder / "connections.parquet")
        for kind in run.series_kinds():
            found.setdefault(kind, []).append(run.folder / "series" / f"{kind}.parquet")
    return {CONNECTIONS: found.pop(CONNECTIONS), **dict(sorted(found.items()))}


def _view(db: duckdb.DuckDBPyConnection, name: str, files: list[Path], in_front: list[str]) -> None:
    """The rows of many runs' files in the order of the runs, with what tells the runs apart in front."""
    listed = ", ".join(_text(str(file)) for file in files)
    depth = -2 if name == CONNECTIONS else -3
    columns = ", ".join(f"r.{_name(column)}" for column in in_front)
    db.execute(
        f"create view {_name(name)} as select {columns}, f.* exclude (filename, file_row_number) "
        f"from read_parquet([{listed}], filename = true, file_row_number = true, union_by_name = true) f "
        f"join {RUNS} r on r.key = parse_path(f.filename)[{depth}] "
        "order by r.result, r.seed, r.run, f.file_row_number"
    )


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

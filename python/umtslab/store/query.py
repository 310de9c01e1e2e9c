"""SQL over a store, by DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run


def query(store: Path, runs: Sequence[Run], sql: str) -> pl.DataFrame:
    """Answer `sql` over the views ``runs`` and ``connections``."""
    import duckdb
    import polars as pl

    from umtslab.export import runs_table

    with TemporaryDirectory(prefix="umts-query-") as folder, duckdb.connect() as db:
        catalogue = Path(folder) / "runs.parquet"
        runs_table(runs).write_parquet(catalogue)
        db.read_parquet(str(catalogue)).create_view("runs")
        if runs:
            tables = [str(store / "runs" / run.key / "connections.parquet") for run in runs]
            found = db.read_parquet(tables, filename=True, union_by_name=True)
            found.project("* EXCLUDE (filename), parse_path(filename)[-2] AS key").create_view("connections")
        # By a file: handed over as an Arrow stream, DuckDB 2.0 reports leaks on standard error when Python
        # ends.
        answer = Path(folder) / "answer.parquet"
        db.sql(sql).write_parquet(str(answer))
        return pl.read_parquet(answer)

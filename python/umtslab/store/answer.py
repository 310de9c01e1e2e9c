"""Writes the result of an SQL query (``umts query``) with column types that every output format supports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_KEPT_TYPES = frozenset(
    {
        "boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger",
        "ubigint", "uhugeint", "float", "double", "decimal", "varchar", "time", '"null"', "null", "sqlnull",
    }
)  # fmt: skip
"""DuckDB's names of the types that are kept."""

_NESTED_TYPES = frozenset({"list", "array", "struct"})

_DATES = {
    "date": "date '0001-01-01' and date '9999-12-31'",
    "timestamp": "timestamp '0001-01-01' and timestamp '9999-12-31'",
}
"""Types with a larger range than Python's, and the range of Python's."""


def write_answer(answer: duckdb.DuckDBPyRelation, file: Path) -> None:
    """Write the rows of a query as Parquet.

    Types that are not kept become text, and dates beyond year 9999 null. A file is used because
    DuckDB 2.0 reports leaks on standard error if an Arrow stream outlives the connection.
    """
    columns = (
        f"{_expression(number, kind)} as {_quoted(name)}"
        for number, (name, kind) in enumerate(zip(answer.columns, answer.types, strict=True), 1)
    )
    answer.project(", ".join(columns)).write_parquet(str(file))


def _expression(number: int, kind: Any) -> str:
    """Return the SQL expression of a column, with a cast if its type is not kept."""
    if (limits := _DATES.get(str(kind).lower())) is not None:
        return f"case when #{number} between {limits} then #{number} end"
    return f"#{number}" if _is_kept(kind) else f"cast(#{number} as varchar)"


def _is_kept(kind: Any) -> bool:
    """Whether a type of DuckDB is kept in all output formats, without conversion."""
    name = str(kind.id).lower()
    if name in _NESTED_TYPES:
        parts = [part for _, part in kind.children if not isinstance(part, int)]
        return bool(parts) and all(map(_is_kept, parts))
    return name in _KEPT_TYPES


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def clean(answer: pl.DataFrame) -> pl.DataFrame:
    """Replace floats that are not finite by null."""
    import polars as pl
    import polars.selectors as cs

    floats = cs.float()
    return answer.with_columns(pl.when(floats.is_finite()).then(floats))

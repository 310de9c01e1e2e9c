"""``umts query``: SQL over a results folder."""

from __future__ import annotations

import io
import json as json_text
import math
import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_flag, add_json, add_out, add_output
from umtslab.cli.output_files import check_folder
from umtslab.cli.results import read_results
from umtslab.exit_status import INTERRUPTED
from umtslab.store.interruptible import Abandoned
from umtslab.store.reader import is_store
from umtslab.terminal_escape import printable, write_data

if TYPE_CHECKING:
    import polars as pl

    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts query``."""
    parser.explain(
        "The table `runs` has one row per run, with a column for every parameter (quantities as "
        "numbers in s, bit/s or bytes) and every metric. `connections` has one row per TCP "
        "connection. Each recorded time series is a table with its own name. `campaigns` has one row "
        "per campaign, `points` one row per run of each point, `keys` the units of parameters. Write "
        'names with a dot in double quotes: select "radio.bler" from runs. The SQL dialect is '
        "DuckDB's. Queries can neither read other files nor write any file, and do not change the "
        "folder.",
    )
    parser.add_argument("sql", metavar="SQL", help="The query, in quotes; or - for standard input.")
    add_flag(parser, "--csv", "Comma-separated values.")
    add_json(parser, "one JSON list of rows")
    add_output(parser, "File to write: .csv, .json or .parquet.")
    add_out(parser, "Results folder to query")


def query(sql: str, *, csv: bool, json: bool, output: Path | None, out: Path) -> int:
    """Query stored runs by SQL. `options` declares the arguments."""
    if csv and json:
        raise UsageError("--csv and --json exclude each other: give one of them")
    kind = _kind(output, csv=csv, json=json)
    if not is_store(out):
        raise UsageError(f"{out} is not a results folder: give one with --out FOLDER")
    text = sys.stdin.read() if sql == "-" else sql
    with read_results(out) as store:
        try:
            answer = store.query(text)
        except Abandoned:
            # The thread of the query is still running. Without `_exit` Python would wait for it.
            sys.stdout.flush()
            os._exit(INTERRUPTED)
    if kind == "":
        _show(answer)
    elif output is None:
        write_data(_as_bytes(answer, kind))
    else:
        from umtslab.atomic_files import output_file

        with output_file(output) as file:
            file.write(_as_bytes(answer, kind))
    return 0


def _kind(output: Path | None, *, csv: bool, json: bool) -> str:
    """Return the output format as a file suffix, or an empty text for a table on the terminal."""
    by_option = ".csv" if csv else ".json" if json else ""
    if output is None:
        return by_option
    check_folder(output)
    kind = by_option or output.suffix
    if kind not in (".csv", ".json", ".parquet"):
        raise UsageError(f"{output}: the suffix must be .csv, .json or .parquet")
    return kind


def _as_bytes(answer: pl.DataFrame, kind: str) -> bytes:
    """Return the answer in the format of `kind`: .csv, .json or .parquet."""
    if kind == ".csv":
        return _with_nested_as_text(answer).write_csv().encode()
    if kind == ".json":
        rows = [{name: _json_value(value) for name, value in row.items()} for row in answer.to_dicts()]
        return (json_text.dumps(rows, indent=1, default=str, allow_nan=False) + "\n").encode()
    content = io.BytesIO()
    answer.write_parquet(content)
    return content.getvalue()


def _json_value(value: object) -> object:
    """Return a value for JSON: null for numbers that are not finite, numbers for decimals."""
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): _json_value(inner) for name, inner in value.items()}
    return [_json_value(inner) for inner in value] if isinstance(value, list) else value


def _with_nested_as_text(answer: pl.DataFrame) -> pl.DataFrame:
    """Return the table with lists and structs as JSON text, because CSV cannot represent them."""
    import polars as pl

    def text(column: pl.Series) -> pl.Series:
        rows = column.to_list()
        return pl.Series(
            column.name,
            [None if row is None else json_text.dumps(_json_value(row), default=str) for row in rows],
            dtype=pl.String,
        )

    nested = [column for column in answer if column.dtype.is_nested()]
    return answer.with_columns(text(column) for column in nested)


def _show(answer: pl.DataFrame) -> None:
    """Print the answer as a table."""
    from umtslab.text_table import Table, show

    table = Table(*(">" if column.dtype.is_numeric() else "" for column in answer))
    table.headings = [printable(name) for name in answer.columns]
    for row in zip(*(_cells(column) for column in answer), strict=True):
        table.add_row(*row)
    show(table)


def _cells(column: pl.Series) -> list[str]:
    """Format a column as text, with enough digits to distinguish the numbers."""
    from umtslab.numbers import NO_NUMBER, numbers

    if column.dtype.is_float():
        return numbers(column)
    return [NO_NUMBER if value is None else str(value) for value in column.to_list()]

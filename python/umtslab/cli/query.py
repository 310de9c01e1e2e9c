"""``umts query``: SQL over a results folder."""

from __future__ import annotations

import io
import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_flag, add_json, add_out, add_output
from umtslab.cli.output_files import check_folder
from umtslab.cli.results import read_results
from umtslab.printable import write_data
from umtslab.store.reader import is_store

if TYPE_CHECKING:
    import polars as pl

    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """What can be typed behind ``umts query``."""
    parser.explain(
        "The table `runs` has a row per run, with a column for every parameter, as a number in s, bit/s or "
        "octets where it is one, and for every metric. `connections` has a row per TCP connection, and each "
        "recorded time series is a table of its own name. Names with a dot stand in double quotes, as in "
        'select "radio.bler" from runs. The SQL is DuckDB\'s; nothing in the folder is changed.',
    )
    parser.add_argument("sql", metavar="SQL", help="The question: a text in quotes, or - for standard input.")
    add_flag(parser, "--csv", "Comma-separated values.")
    add_json(parser, "one JSON list of rows")
    add_output(parser, "File to write: .csv, .json or .parquet.")
    add_out(parser, "The results folder that is asked")


def query(sql: str, *, csv: bool, json: bool, output: Path | None, out: Path) -> int:
    """Answer a question about stored runs; arguments as `options` declares them."""
    if csv and json:
        raise UsageError("--csv and --json are two forms of one answer: say one of them")
    kind = _kind(output, csv=csv, json=json)
    if not is_store(out):
        raise UsageError(f"{out} is no results folder: say --out FOLDER")
    with read_results(out) as store:
        answer = store.query(sys.stdin.read() if sql == "-" else sql)
    if kind == "":
        _show(answer)
    elif output is None:
        write_data(_as_bytes(answer, kind))
    else:
        from umtslab.whole_files import whole_file

        with whole_file(output) as file:
            file.write(_as_bytes(answer, kind))
    return 0


def _kind(output: Path | None, *, csv: bool, json: bool) -> str:
    """What the answer becomes, as the end of a file's name; nothing for a table to read."""
    asked = ".csv" if csv else ".json" if json else ""
    if output is None:
        return asked
    check_folder(output)
    kind = asked or output.suffix
    if kind not in (".csv", ".json", ".parquet"):
        raise UsageError(f"{output}: the end of the name says what it becomes: .csv, .json or .parquet")
    return kind


def _as_bytes(answer: pl.DataFrame, kind: str) -> bytes:
    if kind == ".csv":
        return answer.write_csv().encode()
    if kind == ".json":
        return (json_text.dumps(answer.to_dicts(), indent=1, default=str) + "\n").encode()
    content = io.BytesIO()
    answer.write_parquet(content)
    return content.getvalue()


def _show(answer: pl.DataFrame) -> None:
    from umtslab.columns import Table, show
    from umtslab.numbers import NOTHING, number

    def cell(value: object) -> str:
        if isinstance(value, float):
            return number(value)
        return NOTHING if value is None else str(value)

    right = [dtype.is_numeric() for dtype in answer.dtypes]
    table = Table(*(f">{name}" if one else name for name, one in zip(answer.columns, right, strict=True)))
    for row in answer.iter_rows():
        table.add_row(*(cell(value) for value in row))
    show(table)

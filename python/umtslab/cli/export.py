"""``umts export``: results as tables for papers and other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULT, add_flag, add_out, add_output, add_value, add_values
from umtslab.cli.parser import whole_number

if TYPE_CHECKING:
    from umtslab.cli.parser import Options, Parser

_TABLES = ("runs", "summary", "connections", "pivot")


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts export``."""
    parser.explain(
        f"{RESULT} Or a campaign there; or a study, of which the table of trials or effects is written."
    )
    parser.add_argument("result", metavar="RESULT", help="What to write.")
    _kinds(parser.add_argument_group("what it becomes"))
    trace = parser.add_argument_group("of a trace")
    trace.add_argument(
        "--ue", type=whole_number, metavar="N", default=0, help="Number of the user, from 0 (default: 0)."
    )
    trace.add_argument(
        "--direction",
        choices=("downlink", "uplink"),
        metavar="WAY",
        default="downlink",
        help="The way that the packets went: downlink (the default) or uplink.",
    )
    files = parser.add_argument_group("files")
    add_output(files, "File to write (default: standard output).")
    add_out(files, "Where results are looked up by name")


def _kinds(group: Options) -> None:
    add_flag(
        group,
        "--csv",
        "Comma-separated values; by default one row per run. Varied quantities are numbers in s, bit/s or B.",
    )
    add_flag(
        group,
        "--latex",
        "A table of booktabs and siunitx; by default one row per metric, with mean and 95 % interval.",
    )
    add_flag(
        group,
        "--mahimahi",
        "When 1,500 octets came over a user's bearer, as mahimahi's traces have it; needs "
        "--series and a user who always had something to send.",
    )
    add_flag(
        group,
        "--parquet",
        "The whole results folder as Parquet files in a new folder, given with -o: runs, connections and "
        "time series, with the parameters as columns.",
    )
    group.add_argument(
        "--table",
        choices=_TABLES,
        metavar="TABLE",
        help="Which table: runs, summary or connections; or pivot, a campaign with a row per value of --rows "
        "and a column per value of --columns.",
    )
    add_values(
        group,
        "--metric",
        "NAME",
        "Of a summary or a pivot table, this metric; may be repeated (default: with --csv all, else those "
        "that a first look wants).",
    )
    add_value(group, "--rows", "KEY", "Of a pivot table, the parameter of its rows.")
    add_value(
        group, "--columns", "KEY", "Of a pivot table, the parameter of its columns (default: the metrics)."
    )


def export(
    result: str,
    *,
    csv: bool,
    latex: bool,
    mahimahi: bool,
    parquet: bool,
    ue: int,
    direction: str,
    table: str | None,
    metric: Sequence[str],
    rows: str | None,
    columns: str | None,
    output: Path | None,
    out: Path,
) -> int:
    """Write a table or a trace of a result. `options` declares the arguments."""
    if [csv, latex, mahimahi, parquet].count(True) != 1:
        raise UsageError("say one of --csv, --latex, --mahimahi and --parquet")
    from umtslab.atomic_files import whole_file
    from umtslab.cli.exports import dataset, table_of, trace
    from umtslab.cli.output_files import check_folder
    from umtslab.terminal_escape import write_data

    if parquet:
        return dataset(result, output)
    if output is not None:
        check_folder(output)
    if mahimahi:
        text = trace(result, out, ue, direction)
    else:
        chosen = table or ("pivot" if rows or columns else "runs" if csv else "summary")
        text = table_of(result, out, chosen, metric, rows, columns, latex=latex)
    if output is None:
        write_data(text.encode())
        return 0
    with whole_file(output) as file:
        file.write(text.encode())
    return 0

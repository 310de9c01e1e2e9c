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
        f"{RESULT} It may also be a campaign there, or a study: then the table of its trials or "
        "effects is written."
    )
    parser.add_argument("result", metavar="RESULT", help="The result to export.")
    _kinds(parser.add_argument_group("format and content"))
    trace = parser.add_argument_group("traces")
    trace.add_argument(
        "--ue", type=whole_number, metavar="N", default=0, help="Number of the UE, from 0 (default: 0)."
    )
    trace.add_argument(
        "--direction",
        choices=("downlink", "uplink"),
        metavar="DIRECTION",
        default="downlink",
        help="Direction of the packets: downlink (default) or uplink.",
    )
    files = parser.add_argument_group("files")
    add_output(files, "File to write (default: standard output).")
    add_out(files, "Results folder in which names are looked up")


def _kinds(group: Options) -> None:
    add_flag(
        group,
        "--csv",
        "Comma-separated values; by default one row per run. Varied quantities are numbers in s, bit/s or B.",
    )
    add_flag(
        group,
        "--latex",
        "A LaTeX table (booktabs, siunitx); by default one row per metric, with mean and 95 % interval.",
    )
    add_flag(
        group,
        "--mahimahi",
        "A capacity trace in mahimahi's format: the times at which 1,500 octets passed a UE's "
        "bearer. Requires --series and a UE with data to send at all times.",
    )
    add_flag(
        group,
        "--parquet",
        "The whole results folder as Parquet files in a new folder, given with -o: runs, connections "
        "and time series, with the parameters as columns.",
    )
    group.add_argument(
        "--perfetto",
        type=Path,
        metavar="FILE",
        help="A trace of a run recorded with --timeline, with the lanes of `umts lanes`, for "
        "ui.perfetto.dev or chrome://tracing: JSON, written to this file.",
    )
    group.add_argument(
        "--table",
        choices=_TABLES,
        metavar="TABLE",
        help=(
            "Table to write: runs, summary or connections; or pivot, a campaign with one row per "
            "value of --rows and one column per value of --columns."
        ),
    )
    add_values(
        group,
        "--metric",
        "NAME",
        "Metric of a summary or pivot table; may be repeated (default: with --csv all metrics, "
        "otherwise the headline metrics).",
    )
    add_value(group, "--rows", "KEY", "Parameter in the rows of a pivot table.")
    add_value(
        group,
        "--columns",
        "KEY",
        "Parameter in the columns of a pivot table (default: the metrics are the columns).",
    )


def export(
    result: str,
    *,
    csv: bool,
    latex: bool,
    mahimahi: bool,
    parquet: bool,
    perfetto: Path | None,
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
    if [csv, latex, mahimahi, parquet, perfetto is not None].count(True) != 1:
        raise UsageError("give one of --csv, --latex, --mahimahi, --parquet and --perfetto")
    from umtslab.atomic_files import output_file
    from umtslab.cli.exports import dataset, perfetto_trace, table_of, trace
    from umtslab.cli.output_files import check_folder
    from umtslab.terminal_escape import write_data

    if parquet:
        return dataset(result, output)
    if perfetto is not None:
        return perfetto_trace(result, out, perfetto)
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
    with output_file(output) as file:
        file.write(text.encode())
    return 0

"""``umts export``: results as tables for other programs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab import export as export_tables
from umtslab.cli.campaigns import opened_campaign
from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULT, add_flag, add_out, add_output, add_values
from umtslab.cli.output_files import check_folder
from umtslab.cli.parser import whole_number
from umtslab.cli.results import find_runs
from umtslab.export import to_csv, to_latex

if TYPE_CHECKING:
    import polars as pl

    from umtslab.campaign.record import Record
    from umtslab.cli.parser import Options, Parser
    from umtslab.store import StoreReader


def options(parser: Parser) -> None:
    """What can be typed behind ``umts export``."""
    parser.explain(f"{RESULT} Or a campaign there.")
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
    add_flag(group, "--csv", "Comma-separated values; by default one row per run.")
    add_flag(
        group,
        "--latex",
        "A booktabs table; by default one row per metric, with mean, deviation and 95 % half width.",
    )
    add_flag(
        group,
        "--mahimahi",
        "When 1,500 octets came over a user's bearer, as mahimahi's traces have it; needs "
        "--series and a user who always had something to send.",
    )
    group.add_argument(
        "--table",
        choices=("runs", "summary", "connections"),
        metavar="TABLE",
        help="Which table: runs, summary or connections.",
    )
    add_values(group, "--metric", "NAME", "Of a summary, only the rows of this metric; may be repeated.")


def export(
    result: str,
    *,
    csv: bool,
    latex: bool,
    mahimahi: bool,
    ue: int,
    direction: str,
    table: str | None,
    metric: Sequence[str],
    output: Path | None,
    out: Path,
) -> int:
    """Write a table or a trace of a result; arguments as `options` declares them."""
    if [csv, latex, mahimahi].count(True) != 1:
        raise UsageError("say one of --csv, --latex and --mahimahi")
    if output is not None:
        check_folder(output)
    if mahimahi:
        text = _trace(result, out, ue, direction)
    else:
        chosen = table or ("runs" if csv else "summary")
        content, caption = _content(result, out, chosen, metric)
        text = to_latex(content, caption=caption) if latex else to_csv(content)
    if output is None:
        sys.stdout.write(text)
        return 0
    from umtslab.whole_files import whole_file

    with whole_file(output) as file:
        file.write(text.encode())
    return 0


def _trace(result: str, out: Path, ue: int, direction: str) -> str:
    runs = find_runs(result, out)
    if len(runs) > 1:
        raise UsageError(f"{result} has {len(runs)} runs and a trace is of one: name the folder of a run")
    try:
        return export_tables.mahimahi_trace(runs[0], ue, direction)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _content(result: str, out: Path, table: str, metrics: Sequence[str]) -> tuple[pl.DataFrame, str]:
    """The table, and a line about it."""
    with opened_campaign(result, out) as found:
        if found is not None:
            record, store = found
            return _of_campaign(record, store, table, metrics), record.title or record.name
    runs = find_runs(result, out)
    caption = f"{runs[0].scenario}, {len(runs)} runs"
    if table == "summary":
        return export_tables.summary_table(runs, metrics), caption
    if table == "connections":
        return export_tables.connections_table(runs), caption
    return export_tables.runs_table(runs), caption


def _of_campaign(record: Record, store: StoreReader, table: str, metrics: Sequence[str]) -> pl.DataFrame:
    from umtslab.campaign import tables

    if table == "summary":
        return tables.campaign_summary(record, metrics)
    if table == "connections":
        return tables.campaign_connections(record)
    return tables.campaign_runs(record, store)

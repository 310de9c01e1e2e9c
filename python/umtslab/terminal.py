"""Tables that several verbs print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary
from umtslab.columns import Table
from umtslab.metrics import headline, units
from umtslab.numbers import number

if TYPE_CHECKING:
    import polars as pl

_CONNECTION_METRICS = ("goodput_kbps", "mean_rtt_s", "tcp_retransmissions", "rto_count", "download_time_s")


def metrics_table(summaries: Mapping[str, Summary], *, every: bool) -> Table:
    """Metrics that have a value, with unit; of several runs the mean and half of the 95 % interval."""
    measured = {name for name, summary in summaries.items() if summary.n}
    names = sorted(measured) if every else headline(measured)
    unit_of = units()
    most = max((summary.n for summary in summaries.values()), default=0)
    headings = [">mean", ">± 95 %", ">n"] if most > 1 else [">value"]
    table = Table("metric", *headings, "unit")
    for name in names:
        summary = summaries[name]
        spread = [number(summary.ci95, 2), str(summary.n)] if most > 1 else []
        table.add_row(name, number(summary.mean), *spread, unit_of.get(name, ""))
    return table


def budget_table(summaries: Mapping[str, Summary]) -> Table:
    """What the time of all connections was spent on; causes that took none are left out."""
    from umtslab.budget import causes, seconds

    most = max((summary.n for summary in summaries.values()), default=0)
    table = Table("time budget", ">s", *([">± 95 %"] if most > 1 else []), ">%")
    for cause in (*causes(), "total"):
        time = summaries[seconds(cause)]
        if not time.mean:
            continue
        share = summaries.get(f"budget_{cause}_pct")
        spread = [number(time.ci95, 2)] if most > 1 else []
        table.add_row(
            cause.replace("_", " "),
            number(time.mean),
            *spread,
            "100" if share is None else number(share.mean, 3),
        )
    return table


def connections_table(connections: pl.DataFrame) -> Table:
    """One row per connection, with the metrics that a first look wants."""
    import polars as pl

    names = [
        name
        for name in _CONNECTION_METRICS
        if name in connections.columns and connections[name].is_not_null().any()
    ]
    unit_of = units()
    headings = [f">{name} ({unit_of[name]})" if unit_of.get(name) else f">{name}" for name in names]
    table = Table(">connection", ">ue", *headings)
    for row in connections.select("connection", "ue", pl.col(names).cast(pl.Float64)).iter_rows():
        table.add_row(str(row[0]), str(row[1]), *(number(value) for value in row[2:]))
    return table


def rows_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """Rows of text under their keys; columns that are empty throughout are left out."""
    columns = [key for key in rows[0] if any(row[key] for row in rows)]
    table = Table(*columns)
    for row in rows:
        table.add_row(*(row[key] for key in columns))
    return table

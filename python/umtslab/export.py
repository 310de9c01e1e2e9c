"""Export of runs: one JSON object, tables, and mahimahi traces.

A table has one row per run, one row per metric, or one row per connection.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.analyse.statistics import summarise_metrics
from umtslab.run import Run
from umtslab.version import code_version

if TYPE_CHECKING:
    import polars as pl


def runs_table(runs: Sequence[Run]) -> pl.DataFrame:
    """Return one row per run: its identity, then all metrics."""
    import polars as pl

    identity = {
        "key": [run.key for run in runs],
        "result": [run.identity.result for run in runs],
        "scenario": [run.scenario for run in runs],
        "version": [str(run.identity.code) for run in runs],
        "seed": pl.Series([run.seed for run in runs], dtype=pl.UInt64),
        "run": pl.Series([run.run for run in runs], dtype=pl.UInt64),
        "events": pl.Series([run.events for run in runs], dtype=pl.UInt64),
    }
    names = sorted({name for run in runs for name in run.metrics})
    metrics = {name: pl.Series([run.metrics.get(name) for run in runs], dtype=pl.Float64) for name in names}
    return pl.DataFrame({**identity, **metrics})


def summary_table(runs: Sequence[Run], metrics: Collection[str] = ()) -> pl.DataFrame:
    """Return one row per metric: unit, n, mean, sd and half width of the 95 % interval.

    With `metrics`, the table has these in their order. By default it has all, sorted by name.
    """
    import polars as pl

    from umtslab.metrics import units

    unit_of = units()
    summaries = summarise_metrics([run.metrics for run in runs])
    schema = {
        "metric": pl.String,
        "unit": pl.String,
        "n": pl.UInt32,
        "mean": pl.Float64,
        "sd": pl.Float64,
        "ci95": pl.Float64,
    }
    names = [name for name in metrics if name in summaries] if metrics else summaries
    rows = []
    for name in names:
        summary = summaries[name]
        rows.append((name, unit_of.get(name, ""), summary.n, summary.mean, summary.sd, summary.ci95))
    return pl.DataFrame(rows, schema=schema, orient="row")


def connections_table(runs: Sequence[Run]) -> pl.DataFrame:
    """Return the connections of all runs, with seed and run as the first columns."""
    return _stacked(runs, [run.connections() for run in runs])


def series_table(runs: Sequence[Run], kind: str) -> pl.DataFrame:
    """Return a time series of all runs, with seed and run as the first columns."""
    return _stacked(runs, [run.series(kind) for run in runs])


def _stacked(runs: Sequence[Run], tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    labelled = [
        table.select(
            pl.lit(run.seed, pl.UInt64).alias("seed"), pl.lit(run.run, pl.UInt64).alias("run"), pl.all()
        )
        for run, table in zip(runs, tables, strict=True)
    ]
    return pl.concat(labelled, how="diagonal") if labelled else pl.DataFrame()


def runs_object(scenario: str, runs: Sequence[Run]) -> dict[str, Any]:
    """Return the object of ``umts run --json``."""
    return {
        "scenario": scenario,
        "changes": dict(runs[0].changes) if runs else {},
        "version": str(code_version()),
        "runs": [
            {
                "seed": run.seed,
                "run": run.run,
                "metrics": run.metrics,
                "connections": run.connection_rows(),
            }
            for run in runs
        ],
        "summary": {
            name: summary.as_dict()
            for name, summary in summarise_metrics([run.metrics for run in runs]).items()
        },
    }


def to_csv(table: pl.DataFrame) -> str:
    """Return the table as CSV with a header.

    Floats have their shortest exact form, nulls are empty.
    """
    return table.write_csv()


OPPORTUNITY = 1500
"""Bytes per line of a mahimahi trace. A line is an opportunity to deliver one packet."""


def mahimahi_trace(run: Run, ue: int = 0, direction: str = "downlink") -> str:
    """Return the bytes that a user's bearer carried as a mahimahi trace.

    Each line is a time in milliseconds, rounded up, by which RLC had delivered another 1,500 bytes.
    The trace is the bearer's capacity if the user always has data to send, else the capacity that
    was used. The last line is the length of the trace.

    Raises
    ------
    MissingSeries
        If the run recorded no time series.
    ValueError
        If the user received fewer than 1,500 bytes.
    """
    import polars as pl

    delivered = run.series("rlc_delivered").filter((pl.col("ue") == ue) & (pl.col("direction") == direction))
    lines: list[str] = []
    octets = 0
    for time_s, size in delivered.select("time_s", "octets").iter_rows():
        lines_before = octets // OPPORTUNITY
        octets += size
        ms = -(-round(time_s * 1e9) // 1_000_000)  # whole nanoseconds, rounded up to milliseconds
        lines.extend([f"{ms}\n"] * (octets // OPPORTUNITY - lines_before))
    if not lines:
        raise ValueError(f"UE {ue} received fewer than {OPPORTUNITY} octets over RLC in the {direction}")
    return "".join(lines)

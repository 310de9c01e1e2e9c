"""Campaigns as tables, with the parameters as the first columns."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from umtslab.campaign.record import Cell, Record
from umtslab.export import connections_table, runs_table, summary_table

if TYPE_CHECKING:
    import polars as pl

    from umtslab.store import StoreReader


def campaign_runs(record: Record, store: StoreReader) -> pl.DataFrame:
    """Return one row per run: parameters, identity, the command that repeats it, metrics."""
    import polars as pl

    tables = []
    for cell in _filled(record):
        table = runs_table(cell.runs)
        commands = pl.Series("command", [store.command(run) for run in cell.runs])
        tables.append(_with_parameters(record, cell, table.insert_column(7, commands)))
    return _stacked(tables)


def campaign_summary(record: Record, metrics: Collection[str] = ()) -> pl.DataFrame:
    """Return one row per point and metric: unit, n, mean, sd, half width of the interval."""
    return _stacked(
        [_with_parameters(record, cell, summary_table(cell.runs, metrics)) for cell in _filled(record)]
    )


def campaign_connections(record: Record) -> pl.DataFrame:
    """Return one row per connection of every run."""
    return _stacked(
        [_with_parameters(record, cell, connections_table(cell.runs)) for cell in _filled(record)]
    )


def _filled(record: Record) -> list[Cell]:
    """Return the points that have runs."""
    return [cell for cell in record.cells if cell.runs]


def _with_parameters(record: Record, cell: Cell, table: pl.DataFrame) -> pl.DataFrame:
    """Put the values of the varied keys in front of a table of one point."""
    import polars as pl

    columns = [_column(record, cell, key) for key in record.axes]
    return table.select(*(pl.lit(value).alias(key) for key, value in columns), pl.all())


def _column(record: Record, cell: Cell, key: str) -> tuple[str, object]:
    """Return a parameter and its value in the type that fits the values of all points.

    The type is text if any value is not a number, else float if any value is not an integer.
    """
    value = cell.parameters.get(key)
    if value is None:
        return key, None
    of_all_points = [other.parameters.get(key) for other in record.cells]
    known = [other for other in of_all_points if other is not None]
    if not all(isinstance(other, int | float) and not isinstance(other, bool) for other in known):
        return key, str(value)
    return key, value if all(isinstance(other, int) for other in known) else float(str(value))


def _stacked(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Stack tables with different columns. Missing values are null."""
    import polars as pl

    return pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()

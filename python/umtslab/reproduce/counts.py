"""Numbers that a plan derives from the recorded series of a run, for example counts of PDUs.

A series is a table with a row per event, such as ``rlc_pdus`` or ``rrc_state``, in order of time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from umtslab.reproduce.errors import BadData, Missing

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run

RequiredValues = Mapping[str, str | int | bool]
"""Values that rows must have, by name of the column."""


@dataclass(frozen=True)
class SeriesRows:
    """The rows of a series with the values `rows`. Their times limit a count."""

    series: str
    rows: RequiredValues


@dataclass(frozen=True)
class Count:
    """A number derived from the rows of a series that have the values `rows`.

    Rows with values below `at_least` are ignored. `how` is one of:

    - ``most``, ``least``: the largest or smallest value of `column`
    - ``least_gap``: the smallest difference between successive values of `column`
    - ``number``: the number of rows
    - ``most_with_equal``: the largest number of rows with equal values of `columns`
    - ``at``: the value of `column` in force at the first row of `since`, including changes at that
      instant

    All except ``at`` use only rows from the first row of `since` on. With `during`, only rows between
    a row of `during` and the same user's next row in that series count.
    """

    series: str
    rows: RequiredValues
    how: str
    column: str = ""
    columns: tuple[str, ...] = ()
    since: SeriesRows | None = None
    during: SeriesRows | None = None
    at_least: Mapping[str, float] = field(default_factory=dict)

    def value(self, run: Run) -> float | None:
        """Return the number. None if there are too few rows.

        Raises
        ------
        Missing
            If the run did not record the series.
        BadData
            If the series lacks a column.
        """
        table = with_values(recorded(run, self.series), self.rows, self.series)
        for name, minimum in self.at_least.items():
            table = table.filter(table[name] >= minimum)
        begin_s = self._begin(run)
        if self.since is not None and begin_s is None:
            return None
        if self.how == "at":
            return _last(table.filter(table["time_s"] <= begin_s), self.column)
        if begin_s is not None:
            table = table.filter(table["time_s"] >= begin_s)
        if self.during is not None:
            table = _rows_during(self.during, recorded(run, self.during.series), table)
        return self._aggregate(table)

    def _aggregate(self, table: pl.DataFrame) -> float | None:
        """Return the number from the rows that count, for all values of `how` except ``at``."""
        if self.how == "number":
            return float(len(table))
        if self.how == "most_with_equal":
            sizes = table.group_by(self.columns).len()["len"].to_list()
            return float(max(sizes, default=0))
        column = table[self.column]
        result = {"most": column.max, "least": column.min, "least_gap": column.diff().min}[self.how]()
        # The simulation's clock has a resolution of 1 ns, so further digits are rounding errors.
        return round(float(result), 9) if isinstance(result, int | float) else None

    def _begin(self, run: Run) -> float | None:
        """Return the time of the first row of `since`. None without `since`, or without such a row."""
        if self.since is None:
            return None
        rows = with_values(recorded(run, self.since.series), self.since.rows, self.since.series)
        result = rows["time_s"].min()
        return float(result) if isinstance(result, int | float) else None


def recorded(run: Run, series: str) -> pl.DataFrame:
    """Return a series of a run.

    Raises
    ------
    Missing
        If the run did not record it.
    """
    if series not in run.series_kinds():
        more = "measure.rlc_pdus, and " if series == "rlc_pdus" else ""
        raise Missing(f"the runs recorded no {series}: {more}series = true in the sweep")
    return run.series(series)


def with_values(table: pl.DataFrame, values: RequiredValues, series: str) -> pl.DataFrame:
    """Return the rows with these values.

    Raises
    ------
    BadData
        If a column is unknown.
    """
    import polars as pl

    if unknown := values.keys() - set(table.columns):
        raise BadData(f"{series} has no column {min(unknown)!r}; it has {', '.join(table.columns)}")
    return table.filter([pl.col(name) == value for name, value in values.items()] or [pl.lit(True)])


def periods(table: pl.DataFrame, required: SeriesRows, ue: int) -> list[tuple[float, float]]:
    """Return start and end of each period in which the latest row of a user is one of `required`.

    Rows of `table` are changes of state: a row holds until the next row of the same user. Times are in
    seconds; the last period may end at infinity.
    """
    rows_of_ue = table.filter(table["ue"] == ue)
    ends = [*rows_of_ue["time_s"].to_list()[1:], float("inf")]
    rows = with_values(rows_of_ue.with_columns(end_s=_column(ends)), required.rows, required.series)
    return list(zip(rows["time_s"].to_list(), rows["end_s"].to_list(), strict=True))


def _column(values: list[float]) -> pl.Series:
    import polars as pl

    return pl.Series(values, dtype=pl.Float64)


def _rows_during(during: SeriesRows, states: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows at times at which the state `during` holds for their user.

    `states` is the series of `during`, in which each row is a change of state.
    """
    import polars as pl

    times = pl.col("time_s")
    is_in_period = [
        (pl.col("ue") == ue) & (times >= begin_s) & (times < end_s)
        for ue in states["ue"].unique().sort().to_list()
        for begin_s, end_s in periods(states, during, ue)
    ]
    return rows.filter(pl.any_horizontal(is_in_period)) if is_in_period else rows.clear()


def _last(rows: pl.DataFrame, column: str) -> float | None:
    """Return the last value of a column; None without rows."""
    result = rows.sort("time_s", maintain_order=True)[column]
    return float(result[-1]) if len(result) else None

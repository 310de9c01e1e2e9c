"""What the points of a sweep gave: lists that can show themselves, and be tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary
from umtslab.campaign.points import Point
from umtslab.runs import Runs

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS, _MOST_COLUMNS = 40, 6
"""So many points and metrics are shown in a notebook."""


@dataclass(frozen=True)
class PointResult:
    """One cell of the grid with its runs, in order of their numbers."""

    point: Point
    runs: Runs

    def summary(self) -> dict[str, Summary]:
        """Mean, deviation and interval of each metric."""
        return self.runs.summary()

    @property
    def label(self) -> str:
        """The parameters as words."""
        return ", ".join(f"{key} = {value}" for key, value in self.point.overrides.items())

    def _repr_html_(self) -> str:
        from umtslab.notebook import caption, table
        from umtslab.tables import metrics_table

        shown = metrics_table(self.summary())
        return caption(self.label, f"{len(self.runs)} runs") + table(shown)


class PointResults(list[PointResult]):
    """The cells of a grid in their order."""

    def to_frame(self) -> pl.DataFrame:
        """One row per run: the parameters of its point, who it is, all its metrics."""
        import polars as pl

        from umtslab.export import runs_table

        tables = [_under(one.point, runs_table(one.runs)) for one in self]
        return pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()

    def summary(self) -> pl.DataFrame:
        """One row per point and metric: unit, n, mean, sd and half width of the 95 % interval."""
        import polars as pl

        from umtslab.export import summary_table

        tables = [_under(one.point, summary_table(one.runs)) for one in self]
        return pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()

    def _repr_html_(self) -> str:
        from umtslab.columns import Table
        from umtslab.first_look import first_look
        from umtslab.metrics import units
        from umtslab.notebook import caption, table
        from umtslab.numbers import with_interval

        means = [{name: one.mean for name, one in result.summary().items()} for result in self]
        names = first_look(*means)[:_MOST_COLUMNS]
        keys = list(dict.fromkeys(key for result in self for key in result.point.overrides))
        unit_of = units()
        units_of = [f"{name} ({unit_of[name]})" if unit_of[name] else name for name in names]
        rows = Table(*keys, ">n", *(f">{name}" for name in units_of))
        for result in self[:_MOST_ROWS]:
            summary = result.summary()
            at = [str(result.point.overrides.get(key, "")) for key in keys]
            values = [with_interval(summary[name].mean, summary[name].ci95) for name in names]
            rows.add_row(*at, str(len(result.runs)), *values)
        left_out = f"the first {_MOST_ROWS}" if len(self) > _MOST_ROWS else ""
        return caption(f"{len(self)} points", left_out) + table(rows)


def _under(point: Point, table: pl.DataFrame) -> pl.DataFrame:
    """A table with the point's parameters in front."""
    import polars as pl

    return table.select(
        *(pl.lit(_plain(value)).alias(key) for key, value in point.overrides.items()), pl.all()
    )


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) else str(value)

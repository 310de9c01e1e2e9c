"""Results of the points of a sweep, with tables and an HTML representation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary
from umtslab.campaign.points import Point
from umtslab.columns_of_keys import column, unit
from umtslab.runs import Runs

if TYPE_CHECKING:
    import polars as pl

_MAX_ROWS = 40
"""Maximum number of points shown in a notebook."""

_MAX_COLUMNS = 6
"""Maximum number of metrics shown in a notebook."""


@dataclass(frozen=True)
class PointResult:
    """One point of the grid with its runs, ordered by number."""

    point: Point
    runs: Runs

    def summary(self) -> dict[str, Summary]:
        """Mean, deviation and interval of each metric."""
        return self.runs.summary()

    @property
    def label(self) -> str:
        """The parameters as text."""
        return ", ".join(f"{key} = {value}" for key, value in self.point.overrides.items())

    def _repr_html_(self) -> str:
        from umtslab.notebook import caption, table
        from umtslab.tables import metrics_table

        shown = metrics_table(self.summary())
        return caption(self.label, f"{len(self.runs)} runs") + table(shown)


class PointResults(list[PointResult]):
    """The points of a grid in order."""

    def to_frame(self) -> pl.DataFrame:
        """Return one row per run: the parameters of its point, its identity, all its metrics.

        A quantity is a number in s, bit/s or B. `key_units` returns the units.
        """
        from umtslab.export import runs_table

        return self._stacked([runs_table(result.runs) for result in self])

    def summary(self) -> pl.DataFrame:
        """Return one row per point and metric: unit, n, mean, sd, half width of the interval."""
        from umtslab.export import summary_table

        return self._stacked([summary_table(result.runs) for result in self])

    def key_units(self) -> dict[str, str]:
        """Return the units of the parameters that are quantities: ``{"flow.size": "B"}``."""
        unit_of_key = {key: unit(self._values(key)) for key in self._keys()}
        return {key: unit_text for key, unit_text in unit_of_key.items() if unit_text}

    def __repr__(self) -> str:
        """As in ``PointResults(4 points of radio.bler, tcp.variant)``."""
        return f"PointResults({len(self)} points of {', '.join(self._keys()) or 'nothing'})"

    def _keys(self) -> list[str]:
        return list(dict.fromkeys(key for result in self for key in result.point.overrides))

    def _values(self, key: str) -> list[object]:
        return [_plain(result.point.overrides.get(key)) for result in self]

    def _stacked(self, tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Concatenate the tables of the points, with the parameters as the first columns."""
        import polars as pl

        columns = [column(key, self._values(key)) for key in self._keys()]
        with_parameters = [
            table.select(
                *(pl.lit(values[point], values.dtype).alias(values.name) for values in columns), pl.all()
            )
            for point, table in enumerate(tables)
        ]
        return pl.concat(with_parameters, how="diagonal_relaxed") if with_parameters else pl.DataFrame()

    def _repr_html_(self) -> str:
        from umtslab.headline_metrics import headline_names
        from umtslab.metrics import units
        from umtslab.notebook import caption, table
        from umtslab.text_table import Table

        means = [{name: summary.mean for name, summary in result.summary().items()} for result in self]
        names = headline_names(*means)[:_MAX_COLUMNS]
        keys = self._keys()
        unit_of = units()
        units_of = [f"{name} ({unit_of[name]})" if unit_of[name] else name for name in names]
        rows = Table(*keys, ">n", *(f">{name}" for name in units_of))
        for result in self[:_MAX_ROWS]:
            summary = result.summary()
            at = [str(result.point.overrides.get(key, "")) for key in keys]
            values = [_with_interval(summary[name]) for name in names]
            rows.add_row(*at, str(len(result.runs)), *values)
        note = f"the first {_MAX_ROWS}" if len(self) > _MAX_ROWS else ""
        return caption(f"{len(self)} points", note) + table(rows)


def _with_interval(summary: Summary) -> str:
    from umtslab.numbers import with_interval

    return with_interval(summary.mean, summary.ci95, summary.n)


def _plain(value: object) -> object:
    """Return a value that a data frame can hold: other types as text."""
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)

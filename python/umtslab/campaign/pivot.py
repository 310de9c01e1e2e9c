"""A campaign as a pivot table: a row per value of one parameter, a column per value of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import Summary, summarise
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Record
from umtslab.labels import key_label, metric_with_unit, value_label, with_unit
from umtslab.latex import LatexTable, escape, mean
from umtslab.quantity import in_one_unit

if TYPE_CHECKING:
    import polars as pl

_EMPTY = Summary(n=0, mean=None, sd=None, ci95=None)


_Value = tuple[type, object]
"""A typed value: 1, 1.0 and true are equal in Python, but are different values of a key."""


@dataclass(frozen=True)
class Pivot:
    """A table with means of metrics."""

    title: str
    rows: str
    """The varied key with one row per value."""
    columns: str
    """A second varied key with one column per value. Empty: each metric has a column."""
    metrics: tuple[str, ...]
    """The metric of all cells, or the metrics of the columns."""
    row_values: tuple[object, ...]
    column_values: tuple[object, ...]
    cells: Mapping[tuple[_Value, _Value], Summary]

    def at(self, row: object, column: object) -> Summary:
        """Return the summary of a cell. Empty if the campaign has no such point."""
        return self.cells.get((_value(row), _value(column)), _EMPTY)

    def _row(self, row: object) -> list[Summary]:
        return [self.at(row, column) for column in self.column_values]

    @property
    def n(self) -> str:
        """Number of runs per cell, as text."""
        counts = sorted({cell.n for cell in self.cells.values() if cell.n})
        return " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1]))) if counts else "0"

    def frame(self) -> pl.DataFrame:
        """Return the rows' values, then mean and half width per column: ``VALUE``, ``± VALUE``."""
        import polars as pl

        content: dict[str, list[object]] = {self.rows: [str(value) for value in self.row_values]}
        for column in self.column_values:
            cells = [self.at(row, column) for row in self.row_values]
            content[str(column)] = [cell.mean for cell in cells]
            content[f"± {column}"] = [cell.ci95 for cell in cells]
        return pl.DataFrame(content)

    def latex(self) -> str:
        """Return the table in LaTeX (booktabs, siunitx)."""
        numbers, unit = in_one_unit(list(self.row_values)) or (None, "")
        names = (
            [f"{value:.12g}" for value in numbers]
            if numbers
            else [value_label(value) for value in self.row_values]
        )
        rows = [
            [escape(name), *(mean(cell.mean, cell.ci95, cell.n) for cell in self._row(row))]
            for name, row in zip(names, self.row_values, strict=True)
        ]
        row_label = with_unit(key_label(self.rows), unit)
        if self.columns:
            headings = [value_label(value) for value in self.column_values]
            first_column, last_column = 2, len(self.column_values) + 1
            column_group = (escape(key_label(self.columns)), first_column, last_column)
            subject = f"{metric_with_unit(self.metrics[0])}, "
        else:
            headings, column_group, subject = [metric_with_unit(name) for name in self.metrics], None, ""
        caption = f"{self.title}: {subject}mean and 95 % interval of {self.n} runs"
        kinds = ("r" if numbers else "l") + "r" * len(headings)
        return str(
            LatexTable(kinds, [escape(text) for text in (row_label, *headings)], rows, caption, column_group)
        )


def pivots(record: Record, rows: str, columns: str | None, metrics: Sequence[str]) -> list[Pivot]:
    """Return the tables of a campaign: with `columns` one per metric, else one for all metrics.

    Raises
    ------
    CampaignError
        If the campaign does not vary `rows` or `columns`, or varies other parameters too.
    """
    _check(record, rows, columns)
    row_values = _values(record, rows)
    if columns is None:
        cells: dict[tuple[_Value, _Value], Summary] = {
            (_value(cell.parameters.get(rows)), _value(metric)): summarise(cell.values(metric))
            for cell in record.cells
            for metric in metrics
        }
        return [
            Pivot(
                record.heading,
                rows,
                columns="",
                metrics=tuple(metrics),
                row_values=row_values,
                column_values=tuple(metrics),
                cells=cells,
            )
        ]
    return [
        Pivot(
            record.heading,
            rows,
            columns,
            (metric,),
            row_values,
            _values(record, columns),
            {
                (_value(cell.parameters.get(rows)), _value(cell.parameters.get(columns))): summarise(
                    cell.values(metric)
                )
                for cell in record.cells
            },
        )
        for metric in metrics
    ]


def _check(record: Record, rows: str, columns: str | None) -> None:
    """Raise an error if a key is not varied, or if others than the two vary."""
    varied = ", ".join(record.axes)
    for key in (rows, columns):
        if key is not None and key not in record.axes:
            raise CampaignError(f"{record.name} does not vary {key}; it varies {varied}")
    if rows == columns:
        raise CampaignError(f"rows and columns must differ (both are {rows}); {record.name} varies {varied}")
    others = [key for key in record.axes if key not in (rows, columns) and len(_values(record, key)) > 1]
    if others:
        part = f"{record.name}@{others[0]}={_values(record, others[0])[0]}"
        more = f", and --columns {others[0]} shows all values" if columns is None else ""
        raise CampaignError(f"{record.name} also varies {others[0]}: {part} selects one value{more}")


def _values(record: Record, key: str) -> tuple[object, ...]:
    """Return the values of a parameter, in the order of the points, with numbers as in the file."""
    all_values = [cell.parameters[key] for cell in record.cells if key in cell.parameters]
    return tuple({_value(value): value for value in all_values}.values())


def _value(value: object) -> _Value:
    """Return a value with its type, so that equal values of different types differ: 1 and True."""
    return type(value), value

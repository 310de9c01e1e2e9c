"""Groups of a series' rows: one for each connection, user or cell of each result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_NOUNS = {"connection": "connection", "ue": "UE", "cell": "cell"}


@dataclass(frozen=True)
class RowGroup:
    """The rows of one connection, user or cell, which a figure draws as a line or in a panel.

    `result` is None if the figure has one result. `chosen` is None if it highlights nothing.
    """

    kind: str
    number: int
    name: str
    rows: pl.DataFrame
    result: str | None
    chosen: bool | None

    def values(self, column: str) -> tuple[bytes, bytes]:
        """Return times and values in a form that can be compared with other groups."""
        return self.rows["time_s"].to_numpy().tobytes(), self.rows[column].to_numpy().tobytes()


def row_groups(table: pl.DataFrame, by: tuple[str, ...] = ("connection",)) -> list[RowGroup]:
    """Return the groups of a table by result and number, with highlighted groups last (on top).

    Parameters
    ----------
    table : polars.DataFrame
        ``time_s``, the columns of `by`, and values; ``result`` with several results, ``chosen``
        with highlights.
    by : tuple of str
        Columns that identify a group. The first one is a number.
    """
    owner, *other_columns = by
    kind = _NOUNS[owner]
    groups: list[RowGroup] = []
    for rows in table.partition_by(*_keys(table), *by, maintain_order=True):
        first_row = rows.row(0, named=True)
        others = tuple(str(first_row[column]) for column in other_columns)
        name = ", ".join([f"{kind} {first_row[owner]}", *others])
        result, chosen = first_row.get("result"), first_row.get("chosen")
        groups.append(RowGroup(kind, int(first_row[owner]), name, rows, result, chosen))
    results = list(dict.fromkeys(group.result for group in groups))
    # Groups with the same number have names that differ only in the other columns.
    groups.sort(
        key=lambda group: (group.chosen is True, results.index(group.result), group.number, group.name)
    )
    return groups


def results_of(table: pl.DataFrame) -> list[str]:
    """Return the results of a table in their order. Empty if it has a single result."""
    return table["result"].unique(maintain_order=True).to_list() if several_results(table) else []


def several_results(table: pl.DataFrame) -> bool:
    """Whether a table has rows of more than one result."""
    return "result" in table.columns and table["result"].n_unique() > 1


def _keys(table: pl.DataFrame) -> list[str]:
    return ["result"] if "result" in table.columns else []

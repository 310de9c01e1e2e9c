"""Lines of a series: one per connection, user or cell, of each result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_WORDS = {"connection": "connection", "ue": "UE", "cell": "cell"}


@dataclass(frozen=True)
class Strand:
    """One line of a figure.

    `result` is None if there is only one, `chosen` without highlighting.
    """

    kind: str
    number: int
    name: str
    rows: pl.DataFrame
    result: str | None
    chosen: bool | None

    def values(self, column: str) -> tuple[bytes, bytes]:
        """Return times and values in a form that can be compared with other lines."""
        return self.rows["time_s"].to_numpy().tobytes(), self.rows[column].to_numpy().tobytes()


def strands(table: pl.DataFrame, by: tuple[str, ...] = ("connection",)) -> list[Strand]:
    """Return the lines of a table by result and number, with highlighted lines last (on top).

    Parameters
    ----------
    table : polars.DataFrame
        ``time_s``, the columns of `by`, and values; ``result`` with several results, ``chosen``
        with highlights.
    by : tuple of str
        Columns that identify a line. The first one is a number.
    """
    found = []
    for rows in table.partition_by(*_keys(table), *by, maintain_order=True):
        head = rows.row(0, named=True)
        kind = _WORDS[by[0]]
        name = ", ".join([f"{kind} {head[by[0]]}", *(str(head[key]) for key in by[1:])])
        place = int(head[by[0]]), *(str(head[key]) for key in by[1:])
        found.append(
            (place, Strand(kind, int(head[by[0]]), name, rows, head.get("result"), head.get("chosen")))
        )
    results = list(dict.fromkeys(strand.result for _, strand in found))
    found.sort(key=lambda one: (one[1].chosen is True, results.index(one[1].result), one[0]))
    return [strand for _, strand in found]


def results_of(table: pl.DataFrame) -> list[str]:
    """Return the results of a table in their order. Empty if it has a single result."""
    return table["result"].unique(maintain_order=True).to_list() if several_results(table) else []


def several_results(table: pl.DataFrame) -> bool:
    """Whether a table has rows of more than one result."""
    return "result" in table.columns and table["result"].n_unique() > 1


def _keys(table: pl.DataFrame) -> list[str]:
    return ["result"] if "result" in table.columns else []

"""The lines that a table of a series holds: one for each connection, user or cell, of each result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_WORDS = {"connection": "connection", "ue": "UE", "cell": "cell"}


@dataclass(frozen=True)
class Strand:
    """One line: of what and which, its rows, its result if there are several, whether it was chosen."""

    kind: str
    number: int
    name: str
    rows: pl.DataFrame
    result: str | None
    chosen: bool | None

    def values(self, column: str) -> tuple[bytes, bytes]:
        """Times and values, to be compared with those of others."""
        return self.rows["time_s"].to_numpy().tobytes(), self.rows[column].to_numpy().tobytes()


def strands(table: pl.DataFrame, by: tuple[str, ...] = ("connection",)) -> list[Strand]:
    """The lines of a table, in the order of results and numbers, the chosen ones last, on top of the others.

    Parameters
    ----------
    table : polars.DataFrame
        ``time_s``, the columns of `by`, values; ``result`` if there are several, ``chosen`` if some are.
    by : tuple of str
        What tells lines apart, a number first.
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
    """The results of a table in their order; empty if it is of one result."""
    return table["result"].unique(maintain_order=True).to_list() if several_results(table) else []


def several_results(table: pl.DataFrame) -> bool:
    """Whether a table has rows of more than one result."""
    return "result" in table.columns and table["result"].n_unique() > 1


def _keys(table: pl.DataFrame) -> list[str]:
    return ["result"] if "result" in table.columns else []

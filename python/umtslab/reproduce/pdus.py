"""RLC PDUs of a run, described in the words and numbers of a reproduced document.

The plan of a reproduction contains the templates. The resulting descriptions are compared with the
text of a claim. The table is the series ``rlc_pdus``, with one row per PDU in the order in which
the PDUs were sent. Documents number PDUs from 1. So PDU *n* has sequence number *n* - 1, and an
acknowledgment of all PDUs up to *n* has the sequence number *n*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from umtslab.reproduce.counts import RequiredValues, recorded, with_values
from umtslab.reproduce.errors import BadData

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run

PDUS = "rlc_pdus"


@dataclass(frozen=True)
class PduTemplate:
    """Template for the description of some PDUs: at most the `first` ones of the rows that `rows` selects.

    Row *k* uses the format string `forms[k]`, or the last one if there are fewer. Its fields are
    the columns of the table, and:

    ``{number}``
        The PDU's number, from 1.
    ``{ack}``, ``{bitmap}``
        The cumulative acknowledgment of a STATUS PDU, and its bitmap of later PDUs (1 is received).
    ``{later}``
        The number of TTIs since the first row that `since` selects was sent or, with `since_end`,
        since it arrived.
    """

    rows: RequiredValues
    since: RequiredValues
    forms: tuple[str, ...]
    is_list: bool = False
    first: int | None = None
    tti_s: float = 0.0
    since_end: bool = False

    def describe(self, table: pl.DataFrame) -> str:
        """Describe the PDUs of a run."""
        chosen = with_values(table, self.rows, PDUS).head(self.first or len(table)).to_dicts()
        origin = (
            with_values(table, self.since, PDUS)["end_s" if self.since_end else "time_s"].first()
            if self.since
            else None
        )
        descriptions = []
        for index, row in enumerate(chosen):
            form = self.forms[min(index, len(self.forms) - 1)]
            descriptions.append(form.format(**row, **self._derived_fields(row, origin)))
        return f"[{', '.join(descriptions)}]" if self.is_list else "; ".join(descriptions)

    def _derived_fields(self, row: Mapping[str, Any], origin: object) -> dict[str, Any]:
        """Return the fields of a template that are not columns. `origin`: start of ``later``, in s."""
        later = None
        # PDUs are sent at the beginning of a TTI. An arrival can be inside a TTI: `later` counts
        # from the beginning of that TTI.
        if isinstance(origin, float) and self.tti_s > 0.0:
            later = round(row["time_s"] / self.tti_s) - int(origin / self.tti_s + 1e-6)
        number = None if row["sn"] is None else row["sn"] + 1
        return {"number": number, "later": later, **_status_fields(row)}


def describe(parts: Sequence[PduTemplate], run: Run) -> str:
    """Describe the PDUs of a run, part by part.

    Raises
    ------
    Missing
        If the run did not record PDUs.
    BadData
        If a part names an unknown column or field.
    """
    table = pdus_of(run)
    try:
        return "; ".join(filter(None, (part.describe(table) for part in parts)))
    except KeyError as error:
        raise BadData(f"a form names the field {error}, which PDUs do not have") from error


def pdus_of(run: Run) -> pl.DataFrame:
    """Return all RLC PDUs of a run.

    Raises
    ------
    Missing
        If the run did not record them.
    """
    return recorded(run, PDUS)


def _status_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cumulative acknowledgment and the bitmap of a STATUS PDU.

    All PDUs below the LSN that are not in `missing` were received. The bitmap ends before the LSN.
    """
    if row["lsn"] is None:
        return {"ack": None, "bitmap": None}
    missing = {int(sn) for sn in row["missing"].split()}
    ack = min(missing, default=row["lsn"])
    bits = ",".join("0" if sn in missing else "1" for sn in range(ack, row["lsn"]))
    return {"ack": ack, "bitmap": f"[{bits}]"}

"""Sequence numbers of RLC PDUs without wrap-around."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_ACKNOWLEDGED_MODE = 4096
"""Number of sequence numbers in acknowledged mode."""

_UNACKNOWLEDGED_MODE = 128
"""Number of sequence numbers in unacknowledged mode."""

_OUT_OF_ORDER = 64
"""A smaller decrease is not a wrap-around: block sets of one TTI may be recorded out of order."""


def unwrapped(pdus: pl.DataFrame) -> pl.DataFrame:
    """Unwrap the sequence numbers of PDUs of one direction (TS 25.322 §9.2.2.3).

    Parameters
    ----------
    pdus : polars.DataFrame
        ``what`` (``pdu`` or ``pdu_again``), ``first`` and ``last``, in order of departure. New PDUs
        leave in order of their numbers, except for a few that leave at the same time.

    Returns
    -------
    polars.DataFrame
        The same rows, with ``first`` and ``last`` counted from the first new PDU, which is 0. A
        retransmission has the number of the original PDU, which is negative if that left before the
        first row.
    """
    import polars as pl

    if not len(pdus):
        return pdus
    highest = int(str(pdus["first"].max()))
    modulus = _ACKNOWLEDGED_MODE if highest >= _UNACKNOWLEDGED_MODE else _UNACKNOWLEDGED_MODE
    # Larger numbers are from a scenario without a modulus, in which numbers do not wrap around.
    lap = modulus if highest < _ACKNOWLEDGED_MODE else 0
    new = pdus.filter(pl.col("what") == "pdu")
    offset = -int((new if len(new) else pdus)["first"][0])  # number minus sequence number
    latest, numbers = -1, []
    for kind, first, last in pdus.select("what", "first", "last").rows():
        number = offset + first
        if kind == "pdu":
            if number < latest - _OUT_OF_ORDER:  # the sequence numbers have wrapped around
                offset += lap
                number += lap
            elif lap and number > latest + lap - _OUT_OF_ORDER:  # out of order, from before the wrap
                number -= lap
            latest = max(latest, number + last - first)
        elif number > latest:  # a retransmission has been sent before, so before the wrap
            number -= modulus
        numbers.append((number, number + last - first))
    return pdus.with_columns(
        pl.Series("first", [number for number, _ in numbers], dtype=pl.Int64),
        pl.Series("last", [number for _, number in numbers], dtype=pl.Int64),
    )

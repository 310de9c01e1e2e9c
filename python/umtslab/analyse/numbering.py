"""Unwraps the sequence numbers of RLC PDUs: 4094, 4095, 0, 1 becomes 4094, 4095, 4096, 4097."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_ACKNOWLEDGED_MODE = 4096
"""Number of sequence numbers in acknowledged mode."""

_UNACKNOWLEDGED_MODE = 128
"""Number of sequence numbers in unacknowledged mode."""

_OUT_OF_ORDER = 64
"""A decrease by at most this number is not a wrap-around: block sets of one TTI may be out of order."""


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
    highest_sn = int(str(pdus["first"].max()))
    modulus = _ACKNOWLEDGED_MODE if highest_sn >= _UNACKNOWLEDGED_MODE else _UNACKNOWLEDGED_MODE
    # Larger sequence numbers are from a scenario without a modulus, in which they do not wrap around.
    wrap_step = modulus if highest_sn < _ACKNOWLEDGED_MODE else 0
    new = pdus.filter(pl.col("what") == "pdu")
    # Difference between the unwrapped number and the sequence number. Grows with each wrap-around.
    offset = -int((new if len(new) else pdus)["first"][0])
    highest_new = -1
    first_numbers, last_numbers = [], []
    for kind, first_sn, last_sn in pdus.select("what", "first", "last").rows():
        number = offset + first_sn
        if kind == "pdu":
            if number < highest_new - _OUT_OF_ORDER:  # the sequence numbers have wrapped around
                offset += wrap_step
                number += wrap_step
            elif wrap_step and number > highest_new + wrap_step - _OUT_OF_ORDER:
                number -= wrap_step  # out of order, from before the wrap-around
            highest_new = max(highest_new, number + last_sn - first_sn)
        elif number > highest_new:  # the original PDU was sent before the wrap-around
            number -= modulus
        first_numbers.append(number)
        last_numbers.append(number + last_sn - first_sn)
    return pdus.with_columns(
        pl.Series("first", first_numbers, dtype=pl.Int64),
        pl.Series("last", last_numbers, dtype=pl.Int64),
    )

"""Round-trip times and bytes in flight of one connection, from its segments and acknowledgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def round_trips(sent: pl.DataFrame, acked: pl.DataFrame) -> pl.DataFrame:
    """Return one round-trip time per acknowledgment of new data.

    The time runs from the transmission of the last segment that is acknowledged completely. There is none
    if any of the newly acknowledged segments was sent again: the acknowledgment may belong to either copy
    (Karn), and the later segments have waited for it. `umts analyse` counts the same samples for
    ``mean_rtt_every_ack_s``.

    Parameters
    ----------
    sent : polars.DataFrame
        ``time_s``, ``seq``, ``end`` (bytes) and ``retransmission``; one row per segment.
    acked : polars.DataFrame
        ``time_s`` and ``ack`` (bytes); one row per acknowledgment, in order of time.

    Returns
    -------
    polars.DataFrame
        ``time_s`` of the acknowledgment and ``rtt_s``.
    """
    import numpy as np
    import polars as pl

    new = sent.filter(~pl.col("retransmission")).sort("end", "time_s")
    again = sent.filter(pl.col("retransmission"))
    ends, starts = new["end"].to_numpy(), new["seq"].to_numpy()
    # Each retransmission adds one to the new segments that it overlaps.
    changes = np.zeros(len(new) + 1, dtype=np.int64)
    np.add.at(changes, np.searchsorted(ends, again["seq"].to_numpy(), side="right"), 1)
    np.add.at(changes, np.searchsorted(starts, again["end"].to_numpy(), side="left"), -1)
    # Number of segments that were sent again, before each segment.
    repeated = np.concatenate(([0], np.cumsum(np.cumsum(changes)[:-1] > 0)))

    acks = acked["ack"].to_numpy()
    # A SYN has the number -1.
    before = np.concatenate(([-1], np.maximum.accumulate(acks)))[:-1]
    # The segments that an acknowledgment is the first to cover.
    first, beyond = (np.searchsorted(ends, numbers, side="right") for numbers in (before, acks))
    chosen = np.flatnonzero((beyond > first) & (repeated[beyond] == repeated[first]))
    times = acked["time_s"].to_numpy()[chosen]
    return pl.DataFrame({"time_s": times, "rtt_s": times - new["time_s"].to_numpy()[beyond[chosen] - 1]})


def in_flight(sent: pl.DataFrame, acked: pl.DataFrame) -> pl.DataFrame:
    """Return the bytes that were sent and not acknowledged, after the events of each instant.

    Parameters are those of `round_trips`. Selective acknowledgments do not count.

    Returns
    -------
    polars.DataFrame
        ``time_s`` and ``octets``.
    """
    import polars as pl

    nothing = pl.lit(0, dtype=pl.Int64)
    events = pl.concat(
        [
            acked.select("time_s", nothing.alias("end"), pl.col("ack").cast(pl.Int64)),
            sent.select("time_s", pl.col("end").cast(pl.Int64), nothing.alias("ack")),
        ]
    ).sort("time_s", maintain_order=True)
    octets = (pl.col("end").cum_max() - pl.col("ack").cum_max()).clip(lower_bound=0)
    return events.select("time_s", octets.alias("octets")).unique("time_s", keep="last", maintain_order=True)

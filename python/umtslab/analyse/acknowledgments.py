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

    # The segments in order of sequence numbers. Indices below refer to this order.
    segments = sent.filter(~pl.col("retransmission")).sort("end", "time_s")
    retransmissions = sent.filter(pl.col("retransmission"))
    starts, ends = segments["seq"].to_numpy(), segments["end"].to_numpy()
    # Count the retransmissions that overlap each segment: a retransmission adds 1 at the first segment
    # that it overlaps and -1 behind the last, and the running sum is the count.
    changes = np.zeros(len(segments) + 1, dtype=np.int64)
    np.add.at(changes, np.searchsorted(ends, retransmissions["seq"].to_numpy(), side="right"), 1)
    np.add.at(changes, np.searchsorted(starts, retransmissions["end"].to_numpy(), side="left"), -1)
    was_sent_again = np.cumsum(changes)[:-1] > 0
    # Entry i: how many of the segments before index i were sent again.
    sent_again_before = np.concatenate(([0], np.cumsum(was_sent_again)))

    acks = acked["ack"].to_numpy()
    # The highest earlier acknowledgment. A SYN has the number -1.
    highest_before = np.concatenate(([-1], np.maximum.accumulate(acks)))[:-1]
    # An acknowledgment is the first to cover the segments from index `first` up to `beyond` - 1.
    first, beyond = (np.searchsorted(ends, numbers, side="right") for numbers in (highest_before, acks))
    covers_new_segments = beyond > first
    covers_no_repeat = sent_again_before[beyond] == sent_again_before[first]
    samples = np.flatnonzero(covers_new_segments & covers_no_repeat)
    ack_times = acked["time_s"].to_numpy()[samples]
    sent_times = segments["time_s"].to_numpy()[beyond[samples] - 1]
    return pl.DataFrame({"time_s": ack_times, "rtt_s": ack_times - sent_times})


def in_flight(sent: pl.DataFrame, acked: pl.DataFrame) -> pl.DataFrame:
    """Return the bytes that were sent and not acknowledged, after the events of each instant.

    Parameters are those of `round_trips`. Selective acknowledgments do not count.

    Returns
    -------
    polars.DataFrame
        ``time_s`` and ``octets``.
    """
    import polars as pl

    # Acknowledgments precede segments of the same instant. The number 0 changes no maximum.
    zero = pl.lit(0, dtype=pl.Int64)
    events = pl.concat(
        [
            acked.select("time_s", zero.alias("end"), pl.col("ack").cast(pl.Int64)),
            sent.select("time_s", pl.col("end").cast(pl.Int64), zero.alias("ack")),
        ]
    ).sort("time_s", maintain_order=True)
    octets = (pl.col("end").cum_max() - pl.col("ack").cum_max()).clip(lower_bound=0)
    return events.select("time_s", octets.alias("octets")).unique("time_s", keep="last", maintain_order=True)

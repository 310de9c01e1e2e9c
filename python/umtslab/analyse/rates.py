"""Rates over windows of time, from rows per segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def sent_per_window(sent: pl.DataFrame, *, window_s: float = 1.0) -> pl.DataFrame:
    """Payload that left the sender, retransmissions included, per window and connection.

    Parameters
    ----------
    sent : polars.DataFrame
        ``time_s``, ``connection``, ``seq`` and ``end`` (octets); one row per segment. A SYN,
        which is number 0, is no payload.
    window_s : float, default 1.0
        Length of the windows, in seconds; they begin at its multiples.

    Returns
    -------
    polars.DataFrame
        ``time_s`` (start of the window), ``connection``, ``throughput_kbps``, in the order of connection
        and time; every window from a connection's first to its last, with zero where nothing was sent.
    """
    import polars as pl

    octets = (pl.col("end") - pl.col("seq")).cast(pl.Float64).sum()
    segments = sent.filter(pl.col("seq") > 0)
    windows = segments.with_columns((pl.col("time_s") // window_s).cast(pl.Int64).alias("window"))
    counted = windows.group_by("connection", "window").agg(
        (octets * 8 / 1e3 / window_s).alias("throughput_kbps")
    )
    spans = counted.group_by("connection").agg(
        pl.int_ranges(pl.col("window").min(), pl.col("window").max() + 1).alias("window")
    )
    return (
        spans.explode("window")
        .join(counted, on=["connection", "window"], how="left")
        .sort("connection", "window")
        .select(
            (pl.col("window") * window_s).alias("time_s"),
            "connection",
            pl.col("throughput_kbps").fill_null(0.0),
        )
    )

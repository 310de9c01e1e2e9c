"""Rates of connections over time: from single segments, or averaged over longer time windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def sent_per_window(sent: pl.DataFrame, *, window_s: float = 1.0) -> pl.DataFrame:
    """Return the payload sent per window and connection, retransmissions included.

    Parameters
    ----------
    sent : polars.DataFrame
        ``time_s``, ``connection``, ``seq`` and ``end`` (bytes); one row per segment. A SYN (number
        0) is not payload. Results in the column ``result`` are kept separate.
    window_s : float, default 1.0
        Length of the windows in seconds. They start at multiples of it.

    Returns
    -------
    polars.DataFrame
        ``time_s`` (start of the window), ``connection``, ``throughput_kbps``, sorted by connection
        and time. Every window from a connection's first to its last, with 0 if nothing was sent.
    """
    import polars as pl

    keys = ["connection", *(name for name in ("result", "chosen") if name in sent.columns)]
    if "result" in sent.columns:
        # Keeps the results in their order instead of sorting them by name.
        names = pl.Enum(sent["result"].unique(maintain_order=True))
        sent = sent.with_columns(pl.col("result").cast(names))
    octets = (pl.col("end") - pl.col("seq")).cast(pl.Float64).sum()
    segments = sent.filter(pl.col("seq") > 0)
    windows = segments.with_columns((pl.col("time_s") // window_s).cast(pl.Int64).alias("window"))
    counted = windows.group_by(*keys, "window").agg((octets * 8 / 1e3 / window_s).alias("throughput_kbps"))
    spans = counted.group_by(keys).agg(
        pl.int_ranges(pl.col("window").min(), pl.col("window").max() + 1).alias("window")
    )
    return (
        spans.explode("window")
        .join(counted, on=[*keys, "window"], how="left")
        .sort(*keys[1:], "connection", "window")
        .select(
            (pl.col("window") * window_s).alias("time_s"),
            *keys,
            pl.col("throughput_kbps").fill_null(0.0),
        )
    )


MIN_SEGMENTS = 20
"""Minimum mean number of segments per bin. With fewer, single segments dominate the figure."""

_MAX_BINS, _MIN_BINS = 120, 10
"""Limits on the number of bins in a figure."""


def bin_length(rates: pl.DataFrame, column: str, sent: pl.DataFrame) -> float:
    """Choose the length of bins in seconds: 1, 2 or 5 times a power of ten.

    Parameters
    ----------
    rates : polars.DataFrame
        ``time_s``, ``connection`` and a rate in kbit/s; one row per second of each connection.
    column : str
        The column with the rate.
    sent : polars.DataFrame
        ``seq`` and ``end`` (bytes) of segments. The largest segment is used.

    Returns
    -------
    float
        A length for which a bin has twenty segments on average. It is limited so that there are 10
        to about 120 bins, and bins of at least 1 s.
    """
    if rates.is_empty() or sent.is_empty():
        return 1.0
    begin, end = float(str(rates["time_s"].min())), float(str(rates["time_s"].max())) + 1.0
    segment_octets = float(str((sent["end"] - sent["seq"]).max())) or 1.0
    segments_per_s = float(str(rates[column].mean())) * 1e3 / 8 / segment_octets
    length_needed_s = MIN_SEGMENTS / segments_per_s if segments_per_s > 0 else end - begin
    length_s = max(min(length_needed_s, (end - begin) / _MIN_BINS), (end - begin) / _MAX_BINS)
    lengths = (factor * 10.0**power for power in range(8) for factor in (1.0, 2.0, 5.0))
    return next(length for length in lengths if length >= min(length_s, 1e7))


def rebinned(rates: pl.DataFrame, column: str, length_s: float) -> pl.DataFrame:
    """Average rates per second over longer bins.

    Parameters
    ----------
    rates : polars.DataFrame
        ``time_s`` (start of a second), ``connection``, the rate, and columns that are constant for
        a connection. A missing second after the first of its connection counts as zero.
    column : str
        The column with the rate.
    length_s : float
        Length of a bin in whole seconds. Bins start at multiples of it.

    Returns
    -------
    polars.DataFrame
        The same columns. The first and the last bin of a connection are averages over the seconds
        that they contain.
    """
    import polars as pl

    if length_s <= 1.0:
        return rates
    keys = [name for name in rates.columns if name not in {"time_s", column}]
    second = pl.col("time_s").floor().cast(pl.Int64)
    seconds = rates.with_columns(second.alias("second"))
    spans = seconds.group_by(keys, maintain_order=True).agg(
        pl.int_ranges(pl.col("second").min(), pl.col("second").max() + 1).alias("second")
    )
    all_seconds = spans.explode("second").join(
        seconds.select(*keys, "second", column), on=[*keys, "second"], how="left", maintain_order="left"
    )
    start = (pl.col("second") // int(length_s) * length_s).cast(pl.Float64).alias("time_s")
    bins = all_seconds.group_by(*keys, start, maintain_order=True).agg(pl.col(column).fill_null(0.0).mean())
    return bins.select(rates.columns)


def summed(rates: pl.DataFrame, column: str) -> pl.DataFrame:
    """Sum the rates of all connections in each second, per result, as rates of connection 0."""
    import polars as pl

    keys = [name for name in rates.columns if name not in {"time_s", "connection", column}]
    total = rates.group_by(*keys, pl.col("time_s").floor(), maintain_order=True).agg(pl.col(column).sum())
    first = pl.lit(0, dtype=rates.schema["connection"]).alias("connection")
    return total.with_columns(first).sort(*keys, "time_s", maintain_order=True).select(rates.columns)

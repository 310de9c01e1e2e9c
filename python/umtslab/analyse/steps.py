"""Computations on series that are recorded on change, such as a congestion window.

Each value holds until the next row, so a series is a step function of time. A *line* is the part of a
series that belongs to one connection, UE or cell. The tables have times in seconds (``time_s``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl


def hold(
    table: pl.DataFrame, keys: Sequence[str], end_s: float, closed: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Append to each line of a series a row with its last values at the end of the line.

    Parameters
    ----------
    table : polars.DataFrame
        ``time_s``, the `keys` that identify a line, and values.
    keys : sequence of str
        For example ``("connection",)``.
    end_s : float
        End of the run in seconds.
    closed : polars.DataFrame, optional
        ``connection`` and ``closed_s``, the time at which a connection closed, null if it did not.

    Returns
    -------
    polars.DataFrame
        The rows of `table`, then one per line.
    """
    import polars as pl

    last = table.group_by(keys, maintain_order=True).last()
    until = pl.lit(end_s)
    if closed is not None:
        last = last.join(closed, on="connection", how="left", maintain_order="left")
        until = pl.col("closed_s").fill_null(end_s)
    # A connection may have rows after its closing time.
    ends = last.with_columns(pl.max_horizontal("time_s", until).alias("time_s"))
    return pl.concat([table, ends.select(table.columns)])


def cut(table: pl.DataFrame, keys: Sequence[str], from_s: float, until_s: float) -> pl.DataFrame:
    """Return the part of a series between two times, with the values that hold at both.

    Parameters
    ----------
    table : polars.DataFrame
        ``time_s``, the `keys` that identify a line, and values that hold until the next row of the
        line. The last row is the end of the line.
    keys : sequence of str
        For example ``("connection",)``.
    from_s, until_s : float
        The times in seconds.

    Returns
    -------
    polars.DataFrame
        Rows sorted by time within each line. Lines that end before `from_s` or begin after
        `until_s` have none.
    """
    import polars as pl

    time = pl.col("time_s")
    ends = table.group_by(keys, maintain_order=True).last()
    continuing = table.join(ends.filter(time >= from_s).select(keys), on=keys, maintain_order="left")
    before = continuing.filter(time < from_s).group_by(keys, maintain_order=True).last()
    inside_range = pl.concat(
        [
            before.with_columns(pl.lit(float(from_s)).alias("time_s")).select(table.columns),
            continuing.filter(time.is_between(from_s, until_s)),
        ]
    )
    # Lines that continue beyond the range get a row at its end, with the value that holds there.
    ends_later = ends.filter(time > until_s).select(keys)
    last = (
        inside_range.group_by(keys, maintain_order=True)
        .last()
        .join(ends_later, on=keys, maintain_order="left")
    )
    return pl.concat(
        [inside_range, last.with_columns(pl.lit(float(until_s)).alias("time_s")).select(table.columns)]
    )


def integral(
    times: npt.NDArray[np.float64], values: npt.NDArray[np.float64], until: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Integrate a step function from its first time to each time in `until`.

    The function is zero before its first time. The last value holds for ever.
    """
    import numpy as np

    sums = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(times))])
    indices = np.searchsorted(times, until, side="right") - 1
    inside = np.clip(indices, 0, None)
    return np.where(indices < 0, 0.0, sums[inside] + values[inside] * (until - times[inside]))


def envelope(rows: pl.DataFrame, column: str, from_s: float, until_s: float, bins: int) -> pl.DataFrame:
    """Return minimum, time average and maximum of a step function in bins of equal length.

    Parameters
    ----------
    rows : polars.DataFrame
        ``time_s`` and values of one line, sorted by time. A value holds until the next row.
    column : str
        The column with the values.
    from_s, until_s : float
        Start of the first bin and end of the last one.
    bins : int
        Number of bins.

    Returns
    -------
    polars.DataFrame
        ``time_s`` (start of the bin), ``low``, ``mean`` and ``high``; null if the line has no
        value.
    """
    import numpy as np
    import polars as pl

    edges = np.linspace(from_s, until_s, bins + 1)
    times, values = rows["time_s"].to_numpy(), rows[column].to_numpy().astype(float)
    # A bin includes the changes inside it and the value at its start. `at_start` is the index of this
    # value, -1 if the line begins later.
    at_start = np.searchsorted(times, edges[:-1], side="right") - 1
    bin_of_row = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, bins - 1)
    inside = (times >= from_s) & (times <= until_s)
    low = np.where(at_start >= 0, values[np.clip(at_start, 0, None)], np.nan)
    high = low.copy()
    np.fmin.at(low, bin_of_row[inside], values[inside])
    np.fmax.at(high, bin_of_row[inside], values[inside])
    known_s = np.clip(np.minimum(edges[1:], times[-1]) - np.maximum(edges[:-1], times[0]), 0.0, None)
    area = np.diff(integral(times, values, np.clip(edges, None, times[-1])))
    mean = np.divide(area, known_s, out=np.full(bins, np.nan), where=known_s > 0)
    bins_table = pl.DataFrame({"time_s": edges[:-1], "low": low, "mean": mean, "high": high})
    after_end = pl.Series(edges[:-1] >= times[-1])
    return bins_table.with_columns(
        pl.when(after_end).then(None).otherwise(pl.col(name).fill_nan(None)).alias(name)
        for name in ("low", "mean", "high")
    )

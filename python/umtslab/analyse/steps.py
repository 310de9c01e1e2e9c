"""Series that were recorded on change."""

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
    """A series with one more row for each of its lines: the last values, at the time until which they hold.

    Parameters
    ----------
    table : polars.DataFrame
        ``time_s``, the `keys` that tell its lines apart, and values.
    keys : sequence of str
        ``("connection",)``, for example.
    end_s : float
        End of the run, in seconds.
    closed : polars.DataFrame, optional
        ``connection`` and ``closed_s``: when connections closed, null for those that did not.

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
    # A closing connection may have the last word after its closing.
    ends = last.with_columns(pl.max_horizontal("time_s", until).alias("time_s"))
    return pl.concat([table, ends.select(table.columns)])


def cut(table: pl.DataFrame, keys: Sequence[str], from_s: float, until_s: float) -> pl.DataFrame:
    """The part of a series between two times, with the values that hold at both.

    Parameters
    ----------
    table : polars.DataFrame
        ``time_s``, the `keys` that tell its lines apart, and values that hold until the next row of their
        line; the last row of a line is where it ends.
    keys : sequence of str
        ``("connection",)``, for example.
    from_s, until_s : float
        The times, in seconds.

    Returns
    -------
    polars.DataFrame
        Rows in the order of time within each line. A line that has ended before, or begins later, has none.
    """
    import polars as pl

    time = pl.col("time_s")
    ends = table.group_by(keys, maintain_order=True).last()
    going_on = table.join(ends.filter(time >= from_s).select(keys), on=keys, maintain_order="left")
    before = going_on.filter(time < from_s).group_by(keys, maintain_order=True).last()
    begun = pl.concat(
        [
            before.with_columns(pl.lit(from_s).alias("time_s")).select(table.columns),
            going_on.filter(time.is_between(from_s, until_s)),
        ]
    )
    longer = ends.filter(time > until_s).select(keys)
    last = begun.group_by(keys, maintain_order=True).last().join(longer, on=keys, maintain_order="left")
    return pl.concat([begun, last.with_columns(pl.lit(until_s).alias("time_s")).select(table.columns)])


def integral(
    times: npt.NDArray[np.float64], values: npt.NDArray[np.float64], until: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Integral of steps, each value holding until the next, from the first time to each of `until`.

    The value before the first time counts as zero, and the last one holds on.
    """
    import numpy as np

    sums = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(times))])
    places = np.searchsorted(times, until, side="right") - 1
    inside = np.clip(places, 0, None)
    return np.where(places < 0, 0.0, sums[inside] + values[inside] * (until - times[inside]))

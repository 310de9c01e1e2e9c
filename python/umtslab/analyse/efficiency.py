"""Efficiency of the cells per time window: goodput as a share of the reserved rate, from recorded series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.steps import integral

if TYPE_CHECKING:
    import polars as pl

_MAX_WINDOWS = 50
"""Maximum number of windows, if their length is chosen here."""

_LENGTHS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
"""Lengths of windows to choose from."""


def efficiency_per_window(
    cell: pl.DataFrame, goodput: pl.DataFrame, length_s: float | None = None, *, begin_s: float = 0.0
) -> pl.DataFrame:
    """Return the share of the reserved rate that is goodput, for all cells together.

    Parameters
    ----------
    cell : polars.DataFrame
        ``time_s``, ``cell`` and ``downlink_kbps``, the reserved rate; one row per change, and a
        last row for each cell at the end of the run or of the time range.
    goodput : polars.DataFrame
        ``time_s`` (start of a window), ``connection`` and ``goodput_kbps``, in windows of 1 s.
        Windows across `begin_s` or the end count in proportion.
    length_s : float, optional
        Length of the windows in whole seconds; by default chosen for at most fifty windows.
    begin_s : float
        Start of the first window. The others start at multiples of their length.

    Returns
    -------
    polars.DataFrame
        ``time_s`` (start of the window), ``length_s`` and ``efficiency``, at least 0, null if
        nothing was reserved. The last window ends with the run.
    """
    import numpy as np
    import polars as pl

    end_s = float(str(cell["time_s"].max()))
    if length_s is None:
        span_s = end_s - begin_s
        length_s = next((length for length in _LENGTHS_S if span_s / length <= _MAX_WINDOWS), _LENGTHS_S[-1])
    edges = np.append(np.arange(begin_s // length_s * length_s, end_s, length_s), end_s)
    edges[0] = begin_s
    # The reserved rate of all cells, integrated over each window.
    reserved_kbit = np.zeros(len(edges) - 1)
    for rows in cell.partition_by("cell", maintain_order=True):
        reserved_kbit += np.diff(integral(rows["time_s"].to_numpy(), rows["downlink_kbps"].to_numpy(), edges))
    # Each row of `goodput` lasts 1 s, or less at `begin_s` and at the end of the run.
    starts = goodput["time_s"].to_numpy()
    lengths_s = np.clip(np.minimum(starts + 1.0, end_s) - np.maximum(starts, begin_s), 0.0, None)
    window_indices = np.searchsorted(edges, starts, side="right") - 1
    goodput_kbit = np.bincount(
        np.clip(window_indices, 0, len(reserved_kbit) - 1),
        weights=goodput["goodput_kbps"].to_numpy() * lengths_s,
        minlength=len(reserved_kbit),
    )
    efficiency = np.divide(
        goodput_kbit, reserved_kbit, out=np.full(len(reserved_kbit), np.nan), where=reserved_kbit > 0
    )
    return pl.DataFrame(
        {"time_s": edges[:-1], "length_s": np.diff(edges), "efficiency": efficiency}
    ).with_columns(pl.col("efficiency").fill_nan(None))

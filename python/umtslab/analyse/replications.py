"""Mean over the runs of one scenario as a function of time, with 95 % confidence intervals.

`over_bins` reduces each run to one value per time bin. `mean_and_half` combines the runs bin by bin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from umtslab.analyse.statistics import t_quantile
from umtslab.analyse.steps import envelope

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl


def over_bins(
    lines: Iterable[pl.DataFrame], column: str, from_s: float, until_s: float, bins: int, *, add: bool
) -> npt.NDArray[np.float64]:
    """Combine the lines of one run into one value per bin: the sum or the mean of known values.

    Parameters
    ----------
    lines : iterable of polars.DataFrame
        ``time_s`` and values of one line each. A value holds until the next row.
    column : str
        The column with the values.
    from_s, until_s : float
        Start of the first bin and end of the last one.
    bins : int
        Number of bins of equal length.
    add : bool
        Whether to sum the lines.

    Returns
    -------
    numpy.ndarray
        Time averages. Bins without values are NaN, or 0 for sums.
    """
    import numpy as np

    total, count = np.zeros(bins), np.zeros(bins)
    for rows in lines:
        means = envelope(rows, column, from_s, until_s, bins)["mean"].fill_null(float("nan")).to_numpy()
        known = ~np.isnan(means)
        total[known] += means[known]
        count[known] += 1
    if add:
        return total
    mean: npt.NDArray[np.float64] = np.divide(total, count, out=np.full(bins, np.nan), where=count > 0)
    return mean


def mean_and_half(
    runs: Sequence[npt.NDArray[np.float64]],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return mean and half width of the 95 % interval over runs in each bin.

    The half width is NaN with fewer than two runs.
    """
    import numpy as np

    values = np.vstack(runs)
    known = ~np.isnan(values)
    n = known.sum(axis=0)
    filled = np.where(known, values, 0.0)
    mean = np.divide(filled.sum(axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
    half = np.full(n.shape, np.nan)
    # Half width t · sqrt(variance / n), with variance = squares / (n - 1). The quantile t depends on n.
    for count in {int(known_runs) for known_runs in n if known_runs > 1}:
        bins_with_count = n == count
        variance_of_mean = squares[bins_with_count] / (count - 1) / count
        half[bins_with_count] = t_quantile(count - 1) * np.sqrt(variance_of_mean)
    return mean, half

"""Common parts of goodput and throughput: bins with enough segments, sums of many connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.rates import bin_length, rebinned, summed
from umtslab.plot.row_groups import row_groups
from umtslab.plot.style import MAX_LINES, finish, new_figure, windows

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def draw_rates(
    rates: pl.DataFrame, sent: pl.DataFrame, name: str, *, title: str, window_s: float | None = None
) -> Figure:
    """Draw rates in bins of several seconds.

    Parameters
    ----------
    rates : polars.DataFrame
        ``time_s`` (start of a second), ``connection``, and the rate, for example ``goodput_kbps``.
    sent : polars.DataFrame
        ``seq`` and ``end`` (bytes) of segments. Their size determines the length of a bin.
    name : str
        Name of the rate, which is the column without ``_kbps``.
    title : str
        Title of the figure.
    window_s : float, optional
        Length of a bin in whole seconds; by default long enough for twenty segments.
    """
    column = f"{name}_kbps"
    is_sum = "chosen" not in rates.columns and _has_too_many_lines(rates)
    if is_sum:
        rates, name = (
            summed(rates, column),
            f"{name}, all {rates['connection'].n_unique()} connections",
        )
    length_s = window_s if window_s is not None else bin_length(rates, column, sent)
    drawing, axes = new_figure(title, f"{column.split('_')[0]} over {length_s:g} s (kbit/s)")
    windows(axes, rebinned(rates, column, length_s), column, name, length_s)
    return finish(drawing, axes)


def _has_too_many_lines(rates: pl.DataFrame) -> bool:
    results = rates["result"].n_unique() if "result" in rates.columns else 1
    return len(row_groups(rates)) > max(MAX_LINES, results)

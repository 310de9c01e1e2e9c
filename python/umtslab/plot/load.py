"""Load, power and postponed DSCH requests of the cells of a layout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from umtslab.plot.look import canvas
from umtslab.plot.palette import style
from umtslab.plot.row_groups import several_results
from umtslab.plot.style import legend_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT_IN = 6.2

_QUANTILES = (0.05, 0.95)
"""Quantiles over the cells at a time that limit the band."""

_PANELS = {
    "load_factor_pct": "load factor (%)",
    "power_dbm": "power (dBm)",
    "postponed_pct": "postponed (%)",
}


def figure(cells: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw load factor, power and postponed requests per second.

    Parameters
    ----------
    cells : polars.DataFrame
        ``time_s`` (start of the second), ``cell``, ``load_factor_pct``, ``power_dbm``, ``grants``,
        ``postponed``; one row per cell and second.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Panels with one time axis. A line is the mean of all cells, in a band that contains nine of
        ten cells. The mean power is averaged in milliwatts and drawn in dBm.
    """
    drawing = canvas(HEIGHT_IN)
    panels = drawing.subplots(len(_PANELS), 1, sharex=True)
    results = cells["result"].unique(maintain_order=True).to_list() if several_results(cells) else [None]
    for number, result in enumerate(results):
        rows = cells if result is None else cells.filter(cells["result"] == result)
        for axes, column in zip(panels, _PANELS, strict=True):
            _mean_in_band(axes, _seconds(rows, column), number, result)
    for axes, label in zip(panels, _PANELS.values(), strict=True):
        axes.set_ylabel(label)
    panels[0].axhline(100, color="#999999", linewidth=0.5, zorder=0.5)
    panels[-1].set_ylim(bottom=0)
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(left=float(str(cells["time_s"].min() or 0.0)))
    if title:
        panels[0].set_title(title, loc="left")
    legend_of(drawing, [panels[0]])
    return drawing


def _seconds(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return for each second the mean over the cells, and the edges of the band."""
    import polars as pl

    requests = pl.col("grants") + pl.col("postponed")
    rows = rows.with_columns((100 * pl.col("postponed") / requests).fill_nan(None).alias("postponed_pct"))
    value = pl.col(column)
    mean = {
        "power_dbm": 10 * (10 ** (value / 10)).mean().log10(),
        "postponed_pct": 100 * pl.col("postponed").sum() / requests.sum(),
    }.get(column, value.mean())
    low, high = (
        value.quantile(share, interpolation="linear").alias(name)
        for share, name in zip(_QUANTILES, ("low", "high"), strict=True)
    )
    return rows.group_by("time_s", maintain_order=True).agg(mean.alias("mean"), low, high)


def _mean_in_band(axes: Axes, seconds: pl.DataFrame, number: int, result: str | None) -> None:
    """Draw the mean of the cells of result `number` as steps, in its band."""
    look = style(number)
    # A value covers the second that begins at its time.
    times = [*seconds["time_s"], seconds["time_s"][-1] + 1.0]
    low, high, mean = ([*seconds[name], seconds[name][-1]] for name in ("low", "high", "mean"))
    low, high = ([math.nan if value is None else value for value in edge] for edge in (low, high))
    axes.fill_between(times, low, high,
                      step="post", color=look["color"], alpha=0.2, linewidth=0,
                      label="_" if number else "90 % of the cells")  # fmt: skip
    axes.plot(times, mean, drawstyle="steps-post", label=result or "mean of the cells", **look)

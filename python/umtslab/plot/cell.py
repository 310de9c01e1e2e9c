"""Use of the DCHs of a cell, and its efficiency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.analyse.efficiency import efficiency_per_window
from umtslab.plot.look import canvas
from umtslab.plot.palette import COLOURS, style
from umtslab.plot.row_groups import several_results
from umtslab.plot.style import legend_of, lines

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT_IN = 5.0


def figure(cell: pl.DataFrame, goodput: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the DCHs in use and, below, the efficiency of the cell.

    Parameters
    ----------
    cell : polars.DataFrame
        ``time_s``, ``cell``, ``downlink_kbps``, ``dchs``, ``is_full``; one row per change.
    goodput : polars.DataFrame
        ``time_s`` (start of the window), ``connection``, ``goodput_kbps``; one row per window.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Two panels with one time axis. A band marks the time in which no DCH was available.
        Efficiency is defined as in the metric ``cell_efficiency``: total goodput divided by the
        reserved rate of all cells, per window.
    """
    drawing = canvas(HEIGHT_IN)
    upper, lower = drawing.subplots(2, 1, sharex=True)
    lines(upper, cell, "dchs", "DCHs in use", by=("cell",))
    if not several_results(cell):
        _full(upper, cell)
    _efficiency(lower, cell, goodput)
    upper.yaxis.get_major_locator().set_params(integer=True)
    upper.set_ylabel("DCHs (number)")
    lower.set_ylabel("efficiency (%)")
    lower.set_xlabel("time (s)")
    for axes in (upper, lower):
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0, right=float(str(cell["time_s"].max() or 1.0)))
    if title:
        upper.set_title(title, loc="left")
    legend_of(drawing, [upper, lower])
    return drawing


def _full(axes: Axes, cell: pl.DataFrame) -> None:
    """Mark the times in which no DCH was available."""
    full = [
        span
        for rows in cell.partition_by("cell", maintain_order=True)
        for span in _spans(rows["time_s"].to_numpy(), rows["is_full"].to_numpy())
    ]
    if full:
        axes.broken_barh(
            full, (0.0, 1.0), transform=axes.get_xaxis_transform(), zorder=0.5,
            color="#E69F00", alpha=0.3, linewidth=0, label="cell full: no DCH free or preemptible",
        )  # fmt: skip


def _efficiency(axes: Axes, cell: pl.DataFrame, goodput: pl.DataFrame) -> None:
    """Draw the efficiency per window, for each result."""
    results = cell["result"].unique(maintain_order=True).to_list() if "result" in cell.columns else [None]
    begin_s = float(str(cell["time_s"].min() or 0.0))
    for number, result in enumerate(results):
        cell_of_result, goodput_of_result = (
            (cell, goodput)
            if result is None
            else (table.filter(table["result"] == result) for table in (cell, goodput))
        )
        windows = efficiency_per_window(cell_of_result, goodput_of_result, begin_s=begin_s)
        look = {"color": COLOURS[1]} if result is None else style(number)
        axes.stairs(
            100 * windows["efficiency"].to_numpy(),
            [*windows["time_s"], windows["time_s"][-1] + windows["length_s"][-1]],
            baseline=None,
            label=f"cell efficiency over {windows['length_s'][0]:g} s" if result is None else "_",
            **look,
        )


def _spans(times: npt.NDArray[np.float64], holds: npt.NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Return start and length of the intervals from each row with `holds` to the next row."""
    return [
        (float(begin), float(end - begin))
        for begin, end, is_so in zip(times[:-1], times[1:], holds[:-1], strict=True)
        if is_so and end > begin
    ]

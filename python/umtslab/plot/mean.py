"""Mean over the runs of a result as a function of time, in a band of 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.analyse.rates import bin_length
from umtslab.analyse.replications import mean_and_half, over_bins
from umtslab.figure_kinds import known
from umtslab.plot.equal import equal_to, with_equal
from umtslab.plot.look import HOUSE, Look, dress, printable
from umtslab.plot.palette import style
from umtslab.plot.strands import strands
from umtslab.plot.style import finish, new_figure
from umtslab.plot.tables import WHOLE, View, table
from umtslab.plot.titles import shared_title
from umtslab.run import MissingSeries, Run

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl
    from matplotlib.figure import Figure


_BINS = 100


@dataclass(frozen=True)
class _Line:
    """Source of a line: series, column and label, and whether the lines of a run are summed."""

    series: str
    column: str
    label: str
    add: bool = False
    scale: float = 1.0


MEANS = {
    "cwnd": _Line("cwnd", "cwnd_segments", "congestion window (segments)"),
    "outstanding": _Line("outstanding", "outstanding_segments", "outstanding (segments)"),
    "rtt": _Line("srtt", "srtt_s", "smoothed RTT (s)"),
    "goodput": _Line("goodput", "goodput_kbps", "goodput (kbit/s)", add=True),
    "rlc_buffer": _Line("rlc_buffer", "octets", "RLC buffers, downlink (kB)", add=True, scale=1e-3),
}
"""Kinds of figures that can show a mean over runs."""


def draw_mean(
    results: Mapping[str, Sequence[Run]], kind: str, view: View = WHOLE, look: Look = HOUSE
) -> Figure:
    """Draw the mean over runs as a function of time, for one or several results.

    Parameters
    ----------
    results : mapping of str to sequence of Run
        Runs that recorded series, by the name of their result in the figure.
    kind : str
        A name in `MEANS`. Within a run, connections are averaged, except that goodput and buffers
        are summed.
    view : View, optional
        The time range, and the connections or UEs to which the mean is restricted.
    look : Look, optional
        Appearance of the figure.

    Raises
    ------
    umtslab.figure_kinds.UnknownFigure
        If the kind has no mean over runs.
    umtslab.run.MissingSeries
        If fewer than two runs of a result recorded the series.
    """
    import numpy as np

    line = known(MEANS, kind, "mean over runs")
    ends = [run.duration_s for runs in results.values() for run in runs]
    begin, end = view.from_s or 0.0, min(view.until_s or max(ends), max(ends))
    bins, label = _bins(results, line, view, end - begin)
    edges = np.linspace(begin, end, bins + 1)
    bands = {
        name: mean_and_half([line.scale * one for one in _of_runs(runs, line, view, begin, end, bins)])
        for name, runs in results.items()
    }
    equal = equal_to(list(bands), [(mean.tobytes(), half.tobytes()) for mean, half in bands.values()])
    with printable(look):
        figure, axes = new_figure(shared_title(list(results.values())), label)
        for number, (name, (mean, half)) in enumerate(bands.items()):
            colour = style(number)["color"]
            axes.stairs(mean + half, edges, baseline=mean - half, fill=True, alpha=0.25, color=colour)
            n = f"mean of {len(results[name])} runs, 95 % band"
            entry = with_equal(f"{name} ({n})" if len(results) > 1 else n, equal[number])
            axes.plot(edges, [*mean, mean[-1]], drawstyle="steps-post", label=entry, **style(number))
        finish(figure, axes)
        axes.set_xlim(begin, end)
        return dress(figure, look)


def _bins(results: Mapping[str, Sequence[Run]], line: _Line, view: View, span_s: float) -> tuple[int, str]:
    """Return the number of bins and the label of the axis.

    Bins of goodput must contain several segments.
    """
    if line.series != "goodput":
        return _BINS, line.label
    runs = [run for runs in results.values() for run in runs]
    lengths = [
        bin_length(table(run, "goodput", view), "goodput_kbps", table(run, "sent", view)) for run in runs
    ]
    bins = max(1, round(span_s / max(lengths)))
    return bins, f"goodput over {span_s / bins:.3g} s (kbit/s)"


def _of_runs(
    runs: Sequence[Run], line: _Line, view: View, begin: float, end: float, bins: int
) -> list[npt.NDArray[np.float64]]:
    if len(runs) < 2:
        raise MissingSeries(
            "a mean over runs needs at least two runs with time series: umts run FILE --series --runs 5"
        )
    return [over_bins(_lines(run, line, view), line.column, begin, end, bins, add=line.add) for run in runs]


def _lines(run: Run, line: _Line, view: View) -> list[pl.DataFrame]:
    """Return the lines of a run that are included, each with a row at the end of its last value."""
    import polars as pl

    rows = table(run, line.series, view)
    if "chosen" in rows.columns:
        rows = rows.filter("chosen")
    if "direction" in rows.columns:
        rows = rows.filter(pl.col("direction") == "downlink")
    found = [strand.rows for strand in strands(rows, ("ue",) if "ue" in rows.columns else ("connection",))]
    if line.series != "goodput":
        return found
    # A row of `goodput` covers one second.
    last = [rows.tail(1).with_columns(pl.col("time_s") + 1.0) for rows in found]
    return [pl.concat(pair) for pair in zip(found, last, strict=True)]

"""Mean over the runs of a result as a function of time, in a band of 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.analyse.rates import bin_length
from umtslab.analyse.replications import mean_and_half, over_bins
from umtslab.figure_kinds import find_kind
from umtslab.plot.equal import equal_to, with_equal
from umtslab.plot.look import HOUSE, Look, dress, printable
from umtslab.plot.palette import style
from umtslab.plot.row_groups import row_groups
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
"""Number of bins of the time range, except for goodput."""


@dataclass(frozen=True)
class _Source:
    """Source of a mean: series, column, label, and scale.

    With `add`, the values of a run's connections or UEs are summed, else averaged.
    """

    series: str
    column: str
    label: str
    add: bool = False
    scale: float = 1.0


MEANS = {
    "cwnd": _Source("cwnd", "cwnd_segments", "congestion window (segments)"),
    "outstanding": _Source("outstanding", "outstanding_segments", "outstanding (segments)"),
    "rtt": _Source("srtt", "srtt_s", "smoothed RTT (s)"),
    "goodput": _Source("goodput", "goodput_kbps", "goodput (kbit/s)", add=True),
    "rlc_buffer": _Source("rlc_buffer", "octets", "RLC buffers, downlink (kB)", add=True, scale=1e-3),
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

    source = find_kind(MEANS, kind, "mean over runs")
    ends = [run.duration_s for runs in results.values() for run in runs]
    begin, end = view.from_s or 0.0, min(view.until_s or max(ends), max(ends))
    bins, label = _bins(results, source, view, end - begin)
    edges = np.linspace(begin, end, bins + 1)
    bands = {
        name: mean_and_half(
            [source.scale * values for values in _values_of_runs(runs, source, view, begin, end, bins)]
        )
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


def _bins(
    results: Mapping[str, Sequence[Run]], source: _Source, view: View, span_s: float
) -> tuple[int, str]:
    """Return the number of bins and the label of the axis.

    Bins of goodput must contain several segments.
    """
    if source.series != "goodput":
        return _BINS, source.label
    runs = [run for runs in results.values() for run in runs]
    lengths = [
        bin_length(table(run, "goodput", view), "goodput_kbps", table(run, "sent", view)) for run in runs
    ]
    bins = max(1, round(span_s / max(lengths)))
    return bins, f"goodput over {span_s / bins:.3g} s (kbit/s)"


def _values_of_runs(
    runs: Sequence[Run], source: _Source, view: View, begin: float, end: float, bins: int
) -> list[npt.NDArray[np.float64]]:
    if len(runs) < 2:
        raise MissingSeries(
            "a mean over runs needs at least two runs with time series: umts run FILE --series --runs 5"
        )
    return [
        over_bins(_lines(run, source, view), source.column, begin, end, bins, add=source.add) for run in runs
    ]


def _lines(run: Run, source: _Source, view: View) -> list[pl.DataFrame]:
    """Return the lines of a run that are included, each with a row at the end of its last value."""
    import polars as pl

    rows = table(run, source.series, view)
    if "chosen" in rows.columns:
        rows = rows.filter("chosen")
    if "direction" in rows.columns:
        rows = rows.filter(pl.col("direction") == "downlink")
    lines = [group.rows for group in row_groups(rows, ("ue",) if "ue" in rows.columns else ("connection",))]
    if source.series != "goodput":
        return lines
    # A row of `goodput` covers one second.
    last = [rows.tail(1).with_columns(pl.col("time_s") + 1.0) for rows in lines]
    return [pl.concat(pair) for pair in zip(lines, last, strict=True)]

"""Distribution functions of round-trip times, SDU delays, page times, and values per user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.figure_kinds import find_kind
from umtslab.plot.equal import equal_to, with_equal
from umtslab.plot.look import HOUSE, Look, dress, printable, scale
from umtslab.plot.palette import style
from umtslab.plot.style import new_figure, put_legend
from umtslab.plot.tables import WHOLE, View, table
from umtslab.plot.titles import shared_title
from umtslab.run import MissingSeries, Run

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class _Samples:
    """Source of the samples: series, column, label of the horizontal axis, and the noun for samples."""

    series: str
    column: str
    label: str
    noun: str
    direction: str | None = None
    by_user: str | None = None
    """One sample per user: the ``mean`` of the column, or the ``rate`` in kbit/s."""


CDFS = {
    "rtt_cdf": _Samples("rtt", "rtt_s", "RTT (s)", "round trips"),
    "delay_cdf": _Samples("rlc_delivered", "delay_s", "SDU delay, downlink (s)", "packets", "downlink"),
    "user_delay_cdf": _Samples(
        "rlc_delivered", "delay_s", "mean SDU delay, downlink (s)", "users", "downlink", "mean"
    ),
    "user_rate_cdf": _Samples(
        "rlc_delivered", "octets", "rate of SDUs, downlink (kbit/s)", "users", "downlink", "rate"
    ),
    "page_cdf": _Samples("pages", "page_time_s", "page time (s)", "pages"),
}
"""Kinds of distribution functions."""


def draw_cdf(
    results: Mapping[str, Sequence[Run]], kind: str, view: View = WHOLE, look: Look = HOUSE
) -> Figure:
    """Draw empirical distribution functions of one or several results.

    The runs of a result are combined.

    Parameters
    ----------
    results : mapping of str to sequence of Run
        Runs that recorded series, by the name of their result in the figure.
    kind : str
        A name in `CDFS`.
    view : View, optional
        The time range of the samples, and the connections or UEs to which they are restricted.
    look : Look, optional
        Appearance of the figure.

    Raises
    ------
    umtslab.figure_kinds.UnknownFigure
        If there is no such distribution function.
    umtslab.run.MissingSeries
        If a run did not record the series, or a result has no samples.
    """
    import numpy as np

    samples = find_kind(CDFS, kind, "distribution function")
    values = {
        name: np.sort(np.concatenate([_values(run, samples, view) for run in runs]))
        for name, runs in results.items()
    }
    for name, samples_of_result in values.items():
        if not len(samples_of_result):
            raise MissingSeries(
                f"{name or results[name][0].scenario} has no {samples.noun} in the selected time"
            )
    equal = equal_to(list(values), [samples_of_result.tobytes() for samples_of_result in values.values()])
    with printable(look):
        title = shared_title(list(results.values()))
        figure, axes = new_figure(title, f"share of the {samples.noun} (%)", samples.label)
        for number, (name, samples_of_result) in enumerate(values.items()):
            runs = len(results[name])
            sample_count = f"{len(samples_of_result)} {samples.noun} of {runs} run{'s' if runs > 1 else ''}"
            if samples.by_user:
                sample_count = (
                    sample_count.removesuffix(" of 1 run") + f", Jain {jain(samples_of_result):.2f}"
                )
            # The function rises from 0 at the smallest sample, by an equal share at each sample.
            shares = 100 * np.arange(len(samples_of_result) + 1) / len(samples_of_result)
            entry = with_equal(f"{name} ({sample_count})" if name else sample_count, equal[number])
            axes.plot(
                [samples_of_result[0], *samples_of_result],
                shares,
                drawstyle="steps-post",
                label=entry,
                **style(number),
            )
        axes.axhline(50, color="#999999", linewidth=0.5 * scale(), zorder=0.5)
        axes.axhline(95, color="#999999", linewidth=0.5 * scale(), zorder=0.5)
        axes.set_yticks([0, 25, 50, 75, 95])
        axes.set_ylim(0, 100.5)
        axes.margins(x=0)
        axes.set_xlim(left=axes.get_xlim()[0] if look.log_x else 0)
        put_legend(figure, *axes.get_legend_handles_labels())
        return dress(figure, look)


def jain(values: npt.NDArray[np.float64]) -> float:
    """Return Jain's fairness index: 1 if all values are equal, 1/n if one value is not 0."""
    squares = len(values) * (values**2).sum()
    return float(values.sum() ** 2 / squares) if squares else 1.0


def values_per_user(rows: pl.DataFrame, column: str, by: str) -> npt.NDArray[np.float64]:
    """Return one value per user: the ``mean`` of a column, or the ``rate`` of bytes in kbit/s."""
    import polars as pl

    value = (
        pl.col(column).mean() if by == "mean" else pl.col(column).sum() * 8 / 1000 / pl.col("delay_s").sum()
    )
    return rows.group_by("ue").agg(value.alias("value")).sort("ue")["value"].to_numpy()


def _values(run: Run, samples: _Samples, view: View) -> npt.NDArray[np.float64]:
    rows = table(run, samples.series, view)
    if "chosen" in rows.columns:
        rows = rows.filter("chosen")
    if samples.direction is not None:
        rows = rows.filter(rows["direction"] == samples.direction)
    if samples.column not in rows.columns:
        raise MissingSeries(
            f"the run was recorded by a version without the times in {samples.series}: run it again "
            "with --series"
        )
    if samples.by_user is None:
        return rows[samples.column].to_numpy()
    return values_per_user(rows, samples.column, samples.by_user)

"""Time series of runs for figures: values extended to the end of the run, rows cut to the axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.analyse.steps import cut, hold

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run

    Read = Callable[[Run, str, "View"], pl.DataFrame]

RECORDED_ON_CHANGE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("cwnd", "ssthresh", "outstanding", "srtt", "rto", "window"), ("connection",)),
    "rlc_buffer": ("ue", "direction"),
    "rrc_state": ("ue",),
    "cell": ("cell",),
}
"""Series recorded on change, with the columns that identify a line.

A value holds until the next row.
"""

SERIES_OF_SWITCHED_USERS = {"rrc_state", "cell"}
"""Series that are empty if no user is switched between channels (``bearer = "switched"``)."""

_STEPS = {**RECORDED_ON_CHANGE, "acked": ("connection",)}
"""Series drawn as steps, with the columns that identify a line.

The last value before the start of the time axis is kept, because it holds at the start.
"""


@dataclass(frozen=True)
class View:
    """The time range of a figure, and the connections and UEs that it highlights.

    By default a figure shows the whole run and highlights nothing.

    Parameters
    ----------
    from_s, until_s : float, optional
        Start and end of the time axis in seconds. None is the start or end of the run.
    connections, ues : tuple of int
        Numbers to highlight. All others are drawn in grey. A highlighted UE includes its
        connections, and a highlighted connection includes its UE.
    """

    from_s: float | None = None
    until_s: float | None = None
    connections: tuple[int, ...] = ()
    ues: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the figure shows the whole run."""
        return self.from_s is None and self.until_s is None

    @property
    def chooses(self) -> bool:
        """Whether the figure highlights connections or UEs."""
        return bool(self.connections or self.ues)


WHOLE = View()


class NobodyChosen(ValueError):
    """The run lacks a connection or UE to highlight."""


def tables(runs: Mapping[str, Run], name: str, view: View, read: Read | None = None) -> pl.DataFrame:
    """Read a series of several runs into one table. Several runs have a column ``result``.

    Each run is read by `read`, by default `table`.

    Raises
    ------
    umtslab.run.MissingSeries
        If a run did not record the series, or the series has no data.
    """
    import polars as pl

    read = read or table
    if len(runs) == 1:
        return read(next(iter(runs.values())), name, view)
    tables = (
        read(run, name, view).with_columns(pl.lit(result).alias("result")) for result, run in runs.items()
    )
    return pl.concat(tables)


def table(run: Run, name: str, view: View) -> pl.DataFrame:
    """Read a series of a run for a figure.

    Adds a boolean column ``chosen`` if the view highlights rows.

    Raises
    ------
    umtslab.run.MissingSeries
        If the run did not record the series, or the series has no data.
    NobodyChosen
        If the run lacks one of the connections or UEs to highlight.
    """
    rows = _rows_in_view(_extended_to_end(run, name), run, name, view)
    return _with_chosen(rows, run, view) if view.chooses else rows


def _rows_in_view(rows: pl.DataFrame, run: Run, name: str, view: View) -> pl.DataFrame:
    """Return the rows inside the time axis of the view."""
    begin = 0.0 if view.from_s is None else view.from_s
    end = run.duration_s if view.until_s is None else view.until_s
    if view.is_whole:
        return rows
    if name in _STEPS:
        return cut(rows, _STEPS[name], begin, end)
    # A row of `goodput` covers the second that begins at its time.
    length = 1.0 if name == "goodput" else 0.0
    return rows.filter((rows["time_s"] + length >= begin) & (rows["time_s"] <= end))


def _with_chosen(rows: pl.DataFrame, run: Run, view: View) -> pl.DataFrame:
    """Add the column ``chosen``.

    Tables without a connection or UE column are returned unchanged.
    """
    import polars as pl

    connections, ues = highlighted(run, view)
    if "connection" in rows.columns:
        return rows.with_columns(pl.col("connection").is_in(sorted(connections)).alias("chosen"))
    if "ue" in rows.columns:
        return rows.with_columns(pl.col("ue").is_in(sorted(ues)).alias("chosen"))
    return rows


def highlighted(run: Run, view: View) -> tuple[set[int], set[int]]:
    """Return the connections and the UEs that the view highlights in this run.

    Raises
    ------
    NobodyChosen
        If the run lacks one of them. The message names the numbers that exist.
    """
    ue_of_connection = dict(run.connections().select("connection", "ue").iter_rows())
    users = set(ue_of_connection.values())
    if run.series_rows("rrc_state"):
        users |= set(run.series("rrc_state")["ue"].unique())
    for noun, requested, existing in (
        ("connection", view.connections, set(ue_of_connection)),
        ("UE", view.ues, users),
    ):
        for number in requested:
            if number not in existing:
                span = f"{noun}s {min(existing)} to {max(existing)}" if existing else f"no {noun}"
                raise NobodyChosen(f"run {run.run} of {run.scenario} has no {noun} {number}; it has {span}")
    connections_of_ues = {number for number, ue in ue_of_connection.items() if ue in view.ues}
    ues_of_connections = {ue_of_connection[number] for number in view.connections}
    return connections_of_ues | set(view.connections), ues_of_connections | set(view.ues)


def _extended_to_end(run: Run, name: str) -> pl.DataFrame:
    """Read a series.

    For series recorded on change, the last values are repeated where their lines end. A line ends
    with the run; a line of a connection ends when the connection closes.
    """
    from umtslab.run import MissingSeries

    rows = run.series(name)
    if name in SERIES_OF_SWITCHED_USERS and rows.is_empty():
        raise MissingSeries(f'no UE of {run.scenario} switches between channels: bearer = "switched"')
    if name == "program_rtt" and rows.is_empty():
        raise MissingSeries(f"{run.scenario} measured no round trip: no TCP segment or ping was answered")
    if name not in RECORDED_ON_CHANGE:
        return rows
    if RECORDED_ON_CHANGE[name] != ("connection",):
        return hold(rows, RECORDED_ON_CHANGE[name], run.duration_s)
    closed = run.connections().select("connection", "closed_s")
    return hold(rows, ("connection",), run.duration_s, closed)

"""The tables that a figure of a run is drawn from: held to the end, and cut to the time that is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.analyse.steps import cut, hold

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run

    Read = Callable[[Run, str, "View"], pl.DataFrame]

HELD: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("cwnd", "ssthresh", "outstanding", "srtt", "rto", "window"), ("connection",)),
    "rlc_buffer": ("ue", "direction"),
    "rrc_state": ("ue",),
    "cell": ("cell",),
}
"""Series whose values hold until the next row, and what tells their lines apart."""

OF_SWITCHED = {"rrc_state", "cell"}
"""Series that are empty where no user is switched between channels."""

_STEPS = {**HELD, "acked": ("connection",)}
"""What is drawn as steps: a value from before the time that is shown reaches into it."""


@dataclass(frozen=True)
class View:
    """The part of a run that a figure shows, and of whom; by default all of it, nobody more than others.

    Parameters
    ----------
    from_s, until_s : float, optional
        Where the time axis begins and ends; None for where the run does.
    connections, ues : tuple of int
        Who is under study: the others are grey. A user's connections count as chosen with it, and the user
        of a connection with that.
    """

    from_s: float | None = None
    until_s: float | None = None
    connections: tuple[int, ...] = ()
    ues: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all of the time is shown."""
        return self.from_s is None and self.until_s is None

    @property
    def chooses(self) -> bool:
        """Whether anybody is under study."""
        return bool(self.connections or self.ues)


WHOLE = View()


class NobodyChosen(ValueError):
    """Connections or users were asked for that the run does not have."""


def tables(runs: Mapping[str, Run], name: str, view: View, read: Read | None = None) -> pl.DataFrame:
    """A series of several results as one table, which tells them apart by its column ``result``.

    Each is read by `read`, or as `table` does.

    Raises
    ------
    umtslab.run.MissingSeries
        If one of them did not record it, or has none of it.
    """
    import polars as pl

    read = read or table
    if len(runs) == 1:
        return read(next(iter(runs.values())), name, view)
    found = (
        read(run, name, view).with_columns(pl.lit(result).alias("result")) for result, run in runs.items()
    )
    return pl.concat(found)


def table(run: Run, name: str, view: View) -> pl.DataFrame:
    """A series of a run as a figure shows it; with a column ``chosen`` where somebody is under study.

    Raises
    ------
    umtslab.run.MissingSeries
        If the run did not record it, or has none of it.
    NobodyChosen
        If the run has none of those who are to be shown.
    """
    rows = _part(_to_the_end(run, name), run, name, view)
    return _with_chosen(rows, run, view) if view.chooses else rows


def _part(rows: pl.DataFrame, run: Run, name: str, view: View) -> pl.DataFrame:
    """The part of the time that is shown."""
    begin = 0.0 if view.from_s is None else view.from_s
    end = run.duration_s if view.until_s is None else view.until_s
    if view.is_whole:
        return rows
    if name in _STEPS:
        return cut(rows, _STEPS[name], begin, end)
    # The windows of `goodput` are a second long, and their time is that of their beginning.
    length = 1.0 if name == "goodput" else 0.0
    return rows.filter((rows["time_s"] + length >= begin) & (rows["time_s"] <= end))


def _with_chosen(rows: pl.DataFrame, run: Run, view: View) -> pl.DataFrame:
    """The rows, each with whether it is of somebody under study; all of them where nobody could be."""
    import polars as pl

    connections, ues = under_study(run, view)
    if "connection" in rows.columns:
        return rows.with_columns(pl.col("connection").is_in(sorted(connections)).alias("chosen"))
    if "ue" in rows.columns:
        return rows.with_columns(pl.col("ue").is_in(sorted(ues)).alias("chosen"))
    return rows


def under_study(run: Run, view: View) -> tuple[set[int], set[int]]:
    """Connections and users that a view chooses of a run.

    Raises
    ------
    NobodyChosen
        If the run does not have one of them.
    """
    of_ue = dict(run.connections().select("connection", "ue").iter_rows())
    users = set(of_ue.values())
    if run.series_rows("rrc_state"):
        users |= set(run.series("rrc_state")["ue"].unique())
    for word, wanted, had in (("connection", view.connections, set(of_ue)), ("UE", view.ues, users)):
        for number in wanted:
            if number not in had:
                span = f"{word}s {min(had)} to {max(had)}" if had else f"no {word}"
                raise NobodyChosen(f"run {run.run} of {run.scenario} has no {word} {number}; it has {span}")
    connections = {number for number, ue in of_ue.items() if ue in view.ues} | set(view.connections)
    return connections, {of_ue[number] for number in view.connections} | set(view.ues)


def _to_the_end(run: Run, name: str) -> pl.DataFrame:
    """A series; one that was recorded on change with its last values held."""
    from umtslab.run import MissingSeries

    rows = run.series(name)
    if name in OF_SWITCHED and rows.is_empty():
        raise MissingSeries(f'no user of {run.scenario} is switched between channels: bearer = "switched"')
    if name == "program_rtt" and rows.is_empty():
        raise MissingSeries(
            f"no round trip was measured in {run.scenario}: no TCP segment or ping was answered"
        )
    if name not in HELD:
        return rows
    if HELD[name] != ("connection",):
        return hold(rows, HELD[name], run.duration_s)
    closed = run.connections().select("connection", "closed_s")
    return hold(rows, ("connection",), run.duration_s, closed)

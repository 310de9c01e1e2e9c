"""The tables that a figure of a run is drawn from: held to the end, and cut to the time that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.analyse.steps import cut, hold

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run

HELD: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("cwnd", "ssthresh", "outstanding", "srtt", "rto"), ("connection",)),
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
    """The part of a run that a figure shows; None for where the run itself begins or ends."""

    from_s: float | None = None
    until_s: float | None = None


WHOLE = View()


def table(run: Run, name: str, view: View) -> pl.DataFrame:
    """A series of a run as a figure shows it.

    Raises
    ------
    umtslab.run.MissingSeries
        If the run did not record it, or has none of it.
    """
    rows = _to_the_end(run, name)
    begin = 0.0 if view.from_s is None else view.from_s
    end = run.duration_s if view.until_s is None else view.until_s
    if view == WHOLE:
        return rows
    if name in _STEPS:
        return cut(rows, _STEPS[name], begin, end)
    # The windows of `goodput` are a second long, and their time is that of their beginning.
    length = 1.0 if name == "goodput" else 0.0
    return rows.filter((rows["time_s"] + length >= begin) & (rows["time_s"] <= end))


def _to_the_end(run: Run, name: str) -> pl.DataFrame:
    """A series; one that was recorded on change with its last values held."""
    from umtslab.run import MissingSeries

    rows = run.series(name)
    if name in OF_SWITCHED and rows.is_empty():
        raise MissingSeries(f'no user of {run.scenario} is switched between channels: bearer = "switched"')
    if name not in HELD:
        return rows
    if HELD[name] != ("connection",):
        return hold(rows, HELD[name], run.duration_s)
    closed = run.connections().select("connection", "closed_s")
    return hold(rows, ("connection",), run.duration_s, closed)

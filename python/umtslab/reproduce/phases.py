"""Phases of a transfer on a DCH, derived from recorded series: Dubois (2005), section 5.2.

``fach``
    On the common channels, until the switch to a DCH begins.
``switching``
    The DCH is being set up, and the downlink buffer does not shrink. ``switching with data`` if it
    does.
``dch_active``
    On the DCH, until the buffer is finally empty.
``dch_idle``
    Still on the DCH, without data, until the release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.reproduce.counts import recorded
from umtslab.reproduce.errors import Missing

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run


@dataclass(frozen=True)
class Phase:
    """A phase with its start and end."""

    name: str
    start_s: float
    end_s: float


def phases(run: Run) -> list[Phase]:
    """Return the phases of the first user, up to the first release of a DCH.

    Raises
    ------
    Missing
        If the run recorded no states or buffers, or no DCH was released.
    """
    import polars as pl

    states = recorded(run, "rrc_state").filter(pl.col("ue") == 0)
    buffer = recorded(run, "rlc_buffer").filter((pl.col("ue") == 0) & (pl.col("direction") == "downlink"))
    result: list[Phase] = []
    ends = [*states["time_s"].to_list()[1:], float("inf")]
    for row, end in zip(states.to_dicts(), ends, strict=True):
        if row["state"] == "CELL_DCH" and row["towards"]:
            return result
        result += _phases_of(row["state"], row["towards"], row["time_s"], end, buffer)
    raise Missing("no DCH was released")


def _phases_of(state: str, towards: str, start: float, end: float, buffer: pl.DataFrame) -> list[Phase]:
    """Return the phases of a user's stay in one RRC state, or of a switch to another."""
    import polars as pl

    if towards:
        during = buffer.filter(pl.col("time_s").is_between(start, end, closed="left"))["octets"]
        before = buffer.filter(pl.col("time_s") < start)["octets"].tail(1)
        falls = (before.append(during).diff() < 0).any()
        return [Phase("switching with data" if falls else "switching", start, end)]
    if state != "CELL_DCH":
        return [Phase("fach", start, end)]
    last = buffer.filter(pl.col("time_s") < end).tail(1)
    if not len(last) or last["octets"][0] > 0:
        return [Phase("dch_active", start, end)]
    emptied = max(float(last["time_s"][0]), start)
    return [Phase("dch_active", start, emptied), Phase("dch_idle", emptied, end)]

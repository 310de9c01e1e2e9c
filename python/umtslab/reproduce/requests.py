"""How a cell answers requests for a DCH while another user, the *holder*, has the DCH but is idle.

The cell of the reproduced document can take the DCH from a holder without data. A plan counts the
answers to requests that arrive while the holder has been idle for a given time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from umtslab.reproduce.counts import recorded
from umtslab.reproduce.pdus import pdus_of

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run

MARGIN_S = 0.03
"""Margin at both limits of the idle time: three radio frames.

A PDU is recorded when it leaves RLC, but the inactivity timers start when it is on the air.
"""

GRANTED = "granted after a release"


@dataclass(frozen=True)
class Requests:
    """Requests made while the holder of the DCH had been idle for `after_s` to `until_s` seconds."""

    after_s: float
    until_s: float

    def summary(self, run: Run) -> str:
        """Return the answers as the text that a claim states.

        ``true`` if the holder lost its DCH every time, ``false`` if never, the counts of the answers
        if they differ, and an empty text without requests.
        """
        answers = self.answers(run)
        if not answers:
            return ""
        if len(answers) > 1:
            return ", ".join(f"{number} {answer}" for answer, number in sorted(answers.items()))
        return "true" if GRANTED in answers else "false"

    def answers(self, run: Run) -> Counter[str]:
        """Count the requests by answer.

        A holder has been idle since its last PDU or, if later, since it got the DCH. With several
        holders the one with the shortest idle time counts.
        """
        periods = _dch_periods(recorded(run, "rrc_state"))
        pdu_times = {
            int(ue): table["time_s"].sort().to_list() for (ue,), table in pdus_of(run).group_by("ue")
        }
        counts: Counter[str] = Counter()
        for request in recorded(run, "dch_requests").to_dicts():
            time_s = request["time_s"]
            idle_times_s = [
                time_s - max(period.begin_s, _last_before(pdu_times.get(period.ue, []), time_s))
                for period in periods
                if period.ue != request["ue"] and period.begin_s < time_s <= period.end_s
            ]
            if not idle_times_s:
                continue
            if self.after_s + MARGIN_S <= min(idle_times_s) <= self.until_s - MARGIN_S:
                counts[request["answer"]] += 1
        return counts


class _DchPeriod(NamedTuple):
    """A time in which a user has a DCH."""

    ue: int
    begin_s: float
    end_s: float


def _dch_periods(states: pl.DataFrame) -> list[_DchPeriod]:
    """Return the times in which users have a DCH, without switches."""
    periods = []
    for (ue,), table in states.group_by("ue", maintain_order=True):
        times = [*table["time_s"].to_list(), float("inf")]
        # A row with `towards` is the beginning of a switch to another state.
        for index, (state, towards) in enumerate(zip(table["state"], table["towards"], strict=True)):
            if state == "CELL_DCH" and not towards:
                periods.append(_DchPeriod(int(ue), times[index], times[index + 1]))
    return periods


def _last_before(times: list[float], instant: float) -> float:
    """Return the last of these times that is not after the instant."""
    index = bisect_right(times, instant)
    return times[index - 1] if index else float("-inf")

"""Answers to requests for a DCH held by another user, by the idle time of that user."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
        holders = _holders(recorded(run, "rrc_state"))
        active = {int(ue): table["time_s"].sort().to_list() for (ue,), table in pdus_of(run).group_by("ue")}
        counts: Counter[str] = Counter()
        for row in recorded(run, "dch_requests").to_dicts():
            idle = [
                row["time_s"] - max(since, _last_before(active.get(ue, []), row["time_s"]))
                for ue, since, until in holders
                if ue != row["ue"] and since < row["time_s"] <= until
            ]
            if idle and self.after_s + MARGIN_S <= min(idle) <= self.until_s - MARGIN_S:
                counts[row["answer"]] += 1
        return counts


def _holders(states: pl.DataFrame) -> list[tuple[int, float, float]]:
    """Return the users on a DCH, with start and end of each period."""
    holders = []
    for (ue,), table in states.group_by("ue", maintain_order=True):
        times = [*table["time_s"].to_list(), float("inf")]
        for index, (state, towards) in enumerate(zip(table["state"], table["towards"], strict=True)):
            if state == "CELL_DCH" and not towards:
                holders.append((int(ue), times[index], times[index + 1]))
    return holders


def _last_before(times: list[float], instant: float) -> float:
    """Return the last of these times that is not after the instant."""
    index = bisect_right(times, instant)
    return times[index - 1] if index else float("-inf")

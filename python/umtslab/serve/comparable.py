"""The list of runs that a visitor can choose to draw in grey behind the run on the time line."""

from __future__ import annotations

from umtslab.page.run import HAS_TIMELINE
from umtslab.run import Run
from umtslab.store.reader import StoreReader

_MAX_RUNS = 100
"""Maximum length of the list."""


def comparable(store: StoreReader, run: Run) -> list[dict[str, str]]:
    """Return the runs with a time line, except `run`: the same scenario first, then the newest first."""
    others = [
        other for other in store.runs() if other.key != run.key and HAS_TIMELINE in other.series_kinds()
    ]
    # Sorting is stable: runs of the same scenario stay in the order of the first sort, newest first.
    others.sort(key=lambda other: store.made_at(other) or "", reverse=True)
    others.sort(key=lambda other: other.scenario != run.scenario)
    return [{"key": other.key, "label": other.heading} for other in others[:_MAX_RUNS]]

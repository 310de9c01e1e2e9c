"""Runs that can be drawn behind another one on the time line."""

from __future__ import annotations

from umtslab.page.run import HAS_TIMELINE
from umtslab.run import Run
from umtslab.store.reader import StoreReader

_MOST = 100


def comparable(store: StoreReader, run: Run) -> list[dict[str, str]]:
    """Return the newest runs with a time line, except `run`: runs of the same scenario first."""
    others = [
        other for other in store.runs() if other.key != run.key and HAS_TIMELINE in other.series_kinds()
    ]
    # The second sort keeps the order of the first within each group.
    others.sort(key=lambda other: store.made_at(other) or "", reverse=True)
    others.sort(key=lambda other: other.scenario != run.scenario)
    return [{"key": other.key, "label": other.heading} for other in others[:_MOST]]

"""Runs that can be drawn behind another one on the time line."""

from __future__ import annotations

from umtslab.page.run import HAS_TIMELINE
from umtslab.run import Run
from umtslab.store.reader import StoreReader

_MOST = 100


def comparable(store: StoreReader, run: Run) -> list[dict[str, str]]:
    """Return the newest runs with a time line except `run`, runs of the same scenario first."""
    found = [one for one in store.runs() if one.key != run.key and HAS_TIMELINE in one.series_kinds()]
    found.sort(key=lambda one: store.made_at(one) or "", reverse=True)
    found.sort(key=lambda one: one.scenario != run.scenario)
    return [{"key": one.key, "label": one.heading} for one in found[:_MOST]]

"""Execution of the runs of a study: store, workers, and progress callbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.campaign.file import Campaign
from umtslab.campaign.record import Cell
from umtslab.campaign.study import Study, Workers

if TYPE_CHECKING:
    from umtslab.store import Store
    from umtslab.task import ProgressHandler


@dataclass(frozen=True)
class StudyRunner:
    """Runs campaigns with a store and its workers.

    `watch` is called with the progress of a run, `expect` with the number of runs to expect.
    """

    store: Store
    workers: Workers
    watch: ProgressHandler | None = None
    expect: Callable[[int], None] | None = None

    def run(self, campaign: Campaign) -> tuple[Cell, ...]:
        """Return the points of a campaign with their runs. Only missing runs are made."""
        study = Study(campaign)
        study.run(self.store, self.workers, self.watch, self.expect)
        return study.record().cells

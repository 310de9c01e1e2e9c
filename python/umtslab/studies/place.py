"""Where the points of a study are run and kept, and who is told how far they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.campaign.file import Campaign
from umtslab.campaign.record import Cell
from umtslab.campaign.study import Study, Workers

if TYPE_CHECKING:
    from umtslab.store import Store
    from umtslab.task import Watch


@dataclass(frozen=True)
class Place:
    """A store and workers for it; `watch` is told how far each run is, `expect` how many there will be."""

    store: Store
    workers: Workers
    watch: Watch | None = None
    expect: Callable[[int], None] | None = None

    def run(self, campaign: Campaign) -> tuple[Cell, ...]:
        """The points of a campaign with their runs, of which only what the store lacks is made."""
        study = Study(campaign)
        study.run(self.store, self.workers, self.watch, self.expect)
        return study.record().cells

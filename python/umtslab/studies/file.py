"""What study files have in common."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.campaign.file import Campaign, check_name
from umtslab.campaign.record import Cell
from umtslab.campaign.study import Study, Workers
from umtslab.campaign.table import Table, Value
from umtslab.studies.parameters import Parameter, no_clash, read_parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from umtslab.store import Store
    from umtslab.task import Watch


@dataclass(frozen=True)
class Frame:
    """A scenario, what of it is to be chosen, and how often each point is run."""

    name: str
    title: str
    source: Path
    scenario: Path
    seed: int | None
    runs: int
    settings: Mapping[str, Value]
    parameters: tuple[Parameter, ...]

    def campaign(self, rows: Iterable[Mapping[str, Value]]) -> Campaign:
        """A campaign of points; run k of each has the same seed and number."""
        return Campaign(
            name=self.name,
            title=self.title,
            source=self.source,
            scenario=self.scenario,
            seed=self.seed,
            runs=self.runs,
            settings=self.settings,
            listed=list(rows),
        )


def read_frame(table: Table) -> Frame:
    """The keys that every study file has."""
    table.version()
    frame = Frame(
        name=table.text("name", table.path.stem),
        title=table.text("title", ""),
        source=table.path,
        scenario=Path(os.path.normpath(table.path.parent / table.text("scenario"))),
        seed=table.whole("seed", None) if "seed" in table else None,
        runs=table.whole("runs", 5, least=2),
        settings=table.table("set").values(),
        parameters=read_parameters(table),
    )
    check_name(table, frame.name)
    no_clash(table, frame.parameters, frame.settings)
    return frame


def run_points(
    campaign: Campaign,
    store: Store,
    workers: Workers,
    watch: Watch | None = None,
    expect: Callable[[int], None] | None = None,
) -> tuple[Cell, ...]:
    """The points of a campaign with their runs, of which only what the store lacks is made."""
    study = Study(campaign)
    study.run(store, workers, watch, expect)
    return study.record().cells

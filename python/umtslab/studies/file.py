"""What study files have in common."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from umtslab.campaign.file import Campaign, check_name
from umtslab.campaign.study import Study
from umtslab.campaign.table import Table, Value, read_toml
from umtslab.studies.parameters import Parameter, no_clash, read_parameters


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
    allow_code: bool = True
    """Whether scenarios may name Python classes, which run as programs."""

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
            allow_code=self.allow_code,
        )

    def beginning(self) -> Study:
        """The point at which every parameter is at its beginning: it knows the seed of all points.

        Raises
        ------
        CampaignError
            If it makes no scenario; so a study is checked before anything is made.
        """
        return Study(self.campaign([{p.key: p.beginning for p in self.parameters}]))


@contextmanager
def study_file(path: Path) -> Iterator[tuple[Table, Frame]]:
    """Read a study file: the frame first, the rest in the block, which must leave no key unread.

    Raises
    ------
    CampaignError
        If the file cannot be read, a key is unknown, or a value makes no sense.
    """
    table = read_toml(path)
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
    yield table, frame
    table.done()

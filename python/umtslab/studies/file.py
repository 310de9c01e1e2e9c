"""Common parts of study files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from umtslab.campaign.file import Campaign, check_name
from umtslab.campaign.study import Study
from umtslab.campaign.table import Table, Value, read_toml
from umtslab.studies.parameters import Parameter, read_parameters, refuse_clashes


@dataclass(frozen=True)
class Frame:
    """The common part of a study: scenario, parameters to choose, and number of runs per point."""

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
        """Return a campaign of points. Run k of each point has the same seed and number."""
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

    def base_study(self) -> Study:
        """Return a study of one point, at which every parameter has its first value.

        The seed is the same for all points.

        Raises
        ------
        CampaignError
            If the scenario of the point is wrong. So a study is checked before anything is created.
        """
        return Study(self.campaign([{parameter.key: parameter.first_value for parameter in self.parameters}]))


@contextmanager
def study_file(path: Path) -> Iterator[tuple[Table, Frame]]:
    """Read a study file. Yields its table and the common part. The block must read all other keys.

    Raises
    ------
    CampaignError
        If the file cannot be read, a key is unknown, or a value is wrong.
    """
    table = read_toml(path)
    table.version()
    frame = Frame(
        name=table.text("name", table.path.stem),
        title=table.text("title", ""),
        source=table.path,
        scenario=Path(os.path.normpath(table.path.parent / table.text("scenario"))),
        seed=table.whole("seed", None) if "seed" in table else None,
        runs=table.whole("runs", 5, minimum=2),
        settings=table.table("set").values(),
        parameters=read_parameters(table),
    )
    check_name(table, frame.name)
    refuse_clashes(table, frame.parameters, frame.settings)
    yield table, frame
    table.done()

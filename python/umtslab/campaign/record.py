"""Records of campaigns in the store: ``campaigns/NAME.json``.

The file contains no results, only the keys of the runs of each point. To create it again, run the
campaign, which takes its runs from the store.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.analyse.statistics import Summary, summarise_metrics
from umtslab.atomic_files import atomic_file, describe_irregular
from umtslab.campaign.errors import CampaignError
from umtslab.headline_metrics import main_metric
from umtslab.metrics import units
from umtslab.overrides import OverridePairs, changes_text
from umtslab.run import Run
from umtslab.runs import Runs
from umtslab.store.campaign_tables import campaign_content
from umtslab.store.damaged import set_aside
from umtslab.store.seal import sealed

if TYPE_CHECKING:
    from umtslab.store import StoreReader

FORMAT = 1


class DamagedRecord(CampaignError):
    """The record of a campaign in a store is damaged."""


@dataclass(frozen=True)
class Cell:
    """One point: its parameters, and its runs ordered by number."""

    parameters: Mapping[str, Any]
    runs: tuple[Run, ...]

    def summary(self) -> dict[str, Summary]:
        """Mean, deviation and interval of each metric."""
        return summarise_metrics([run.metrics for run in self.runs])

    def values(self, metric: str) -> list[float | None]:
        """Return one metric of all runs."""
        return [run.metrics.get(metric) for run in self.runs]

    @property
    def label(self) -> str:
        """The parameters as text."""
        return ", ".join(f"{key} = {value}" for key, value in self.parameters.items())


@dataclass(frozen=True)
class Record:
    """A campaign's points with their runs."""

    name: str
    title: str
    axes: tuple[str, ...]
    seed: int
    cells: tuple[Cell, ...]
    metrics: tuple[str, ...] = ()
    """The metrics listed in the campaign's file."""

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """The metrics of the campaign's file, by default the leading metric of the results."""
        return self.metrics or (main_metric(*(run.metrics for cell in self.cells for run in cell.runs)),)

    @cached_property
    def changes(self) -> OverridePairs:
        """Changes to the scenario that all points share, without varied keys."""
        shared = Runs(cell.runs[0] for cell in self.cells if cell.runs).changes
        return tuple((key, value) for key, value in shared if key not in self.axes)

    @property
    def heading(self) -> str:
        """Title, or name, and changes."""
        return ", ".join(filter(None, [self.title or self.name, changes_text(self.changes)]))


def save_record(store: Path, record: Record) -> Path:
    """Write a campaign's record into a store atomically."""
    folder = store / "campaigns"
    folder.mkdir(exist_ok=True)
    content = {
        "format": FORMAT,
        "name": record.name,
        "title": record.title,
        "axes": record.axes,
        "seed": record.seed,
        **({"metrics": record.metrics} if record.metrics else {}),
        "points": [
            {"parameters": dict(cell.parameters), "runs": [run.key for run in cell.runs]}
            for cell in record.cells
        ],
    }
    path = folder / f"{record.name}.json"
    if describe_irregular(path) is not None:
        set_aside(store, [path])
    with atomic_file(path) as file:
        file.write(sealed(content).encode())
    return path


def recorded(store: Path) -> list[str]:
    """Return the names of the campaigns in a store."""
    return sorted(path.stem for path in (store / "campaigns").glob("*.json"))


def load_record(store: StoreReader, name: str) -> Record | None:
    """Return the campaign `name` with its remaining runs, or None.

    Raises
    ------
    CampaignError
        If its record is damaged, or another version wrote it.
    """
    path = store.path / "campaigns" / f"{name}.json"
    if "/" in name or "\0" in name or not os.path.lexists(path):
        return None
    try:
        content = campaign_content(path)
        if content["format"] != FORMAT:
            layout = content["format"]
            raise CampaignError(f"{path}: layout {layout}, but this version reads layout {FORMAT}")
        runs = store.of_keys(key for point in content["points"] for key in point["runs"])
        cells = tuple(
            Cell(point["parameters"], tuple(runs[key] for key in point["runs"] if key in runs))
            for point in content["points"]
        )
        metrics = tuple(name for name in content.get("metrics", ()) if name in units())
        axes = tuple(content["axes"])
        return Record(content["name"], content["title"], axes, content["seed"], cells, metrics)
    except CampaignError:
        raise
    except (ValueError, KeyError) as error:
        advice = "umts sweep with the campaign's file creates it again from the stored runs"
        raise DamagedRecord(f"{path} is damaged ({error}): {advice}") from error

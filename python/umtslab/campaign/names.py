"""Names of campaigns in a store. A name stands for one plan, which may grow.

Campaigns belong to the same plan if they have the same scenario and settings, the same seed and the
same varied keys. More values of the keys and more replications are added to the existing ones.
Fewer remove nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from umtslab.campaign.file import SCENARIO
from umtslab.campaign.record import Cell, Record

HashAt = Callable[[Mapping[str, Any]], str | None]
"""Returns the hash of a plan's scenario for given parameters, or None if the scenario is wrong."""


def other_plan(old: Record, axes: tuple[str, ...], seed: int, hash_at: HashAt) -> str | None:
    """Return why a plan differs from the plan of a record.

    None if it is the same, whatever its points.
    """
    if set(old.axes) != set(axes):
        return f"it varies {', '.join(old.axes)}, and the new campaign varies {', '.join(axes)}"
    if old.seed != seed:
        return f"its seed is {old.seed}, and the new one is {seed}"
    for cell in _one_of_each_scenario(old):
        if hash_at(cell.parameters) != _hash(cell):
            settings = ", ".join(f"{key} = {value}" for key, value in old.changes) or "no settings"
            return f"its scenario or its constant settings differ ({settings})"
    return None


def merged_records(old: Record, new: Record) -> Record:
    """Merge two records of one plan. A point in both has the runs of the record with more."""
    known = {_hash(cell): cell for cell in old.cells if cell.runs}
    labels = {cell.label for cell in known.values()}
    cells = [
        _point_with_more_runs(known.pop(_hash(cell), None), cell)
        for cell in new.cells
        if cell.runs or cell.label not in labels
    ]
    return replace(new, cells=(*cells, *known.values()))


def _point_with_more_runs(old: Cell | None, new: Cell) -> Cell:
    """Return the point with more runs if both were made by the same code, else the new one."""
    if old is None or not new.runs or old.runs[0].key != new.runs[0].key:
        return new
    return replace(new, runs=max(old.runs, new.runs, key=len))


def _one_of_each_scenario(record: Record) -> list[Cell]:
    """Return one point per scenario file: all its points belong to the plan, or none does."""
    return list({cell.parameters.get(SCENARIO): cell for cell in record.cells if cell.runs}.values())


def _hash(cell: Cell) -> str:
    """Return the scenario hash of the runs of a point. Empty without runs."""
    return cell.runs[0].identity.scenario_hash if cell.runs else ""

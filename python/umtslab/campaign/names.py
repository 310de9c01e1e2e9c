"""A campaign's name in a store: it stands for one plan, which may grow, and for no other.

Of one plan are campaigns with the same scenario under the same settings, the same seed and the same varied
keys. More values of the keys and more replications are added to what is there; fewer take nothing away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from umtslab.campaign.file import SCENARIO
from umtslab.campaign.record import Cell, Record

HashAt = Callable[[Mapping[str, Any]], str | None]
"""The hash of the scenario that a plan has at these parameters; None if it can have none."""


def other_plan(old: Record, axes: tuple[str, ...], seed: int, hash_at: HashAt) -> str | None:
    """Why a plan is not the one that the record is of; None if it is, whatever its points are."""
    if set(old.axes) != set(axes):
        return f"it varies {', '.join(old.axes)}, and this one {', '.join(axes)}"
    if old.seed != seed:
        return f"its seed is {old.seed}, and this one's {seed}"
    for cell in _one_of_each_scenario(old):
        if hash_at(cell.parameters) != _hash(cell):
            settings = ", ".join(f"{key} = {value}" for key, value in old.changes) or "nothing set"
            return f"its scenario or what is set in it is another ({settings})"
    return None


def grown(old: Record, new: Record) -> Record:
    """The points and runs of both records of one plan; what both have comes from the one with more runs."""
    known = {_hash(cell): cell for cell in old.cells if cell.runs}
    labels = {cell.label for cell in known.values()}
    cells = [
        _longer(known.pop(_hash(cell), None), cell)
        for cell in new.cells
        if cell.runs or cell.label not in labels
    ]
    return replace(new, cells=(*cells, *known.values()))


def _longer(old: Cell | None, new: Cell) -> Cell:
    """The one with more runs, if the same code made them."""
    if old is None or not new.runs or old.runs[0].key != new.runs[0].key:
        return new
    return replace(new, runs=max(old.runs, new.runs, key=len))


def _one_of_each_scenario(record: Record) -> list[Cell]:
    """A point for each scenario file: all points of one are of the same plan, or none is."""
    return list({cell.parameters.get(SCENARIO): cell for cell in record.cells if cell.runs}.values())


def _hash(cell: Cell) -> str:
    return cell.runs[0].identity.scenario_hash if cell.runs else ""

"""The argument RESULT for campaigns: ``NAME``, or ``NAME@KEY=VALUE,…`` for some points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Record, load_record
from umtslab.cli.results import read_results
from umtslab.quantity import quantity
from umtslab.store.reader import is_store

if TYPE_CHECKING:
    from umtslab.store import StoreReader


@contextmanager
def opened_campaign(word: str, out: Path) -> Iterator[tuple[Record, StoreReader] | None]:
    """Open the campaign `word` in the results folder `out`.

    Yields the record and the open store. Yields None if `out` is no results folder or has no
    campaign of this name.

    Raises
    ------
    CampaignError
        If the name is unknown but followed by ``@``, or the conditions match no point (`selected`).
    """
    name, at, conditions = word.partition("@")
    if not is_store(out):
        yield None
        return
    with read_results(out) as store:
        record = load_record(store, name)
        if record is None and at:
            raise CampaignError(f"{out} has no campaign {name!r}")
        if record is None:
            yield None
        else:
            yield (selected(record, conditions) if at else record), store


def find_campaign(word: str, out: Path) -> Record | None:
    """Return the record of the campaign `word` in the results folder `out`, or None."""
    with opened_campaign(word, out) as found:
        return None if found is None else found[0]


def selected(record: Record, conditions: str) -> Record:
    """Return the campaign restricted to the points that match ``KEY=VALUE,KEY=VALUE``.

    The keys are removed from the axes and from the parameters of the points.

    Raises
    ------
    CampaignError
        If a key is not varied, or no point is left.
    """
    wanted = {}
    for word in conditions.split(","):
        key, equals, value = (part.strip() for part in word.partition("="))
        if not equals or key not in record.axes:
            raise CampaignError(
                f"{record.name}@{conditions}: {word!r} is not KEY=VALUE with one of {', '.join(record.axes)}"
            )
        wanted[key] = value
    cells = [
        cell
        for cell in record.cells
        if all(key in cell.parameters and _same(cell.parameters[key], value) for key, value in wanted.items())
    ]
    if not cells:
        raise CampaignError(f"{record.name} has no point with {conditions}")
    axes = tuple(key for key in record.axes if key not in wanted)
    points = tuple(
        replace(cell, parameters={key: value for key, value in cell.parameters.items() if key in axes})
        for cell in cells
    )
    return replace(record, axes=axes, cells=points)


def _same(value: object, word: str) -> bool:
    one, other = quantity(value), quantity(word)
    if one is not None and other is not None:
        return one.kind == other.kind and one.base == other.base
    return str(value) == word

"""The argument RESULT for campaigns: ``NAME``, or ``NAME@KEY=VALUE,…`` for some points."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Record, load_record
from umtslab.cli.results import read_results
from umtslab.cli.values import split_at_commas
from umtslab.quantity import quantity
from umtslab.store.reader import is_store

if TYPE_CHECKING:
    from umtslab.store import StoreReader


@contextmanager
def opened_campaign(argument: str, out: Path) -> Iterator[tuple[Record, StoreReader] | None]:
    """Open the campaign that `argument` names in the results folder `out`.

    Yields the record, restricted to the points that `argument` selects, and the open store. Yields
    None if `out` is not a results folder or has no campaign of this name.

    Raises
    ------
    CampaignError
        If the name is unknown but followed by ``@``, or the conditions match no point (`selected`).
    """
    name, at, conditions = argument.partition("@")
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


def find_campaign(argument: str, out: Path) -> Record | None:
    """Return the record of the campaign that `argument` names in the results folder `out`, or None."""
    with opened_campaign(argument, out) as opened:
        if opened is None:
            return None
        record, _ = opened
        return record


def selected(record: Record, conditions: str) -> Record:
    """Return the campaign restricted to the points that match ``KEY=VALUE,KEY=VALUE``.

    The keys are removed from the axes and from the parameters of the points.

    Raises
    ------
    CampaignError
        If a key is not varied, or no point is left.
    """
    selected_values = {}
    for condition in split_at_commas(conditions):
        key, equals, value = (part.strip() for part in condition.partition("="))
        if not equals or key not in record.axes:
            raise CampaignError(
                f"{record.name}@{conditions}: {condition!r} is not KEY=VALUE with one of "
                f"{', '.join(record.axes)}"
            )
        if key in selected_values:
            raise CampaignError(f"{record.name}@{conditions}: {key} has two values")
        selected_values[key] = value
    cells = [
        cell
        for cell in record.cells
        if all(
            key in cell.parameters and _is_equal(cell.parameters[key], value)
            for key, value in selected_values.items()
        )
    ]
    if not cells:
        raise CampaignError(f"{record.name} has no point with {conditions}")
    axes = tuple(key for key in record.axes if key not in selected_values)
    points = tuple(
        replace(cell, parameters={key: value for key, value in cell.parameters.items() if key in axes})
        for cell in cells
    )
    return replace(record, axes=axes, cells=points)


def _is_equal(value: object, text: str) -> bool:
    """Whether a value equals a text of the command line.

    Quantities are compared across units, lists and tables independently of spaces and quotes.
    """
    if text.startswith(("[", "{")):
        return _toml_value(str(value)) == _toml_value(text)
    as_quantity, text_as_quantity = quantity(value), quantity(text)
    if as_quantity is not None and text_as_quantity is not None:
        return as_quantity.kind == text_as_quantity.kind and as_quantity.base == text_as_quantity.base
    return str(value) == text


def _toml_value(text: str) -> object:
    """Return the value that a text has in TOML, or the text if it is not TOML."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text

"""The parameters of a campaign, and what its points are called."""

from __future__ import annotations

from umtslab.campaign.record import Cell, Record
from umtslab.labels import key_label, value_label
from umtslab.quantity import in_one_unit, quantity


def default_axis(record: Record) -> str:
    """The first parameter that is a number and varies, else the first that varies, else the first."""
    varied = [key for key in record.axes if len(values_of(record, key)) > 1] or list(record.axes)
    return next((key for key in varied if in_one_unit(values_of(record, key)) is not None), varied[0])


def others(record: Record, *taken: str) -> list[str]:
    """The parameters that vary beside those that an axis has."""
    return [key for key in record.axes if key not in taken and len(values_of(record, key)) > 1]


def variant(record: Record, cell: Cell, over: str) -> str:
    """A point's values of the parameters that vary beside `over`, as words."""
    return ", ".join(_word(cell, key) for key in others(record, over) if key in cell.parameters)


def values_of(record: Record, key: str) -> list[object]:
    """The different values of a parameter, in the order of the campaign."""
    found = (cell.parameters[key] for cell in record.cells if key in cell.parameters)
    return list({str(value): value for value in found}.values())


def words(value: object) -> str:
    """A value as readers write it; numbers without needless digits."""
    return f"{value:g}" if isinstance(value, float) else value_label(value)


def _word(cell: Cell, key: str) -> str:
    value = cell.parameters[key]
    is_name = isinstance(value, str) and quantity(value) is None
    return words(value) if is_name else f"{key_label(key)} {words(value)}"

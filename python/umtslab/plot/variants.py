"""Parameters of a campaign for figures: axes, variants and their labels."""

from __future__ import annotations

from umtslab.campaign.record import Cell, Record
from umtslab.labels import key_label, value_label
from umtslab.quantity import in_one_unit, quantity


def default_axis(record: Record) -> str:
    """Return the first varied parameter with numbers as values, or the first varied one.

    Without varied parameters, returns the first one.
    """
    varied = [key for key in record.axes if len(values_of(record, key)) > 1] or list(record.axes)
    return next((key for key in varied if in_one_unit(values_of(record, key)) is not None), varied[0])


def other_axes(record: Record, *taken: str) -> list[str]:
    """Return the varied parameters that are not `taken` by an axis."""
    return [key for key in record.axes if key not in taken and len(values_of(record, key)) > 1]


def variant(record: Record, cell: Cell, over: str) -> str:
    """Describe a point by the values of the varied parameters other than `over`."""
    return ", ".join(_labelled_value(cell, key) for key in other_axes(record, over) if key in cell.parameters)


def values_of(record: Record, key: str) -> list[object]:
    """Return the distinct values of a parameter, in the order of the campaign."""
    all_values = (cell.parameters[key] for cell in record.cells if key in cell.parameters)
    return list({str(value): value for value in all_values}.values())


def value_text(value: object) -> str:
    """Return a value as text for a figure, with numbers in their shortest form."""
    return f"{value:g}" if isinstance(value, float) else value_label(value)


def _labelled_value(cell: Cell, key: str) -> str:
    value = cell.parameters[key]
    is_name = isinstance(value, str) and quantity(value) is None
    return value_text(value) if is_name else f"{key_label(key)} {value_text(value)}"

"""Time budgets of several results or campaigns in one figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from umtslab.budget import MissingBudget, has_budget
from umtslab.campaign.record import Cell, Record
from umtslab.plot.budget import draw_budget
from umtslab.plot.look import HOUSE, Look
from umtslab.plot.titles import shared_runs
from umtslab.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RESULT, _CAMPAIGN = "result", "campaign"
"""Axes with names of results or campaigns as values."""


def draw_budgets(results: Mapping[str, Sequence[Run]], look: Look = HOUSE) -> Figure:
    """Draw the mean time of a connection by cause, one bar per result.

    Parameters
    ----------
    results : mapping of str to sequence of Run
        Runs with a time budget, by the name of their result in the figure.
    look : Look, optional
        Appearance of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Bars are stacked in order of precedence. Whiskers are 95 % intervals of the total over runs.

    Raises
    ------
    umtslab.budget.MissingBudget
        If a result has no run with a time budget.
    """
    cells = []
    for name, runs in results.items():
        measured = tuple(run for run in runs if has_budget(run.metrics))
        if not measured:
            raise MissingBudget(
                f"{name} has no time budget: run it again with --budget (measure.budget in a scenario)"
            )
        cells.append(Cell({_RESULT: name}, measured))
    title = shared_runs([cell.runs for cell in cells])
    record = Record(_RESULT, title, (_RESULT,), cells[0].runs[0].seed, tuple(cells))
    return draw_budget(record, _RESULT, look=look)


def merged(records: Mapping[str, Record]) -> Record:
    """Combine several campaigns into one, with the campaign as another parameter of each point.

    Parameters
    ----------
    records : mapping of str to Record
        Campaigns, by their name in the figure.
    """
    cells = [
        replace(cell, parameters={**cell.parameters, _CAMPAIGN: name})
        for name, record in records.items()
        for cell in record.cells
    ]
    axes = dict.fromkeys(axis for record in records.values() for axis in record.axes)
    titles = dict.fromkeys(record.title or record.name for record in records.values())
    first = next(iter(records.values()))
    return Record("-".join(records), ", ".join(titles), (*axes, _CAMPAIGN), first.seed, tuple(cells))

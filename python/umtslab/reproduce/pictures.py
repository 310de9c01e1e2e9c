"""Further pictures for the report of a reproduction, which the document does not have.

Time budgets over the plan's parameters, RRC states and DCHs of one run, and one connection in detail
(the waterfall), as far as the runs recorded these data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from umtslab.budget import has_budget
from umtslab.campaign.record import Cell, Record
from umtslab.page import data_url
from umtslab.reproduce.plan import Plan, Point, text

if TYPE_CHECKING:
    from umtslab.run import Run


@dataclass(frozen=True)
class ReportPicture:
    """A picture for the report."""

    anchor: str
    title: str
    text: str
    address: str
    """Data URL of the picture."""


def pictures(
    plan: Plan, points: Sequence[Point], runs_of: Callable[[Point], Sequence[Run]]
) -> list[ReportPicture]:
    """Return pictures of series that the plan's runs recorded. Empty if there are none.

    Parameters
    ----------
    plan : Plan
        The plan.
    points : sequence of Point
        Points of the plan that were run.
    runs_of : callable
        Returns the runs of a point.
    """
    return [*_budgets(plan, points, runs_of), *_of_one_run(plan, points, runs_of)]


def _budgets(
    plan: Plan, points: Sequence[Point], runs_of: Callable[[Point], Sequence[Run]]
) -> Iterator[ReportPicture]:
    """Yield the time budgets over the plan's parameters, for as many variants as fit."""
    from umtslab.plot.budget import MAX_VARIANTS, draw_budget
    from umtslab.plot.variants import default_axis, variant

    cells = [Cell(dict(point), tuple(runs_of(point))) for point in points]
    cells = [cell for cell in cells if any(has_budget(run.metrics) for run in cell.runs)]
    if not cells:
        return
    axes = tuple(dict.fromkeys(key for cell in cells for key in cell.parameters))
    record = Record(plan.name, plan.title, axes, cells[0].runs[0].seed, tuple(cells))
    over = default_axis(record)
    variants = list(dict.fromkeys(variant(record, cell, over) for cell in cells))
    shown = variants[:MAX_VARIANTS]
    record = replace(record, cells=tuple(cell for cell in cells if variant(record, cell, over) in shown))
    text = (
        "Mean time of a connection by cause, in the order of precedence; whiskers: 95 % interval of "
        "the total."
    )
    if len(variants) > len(shown):
        text += f" Shown: {'; '.join(shown)}; {len(variants) - len(shown)} more combinations were run."
    yield ReportPicture(
        f"{plan.name}-budget",
        "Time budget",
        text,
        data_url(draw_budget(record, over), in_pixels=True),
    )


def _of_one_run(
    plan: Plan, points: Sequence[Point], runs_of: Callable[[Point], Sequence[Run]]
) -> Iterator[ReportPicture]:
    """Yield channels and cell of the first run with channel switching, and the first waterfall."""
    from umtslab.plot import draw, draw_waterfall

    recorded = [(point, run) for point in points for run in runs_of(point)[:1] if run.series_kinds()]
    for point, run in recorded:
        if "rrc_state" in run.series_kinds() and len(run.series("rrc_state")):
            text = _run_label(point, run)
            for kind, title in (("rrc", "RRC states of the UEs"), ("cell", "DCHs of the cell")):
                yield ReportPicture(
                    f"{plan.name}-{kind}", title, text, data_url(draw(run, kind), in_pixels=True)
                )
            break
    for point, run in recorded:
        if run.folder is not None and "waterfall" in run.series_kinds():
            title = "One connection on one time axis"
            yield ReportPicture(
                f"{plan.name}-waterfall",
                title,
                _run_label(point, run),
                data_url(draw_waterfall(run), in_pixels=True),
            )
            break


def _run_label(point: Point, run: Run) -> str:
    values = ", ".join(f"{name} {text(value)}" for name, value in point.items())
    return f"Run {run.run}{f' of {values}' if values else ''}."

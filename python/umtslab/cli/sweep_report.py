"""Output of ``umts sweep``: the points with their means, as a table or as one JSON object."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from umtslab.analyse.statistics import summarise
from umtslab.budget import seconds_by_cause
from umtslab.campaign.plan import Plan
from umtslab.campaign.record import Record
from umtslab.campaign.study import Study
from umtslab.cli.options import RESULTS
from umtslab.labels import cause_label, value_label
from umtslab.overrides import changes_text
from umtslab.version import code_version


def as_json(record: Record, study: Study) -> dict[str, Any]:
    """Return the object for ``--json``.

    The runs of each point have the same form as in ``umts run``.
    """
    content = {
        "campaign": record.name,
        "version": str(code_version()),
        "seed": record.seed,
        "changes": dict(record.changes),
        "axes": list(record.axes),
        "taken": study.taken,
        "points": [
            {
                "parameters": dict(cell.parameters),
                "scenario": point.scenario.name,
                "runs": [
                    {"seed": run.seed, "run": run.run, "key": run.key, "metrics": run.metrics}
                    for run in cell.runs
                ],
                "summary": {name: summary.as_dict() for name, summary in cell.summary().items()},
            }
            for cell, point in zip(record.cells, study.points, strict=True)
        ],
    }
    budget = _budget(record)
    return {**content, "budget_s": budget} if budget else content


def _budget(record: Record) -> dict[str, float]:
    """Return the seconds of each cause, summed over all runs of a campaign."""
    return seconds_by_cause(run.metrics for cell in record.cells for run in cell.runs)


def print_json(record: Record, study: Study) -> None:
    """Print one JSON object and nothing else."""
    print(json.dumps(as_json(record, study), indent=1, allow_nan=False))


def print_table(record: Record, metrics: Sequence[str]) -> None:
    """Print a row per point: parameters, number of runs, mean and 95 % interval of each metric.

    If runs recorded time budgets, a table with their sum follows.
    """
    from umtslab.headline_metrics import scope_of
    from umtslab.metrics import units
    from umtslab.numbers import estimate, number
    from umtslab.text_table import Table, heading, show

    unit_of = units()
    headings = []
    for name in metrics:
        unit = unit_of.get(name, "")
        headings += [f">{name} ({unit})" if unit else f">{name}", ">± 95 %"]
    table = Table(*record.axes, ">n", *headings)
    for cell in record.cells:
        numbers: list[str] = []
        for name in metrics:
            summary = summarise(cell.values(name))
            numbers += estimate(summary.mean, summary.ci95, summary.n)
        values = [value_label(cell.parameters.get(key, "")) for key in record.axes]
        table.add_row(*values, str(len(cell.runs)), *numbers)
    heading(f"{record.title or record.name}, seed {record.seed}")
    if record.changes:
        print(changes_text(record.changes))
    print("; ".join(f"{name}: {scope}" for name in metrics if (scope := scope_of(name))) + "\n")
    show(table)
    budget = _budget(record)
    total = sum(budget.values())
    if total > 0:
        sums = Table("time budget of all runs", ">s", ">%")
        for cause, time in budget.items():
            if time > 0:
                sums.add_row(cause_label(cause), number(time), number(100 * time / total, 3))
        sums.add_row("total", number(total), "100")
        print()
        show(sums)


def print_next_steps(record: Record, store: Path, metric: str) -> None:
    """Print commands for a figure, a table and a page of the results."""
    out_option = "" if store == RESULTS else f" --out {shlex.quote(str(store))}"
    name = shlex.quote(record.name)
    print(
        f"\nfigure:  umts plot {name} {metric}{out_option}\ntable:   umts export {name} --csv{out_option}\n"
        f"page:    umts report {name}{out_option}"
    )


def print_plan(plan: Plan, *, as_json: bool) -> None:
    """Print the points with their required and missing runs.

    Of a very large plan prints the first points.
    """
    if as_json:
        content = [
            {"parameters": point.parameters, "runs": point.runs, "missing": point.missing}
            for point in plan.points
        ]
        numbers = {"point_count": plan.point_count, "runs": plan.runs, "missing": plan.missing}
        print(json.dumps({"campaign": plan.campaign.name, **numbers, "points": content}, indent=1))
        return
    from umtslab.text_table import Table, show

    axes = plan.campaign.axes
    has_precision = plan.campaign.precision is not None
    table = Table(*axes, ">runs, at least" if has_precision else ">runs", ">missing")
    for point in plan.points:
        values = (str(point.parameters.get(key, "")) for key in axes)
        table.add_row(*values, str(point.runs), str(point.missing))
    show(table)
    print(_totals_text(plan) + (", and more until the precision is reached" if has_precision else ""))


def _totals_text(plan: Plan) -> str:
    """Return the totals of a plan, as far as they are known."""
    first = f"the first {len(plan.points)} of"
    if plan.point_count is None:
        return f"{first} the points that `where` leaves of {plan.campaign.combination_count()}"
    if plan.missing is None:
        return f"{first} {plan.point_count} points, {plan.runs} runs in all"
    listed = f"{plan.point_count} points"
    if len(plan.points) < plan.point_count:
        listed = f"{first} {listed}"
    return f"{listed}, {plan.missing} runs missing"

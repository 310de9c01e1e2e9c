"""``umts compare``: differences between two results."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.campaign.record import Cell, Record
from umtslab.cli.campaigns import find_campaign
from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULT, add_all, add_json, add_out, add_values
from umtslab.cli.results import find_runs
from umtslab.comparison import Comparison, Verdict
from umtslab.comparison import compare as compare_runs
from umtslab.metrics import units, unknown_metric_text
from umtslab.run import Run

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts compare``."""
    parser.explain(
        RESULT,
        "Runs with the same seed and number have the same radio conditions and are compared in "
        "pairs: the second minus the first, with 95 % intervals. A metric is called higher or lower "
        "only if 0 lies outside the interval.",
        "In campaigns, points with equal parameters are compared. NAME@KEY=VALUE selects the points "
        "with that value.",
    )
    parser.add_argument("first", metavar="RESULT", help="The reference.")
    parser.add_argument("second", metavar="RESULT", help="The result to compare with the reference.")
    shown = parser.add_argument_group("output")
    add_values(
        shown,
        "--metric",
        "NAME",
        "Metric to compare; may be repeated (default: the headline metrics; for campaigns the "
        "metrics of the first campaign's file, otherwise the time of a page, transfer or file, "
        "otherwise goodput_kbps).",
    )
    add_out(shown, "Results folder in which names are looked up")
    add_all(shown)
    add_json(shown)


def compare(first: str, second: str, *, metric: Sequence[str], out: Path, show_all: bool, json: bool) -> int:
    """Print the differences between two results. `options` declares the arguments."""
    for name in metric:
        if name not in units():
            raise UsageError(unknown_metric_text(name))
    first_campaign, second_campaign = find_campaign(first, out), find_campaign(second, out)
    if first_campaign is not None and second_campaign is not None:
        metrics = tuple(metric) or first_campaign.shown_metrics
        return _compare_points(first_campaign, second_campaign, metrics, as_json=json)
    first_runs, second_runs = find_runs(first, out), find_runs(second, out)
    comparison = compare_runs(first_runs, second_runs)
    if json:
        print(
            json_text.dumps(_as_json(comparison, first_runs, second_runs, metric), indent=1, allow_nan=False)
        )
    else:
        _print(comparison, first_runs, second_runs, metric, show_all=show_all)
    return 0


def _compare_points(first: Record, second: Record, metrics: Sequence[str], *, as_json: bool) -> int:
    """Compare the points that both campaigns have. Returns the exit status."""
    second_cells = {_key(cell): cell for cell in second.cells}
    pairs = [(cell, second_cells[_key(cell)]) for cell in first.cells if _key(cell) in second_cells]
    rows = [
        (first_cell, compare_runs(first_cell.runs, second_cell.runs))
        for first_cell, second_cell in pairs
        if first_cell.runs and second_cell.runs
    ]
    if not rows:
        raise UsageError(
            "the campaigns have no points with equal parameters: select points with NAME@KEY=VALUE"
        )
    if as_json:
        points = [
            {
                "parameters": dict(cell.parameters),
                "pairs": comparison.pairs,
                **{metric: comparison.of(metric).as_dict() for metric in metrics},
            }
            for cell, comparison in rows
        ]
        metric_keys = {"metric": metrics[0], "metrics": list(metrics)}
        print(json_text.dumps({**metric_keys, "points": points}, indent=1, allow_nan=False))
        return 0
    for number, metric in enumerate(metrics):
        if number:
            print()
        _print_points(first.axes, metric, rows)
    return 0


def _print_points(axes: Sequence[str], metric: str, rows: Sequence[tuple[Cell, Comparison]]) -> None:
    """Print the differences of a metric at the points of two campaigns.

    `rows` has a point of the first campaign, and its comparison with the point of the second.
    """
    from umtslab.numbers import estimate, number
    from umtslab.text_table import Table, show

    headings = (">first", ">second", ">difference", ">± 95 %", ">%", ">pairs", "second is")
    table = Table(*axes, *headings)
    for cell, comparison in rows:
        row = comparison.of(metric)
        table.add_row(
            *(str(cell.parameters.get(key, "")) for key in axes),
            number(row.first.mean),
            number(row.second.mean),
            *estimate(row.difference, row.ci95, row.n),
            number(row.percent, 2),
            str(comparison.pairs),
            row.verdict.value,
        )
    unit = units().get(metric, "")
    print(f"{metric} ({unit})\n" if unit else f"{metric}\n")
    show(table)


def _key(cell: Cell) -> tuple[tuple[str, str], ...]:
    """Return the parameters of a point in a form that can be compared."""
    return tuple(sorted((key, str(value)) for key, value in cell.parameters.items()))


def _as_json(
    comparison: Comparison, first_runs: list[Run], second_runs: list[Run], metrics: Sequence[str]
) -> dict[str, object]:
    rows = [comparison.of(metric) for metric in metrics] or comparison.differences
    return {
        "first": _side(first_runs),
        "second": _side(second_runs),
        "pairs": comparison.pairs,
        "differences": {row.metric: row.as_dict() for row in rows},
    }


def _side(runs: list[Run]) -> dict[str, object]:
    """Describe one of the two results as JSON."""
    run = runs[0]
    return {
        "scenario": run.scenario,
        "result": run.identity.result,
        "version": str(run.identity.code),
        "runs": len(runs),
    }


def _print(
    comparison: Comparison,
    first_runs: list[Run],
    second_runs: list[Run],
    metrics: Sequence[str],
    *,
    show_all: bool,
) -> None:
    """Print the differences between two results as a table."""
    from umtslab.numbers import estimate, number
    from umtslab.text_table import Table, show

    if metrics:
        names = list(metrics)
    elif show_all:
        names = sorted(_measured_metrics(comparison))
    else:
        names = _headline_metrics(comparison)
    unit_of = units()
    table = Table("metric", ">first", ">second", ">difference", ">± 95 %", ">%", "unit", "second is")
    for name in names:
        row = comparison.of(name)
        table.add_row(
            name,
            number(row.first.mean),
            number(row.second.mean),
            *estimate(row.difference, row.ci95, row.n),
            number(row.percent, 2),
            unit_of.get(name, ""),
            row.verdict.value,
        )
    for name, runs in (("first ", first_runs), ("second", second_runs)):
        run = runs[0]
        print(f"{name}  {run.scenario}, {len(runs)} runs, result {run.identity.result}, {run.identity.code}")
    pairing = (
        f"{comparison.pairs} pairs of runs"
        if comparison.pairs
        else "no runs have the same seed and number: independent samples"
    )
    print(f"{pairing}\n")
    show(table)


def _headline_metrics(comparison: Comparison) -> list[str]:
    """Return the headline metrics of either result that were measured in both."""
    from umtslab.headline_metrics import headline_names

    rows = comparison.differences
    sides = {row.metric: row.first.mean for row in rows}, {row.metric: row.second.mean for row in rows}
    measured = _measured_metrics(comparison)
    return [name for name in headline_names(*sides) if name in measured]


def _measured_metrics(comparison: Comparison) -> set[str]:
    """Return the metrics that were measured in both results."""
    return {row.metric for row in comparison.differences if row.verdict is not Verdict.NOT_MEASURED}

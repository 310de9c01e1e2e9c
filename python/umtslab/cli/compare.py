"""``umts compare``: what differs between two results."""

from __future__ import annotations

import json as json_text
from typing import Annotated

from cyclopts import Parameter

from umtslab.campaign.record import Cell, Record
from umtslab.cli.campaigns import find_campaign
from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULTS, Out
from umtslab.cli.results import find_runs
from umtslab.comparison import Comparison, Verdict
from umtslab.comparison import compare as compare_runs
from umtslab.metrics import units, unknown
from umtslab.run import Run


def compare(
    first: str,
    second: str,
    /,
    *,
    metric: str = "goodput_kbps",
    out: Out = RESULTS,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    json: bool = False,
) -> int:
    """Differences between two results (second minus first), with 95 % intervals.

    Runs of the same seed and number met the same radio, and are compared pair by pair. A metric is called
    higher or lower only if 0 lies outside the interval.

    Parameters
    ----------
    first, second
        A run folder; a results folder (its latest result); or a run, result or scenario in `--out`. Of
        campaigns there, the points with equal parameters are compared, one metric of them:
        `NAME@KEY=VALUE` are the points with that value.
    metric
        Of campaigns: what is compared.
    out
        Where results are looked up by name.
    all_
        Show every metric.
    json
        Print one JSON object on standard output and nothing else there.
    """
    sides = find_campaign(first, out), find_campaign(second, out)
    if sides[0] is not None and sides[1] is not None:
        return _compare_points(sides[0], sides[1], metric, as_json=json)
    one, two = find_runs(first, out), find_runs(second, out)
    comparison = compare_runs(one, two)
    if json:
        print(json_text.dumps(_as_json(comparison, one, two), indent=1, allow_nan=False))
    else:
        _print(comparison, one, two, show_all=all_)
    return 0


def _compare_points(first: Record, second: Record, metric: str, *, as_json: bool) -> int:
    if metric not in units():
        raise UsageError(unknown(metric))
    others = {_key(cell): cell for cell in second.cells}
    pairs = [(cell, others[_key(cell)]) for cell in first.cells if _key(cell) in others]
    rows = [(one, compare_runs(one.runs, two.runs)) for one, two in pairs if one.runs and two.runs]
    if not rows:
        raise UsageError("no point of the one has the parameters of a point of the other: say NAME@KEY=VALUE")
    if as_json:
        points = [
            {"parameters": dict(cell.parameters), "pairs": found.pairs, metric: found[metric].as_dict()}
            for cell, found in rows
        ]
        print(json_text.dumps({"metric": metric, "points": points}, indent=1, allow_nan=False))
        return 0
    from umtslab.numbers import number
    from umtslab.terminal import output, plain_table

    headings = (">first", ">second", ">difference", ">± 95 %", ">%", ">pairs", "second is")
    table = plain_table(*first.axes, *headings)
    for cell, found in rows:
        row = found[metric]
        table.add_row(
            *(str(cell.parameters.get(key, "")) for key in first.axes),
            number(row.first.mean),
            number(row.second.mean),
            number(row.difference, 3),
            number(row.ci95, 2),
            number(row.percent, 2),
            str(found.pairs),
            row.verdict.value,
        )
    console = output()
    unit = units().get(metric, "")
    console.print(f"{metric} ({unit})" if unit else metric)
    console.print()
    console.print(table)
    return 0


def _key(cell: Cell) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, str(value)) for key, value in cell.parameters.items()))


def _as_json(comparison: Comparison, one: list[Run], two: list[Run]) -> dict[str, object]:
    return {
        "first": _who(one),
        "second": _who(two),
        "pairs": comparison.pairs,
        "differences": {difference.metric: difference.as_dict() for difference in comparison.differences},
    }


def _who(runs: list[Run]) -> dict[str, object]:
    run = runs[0]
    return {
        "scenario": run.scenario,
        "result": run.identity.result,
        "version": str(run.identity.code),
        "runs": len(runs),
    }


def _print(comparison: Comparison, one: list[Run], two: list[Run], *, show_all: bool) -> None:
    from umtslab.metrics import headline
    from umtslab.numbers import number
    from umtslab.terminal import output, plain_table

    measured = {d.metric: d for d in comparison.differences if d.verdict is not Verdict.NOT_MEASURED}
    names = sorted(measured) if show_all else headline(set(measured))
    unit_of = units()
    table = plain_table("metric", ">first", ">second", ">difference", ">± 95 %", ">%", "unit", "second is")
    for name in names:
        row = measured[name]
        table.add_row(
            name,
            number(row.first.mean),
            number(row.second.mean),
            number(row.difference, 3),
            number(row.ci95, 2),
            number(row.percent, 2),
            unit_of.get(name, ""),
            row.verdict.value,
        )
    console = output()
    for name, runs in (("first ", one), ("second", two)):
        run = runs[0]
        console.print(
            f"{name}  {run.scenario}, {len(runs)} runs, result {run.identity.result}, {run.identity.code}",
            soft_wrap=True,
        )
    how = f"{comparison.pairs} pairs of runs" if comparison.pairs else "no runs match: independent samples"
    console.print(how)
    console.print()
    console.print(table)

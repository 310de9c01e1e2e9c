"""``umts compare``: what differs between two results."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from umtslab.cli.results import find_runs
from umtslab.comparison import Comparison, Verdict
from umtslab.comparison import compare as compare_runs
from umtslab.run import Run


def compare(
    first: str,
    second: str,
    /,
    *,
    out: Path = Path("results"),
    all_: Annotated[bool, Parameter(name="--all")] = False,
    json: bool = False,
) -> int:
    """Differences between two results (second minus first), with 95 % intervals.

    Runs of the same seed and number met the same radio, and are compared pair by pair. A metric is called
    higher or lower only if 0 lies outside the interval.

    Parameters
    ----------
    first, second
        A run folder; a results folder (its latest result); or a run, result or scenario in `--out`.
    out
        Where results are looked up by name.
    all_
        Show every metric.
    json
        Print one JSON object on standard output and nothing else there.
    """
    one, two = find_runs(first, out), find_runs(second, out)
    comparison = compare_runs(one, two)
    if json:
        print(json_text.dumps(_as_json(comparison, one, two), indent=1, allow_nan=False))
    else:
        _print(comparison, one, two, show_all=all_)
    return 0


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
    from umtslab.cli.tables import number, output, plain_table
    from umtslab.metrics import headline, units

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

"""``umts export``: results as tables for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from umtslab.cli.failures import UsageError
from umtslab.cli.results import find_runs
from umtslab.run import Run


def export(
    result: str,
    /,
    *,
    csv: bool = False,
    latex: bool = False,
    table: Literal["runs", "summary", "connections"] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    out: Path = Path("results"),
) -> int:
    """Write a result as CSV or as a LaTeX (booktabs) table.

    Parameters
    ----------
    result
        A run folder; a results folder (its latest result); or a run, result or scenario in `--out`.
    csv
        Comma-separated values; by default one row per run.
    latex
        A booktabs table; by default one row per metric, with mean, deviation and 95 % half width.
    table
        Which table.
    output
        File to write (default: standard output).
    out
        Where results are looked up by name.
    """
    if csv == latex:
        raise UsageError("say one of --csv and --latex")
    text = _as_text(find_runs(result, out), table or ("runs" if csv else "summary"), latex=latex)
    if output is None:
        sys.stdout.write(text)
        return 0
    from umtslab.whole_files import whole_file

    with whole_file(output) as file:
        file.write(text.encode())
    return 0


def _as_text(runs: list[Run], table: str, *, latex: bool) -> str:
    from umtslab import export

    make = {
        "runs": export.runs_table,
        "summary": export.summary_table,
        "connections": export.connections_table,
    }
    found = make[table](runs)
    if not latex:
        return export.to_csv(found)
    return export.to_latex(found, caption=f"{runs[0].scenario}, {len(runs)} runs")

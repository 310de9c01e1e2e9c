"""``umts reproduce``: figures, tables and a verdict on each claim."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from umtslab.cli.options import workers
from umtslab.cli.results import open_results
from umtslab.exit_status import FAILED

if TYPE_CHECKING:
    from rich.progress import TaskID

    from umtslab.reproduce.reproduction import Chapter


def reproduce(
    *selections: str,
    quick: bool = False,
    budget: bool = False,
    out: Path = Path("results/reproductions"),
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
    real_time: bool = False,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Run a document's experiments again, draw its figures, and score what it says.

    Exit status: 0 no claim failed, 1 a claim failed, 2 wrong usage. A claim that is not yet scored, or whose
    difference is inside the noise, does not fail.

    Parameters
    ----------
    selections
        PAPER, PAPER/CHAPTER or PAPER/FIGURE, as in dubois2005/ch6 or dubois2005/fig6.2 (default: everything).
    quick
        Small grids and few runs: under a minute, with provisional verdicts.
    budget
        Divide the time of every TCP connection among its causes, and show it in the report. The results are
        the same; the runs count as other ones.
    out
        Where the report (report.html), pages, figures and tables go, and the runs; only what it lacks is run.
    jobs
        Worker threads (default: as many as there are processors).
    real_time
        Run the points too that the kernel's TCP carries through `umts emulate`: they take as long as their
        downloads do.
    json
        Print one JSON object on standard output and nothing else there.
    quiet
        No progress bar.
    """
    from umtslab.page import write
    from umtslab.reproduce.emulated import why_not
    from umtslab.reproduce.html import html
    from umtslab.reproduce.report import to_json, totals, write_chapter
    from umtslab.reproduce.reproduction import find_data
    from umtslab.reproduce.reproduction import reproduce as run_again
    from umtslab.reproduce.selection import select
    from umtslab.run import code_version

    threads = workers(jobs, sys.maxsize)
    if real_time and (lacking := why_not()) is not None:
        print(f"umts: this user may not emulate, so only simulations are run: {lacking}", file=sys.stderr)
        real_time = False
    root = find_data()
    parts = select(root / "reproductions", selections)
    before, began = _kept(out), time.monotonic()
    with open_results(out / "store") as store, _progress(quiet=quiet or json) as progress:
        chapters = run_again(
            parts,
            store=store,
            data=root,
            quick=quick,
            budget=budget,
            jobs=threads,
            real_time=real_time,
            progress=progress,
        )
    version = str(code_version())
    files = [path for chapter in chapters if chapter.plan is not None for path in write_chapter(chapter, out)]
    files.append(write(out / "report.html", html(chapters, version=version)))
    if json:
        import json as encoder

        print(encoder.dumps(to_json(chapters, files, version=version), allow_nan=False))
    else:
        _show(chapters, files)
    if not quiet:
        made, seconds = _kept(out) - before, time.monotonic() - began
        of = sum(chapter.runs for chapter in chapters)
        print(f"{made} of {of} runs made now, by {threads} workers in {seconds:.0f} s", file=sys.stderr)
    return FAILED if totals(chapters)["fail"] else 0


def _kept(out: Path) -> int:
    """How many runs the output folder has."""
    runs = out / "store" / "runs"
    return sum(1 for _ in runs.iterdir()) if runs.is_dir() else 0


def _show(chapters: list[Chapter], files: list[Path]) -> None:
    from rich.console import Console

    from umtslab.reproduce.report import open_reasons, reasons, summary_line, table

    console = Console(highlight=False)
    for chapter in chapters:
        if chapter.plan is not None:
            console.print(table(chapter))
        for number, reason in enumerate(reasons(chapter), 1):
            console.print(f"[{number}] {reason}", markup=False)
        for missing, claims in open_reasons(chapter):
            console.print(f"not yet ({claims}): {missing}", style="dim", markup=False)
        console.print(f"{chapter.title}. {summary_line([chapter])}\n", markup=False)
    papers = list(dict.fromkeys(chapter.paper for chapter in chapters))
    for paper in papers if len(chapters) > 1 else []:
        line = summary_line([chapter for chapter in chapters if chapter.paper == paper])
        console.print(f"{paper}: {line}", markup=False)
    if len(papers) > 1:
        console.print(summary_line(chapters))
    console.print(f"Report: {files[-1]}", markup=False, soft_wrap=True)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error, where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = not quiet and sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def report(title: str, done: int, total: int) -> None:
            if title not in tasks:
                tasks[title] = bar.add_task(title, total=total)
            bar.update(tasks[title], completed=done, total=total)

        yield report

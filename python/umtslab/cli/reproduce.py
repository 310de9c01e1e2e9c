"""``umts reproduce``: figures, tables and a verdict for each claim."""

from __future__ import annotations

import json as json_text
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.look import add_print, check_font, chosen_look
from umtslab.cli.options import (
    add_budget,
    add_flag,
    add_jobs,
    add_json,
    add_quiet,
    add_set,
    overrides,
    workers,
)
from umtslab.cli.progress import ProgressLine
from umtslab.cli.results import open_results
from umtslab.exit_status import FAILED

if TYPE_CHECKING:
    from umtslab.cli.parser import Parser
    from umtslab.plot import Look
    from umtslab.reproduce.drawer import Drawer
    from umtslab.reproduce.reproduction import Chapter

_OUT = Path("results/reproductions")
"""Default folder for the report."""


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts reproduce``."""
    parser.explain(
        "Draws the figures and scores the claims of the documents. Exit status: 0 no claim failed; 1 "
        "a claim failed; 2 wrong usage. Claims that are not yet scored, or with a difference inside "
        "the noise, do not fail."
    )
    parser.add_argument(
        "selections",
        nargs="*",
        metavar="SELECTION",
        help=(
            "PAPER, PAPER/CHAPTER or PAPER/FIGURE, for example dubois2005/ch6 or dubois2005/fig6.2 "
            "(default: everything)."
        ),
    )
    work = parser.add_argument_group("runs")
    add_flag(work, "--quick", "Small grids and few runs: less than a minute, with provisional verdicts.")
    add_budget(
        work,
        " and show the result in the report. Metrics do not change, but the runs are stored as other runs",
    )
    add_flag(
        work,
        "--real-time",
        "Also run the points that `umts emulate` carries over the kernel's TCP. They take as long as "
        "their downloads.",
    )
    add_set(
        work,
        "the figures show the result in colour beside the scored one in grey, and verdicts that "
        "would differ are listed; no verdict changes",
    )
    add_jobs(work)
    results = parser.add_argument_group("results")
    results.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        default=_OUT,
        help=(
            "Folder for the report (report.html), pages, figures, tables and runs; only missing runs "
            f"are run (default: {_OUT})."
        ),
    )
    add_flag(
        results,
        "--campaign",
        "Run nothing; print the points of one figure or chapter as a campaign file for umts sweep.",
    )
    add_json(results)
    add_quiet(results, "Print no progress bar.")
    add_print(parser.add_argument_group("appearance of the figures beside the report"))


def reproduce(
    selections: Sequence[str],
    *,
    quick: bool,
    budget: bool,
    real_time: bool,
    changes: Sequence[str],
    jobs: int | None,
    out: Path,
    campaign: bool,
    json: bool,
    quiet: bool,
    width: str | None,
    font: str | None,
    grey: bool,
) -> int:
    """Repeat the experiments of a document and score its claims.

    `options` declares the arguments.
    """
    from umtslab.reproduce.emulated import missing_requirement
    from umtslab.reproduce.report import totals
    from umtslab.reproduce.reproduction import find_data
    from umtslab.reproduce.reproduction import reproduce as run_again
    from umtslab.reproduce.selection import select

    threads, pairs = workers(jobs, sys.maxsize), overrides(changes)
    look = chosen_look(width, font=font, grey=grey)
    check_font(look)
    if campaign:
        return _print_campaign(selections, quick=quick, changes=pairs)
    if real_time and (missing := missing_requirement()) is not None:
        print(
            f"umts: this user cannot run emulations, so only simulations are run: {missing}", file=sys.stderr
        )
        real_time = False
    root = find_data()
    parts = select(root / "reproductions", selections)
    runs_before, start_s = _count_runs(out), time.monotonic()
    # With one chapter no simulation remains that could run while figures are drawn.
    with _drawer(threads if sum(len(part.plans) for part in parts) > 1 else 1) as drawer:
        with open_results(out / "store") as store, ProgressLine(quiet=quiet or json) as line:
            chapters = run_again(
                parts,
                store=store,
                data=root,
                quick=quick,
                budget=budget,
                jobs=threads,
                real_time=real_time,
                changes=pairs,
                progress=lambda title, done, total: line.show(title, done, total, f"{done} of {total}"),
                each=None if drawer is None else lambda chapter: drawer.submit(chapter.figures),
            )
        if drawer is not None:
            drawer.finish()
    _write(chapters, out, look, as_json=json)
    if not quiet:
        new_runs, seconds = _count_runs(out) - runs_before, time.monotonic() - start_s
        all_runs = sum(chapter.runs for chapter in chapters)
        print(
            f"{new_runs} of {all_runs} runs done now, by {threads} workers in {seconds:.0f} s",
            file=sys.stderr,
        )
    return FAILED if totals(chapters)["fail"] else 0


@contextmanager
def _drawer(processors: int) -> Iterator[Drawer | None]:
    """Yield a process that draws figures during simulations, or None with one processor."""
    if processors == 1:
        yield None
        return
    from umtslab.reproduce.drawer import Drawer

    with closing(Drawer()) as drawer:
        yield drawer


def _write(chapters: list[Chapter], out: Path, look: Look, *, as_json: bool) -> None:
    """Write the pages, and print a summary on standard output."""
    from umtslab.page import write
    from umtslab.reproduce.html import html
    from umtslab.reproduce.report import to_json, write_chapter
    from umtslab.version import code_version

    version = str(code_version())
    planned = [chapter for chapter in chapters if chapter.plan is not None]
    files = [path for chapter in planned for path in write_chapter(chapter, out, look)]
    files.append(write(out / "report.html", html(chapters, version=version)))
    content = json_text.dumps(to_json(chapters, files, version=version), allow_nan=False)
    write(out / "report.json", content)
    if as_json:
        print(content)
    else:
        _show(chapters, files)


def _print_campaign(selections: Sequence[str], *, quick: bool, changes: Sequence[tuple[str, str]]) -> int:
    """Print the campaign file for the selected figures or chapters. Returns the exit status."""
    from umtslab.reproduce.as_campaign import as_campaign
    from umtslab.reproduce.reproduction import find_data
    from umtslab.reproduce.selection import select

    if changes:
        raise UsageError("--campaign runs nothing and does not take --set: use umts sweep FILE --set …")
    root = find_data()
    print(as_campaign(select(root / "reproductions", selections), selections, root, quick=quick), end="")
    return 0


def _count_runs(out: Path) -> int:
    """Count the runs in the output folder."""
    runs = out / "store" / "runs"
    return sum(1 for _ in runs.iterdir()) if runs.is_dir() else 0


def _show(chapters: list[Chapter], files: list[Path]) -> None:
    """Print the verdicts by chapter, the totals, and the last of the written files, the report."""
    from umtslab.reproduce.report import changed_verdict_lines, lines, open_reasons, summary_line
    from umtslab.text_table import heading

    for chapter in chapters:
        if chapter.plan is not None:
            heading(chapter.title)
        for line in lines(chapter):
            print(line)
        for missing, claims in open_reasons(chapter):
            print(f"not yet ({claims}): {missing}")
        print(f"{chapter.title}. {summary_line([chapter])}\n")
        if chapter.change and chapter.plan is not None:
            print("\n".join(changed_verdict_lines(chapter)) + "\n")
    papers = list(dict.fromkeys(chapter.paper for chapter in chapters))
    for paper in papers if len(chapters) > 1 else []:
        line = summary_line([chapter for chapter in chapters if chapter.paper == paper])
        print(f"{paper}: {line}")
    if len(papers) > 1:
        print(summary_line(chapters))
    print(f"Details, intervals and figures: {files[-1]}")

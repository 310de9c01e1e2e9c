"""The whole of `umts reproduce`: select, run, score, draw, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.reproduce.errors import BadData
from umtslab.reproduce.figuredata import FigureData, figure_data, with_change
from umtslab.reproduce.pictures import Picture, pictures
from umtslab.reproduce.plan import Plan
from umtslab.reproduce.selection import Part
from umtslab.reproduce.study import StudyResults, Wanted, check_changes, run_plan, wanted_points
from umtslab.reproduce.verdict import Scored, not_yet, score

if TYPE_CHECKING:
    from umtslab.store import Store

Progress = Callable[[str, int, int], None]
"""Told the title of a plan, and how many of how many of its runs are there."""


@dataclass(frozen=True)
class Chapter:
    """The outcome of one plan, or (without a plan) the claims of a document that no plan covers yet."""

    paper: str
    plan: Plan | None
    quick: bool
    runs: int
    scored: tuple[Scored, ...]
    figures: tuple[FigureData, ...] = field(default=(), repr=False)
    pictures: tuple[Picture, ...] = field(default=(), repr=False)
    change: str = ""
    """What was set otherwise in runs that are drawn beside those that are scored."""
    changed: tuple[Scored, ...] = field(default=(), repr=False)
    """What the verdicts would be with it."""

    @property
    def title(self) -> str:
        """Document and plan, for people."""
        return (
            f"{self.paper}: no plan yet"
            if self.plan is None
            else f"{self.paper}/{self.plan.name}: {self.plan.title}"
        )


def reproduce(
    parts: Sequence[Part],
    *,
    store: Store,
    data: Path,
    quick: bool = False,
    budget: bool = False,
    jobs: int = 1,
    real_time: bool = False,
    changes: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
    each: Callable[[Chapter], None] | None = None,
) -> list[Chapter]:
    """Run the parts' experiments again, and score the claims about them.

    Parameters
    ----------
    parts : sequence of Part
        What is asked for: `umtslab.reproduce.selection.select`.
    store : Store
        Where runs are looked up and kept: only what is missing is run.
    data : Path
        The folder that holds ``reproductions`` and ``scenarios``: `find_data`.
    quick : bool
        The plan's small grid with fewer runs: seconds instead of minutes, wider intervals.
    budget : bool
        Record time budgets, for the report.
    jobs : int
        Worker threads.
    real_time : bool
        Whether to run the points that the kernel's TCP carries, which take as long as their downloads do.
    changes : sequence of pairs of str
        Scenario keys and other values for them: the points are run with them once more, and drawn beside
        those that are scored. They change no verdict; what it would be with them is told beside it.
    progress : callable, optional
        Called after each run.
    each : callable, optional
        Told the outcome of a plan before the next one is run.

    Returns
    -------
    list of Chapter
        One for each plan that has selected claims, and one for each document with claims that no plan covers.

    Raises
    ------
    umtslab.ScenarioError
        If a plan does not fit the scenario files.
    OSError
        If results cannot be written.
    """
    chapters = []
    run = partial(run_plan, scenarios=data / "scenarios", store=store, budget=budget, jobs=jobs)
    for part in parts:
        for plan in part.plans:
            wanted = wanted_points(plan, part.sweeps(plan), quick=quick, real_time=real_time)
            if changes:
                check_changes(plan, wanted, data / "scenarios", changes)
            chapters.append(_chapter(part, plan, partial(run, plan), wanted, quick, changes, progress))
            if each is not None:
                each(chapters[-1])
        if uncovered := part.open_claims():
            scored = tuple(
                not_yet(claim, "no plan runs this part of the document yet") for claim in uncovered
            )
            chapters.append(Chapter(part.paper, None, quick, 0, scored))
    return chapters


def _chapter(
    part: Part,
    plan: Plan,
    run: Callable[..., StudyResults],
    wanted: Sequence[Wanted],
    quick: bool,
    changes: Sequence[tuple[str, str]],
    progress: Progress | None,
) -> Chapter:
    change = ", ".join(f"{key}={value}" for key, value in changes)

    def report(title: str, done: int, total: int) -> None:
        if progress is not None:
            progress(title, done, total)

    results = run(wanted, progress=partial(report, plan.title))
    claims = part.claims_of(plan)
    scored = tuple(score(claim, plan, results) for claim in claims)
    drawn = tuple(figure_data(plan, figure, results, claims) for figure in part.figures(plan))
    runs = sum(entry.runs for entry in wanted if entry.draw is None)
    changed: tuple[Scored, ...] = ()
    if changes:
        simulated = [entry for entry in wanted if not entry.is_emulated]
        other = run(simulated, progress=partial(report, change), changes=changes)
        runs += sum(entry.runs for entry in simulated if entry.draw is None)
        drawn = tuple(with_change(of, figure_data(plan, of.figure, other, ()), change) for of in drawn)
        changed = tuple(score(claim, plan, other) for claim in claims)
    beside = tuple(pictures(plan, results.points(), results.runs))
    return Chapter(part.paper, plan, quick, runs, scored, drawn, beside, change, changed)


def find_data() -> Path:
    """The folder that holds ``reproductions`` and ``scenarios``.

    The one above the working directory comes first, then the source tree that this package lies in, then the
    ``share`` that a wheel brings.

    Raises
    ------
    BadData
        If there is none; the message says where it was looked for.
    """
    here = Path.cwd()
    package = Path(__file__).resolve().parents[1]
    installed = package / "share"
    candidates = [here, *here.parents, *package.parents, installed]
    for folder in candidates:
        if (folder / "reproductions").is_dir() and (folder / "scenarios").is_dir():
            return folder
    raise BadData(f"no folders reproductions and scenarios in {here}, above it, or in {installed}")

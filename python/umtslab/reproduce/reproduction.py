"""Reproduces the selected parts of documents: runs their plans, scores the claims, collects the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.reproduce.errors import BadData
from umtslab.reproduce.figure_content import figure_data
from umtslab.reproduce.figuredata import FigureData, with_change
from umtslab.reproduce.pictures import ReportPicture, pictures
from umtslab.reproduce.plan import Plan
from umtslab.reproduce.selection import Part
from umtslab.reproduce.study import PlannedPoint, StudyResults, check_changes, run_plan, wanted_points
from umtslab.reproduce.verdict import Scored, not_yet, score
from umtslab.shipped import INSTALLED, shipped_folder

if TYPE_CHECKING:
    from umtslab.store import Store

Progress = Callable[[str, int, int], None]
"""Called with the title of a plan, the number of its finished runs, and their total."""


@dataclass(frozen=True)
class Chapter:
    """The outcome of one plan, or without a plan the claims that no plan covers yet."""

    paper: str
    plan: Plan | None
    quick: bool
    """Whether the plan's small grid was run."""
    runs: int
    """Number of runs of a network."""
    scored: tuple[Scored, ...]
    figures: tuple[FigureData, ...] = field(default=(), repr=False)
    pictures: tuple[ReportPicture, ...] = field(default=(), repr=False)
    change: str = ""
    """Settings of the runs that are drawn beside the scored ones."""
    changed: tuple[Scored, ...] = field(default=(), repr=False)
    """The claims scored with the change."""

    @property
    def title(self) -> str:
        """Document and plan, as a title."""
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
    """Repeat the experiments of the parts, and score the claims about them.

    Parameters
    ----------
    parts : sequence of Part
        The selected parts (`umtslab.reproduce.selection.select`).
    store : Store
        Store of the runs. Only missing runs are made.
    data : Path
        The folder that contains ``reproductions`` and ``scenarios`` (`find_data`).
    quick : bool
        Whether to use the plan's small grid with fewer runs: seconds instead of minutes, wider
        intervals.
    budget : bool
        Whether to record time budgets for the report.
    jobs : int
        Number of worker threads.
    real_time : bool
        Whether to run emulated points, which take as long as their downloads.
    changes : sequence of pairs of str
        Scenario keys with other values. The points are run again with these values and drawn beside
        the scored ones. They do not change the verdicts. Verdicts that would differ are reported
        separately.
    progress : callable, optional
        Called after each run.
    each : callable, optional
        Called with the outcome of a plan before the next one is run.

    Returns
    -------
    list of Chapter
        One for each plan with selected claims, and one for each document with claims that no plan
        covers.

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
            planned = wanted_points(plan, part.sweeps(plan), quick=quick, real_time=real_time)
            if changes:
                check_changes(plan, planned, data / "scenarios", changes)
            chapters.append(_chapter(part, plan, partial(run, plan), planned, quick, changes, progress))
            if each is not None:
                each(chapters[-1])
        if uncovered := part.open_claims():
            scored = tuple(
                not_yet(claim, "no plan runs this part of the document yet") for claim in uncovered
            )
            chapters.append(Chapter(part.paper, plan=None, quick=quick, runs=0, scored=scored))
    return chapters


def _chapter(
    part: Part,
    plan: Plan,
    run: Callable[..., StudyResults],
    planned: Sequence[PlannedPoint],
    quick: bool,
    changes: Sequence[tuple[str, str]],
    progress: Progress | None,
) -> Chapter:
    """Run the points of a plan and score its claims, and again with `changes` if there are any."""
    change = ", ".join(f"{key}={value}" for key, value in changes)

    def report(title: str, done: int, total: int) -> None:
        if progress is not None:
            progress(title, done, total)

    results = run(planned, progress=partial(report, plan.title))
    claims = part.claims_of(plan)
    scored = tuple(score(claim, plan, results) for claim in claims)
    drawn = tuple(figure_data(plan, figure, results, claims) for figure in part.figures(plan))
    runs = sum(point.network_runs for point in planned)
    changed: tuple[Scored, ...] = ()
    if changes:
        simulated = [point for point in planned if not point.is_emulated]
        changed_results = run(simulated, progress=partial(report, change), changes=changes)
        runs += sum(point.network_runs for point in simulated)
        drawn = tuple(
            with_change(content, figure_data(plan, content.figure, changed_results, ()), change)
            for content in drawn
        )
        changed = tuple(score(claim, plan, changed_results) for claim in claims)
    extra_pictures = tuple(pictures(plan, results.points(), results.runs))
    return Chapter(part.paper, plan, quick, runs, scored, drawn, extra_pictures, change, changed)


def find_data() -> Path:
    """Return the folder that contains ``reproductions`` and ``scenarios``, as `shipped_folder`.

    Raises
    ------
    BadData
        If there is none. The message says where it was searched for.
    """
    folder = shipped_folder()
    if folder is None:
        message = f"no folders reproductions and scenarios in {Path.cwd()}, above it, or in {INSTALLED}"
        raise BadData(message)
    return folder

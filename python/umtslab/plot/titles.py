"""Titles of figures of runs: the properties that all runs of the figure share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.overrides import changes_text, shared_changes
from umtslab.run import Run

if TYPE_CHECKING:
    from umtslab.studies.file import Frame


def shared_title(results: Sequence[Sequence[Run]]) -> str:
    """Return scenario, seed, run numbers and overrides that all runs of all results share.

    The title contains the overrides because they are not part of the scenario file. Parts that
    differ are left out. The legend names results by them.
    """
    shared = changes_text(shared_changes(run.changes for result in results for run in result))
    return ", ".join(filter(None, [shared_runs(results), shared]))


def shared_runs(results: Sequence[Sequence[Run]]) -> str:
    """Return scenario, seed and run numbers that all runs of all results share."""
    runs = [run for result in results for run in result]
    names = {run.scenario for run in runs}
    seeds = {run.seed for run in runs}
    parts = [
        names.pop() if len(names) == 1 else "",
        f"seed {seeds.pop()}" if len(seeds) == 1 else "",
        _numbers(results),
    ]
    return ", ".join(filter(None, parts))


def study_title(frame: Frame, seed: int) -> str:
    """Return the title of a study: title or name, seed, and the settings of all its points."""
    settings = changes_text(tuple((key, str(value)) for key, value in frame.settings.items()))
    return ", ".join(filter(None, [frame.title or frame.name, f"seed {seed}", settings]))


def _numbers(results: Sequence[Sequence[Run]]) -> str:
    """Return the numbers of the runs, if they are consecutive and equal in all results."""
    numbers = {tuple(sorted(run.run for run in result)) for result in results}
    if len(numbers) > 1:
        return ""
    [run_numbers] = numbers
    first, last = run_numbers[0], run_numbers[-1]
    if run_numbers != tuple(range(first, last + 1)):
        return ""
    return f"run {first}" if first == last else f"runs {first} to {last}"

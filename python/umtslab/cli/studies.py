"""Shared parts of the verbs for studies: workers, store, progress bar and output."""

from __future__ import annotations

import json as json_text
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from umtslab.cli.failures import Interrupted
from umtslab.cli.progress import ProgressBar
from umtslab.cli.results import open_results, read_results
from umtslab.cli.worker_options import chosen_workers
from umtslab.store.reader import is_store
from umtslab.studies.file import Frame
from umtslab.studies.optimise import Outcome
from umtslab.studies.runner import StudyRunner
from umtslab.studies.sensitivity import Findings


@contextmanager
def study_runner(
    frame: Frame, out: Path, jobs: int | None, dask: str | None, *, quiet: bool, kept: str
) -> Iterator[StudyRunner]:
    """Open the workers, the store and the progress bar of a study.

    On Ctrl-C raises `Interrupted`, which names the finished items in the store (`kept`).
    """
    frame.base_study()  # errors of the study's scenario are reported before anything is created
    try:
        with (
            chosen_workers(jobs, dask) as workers,
            open_results(out) as store,
            ProgressBar(frame.name, quiet=quiet) as bar,
        ):
            yield StudyRunner(store, workers, bar.watch, bar.expect)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; finished {kept} are stored in {out}, the same command continues"
        ) from None


def find_study(name: str, out: Path) -> Outcome | Findings | None:
    """Return the study `name` in the results folder `out`, or None."""
    from umtslab.studies.record import load_study

    if not is_store(out):
        return None
    with read_results(out) as store:
        return load_study(store, name)


def print_result(content: Callable[[], dict[str, Any]], table: Callable[[], None], *, json: bool) -> None:
    """Print the result as one JSON object or as a table."""
    if json:
        print(json_text.dumps(content(), indent=1, allow_nan=False))
    else:
        table()

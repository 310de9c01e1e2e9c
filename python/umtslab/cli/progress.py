"""The progress bar of long work, on standard error if that is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from umtslab.terminal_escape import own, printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from umtslab.task import Task

_REFRESH_S = 0.1


class ProgressBar:
    """Shows the share of the runs that is done, and an estimate of the time left."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        self._title = printable(title)
        self._shown = not quiet and sys.stderr.isatty()
        self._bar: Progress | None = None
        self._line: TaskID | None = None
        self._fractions: dict[tuple[str, int], float] = {}
        self._next = 0.0

    @property
    def started(self) -> list[int]:
        """Numbers of the runs that have begun, finished ones included."""
        return sorted({number for _, number in self._fractions})

    def expect(self, runs: int) -> None:
        """Set the number of runs. It may grow while the work goes on."""
        if self._bar is None:
            return
        if self._line is None:
            self._line = self._bar.add_task(self._title, total=runs)
            self._bar.start()
        self._bar.update(self._line, total=runs)

    def watch(self, task: Task, fraction: float) -> None:
        """Record the progress of a run.

        Called from worker threads, several hundred times per run.
        """
        self._fractions[task.scenario.content_hash, task.run] = fraction
        now = time.monotonic()
        # Redrawing on every call would take more than 1 % of the time of a short run.
        if self._bar is not None and self._line is not None and now >= self._next:
            self._next = now + _REFRESH_S
            self._bar.update(self._line, completed=sum(list(self._fractions.values())))

    def __enter__(self) -> ProgressBar:
        if self._shown:
            self._bar = _new_bar()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class FileBar:
    """Shows the share of the files that is read, and an estimate of the time left."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        self._title = printable(title)
        self._shown = not quiet and sys.stderr.isatty()
        self._bar: Progress | None = None
        self._line: TaskID | None = None

    def update(self, fraction: float) -> None:
        """Update the bar to `fraction`. The first call starts the bar."""
        if self._bar is not None:
            if self._line is None:
                self._line = self._bar.add_task(self._title, total=1.0)
                self._bar.start()
            self._bar.update(self._line, completed=fraction)

    def __enter__(self) -> FileBar:
        if self._shown:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(file=own(sys.stderr)), transient=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _new_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.1f} of {task.total} runs,"),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("to go"),
        console=Console(file=own(sys.stderr)),
        transient=True,
    )

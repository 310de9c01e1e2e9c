"""The progress of long work, on standard error if that is a terminal."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self

from umtslab.terminal_escape import printable, without_escaping
from umtslab.text_table import is_terminal, terminal_width

if TYPE_CHECKING:
    from umtslab.task import Task

_REFRESH_S = 0.1

_BAR_WIDTH = 30
"""Width of the bar in characters."""


class ProgressLine:
    """A line with the share of the work that is done, and an estimate of the remaining time.

    Each update replaces the line, and the end of the block erases it.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and is_terminal(sys.stderr)
        self._start: tuple[float, float] | None = None  # time of the first call, and work done then
        self._next = 0.0  # time before which the line is not replaced

    def is_due(self) -> bool:
        """Whether a call of `show` would replace the line."""
        return self._shown and time.monotonic() >= self._next

    def show(self, title: str, done: float, total: float, count: str = "") -> None:
        """Show that `done` of `total` is finished. `count` is the text for both, by default per cent."""
        now = time.monotonic()
        if not self.is_due() or total <= 0:
            return
        self._next = now + _REFRESH_S
        # Work that was done before the first call does not count for the estimate.
        start, done_at_start = self._start = self._start or (now, done)
        share = min(done / total, 1.0)
        line = f"{title} [{'#' * round(_BAR_WIDTH * share):.<{_BAR_WIDTH}}] {count or f'{share:.0%}'}"
        if done > done_at_start:
            remaining_s = (now - start) * (total - done) / (done - done_at_start)
            line += f", {_clock(now - start)} gone, {_clock(remaining_s)} to go"
        self._write(printable(line)[: terminal_width(sys.stderr) - 1])

    def _write(self, text: str) -> None:
        file = without_escaping(sys.stderr)
        # The cursor returns to the start, so that another message replaces the line.
        file.write(f"\r\x1b[K{text}\r")
        file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._start is not None:
            self._write("")


class ProgressBar(ProgressLine):
    """Shows the share of the runs that is done."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._title = title
        self._total = 0
        self._fractions: dict[tuple[str, int], float] = {}

    @property
    def started(self) -> list[int]:
        """Numbers of the runs that have begun, finished ones included."""
        return sorted({number for _, number in self._fractions})

    def expect(self, runs: int) -> None:
        """Set the number of runs. It may grow while the work goes on."""
        self._total = runs

    def watch(self, task: Task, fraction: float) -> None:
        """Record the progress of a run.

        Called from worker threads, several hundred times per run.
        """
        self._fractions[task.scenario.content_hash, task.run] = fraction
        # Redrawing on every call would take more than 1 % of the time of a short run.
        if self.is_due():
            done = sum(list(self._fractions.values()))
            self.show(self._title, done, self._total, f"{done:.1f} of {self._total} runs")


def _clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))

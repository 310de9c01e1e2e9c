"""Progress of runs for interactive use: a line in a terminal, a bar in a notebook."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, TextIO

from umtslab.task import Task
from umtslab.terminal_escape import without_escaping

_MIN_INTERVAL_S = 0.2
"""Minimum time between two updates of the display."""


class Progress:
    """Progress display.

    Pass an object as ``watch`` to `simulate`, `sweep` or `run_campaign` of `umtslab`, a new one to
    each call. In a notebook it is a bar, elsewhere a line on standard error if that is a terminal.

    Parameters
    ----------
    file : text file, optional
        Stream for the line instead of standard error.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = sys.stderr if file is None else file
        self._fractions: dict[tuple[str, int, int], float] = {}
        self._sum = 0.0
        self._done = 0
        self._expected = 0
        self._lock = threading.Lock()
        self._shown_at = float("-inf")
        self._handle = _notebook_handle(self)

    def expect(self, runs: int) -> None:
        """Set the total number of runs."""
        self._expected = runs

    def __call__(self, task: Task, fraction: float) -> None:
        """Record the progress of a run. Called from any thread."""
        with self._lock:
            key = task.scenario.content_hash, task.seed, task.run
            previous = self._fractions.get(key, 0.0)
            self._fractions[key] = fraction
            self._sum += fraction - previous
            self._done += (fraction >= 1.0) - (previous >= 1.0)
            now = time.monotonic()
            if now - self._shown_at >= _MIN_INTERVAL_S or self.done == self.total:
                self._shown_at = now
                self._show()

    @property
    def done(self) -> int:
        """Number of finished runs."""
        return self._done

    @property
    def total(self) -> int:
        """Number of all runs, as far as known."""
        return max(self._expected, len(self._fractions))

    @property
    def fraction(self) -> float:
        """Progress of all runs together, from 0 to 1."""
        return self._sum / self.total if self.total else 0.0

    def __repr__(self) -> str:
        return f"{self.done} of {self.total} runs, {100 * self.fraction:.0f} %"

    def _repr_html_(self) -> str:
        return f'<progress value="{self.fraction:.4f}" max="1"></progress> {self!r}'

    def _show(self) -> None:
        if self._handle is not None:
            self._handle.update(self)
        elif self._file.isatty():
            end = "\n" if self.done == self.total else ""
            print(f"\r{self!r}\x1b[K", end=end, file=without_escaping(self._file), flush=True)


def _notebook_handle(progress: Progress) -> Any:
    """Display the bar in a notebook cell and return its handle. None outside of notebooks."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    if running is None or getattr(running, "kernel", None) is None:
        return None
    from IPython.display import display

    return display(progress, display_id=True)

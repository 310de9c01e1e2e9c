"""How far runs are, for people at a prompt: a line that renews itself in a terminal, a bar in a notebook."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, TextIO

from umtslab.task import Task
from umtslab.terminal_escape import own

_PAUSE_S = 0.2
"""Between two times that it is shown."""


class Progress:
    """Give one as ``watch`` to `umtslab.simulate`, `umtslab.sweep` or `umtslab.run_campaign`.

    A new one for each call. In a notebook it is a bar; elsewhere a line on standard error, if that is a
    terminal.

    Parameters
    ----------
    file : text file, optional
        Where the line goes, instead of standard error.
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
        """Be told how many runs there will be."""
        self._expected = runs

    def __call__(self, task: Task, fraction: float) -> None:
        """Be told how far a run is; from any thread."""
        with self._lock:
            which = task.scenario.content_hash, task.seed, task.run
            before = self._fractions.get(which, 0.0)
            self._fractions[which] = fraction
            self._sum += fraction - before
            self._done += (fraction >= 1.0) - (before >= 1.0)
            now = time.monotonic()
            if now - self._shown_at >= _PAUSE_S or self.done == self.total:
                self._shown_at = now
                self._show()

    @property
    def done(self) -> int:
        """Runs that are finished."""
        return self._done

    @property
    def total(self) -> int:
        """Runs that there will be, as far as is known."""
        return max(self._expected, len(self._fractions))

    @property
    def fraction(self) -> float:
        """Of all runs, from 0 to 1."""
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
            print(f"\r{self!r}\x1b[K", end=end, file=own(self._file), flush=True)


def _notebook_handle(progress: Progress) -> Any:
    """What a notebook's cell shows the bar by; None outside of notebooks."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    if running is None or getattr(running, "kernel", None) is None:
        return None
    from IPython.display import display

    return display(progress, display_id=True)

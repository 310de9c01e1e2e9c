"""Figures drawn in another process while the next chapter is simulated.

A thread would not help: matplotlib holds the GIL, which simulations need a hundred times per run.
The process exits when its standard input closes, so it never outlives this process.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, Popen
from typing import IO, cast

from umtslab.reproduce.figuredata import FigureData, Picture
from umtslab.reproduce.figures import picture_of


class Drawer:
    """Draws figures in the order of submission in a child process, until it is closed."""

    def __init__(self) -> None:
        # Ctrl-C must reach only this process, which then ends the child.
        self._process = Popen(
            [sys.executable, "-m", __name__], stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="umts-drawer")
        self._submitted: list[tuple[FigureData, Future[Picture | None]]] = []
        """Figures with their pictures, which the child draws in this order."""

    def submit(self, figures: Iterable[FigureData]) -> None:
        """Submit figures for drawing."""
        self._submitted += [
            (data, self._thread.submit(self._request, data)) for data in figures if data.is_drawn
        ]

    def finish(self) -> None:
        """Wait until all figures are drawn. From the last one on, this process draws figures too.

        A figure that the child has not begun is cancelled there and drawn here.
        """
        for data, drawn in reversed(self._submitted):
            picture = None if drawn.cancel() else drawn.result()
            if picture is None:
                picture_of(data)
            else:
                data.drawn.append(picture)
        self._submitted.clear()

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        with suppress(BrokenPipeError), self._process:
            pass  # closes the pipes, which may contain part of a figure, and waits for the exit

    def _request(self, data: FigureData) -> Picture | None:
        """Draw a figure in the child.

        None on failure: drawing it in this process then reports the error.
        """
        requests, answers = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        try:
            pickle.dump(data, requests)
            requests.flush()
            return cast("Picture | None", pickle.load(answers))
        except (OSError, EOFError, pickle.PickleError):
            return None


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Draw requested figures until the input is closed."""
    while requests.peek(1):  # type: ignore[attr-defined]
        data = pickle.load(requests)
        try:
            picture = picture_of(data)
        except Exception:
            picture = None
        pickle.dump(picture, answers)
        answers.flush()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)

"""Figures drawn by a process beside this one, while the next chapter is simulated.

A thread would not do: matplotlib holds the interpreter, which simulations need a hundred times a run. The
process ends when its input does, so that nothing of it is left whatever ends this one.
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
    """Draws figures in the order in which they come, until it is closed."""

    def __init__(self) -> None:
        # Ctrl-C is for this process alone, which closes the other.
        self._process = Popen(
            [sys.executable, "-m", __name__], stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="umts-drawer")
        self._begun: list[tuple[FigureData, Future[Picture | None]]] = []

    def begin(self, figures: Iterable[FigureData]) -> None:
        """Have figures drawn."""
        self._begun += [(data, self._thread.submit(self._ask, data)) for data in figures if data.is_drawn]

    def finish(self) -> None:
        """Draw the last of them here while it goes on with the first, until all have their pictures."""
        for data, drawn in reversed(self._begun):
            picture = None if drawn.cancel() else drawn.result()
            if picture is None:
                picture_of(data)
            else:
                data.drawn.append(picture)
        self._begun.clear()

    def close(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        with suppress(BrokenPipeError), self._process:
            pass  # that closes its pipes, of which one may hold half of a figure, and waits for it

    def _ask(self, data: FigureData) -> Picture | None:
        """The picture of a figure; none if that failed: drawn here, it tells why."""
        requests, answers = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        try:
            pickle.dump(data, requests)
            requests.flush()
            return cast("Picture | None", pickle.load(answers))
        except (OSError, EOFError, pickle.PickleError):
            return None


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Draw what is asked for until nobody asks any more."""
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

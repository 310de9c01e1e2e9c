"""Lets Ctrl-C end a call of a library that blocks its thread, such as a long query of the store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

_GRACE_S = 1.0
"""Time for the work to end after an interrupt."""

_STEP_S = 0.02
"""Time between two checks for the end of the work."""

T = TypeVar("T")


class Abandoned(KeyboardInterrupt):
    """Ctrl-C was pressed, and the work did not end in time. Its thread may still be running."""


def run_interruptibly(work: Callable[[], T], interrupt: Callable[[], None]) -> T:
    """Run `work` in a thread and return its result; Ctrl-C calls `interrupt` until the work ends.

    Python handles signals in the main thread between instructions, so a call that does not return would
    delay Ctrl-C until its end.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C was pressed. It is `Abandoned` if the work did not end within `_GRACE_S`.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    # Not `Thread.join`: in Python 3.11 an interrupt in it marks the thread as ended while it runs.
    ended = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again in the caller's thread
            errors.append(error)
        finally:
            ended.set()

    threading.Thread(target=run, name="umts-query", daemon=True).start()
    try:
        # With a timeout: the system may deliver the signal to another thread, and this wait would not end.
        while not ended.wait(_STEP_S):
            pass
    except KeyboardInterrupt:
        _end(ended, interrupt)
        raise
    if errors:
        raise errors[0]
    return results[0]


def _end(ended: threading.Event, interrupt: Callable[[], None]) -> None:
    """Interrupt the work repeatedly: an interrupt between two statements has no effect."""
    deadline = time.monotonic() + _GRACE_S
    try:
        while not ended.is_set() and time.monotonic() < deadline:
            interrupt()
            ended.wait(_STEP_S)
    except KeyboardInterrupt:
        pass  # pressed twice
    if not ended.is_set():
        raise Abandoned

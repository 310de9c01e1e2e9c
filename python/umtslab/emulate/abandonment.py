"""Ends the start of an emulation when the user's process has ended.

The start takes seconds on a busy machine: libraries are imported, namespaces are built. The event loop of
the running emulation watches the pipe to the user's process; these functions watch it until then.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
from types import FrameType

from umtslab.exit_status import EMULATION_FAILED


def watch(parent: int) -> None:
    """Raise `SystemExit` as soon as the other end of the pipe `parent` is closed, until `stop_watching`.

    The kernel then sends SIGIO to this process.
    """
    signal.signal(signal.SIGIO, _end)
    fcntl.fcntl(parent, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(parent, fcntl.F_SETFL, fcntl.fcntl(parent, fcntl.F_GETFL) | os.O_ASYNC)
    # A pipe that was closed before sends no signal.
    readable, _, _ = select.select([parent], [], [], 0)
    if readable:
        raise SystemExit(EMULATION_FAILED)


def stop_watching(parent: int) -> None:
    """Restore pipe and signal. Child processes that start afterwards inherit neither."""
    fcntl.fcntl(parent, fcntl.F_SETFL, fcntl.fcntl(parent, fcntl.F_GETFL) & ~os.O_ASYNC)
    signal.signal(signal.SIGIO, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(EMULATION_FAILED)

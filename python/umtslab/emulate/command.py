"""The user's process: starts the launcher and waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

from umtslab.emulate import forwarding
from umtslab.emulate.session import Session
from umtslab.exit_status import EMULATION_FAILED


class Emulation:
    """A running emulation. It ends when `_parent_write` is closed, at the latest by this process's exit."""

    def __init__(self, session: Session) -> None:
        parent_read, self._parent_write = os.pipe()
        session_read, session_write = os.pipe()
        # The launcher gets this process's number to restore IP forwarding if this process is killed.
        needs_host = session.has_internet or session.wires
        network = str(os.getpid()) if needs_host else "own"
        self._launcher = subprocess.Popen(
            [sys.executable, "-m", "umtslab.emulate.launcher", str(parent_read), str(session_read), network],
            pass_fds=(parent_read, session_read),
        )
        os.close(parent_read)
        os.close(session_read)
        with suppress(BrokenPipeError), open(session_write, "w", encoding="utf-8") as pipe:
            pipe.write(session.to_json())

    def wait(self) -> int:
        """Wait for the end. Returns the exit status of the command.

        125: the emulation itself failed, or was degraded with `strict`. 126: the command cannot be
        run. 127: the command does not exist.
        """
        try:
            status = self._launcher.wait()
        finally:
            os.close(self._parent_write)
        return EMULATION_FAILED if status < 0 else status


def start(session: Session) -> Emulation:
    """Start an emulation that needs no IP forwarding of the host. Several may run at the same time."""
    return Emulation(session)


def emulate(session: Session) -> int:
    """Run an emulation to its end on the terminal of this process.

    Returns the status of `Emulation.wait`. With `has_internet` the host forwards packets during the
    emulation.
    """
    if not session.has_internet:
        return _launch(session)
    try:
        changed = forwarding.hold(os.getpid())
    except OSError as error:
        print(f"umts: cannot connect to the host's network: {error}", file=sys.stderr)
        return EMULATION_FAILED
    if changed is not None and session.meter:
        print(f"changed on this host until the emulation ends: {changed}", file=sys.stderr)
    try:
        return _launch(session)
    finally:
        forwarding.release(os.getpid())


def _launch(session: Session) -> int:
    """Launch with SIGINT ignored, because Ctrl-C is meant for the program of the first UE."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return start(session).wait()
    finally:
        signal.signal(signal.SIGINT, previous)

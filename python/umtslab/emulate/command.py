"""The user's process: starts the launcher, and waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from umtslab.emulate import forwarding
from umtslab.emulate.launcher import OWN_FAILURE
from umtslab.emulate.session import Session


def emulate(session: Session) -> int:
    """Run an emulation to its end; the exit status is that of its command.

    With `has_internet` the host forwards packets meanwhile.

    125: the emulation itself failed, or was degraded and `strict`. 126, 127: the command cannot be run, is
    not there.
    """
    if not session.has_internet:
        return _launch(session)
    try:
        changed = forwarding.hold(os.getpid())
    except OSError as error:
        print(f"umts: the host's network is out of reach: {error}", file=sys.stderr)
        return OWN_FAILURE
    if changed is not None and session.meter:
        print(f"changed on this host until the end: {changed}", file=sys.stderr)
    try:
        return _launch(session)
    finally:
        forwarding.let_go(os.getpid())


def _launch(session: Session) -> int:
    parent_read, parent_write = os.pipe()
    session_read, session_write = os.pipe()
    # The launcher sets forwarding back too: this process may be killed.
    needs_host = session.has_internet or session.wires
    network = str(os.getpid()) if needs_host else "own"
    launcher = subprocess.Popen(
        [sys.executable, "-m", "umtslab.emulate.launcher", str(parent_read), str(session_read), network],
        pass_fds=(parent_read, session_read),
    )
    os.close(parent_read)
    os.close(session_read)
    # While `parent_write` is open, the emulator is wanted; the kernel closes it with this process.
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with open(session_write, "w", encoding="utf-8") as pipe:
            pipe.write(session.to_json())
        status = launcher.wait()
    except BrokenPipeError:
        status = launcher.wait()
    finally:
        signal.signal(signal.SIGINT, usual)
        os.close(parent_write)
    return OWN_FAILURE if status < 0 else status

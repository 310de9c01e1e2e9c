"""The launcher: leaves the host's namespaces, starts the emulator as process 1 of new ones, and waits for it.

It imports little and starts no threads, because only a single-threaded process can enter a user
namespace.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from umtslab import _core
from umtslab.emulate import control_groups, forwarding, memory
from umtslab.exit_status import EMULATION_FAILED


def main(arguments: list[str]) -> int:
    """Launch the emulator and wait for it. Returns the exit status of the emulation.

    `arguments` are the descriptors of the parent's pipe and of the session, and the network:
    ``own`` for a new network namespace, or a process number. With a process number the host's
    network namespace is kept, and a hold of this process on IP forwarding is released at the end.
    """
    parent, session, network = arguments
    # Before `leave_host`: the host's folders and process numbers are not visible afterwards.
    groups = control_groups.create()
    if control_groups.is_missing(groups):
        warning = (
            "cannot create control groups: programs that run as root can reach the control groups of the host"
        )
        print(f"umts: {warning}", file=sys.stderr)
    # Ctrl-C is meant for the command. If the command exits because of it, the emulation ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A closed terminal ends the user's process, and with it the emulator. The launcher must survive
    # to undo their changes to the host. Programs run without blocked signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM))
    try:
        _core.leave_host(keep_network=network != "own")
    except OSError as error:
        print(f"umts: {error.strerror or error}", file=sys.stderr)
        control_groups.remove(groups)
        return EMULATION_FAILED
    emulator = subprocess.Popen(
        [sys.executable, "-m", "umtslab.emulate.emulator", parent, session, *groups],
        pass_fds=(int(parent), int(session)),
        env=memory.with_large_pages(os.environ),
    )
    status = emulator.wait()
    control_groups.remove(groups)
    if network != "own":
        forwarding.release(int(network))
    return EMULATION_FAILED if status < 0 else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

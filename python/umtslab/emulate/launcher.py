"""The launcher: leaves the host's namespaces, starts the emulator as process 1 of new ones, and waits for it.

It has one thread and imports next to nothing, since the kernel lets no other process into a user namespace.
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
    """Launch; `arguments` are the descriptors of the parent's pipe and of the session, and the network.

    The network is ``own``, or the number of the process that has the host forward packets for this one.
    """
    parent, session, network = arguments
    # Before the namespaces are left: the host's folders and process numbers are not visible afterwards.
    groups = control_groups.create()
    if control_groups.is_missing(groups):
        warning = "no control groups could be made: programs that run as root can reach those of the host"
        print(f"umts: {warning}", file=sys.stderr)
    # Ctrl-C is for the command; what it makes of it decides when the emulation ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A terminal that is closed ends the user's process, and with it the emulator. This one has to set back
    # what they changed. Programs have no signal blocked.
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
        forwarding.let_go(int(network))
    return EMULATION_FAILED if status < 0 else status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Checks that this machine can run emulations, for ``umts doctor``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from umtslab import _core
from umtslab.emulate.emulator import PRIORITY


def needs() -> Iterator[tuple[str, str, str]]:
    """Try out each component that ``umts emulate`` needs. Yields its name, the finding and advice."""
    namespace_error = _error_of(_SANDBOX_PROGRAM)
    yield (
        "namespaces",
        namespace_error or "yes",
        "" if namespace_error is None else "required by umts emulate",
    )
    tun_error = _error_of(_TUN_PROGRAM)
    advice = "required by umts emulate: as root, chmod 0666 /dev/net/tun"
    yield "TUN devices", tun_error or "yes", "" if tun_error is None else advice
    priority_error = _error_of(_PRIORITY_PROGRAM)
    yield "SCHED_FIFO", priority_error or "yes", "" if priority_error is None else "needs root"
    congestion = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    yield "kernel's TCP", congestion.read_text().strip(), "congestion controls for programs"
    p50, p99, largest = (f"{1e6 * late:.0f}" for late in _core.measure_lateness(0.01, 1.0))
    yield "timer", f"{p99} µs late (p99)", f"in 1 s, every 10 ms: p50 {p50} µs, at most {largest} µs"


_SANDBOX_PROGRAM = """
import subprocess, sys
from umtslab import _core
_core.leave_host(keep_network=False)
inside = "from umtslab import _core; from umtslab.emulate import sandbox; _core.settle(); sandbox.place()"
done = subprocess.run([sys.executable, "-c", inside], stderr=subprocess.PIPE, text=True)
sys.exit(done.stderr.strip().splitlines()[-1] if done.returncode else 0)
"""
"""Program that starts like an emulation: it leaves the host's namespaces. Its child is process 1 of the
new ones, mounts /proc there and creates a sandbox for programs."""

_TUN_PROGRAM = """
from umtslab import _core
_core.leave_host(keep_network=False)
open('/dev/net/tun', 'r+b', 0)
"""

_PRIORITY_PROGRAM = f"""
import os
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({PRIORITY}))
"""


def _error_of(program: str) -> str | None:
    """Run a Python program in a new process. Returns the last line of the errors, None on success."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]

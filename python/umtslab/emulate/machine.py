"""Checks that this machine can run emulations, for ``umts doctor``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from umtslab import _core


def needs() -> Iterator[tuple[str, str, str]]:
    """Test what ``umts emulate`` needs by using it. Yields component, finding and advice."""
    namespaces = _error_of(_PLACE_PROGRAM)
    yield "namespaces", namespaces or "yes", "" if namespaces is None else "required by umts emulate"
    tun = _error_of("from umtslab import _core; _core.leave_host(False); open('/dev/net/tun', 'r+b', 0)")
    advice = "required by umts emulate: as root, chmod 0666 /dev/net/tun"
    yield "TUN devices", tun or "yes", "" if tun is None else advice
    real_time = _error_of("import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))")
    yield "SCHED_FIFO", real_time or "yes", "" if real_time is None else "available to root"
    congestion = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    yield "kernel's TCP", congestion.read_text().strip(), "congestion controls for programs"
    p50, p99, largest = (f"{1e6 * late:.0f}" for late in _core.measure_lateness(0.01, 1.0))
    yield "timer", f"{p99} µs late (p99)", f"in 1 s, every 10 ms: p50 {p50} µs, at most {largest} µs"


_PLACE_PROGRAM = """
import subprocess, sys
from umtslab import _core
_core.leave_host(False)
inside = "from umtslab import _core; from umtslab.emulate import sandbox; _core.settle(); sandbox.place()"
done = subprocess.run([sys.executable, "-c", inside], stderr=subprocess.PIPE, text=True)
sys.exit(done.stderr.strip().splitlines()[-1] if done.returncode else 0)
"""
"""Program that creates the emulator's namespaces and a place for programs, as an emulation does."""


def _error_of(program: str) -> str | None:
    """Run a Python program in a new process. Returns the last line of its errors, or None."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]

"""Lateness of TTIs, compared with a bare timer of the same period and priority at the same time."""

from __future__ import annotations

import json
import subprocess
import sys

import figures

from emulation.session import SERVER, emulations, probe

BARE = """
import json, os, sys
try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
except OSError: pass
from umtslab import _core
print(json.dumps(_core.measure_lateness(0.01, float(sys.argv[1]))))
"""


def bare_timer(seconds: float) -> subprocess.Popen[str]:
    """Start a process with a timer of 10 ms that does nothing else, for `seconds`."""
    command = [sys.executable, "-c", BARE, str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def lateness_of(bare: subprocess.Popen[str]) -> list[float]:
    """Wait for the timer. Returns p50, p99 and maximum of its lateness in ms."""
    answer, _ = bare.communicate()
    return [1000 * value for value in json.loads(answer)]


def check(seconds: float) -> None:
    """Print the lateness of the emulator and of the timer, and the ratio."""
    count = int(seconds / 0.01)
    source = probe("datagrams", "--count", count, "--interval", 0.01, "--size", 400)
    bare = bare_timer(seconds)
    options = [
        "--bearer",
        "ps-384",
        "--server",
        " ".join(source),
        "--",
        *probe("collect", SERVER[4], "--count", count),
    ]
    with emulations(options) as (done,):
        p50, p99, maximum = lateness_of(bare)
    print(f"lateness over {seconds:g} s of a datagram in every TTI of 10 ms")
    print(f"  bare timer: p50 {p50:.3f}, p99 {p99:.3f}, max {maximum:.3f} ms")
    print(
        f"  emulator: {done.verdict()}; "
        f"p99 is {1000 * done.fidelity['lateness_p99_s'] / p99:.2f} times the timer's"
    )
    ours = f"{1000 * done.fidelity['lateness_p99_s']:.3f}"
    figures.add("time", "umts emulate, lateness p99, ms", ours, peer=f"bare timer: {p99:.3f}")

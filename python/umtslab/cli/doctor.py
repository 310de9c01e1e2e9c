"""``umts doctor``: what runs here, and what is missing."""

from __future__ import annotations

import json as json_text
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_LIBRARIES = ("polars", "duckdb", "numpy", "scipy", "matplotlib", "rich", "cyclopts")

_EXTRAS = {
    "distributed": ("umts sweep --dask", "dask"),
    "optuna": ("umts optimise", "optimise"),
    "SALib": ("umts sensitivity", "sensitivity"),
}
"""Libraries that not everybody needs: for what, and the extra that brings them."""


def doctor(*, clean: bool = False, json: bool = False) -> int:
    """Versions, and what is installed of what can be used.

    Parameters
    ----------
    clean
        Set back what emulations with --internet left on this host when they were killed, and nothing else.
    json
        Print one JSON list on standard output and nothing else there.
    """
    if clean:
        from umtslab.emulate import forwarding

        for line in forwarding.clean() or ["nothing was left"]:
            print(line)
        return 0
    if json:
        rows = [dict(zip(("what", "found", "remark"), row, strict=True)) for row in _found()]
        print(json_text.dumps(rows, indent=1))
        return 0
    from umtslab.cli.tables import output, plain_table

    table = plain_table("what", "found", "remark")
    for row in _found():
        table.add_row(*row)
    output().print(table)
    return 0


def _found() -> Iterator[tuple[str, str, str]]:
    from umtslab.run import code_version

    code = code_version()
    yield "umtslab", code.version, f"commit {code.commit}, sources {code.code[:12]}"
    yield "Python", platform.python_version(), platform.platform()
    yield "processors", str(len(os.sched_getaffinity(0))), "that this process may use"
    for library in _LIBRARIES:
        yield library, version(library), ""
    for library, (used_by, extra) in _EXTRAS.items():
        yield library, *_extra(library, used_by, extra)
    found = _tshark()
    yield "tshark", found or "missing", "" if found else "reads captures; not needed to write them"
    yield from emulation()


def _extra(library: str, used_by: str, extra: str) -> tuple[str, str]:
    try:
        return version(library), ""
    except PackageNotFoundError:
        return "missing", f"{used_by} needs it: pip install 'umtslab[{extra}]'"


def emulation() -> Iterator[tuple[str, str, str]]:
    """What `umts emulate` needs of this machine, tried out rather than looked up."""
    from umtslab import _core

    namespaces = _tried("from umtslab import _core; _core.leave_host(False)")
    yield "namespaces", namespaces or "yes", "" if namespaces is None else "umts emulate needs them"
    tun = _tried("from umtslab import _core; _core.leave_host(False); open('/dev/net/tun', 'r+b', 0)")
    advice = "umts emulate needs it: as root, chmod 0666 /dev/net/tun"
    yield "TUN devices", tun or "yes", "" if tun is None else advice
    real_time = _tried("import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))")
    yield "SCHED_FIFO", real_time or "yes", "" if real_time is None else "root may have it"
    congestion = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
    yield "kernel's TCP", congestion.read_text().strip(), "congestion controls of programs"
    p50, p99, largest = (f"{1e6 * late:.0f}" for late in _core.measure_lateness(0.01, 1.0))
    yield "timer", f"{p99} µs late (p99)", f"in 1 s, every 10 ms: p50 {p50} µs, at most {largest} µs"


def _tried(program: str) -> str | None:
    """What went wrong when a process of its own tried it; None if nothing did."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def _tshark() -> str | None:
    program = shutil.which("tshark")
    if program is None:
        return None
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return answer.stdout.partition("\n")[0] or f"{program} does not run"

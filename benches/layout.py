"""Many cells: what the system of Rendón et al. (2004) costs, what a cell more costs, and what idle users do.

The system is `scenarios/dsch-5km.toml`, 36 cells with 864 calls and 1,800 web users. It is run with three
times the cells and 10,000 users, each with `propagation.reach` and without, with users who are idle beside,
and with calls alone. Instructions are those of a run less those of a shorter one, which leaves out starting
up; memory is the most that the process held. CPU seconds are those of this machine, now: instructions are
what compares. Nothing here passes or fails.
Usage: layout.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

import figures
import instructions

SCENARIO = instructions.ROOT / "scenarios" / "dsch-5km.toml"
AT_LEAST, AIM = 20, 40
"""Simulated seconds per CPU second of the system with metrics."""
WIDE, REACH = "layout.sites=[6, 6]", "propagation.reach=2.5 km"
IDLE = ("ue.web.count=18000", "flow.1.etsi_www.between_sessions=1000 h")


@dataclass(frozen=True)
class Network:
    """Overrides, and two lengths of run in seconds."""

    name: str
    overrides: tuple[str, ...]
    lengths: tuple[int, int] = (12, 16)
    cells: int = 36


NETWORKS = (
    Network("36 cells, 1,800 users, 864 calls", ()),
    Network("108 cells, 10,000 users, 2,592 calls", (WIDE, "ue.web.count=10000"), cells=108),
    Network("the same, reach 2.5 km", (WIDE, "ue.web.count=10000", REACH), cells=108),
    Network("108 cells, 5,400 users, 2,592 calls", (WIDE, "ue.web.count=5400"), cells=108),
    Network("the same of 5,400, reach 2.5 km", (WIDE, "ue.web.count=5400", REACH), cells=108),
    Network("36 cells, calls alone", ("ue.web.count=1", *IDLE[1:])),
    Network("36 cells, calls, 18,000 idle users", IDLE),
)


def command(network: Network, length_s: int) -> list[str]:
    """One run with metrics."""
    settings = ("measure.from=10 s", f"duration={length_s} s", *network.overrides)
    return [str(instructions.PLAIN), str(SCENARIO), "metrics", *settings]


def spent(words: list[str]) -> tuple[float, float]:
    """CPU seconds of a process, and the most memory that it held, in MB."""
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_CLOSE, 1)])
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        raise subprocess.CalledProcessError(status, words)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main() -> int:
    """Run them and print a line for each."""
    instructions.build()
    counts = shutil.which("valgrind") is not None
    title = "many cells, metrics on"
    print(f"{title:<40}{'million instr/s':>16}{'per cell':>10}{'sim s per CPU s':>17}{'MB':>7}")
    for network in NETWORKS:
        short, long = network.lengths
        (begun, _), (whole, memory) = (spent(command(network, length)) for length in (short, 4 * long))
        rate = (4 * long - short) / (whole - begun)
        million = float("nan")
        if counts:
            both = [instructions.instructions(command(network, length)) for length in network.lengths]
            million = (both[1] - both[0]) / (long - short) / 1e6
        per_cell = million / network.cells
        print(
            f"{network.name:<40}{million:>16,.1f}{per_cell:>10,.2f}{rate:>17,.1f}{memory:>7,.0f}", flush=True
        )
        goal = f"{AT_LEAST}, aim {AIM}" if network is NETWORKS[0] else ""
        figures.add("time", f"{network.name}, simulated s per CPU s", f"{rate:,.1f}", goal=goal)
        figures.add("instructions", f"{network.name}, million instructions a simulated s", f"{million:,.1f}")
        figures.add("memory", f"{network.name}, MB", f"{memory:,.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The web cell of Dubois (2005), chapter 7: its speed, and what an event costs with 10, 100 and 1,000 users.

The cell is `scenarios/web-cell.toml`: thirty users, maxDAT 6, threshold 500 B, timer 8 s. For the growth,
users come in cells of ten with a third of its DCHs each, so that the load per user stays the same while
cells, users, flows and waiting events grow a hundredfold. CPU time is that of the process, less that of the
same network for one simulated second, which is what starting up takes. The networks take turns, and ratios
are made within a turn: on a shared machine the speed of the processor changes within minutes. Nothing here
passes or fails. Usage: cell.py [TURNS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import figures
import instructions

ROOT = Path(__file__).resolve().parents[1]
WEB_CELL = ROOT / "scenarios" / "web-cell.toml"
TURNS = 5
USERS_PER_CELL = 10
AT_LEAST, AIM = 10_000, 30_000
"""Simulated seconds per CPU second of the web cell with metrics."""

FIRST_CELL = """
version = 1
extends = "{base}"
name = "web-{users}"

[[cell]]
name = "cell"
admission = {{ downlink = "288 kbit/s" }}

[[ue]]
name = "user"
cell = "cell"
count = {per_cell}
"""

FURTHER_CELL = """
[[cell]]
name = "{name}"
rlc_lead = "1 ms"
iub = {{ rate = "622 Mbit/s", delay = "15 ms", timing = "next_frame" }}
rach = {{ rate = "16 kbit/s", tti = "20 ms", access = "private", access_delay = "3 ms" }}
admission = {{ downlink = "288 kbit/s" }}

[cell.fach]
rate = "32 kbit/s"
tti = "10 ms"
scheduling = "per_ue_push"
nodeb_queue = "9 PDUs"
rnc_jitter = "20 us"

[[ue]]
name = "user-{name}"
cell = "{name}"
count = {users}
bearer = "switched"

[[flow]]
ue = "user-{name}"
traffic = "web"
web = {{ variant = "object_per_call", request = "none" }}
"""


@dataclass
class Network:
    """A network, how long to simulate it, and what that took."""

    name: str
    scenario: Path
    duration_s: int
    cpu_s: list[float] = field(default_factory=list)
    events: int = 0
    peak_mib: float = 0.0

    @property
    def ns_per_event(self) -> list[float]:
        """What an event cost, turn by turn."""
        return [cpu_s * 1e9 / self.events for cpu_s in self.cpu_s]


def many_cells(folder: Path, users: int, duration_s: int) -> Network:
    """So many users of the web cell's kind, ten in a cell."""
    first = FIRST_CELL.format(base=WEB_CELL, users=users, per_cell=USERS_PER_CELL)
    further = (
        FURTHER_CELL.format(name=f"cell-{number}", users=USERS_PER_CELL)
        for number in range(1, users // USERS_PER_CELL)
    )
    path = folder / f"web-{users}.toml"
    path.write_text(first + "".join(further))
    return Network(f"{users} users in {users // USERS_PER_CELL} cells", path, duration_s)


def run(network: Network, duration_s: int) -> tuple[float, int]:
    """CPU time of a run with metrics, and how many events it had."""
    command: list[str | Path] = [instructions.PLAIN, network.scenario, "metrics", f"duration={duration_s} s"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    words = process.stdout.read().split()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    network.peak_mib = max(network.peak_mib, usage.ru_maxrss / 1024)
    return usage.ru_utime + usage.ru_stime, int(words[0])


def take_turn(network: Network) -> None:
    """Run once, without what starting up takes."""
    start_up_s, early = run(network, 1)
    cpu_s, events = run(network, network.duration_s)
    network.cpu_s.append(max(cpu_s - start_up_s, 1e-6))
    network.events = events - early


def take_turns(networks: list[Network], turns: int) -> None:
    """Run all of them, again and again."""
    for turn in range(turns):
        for network in networks:
            print(f"turn {turn + 1} of {turns}: {network.name}", file=sys.stderr)
            take_turn(network)


def speed(cell: Network) -> str:
    """Simulated seconds per CPU second: worst, median and best."""
    speeds = [(cell.duration_s - 1) / cpu_s for cpu_s in cell.cpu_s]
    return f"{min(speeds):,.0f}, {statistics.median(speeds):,.0f}, {max(speeds):,.0f}"


def row(network: Network, smallest: Network) -> str:
    """A line of the table."""
    cost = network.ns_per_event
    pairs = zip(cost, smallest.ns_per_event, strict=True)
    ratio = statistics.median(here / there for here, there in pairs)
    return (
        f"{network.name:<28}{max(cost):>8,.0f}{statistics.median(cost):>8,.0f}{min(cost):>8,.0f}"
        f"{network.events:>12,}{network.peak_mib:>10,.0f}{ratio:>8.2f}"
    )


def main() -> None:
    """Measure and print."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    instructions.build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cell = Network("thirty users, the web cell", WEB_CELL, 20_000)
        sizes = ((10, 40_000), (100, 4_000), (1_000, 400))
        growing = [many_cells(folder, users, duration_s) for users, duration_s in sizes]
        take_turns([cell, *growing], turns)
    print(f"web cell, simulated seconds per CPU second (worst, median, best): {speed(cell)}")
    print(
        f"at least {AT_LEAST:,}, aim {AIM:,}; {cell.events / cell.duration_s:.0f} events a simulated second\n"
    )
    columns = f"{'worst':>8}{'median':>8}{'best':>8}{'events':>12}{'peak MiB':>10}{'ratio':>8}"
    print(f"{'ns of CPU time per event':<28}{columns}")
    median = statistics.median((cell.duration_s - 1) / cpu_s for cpu_s in cell.cpu_s)
    figures.add("time", f"{cell.name}, simulated s per s of CPU", f"{median:,.0f}", goal=f"{AT_LEAST:,}")
    for network in growing:
        print(row(network, growing[0]))
        figures.add("memory", f"{network.name}, MiB", f"{network.peak_mib:.0f}")


if __name__ == "__main__":
    main()

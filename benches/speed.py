"""Simulated seconds per CPU second of `umts run`, with metrics, for networks of different kinds.

CPU time is user and system time of the whole command, less that of the same command for one simulated
second, which is what starting up takes. Runs of the networks are interleaved, and the median of several is
shown with the extremes: on a shared machine the speed of the processor changes within minutes. Nothing here
passes or fails.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parents[1]
UMTS = Path(sys.executable).with_name("umts")
REPEATS = 5
NOISE_S = 0.05
"""What starting up varies by: less CPU time than this cannot be told from none."""


@dataclass
class Bench:
    """A network, how long to simulate it, and the speed to reach."""

    name: str
    scenario: str
    duration_s: int
    at_least: int
    aim: int
    overrides: tuple[str, ...] = ()
    speeds: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    events: int = 0
    pdus: float = 0.0


BENCHES = [
    Bench("one user on FACH", "ftp-on-fach.toml", 60_000, 25_000, 57_000),
    Bench("one user on a DCH of 384 kbit/s", "ftp-on-dch-384.toml", 15_000, 10_000, 23_000),
    Bench("twenty users on DCHs of 64 kbit/s", "twenty-on-dch-64.toml", 2_000, 1_400, 3_000),
    Bench(
        "thirty users, a file each, then idle",
        "twenty-on-dch-64.toml",
        1_000_000,
        0,
        0,
        ("ue.0.count=30", "flow.0.traffic=file", "flow.0.size=100 kB"),
    ),
]


def run(bench: Bench, duration_s: int, store: Path) -> float:
    """Run the command; return its CPU time and keep what it counted."""
    command: list[str | Path] = [
        UMTS,
        "run",
        ROOT / "scenarios" / bench.scenario,
        "--duration",
        f"{duration_s} s",
    ]
    for override in bench.overrides:
        command += ["--set", override]
    before = children_cpu_s()
    done = subprocess.run([*command, "--json", "--quiet", "--out", store], check=True, capture_output=True)
    cpu_s = children_cpu_s() - before
    (result,) = json.loads(done.stdout)["runs"]
    metrics = result["metrics"]
    bench.pdus = metrics["pdu_transmissions"] + metrics["pdu_transmissions_uplink"]
    cards = sorted(store.glob("runs/*/run.json"), key=lambda card: card.stat().st_mtime_ns)
    bench.events = json.loads(cards[-1].read_text())["events"]
    return cpu_s


def children_cpu_s() -> float:
    """User and system time of the commands that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def row(bench: Bench) -> str:
    """A line of the table; a bound where the work drowned in the noise."""
    goals = f"{bench.at_least:>10,} {bench.aim:>7,}" if bench.at_least else f"{'':>18}"
    if max(bench.cpu_s) < NOISE_S:
        return f"{bench.name:<38} more than {bench.duration_s / NOISE_S:>16,.0f} {goals}"
    median = statistics.median(bench.speeds)
    speeds = f"{min(bench.speeds):>9,.0f} {median:>8,.0f} {max(bench.speeds):>8,.0f}"
    ns_per_pdu = statistics.median(bench.cpu_s) * 1e9 / bench.pdus
    return f"{bench.name:<38}{speeds} {goals} {bench.events / bench.pdus:>12.2f} {ns_per_pdu:>8,.0f}"


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(REPEATS):
            for bench in BENCHES:
                print(f"repeat {repeat + 1} of {REPEATS}: {bench.name}", file=sys.stderr)
                start_up = run(bench, 1, Path(folder))
                cpu_s = max(run(bench, bench.duration_s, Path(folder)) - start_up, 1e-6)
                bench.cpu_s.append(cpu_s)
                bench.speeds.append((bench.duration_s - 1) / cpu_s)
    columns = "    worst   median     best   at least     aim   events/PDU   ns/PDU"
    print(f"{'simulated seconds per CPU second':<38}{columns}")
    for bench in BENCHES:
        print(row(bench))
        if bench.at_least:
            name = f"{bench.name}, simulated s per s of CPU"
            median = f"{statistics.median(bench.speeds):,.0f}"
            figures.add("time", name, median, goal=f"{bench.at_least:,}")


if __name__ == "__main__":
    main()

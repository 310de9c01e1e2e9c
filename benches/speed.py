"""Simulated seconds per CPU second of `umts run`, with metrics, for networks of different kinds.

CPU time is user and system time of the whole command, minus the CPU time of the same command for
thirty simulated seconds, which excludes the start-up. Runs of the networks are interleaved, and the
table shows the median and the extremes, because the speed of the processor of a shared machine
changes within minutes. There is no pass or fail.

The bench measures the plain build of the environment, the shipped build if `make dist` has made
one, and with `--against FOLDER` the plain build of another checkout in which `make setup` was run.
The builds run in turn, and the CPU time of each is also shown as a ratio to the CPU time of the first
one in the same turn.

Usage: speed.py [--only WORD] [--repeats N] [--against FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "target" / "dist" / "package"
REPEATS = 5
SHORT_S = 30
"""Simulated seconds of the short run. Some networks begin to measure after twenty seconds."""
NOISE_S = 0.05
"""Variation of the start-up: smaller differences in CPU time are not significant."""


@dataclass(frozen=True)
class Bench:
    """A network, the length of its simulation, and the goal for its speed."""

    name: str
    scenario: str
    duration_s: int
    at_least: int
    aim: int
    overrides: tuple[str, ...] = ()


@dataclass
class Measured:
    """CPU times and counts of the runs of a network with one build."""

    bench: Bench
    build: str
    package: Path | None
    speeds: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    events: int = 0
    pdus: float = 0.0


BENCHES = [
    Bench("one user on FACH", "ftp-on-fach.toml", duration_s=60_000, at_least=25_000, aim=57_000),
    Bench(
        "one user on a DCH of 384 kbit/s",
        "ftp-on-dch-384.toml",
        duration_s=15_000,
        at_least=10_000,
        aim=23_000,
    ),
    Bench(
        "twenty users on DCHs of 64 kbit/s",
        "twenty-on-dch-64.toml",
        duration_s=2_000,
        at_least=1_400,
        aim=3_000,
    ),
    Bench(
        "thirty users, a file each, then idle",
        "twenty-on-dch-64.toml",
        duration_s=1_000_000,
        at_least=0,
        aim=0,
        overrides=("ue.0.count=30", "flow.0.traffic=file", "flow.0.size=100 kB"),
    ),
    Bench("TDD, sixteen files up", "tdd-ftp.toml", duration_s=2_000, at_least=1_500, aim=2_500),
    Bench("TDD, pages for 32", "tdd-www.toml", duration_s=3_000, at_least=3_000, aim=6_000),
    Bench("TDD, both", "tdd-mixed.toml", duration_s=2_000, at_least=1_200, aim=2_200),
    Bench("the web cell of chapter 7", "web-cell.toml", duration_s=20_000, at_least=0, aim=0),
    Bench("a DSCH in 36 cells of a layout", "dsch-5km.toml", duration_s=200, at_least=0, aim=0),
]


def run(measured: Measured, duration_s: int, store: Path) -> float:
    """Run the command and store its counts. Returns its CPU time in seconds."""
    bench = measured.bench
    environment = dict(os.environ)
    if measured.package is not None:
        environment["PYTHONPATH"] = str(measured.package)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "umtslab",
        "run",
        ROOT / "scenarios" / bench.scenario,
        "--duration",
        f"{duration_s} s",
    ]
    for override in bench.overrides:
        command += ["--set", override]
    command += ["--quiet", "--out", store]
    earlier_s = children_cpu_s()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    cpu_s = children_cpu_s() - earlier_s
    card = max(store.glob("runs/*/run.json"), key=lambda card: card.stat().st_mtime_ns)
    metrics = json.loads(card.with_name("metrics.json").read_text())
    measured.pdus = metrics["pdu_transmissions"] + metrics["pdu_transmissions_uplink"]
    measured.events = json.loads(card.read_text())["events"]
    return cpu_s


def children_cpu_s() -> float:
    """Return user and system time of all child processes that have exited."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def row(measured: Measured) -> str:
    """Format a line of the table. If the CPU time is below `NOISE_S`, it has a lower bound of the speed."""
    bench = measured.bench
    name = f"{bench.name:<38} {measured.build:<7}"
    goals = f"{bench.at_least:>10,} {bench.aim:>7,}" if bench.at_least else f"{'':>18}"
    if max(measured.cpu_s) < NOISE_S:
        return f"{name} more than {bench.duration_s / NOISE_S:>16,.0f} {goals}"
    median = statistics.median(measured.speeds)
    speeds = f"{min(measured.speeds):>9,.0f} {median:>8,.0f} {max(measured.speeds):>8,.0f}"
    ns_per_pdu = statistics.median(measured.cpu_s) * 1e9 / measured.pdus
    return f"{name}{speeds} {goals} {measured.events / measured.pdus:>12.2f} {ns_per_pdu:>8,.0f}"


def print_ratios(rows: list[Measured]) -> None:
    """Print the ratio of each further build's CPU time to the first build's in the same turn."""
    first = {row.bench.name: row for row in reversed(rows)}
    further = [row for row in rows if row is not first[row.bench.name]]
    if further:
        print(
            f"\n{'CPU time, ratio to the plain build':<38} {'build':<7}{'least':>9}{'median':>9}{'most':>9}"
        )
    for row in further:
        ratios = [here / plain for here, plain in zip(row.cpu_s, first[row.bench.name].cpu_s, strict=True)]
        values = (min(ratios), statistics.median(ratios), max(ratios))
        print(f"{row.bench.name:<38} {row.build:<7}" + "".join(f"{value:>9.3f}" for value in values))


def measure(measured: Measured) -> None:
    """Add a measurement, in a new store, so that nothing is reused."""
    with tempfile.TemporaryDirectory() as folder:
        start_up_s = run(measured, SHORT_S, Path(folder))
        cpu_s = max(run(measured, measured.bench.duration_s, Path(folder)) - start_up_s, 1e-6)
    measured.cpu_s.append(cpu_s)
    measured.speeds.append((measured.bench.duration_s - SHORT_S) / cpu_s)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="networks with this word in their name")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout, set up")
    options = parser.parse_args()
    builds: list[tuple[str, Path | None]] = [("plain", None)]
    if SHIPPED.exists():
        builds.append(("shipped", SHIPPED))
    if options.against:
        builds.append(("other", options.against / "python"))
    rows = [Measured(bench, *build) for bench in BENCHES if options.only in bench.name for build in builds]
    for repeat in range(options.repeats):
        for measured in rows:
            name = f"{measured.bench.name}, {measured.build}"
            print(f"repeat {repeat + 1} of {options.repeats}: {name}", file=sys.stderr)
            measure(measured)
    columns = "    worst   median     best   at least     aim   events/PDU   ns/PDU"
    print(f"{'simulated seconds per CPU second':<38} {'build':<7}{columns}")
    for measured in rows:
        print(row(measured))
        if measured.bench.at_least:
            name = f"{measured.bench.name}, {measured.build}, simulated s per s of CPU"
            median = f"{statistics.median(measured.speeds):,.0f}"
            figures.add("time", name, median, goal=f"{measured.bench.at_least:,}")
    print_ratios(rows)


if __name__ == "__main__":
    main()

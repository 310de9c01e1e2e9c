"""Instructions per simulated second, counted by valgrind: the same on a busy machine and a quiet one.

Each network is run for two lengths; the difference leaves out starting up. It is counted with metrics and
with the null sink, whose ratio is what observation costs. Nothing here passes or fails; compare with the
figures in the changelog of the version that you change.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BINARY = ROOT / "target" / "release" / "examples" / "one_run"


@dataclass(frozen=True)
class Bench:
    """A network and two lengths of run, in seconds."""

    name: str
    scenario: str
    lengths: tuple[int, int]
    overrides: tuple[str, ...] = ()


ERRORS = ("radio.model=independent", "radio.bler=0.1")
IDLE_CELL = ("ue.0.count=30", "flow.0.traffic=file", "flow.0.size=100 kB")

BENCHES = [
    Bench("one user on FACH", "ftp-on-fach.toml", (500, 1_500)),
    Bench("two users on FACH", "ftp-on-fach-two-users.toml", (1_600, 2_100)),
    Bench("one user on a DCH of 384 kbit/s", "ftp-on-dch-384.toml", (100, 300)),
    Bench(
        "the same, 10 % errors",
        "ftp-on-dch-384.toml",
        (100, 300),
        ("radio.model=independent", "radio.bler=0.1"),
    ),
    Bench("twenty users on DCHs of 64 kbit/s", "twenty-on-dch-64.toml", (20, 60)),
    Bench("the web cell of chapter 7", "web-cell.toml", (500, 1_500)),
    Bench("thirty users, all idle", "twenty-on-dch-64.toml", (10_000, 1_000_000), IDLE_CELL),
]


def instructions(bench: Bench, sink: str, length_s: int) -> int:
    """Count the instructions of one run."""
    scenario = ROOT / "scenarios" / bench.scenario
    command: list[str | Path] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", BINARY]
    settings = [f"duration={length_s} s", *bench.overrides]
    done = subprocess.run([*command, scenario, sink, *settings], check=True, capture_output=True, text=True)
    (count,) = re.findall(r"Collected : (\d+)", done.stderr)
    return int(count)


def per_simulated_second(bench: Bench, sink: str) -> float:
    """Instructions per simulated second, starting up left out."""
    short, long = bench.lengths
    return (instructions(bench, sink, long) - instructions(bench, sink, short)) / (long - short)


def main() -> int:
    """Count and print a table."""
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: no instructions are counted", file=sys.stderr)
        return 0
    subprocess.run(
        ["cargo", "build", "--release", "--locked", "-p", "umts-simulate", "--example", "one_run"],
        cwd=ROOT,
        check=True,
    )
    print(f"{'instructions per simulated second':<38}{'with metrics':>14}{'null sink':>14}{'ratio':>8}")
    for bench in BENCHES:
        metrics, null = (per_simulated_second(bench, sink) for sink in ("metrics", "null"))
        ratio = f"{metrics / null:>8.2f}" if null >= 1 else f"{'':>8}"
        print(f"{bench.name:<38}{metrics:>14,.0f}{null:>14,.0f}{ratio}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

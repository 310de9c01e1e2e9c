"""Start-up of a large network: 10,000 users with a flow each, four links, an error trace.

Measures CPU time and peak memory of the plain program for a millisecond of simulated time. The
trace has 100,000 blocks. With `--against FOLDER`, a checkout of another version, both are built and
run in turn, and the ratios of the pairs of runs are shown, because absolute times vary on a shared
machine. There is no pass or fail.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path

import figures
from instructions import build

ROOT = Path(__file__).resolve().parents[1]
USERS = 10_000
BLOCKS = 100_000
REPEATS = 5

SCENARIO = f"""
version = 1
title = "Ten thousand users with a flow each"
duration = "1 ms"

[[bearer]]
name = "ps-64"
downlink = {{ rate = "64 kbit/s", tti = "20 ms" }}
uplink = {{ rate = "64 kbit/s", tti = "20 ms" }}

[radio]
model = "trace"
file = "errors.txt"

[radio.uplink]
model = "trace"
file = "errors.txt"

[[link]]
from = "server"
to = "router"

[[link]]
from = "router"
to = "ggsn"

[[link]]
from = "ggsn"
to = "sgsn"

[[link]]
from = "sgsn"
to = "rnc"

[[ue]]
name = "user"
count = {USERS}
bearer = "ps-64"

[[flow]]
ue = "user"
"""


@dataclass(frozen=True)
class Usage:
    """Resources of a run."""

    cpu_s: float
    peak_mib: float


def measure(program: Path, scenario: Path) -> Usage:
    """Run the program once, with metrics."""
    child = subprocess.Popen([program, scenario, "metrics"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{program} ended with status {child.returncode}")
    return Usage(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def spread(values: list[float], unit: str) -> str:
    """Format median and extremes."""
    return f"{statistics.median(values):8.2f} {unit} ({min(values):.2f} to {max(values):.2f})"


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", metavar="FOLDER", type=Path, help="a checkout of another version")
    against: Path | None = parser.parse_args().against
    programs = [build(folder, folder / "target") for folder in (ROOT, *([against] if against else []))]
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "large.toml"
        scenario.write_text(SCENARIO)
        (Path(folder) / "errors.txt").write_text("0000000001" * (BLOCKS // 10))
        usages: list[list[Usage]] = [[] for _ in programs]
        for _ in range(REPEATS):
            for runs, program in zip(usages, programs, strict=True):
                runs.append(measure(program, scenario))
    for name, runs in zip(("this version", "the other"), usages, strict=False):
        print(f"{name:<14}{spread([run.cpu_s for run in runs], 's of CPU')}")
        print(f"{'':<14}{spread([run.peak_mib for run in runs], 'MiB at most')}")
    cpu_s, peak_mib = (statistics.median(values) for values in zip(*map(astuple, usages[0]), strict=True))
    figures.add("time", f"a scenario of {USERS:,} users is read and built, s", f"{cpu_s:.2f}")
    figures.add("memory", f"a scenario of {USERS:,} users, MiB", f"{peak_mib:.0f}")
    if against:
        pairs = list(zip(*usages, strict=True))
        print(
            f"{'ratio':<14}{spread([here.cpu_s / there.cpu_s for here, there in pairs], 'of the CPU time')}"
        )
        print(f"{'':<14}{spread([here.peak_mib / there.peak_mib for here, there in pairs], 'of the memory')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

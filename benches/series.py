"""What `--series` and `--pcap` add to `umts run`: instructions per simulated second, octets of tables.

The whole command is counted, with all that it writes, for two lengths of each network; the difference leaves
out starting up. Nothing here passes or fails; a run with series should take at most 1.5 times the
instructions of the same without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import figures
from instructions import BENCHES, ROOT, Bench, of_command, per_simulated_second

PACKAGE = ROOT / "python"
LONGEST_S = 10_000
"""Of runs with anything to record."""

NETWORKS = [bench for bench in BENCHES if bench.lengths[1] < LONGEST_S]
RECORDED = ((), ("--series",), ("--pcap",))
MOST = 1.5


def count(job: tuple[Bench, tuple[str, ...]]) -> float:
    """Thousand instructions per simulated second."""
    bench, options = job
    return per_simulated_second(bench, lambda length_s: of_command(PACKAGE, bench, length_s, *options))


def octets(bench: Bench) -> float:
    """What the tables of the series take per simulated second."""
    length_s = bench.lengths[1]
    with tempfile.TemporaryDirectory() as store:
        words = [sys.executable, "-m", "umtslab", "run", str(ROOT / "scenarios" / bench.scenario), "--series"]
        words += ["--duration", f"{length_s} s", "--quiet", "--json", "--out", store]
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        subprocess.run(words, check=True, capture_output=True, env=environment)
        tables = Path(store).glob("runs/*/series/*.parquet")
        return sum(table.stat().st_size for table in tables) / length_s


def main() -> int:
    """Count and print a table."""
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: no instructions are counted", file=sys.stderr)
        return 0
    jobs = [(bench, options) for bench in NETWORKS for options in RECORDED]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = iter(list(pool.map(count, jobs)))
    columns = f"{'alone':>10}{'series':>10}{'ratio':>7}{'captures':>10}{'ratio':>7}{'octets/s':>10}"
    print(f"{'umts run, thousand instructions a simulated s':<46}{columns}")
    for bench in NETWORKS:
        alone, series, captures = (next(found) for _ in RECORDED)
        ratios = f"{series:>10,.1f}{series / alone:>7.2f}{captures:>10,.1f}{captures / alone:>7.2f}"
        print(f"{bench.name:<46}{alone:>10,.1f}{ratios}{octets(bench):>10,.0f}")
        figures.add("instructions", f"--series, {bench.name}", f"{series / alone:.2f}", goal=f"{MOST}")
        figures.add("instructions", f"--pcap, {bench.name}", f"{captures / alone:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

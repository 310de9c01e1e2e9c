"""TCP and links of the stack compared with ns-2: many NewReno flows over one wired bottleneck.

Both programs do the same work: `benches/ns2.tcl` in ns (Debian's ns2) and
`crates/stack/examples/wired_flows.rs` with TCP, links and event queue of the stack, without trace,
metrics or Python. They run in turn with several seeds, which vary the starts of the flows. The
table shows the number of acknowledged packets and its spread over the seeds, to verify that the
work is equal, then times, peak memory and the ratios of the medians. Nothing here passes or fails.
Usage: ns2.py [FLOWS [SECONDS]]
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parents[1]
FLOWS = 1000
SECONDS = 100
SEEDS = (1, 2, 3)


@dataclass
class Took:
    """Counts of a run, and the resources that it used."""

    acknowledged: int
    sent: int
    again: int
    cpu_s: float
    peak_mib: float


def run(*command: str | Path) -> Took:
    """Run a command that prints three counts."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    words = process.stdout.read().split()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    acknowledged, sent, again = map(int, words)
    return Took(acknowledged, sent, again, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def build() -> Path:
    """Build the program of the stack. Returns its path."""
    words = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "umts-stack"]
    subprocess.run([*words, "--example", "wired_flows"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "wired_flows"


def spread(values: list[int]) -> str:
    """Format mean and standard deviation over the seeds."""
    return f"{statistics.mean(values):12,.0f} (sd {statistics.stdev(values):,.0f})"


def main() -> None:
    """Run both programs in turn and print counts, times and memory."""
    flows, seconds = (
        sys.argv[place] if len(sys.argv) > place else str(default)
        for place, default in ((1, FLOWS), (2, SECONDS))
    )
    if not shutil.which("ns"):
        print("SKIPPED: ns-2 is not installed (Debian: apt-get install ns2)")
        figures.add("time", f"{flows} wired flows, times as fast", "", peer="ns-2 is not installed")
        return
    ours_program = build()
    theirs: list[Took] = []
    ours: list[Took] = []
    for seed in map(str, SEEDS):
        theirs.append(run("ns", ROOT / "benches" / "ns2.tcl", flows, seconds, seed))
        ours.append(run(ours_program, flows, seconds, seed))
    print(
        f"{flows} NewReno flows, {seconds} simulated seconds, 200 Mbit/s, 50 ms each way, {len(SEEDS)} seeds"
    )
    for name, took in (("ns-2", theirs), ("umtslab", ours)):
        print(f"{name:8} packets acknowledged {spread([one.acknowledged for one in took])}")
        print(f"{'':8} sent                 {spread([one.sent for one in took])}")
        print(f"{'':8} sent again           {spread([one.again for one in took])}")
        cpu = [one.cpu_s for one in took]
        print(f"{'':8} CPU s                {statistics.median(cpu):12.2f} ({min(cpu):.2f}, {max(cpu):.2f})")
        print(f"{'':8} peak MiB             {max(one.peak_mib for one in took):12.1f}")
    cpu_ratio = statistics.median(one.cpu_s for one in theirs) / statistics.median(one.cpu_s for one in ours)
    memory_ratio = max(one.peak_mib for one in ours) / max(one.peak_mib for one in theirs)
    print(f"times as fast: {cpu_ratio:.1f}; memory: {memory_ratio:.2f} of ns-2's")
    figures.add("time", f"{flows} wired flows, times as fast", f"{cpu_ratio:.1f}", peer="ns-2: 1")
    figures.add("memory", f"{flows} wired flows, share of the peer's", f"{memory_ratio:.2f}", peer="ns-2: 1")


if __name__ == "__main__":
    main()

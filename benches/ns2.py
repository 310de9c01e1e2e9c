"""TCP and links of the stack compared with ns-2: many NewReno flows over one wired bottleneck.

Both programs do the same work: `benches/ns2.tcl` in ns (Debian's ns2) and
`crates/stack/examples/wired_flows.rs` with TCP, links and event queue of the stack, without trace,
metrics or Python. They run in turn with several seeds, which vary the starts of the flows. The
table shows the number of acknowledged packets and its spread over the seeds, to verify that the
work is equal, then CPU times, peak memory and their ratios. There is no pass or fail.
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
class RunCounts:
    """Counts of a run, and the resources that it used."""

    acknowledged: int
    sent: int
    retransmitted: int
    cpu_s: float
    peak_mib: float


def run(*command: str | Path) -> RunCounts:
    """Run a command that prints three counts."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    counts = process.stdout.read().split()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    acknowledged, sent, retransmitted = map(int, counts)
    cpu_s = usage.ru_utime + usage.ru_stime
    return RunCounts(acknowledged, sent, retransmitted, cpu_s, usage.ru_maxrss / 1024)


def build() -> Path:
    """Build the program of the stack. Returns its path."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "umts-stack"]
    subprocess.run([*command, "--example", "wired_flows"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "wired_flows"


def spread(values: list[int]) -> str:
    """Format mean and standard deviation over the seeds."""
    return f"{statistics.mean(values):12,.0f} (sd {statistics.stdev(values):,.0f})"


def main() -> None:
    """Run both programs in turn and print counts, times and memory."""
    flows, seconds = (
        sys.argv[position] if len(sys.argv) > position else str(default)
        for position, default in ((1, FLOWS), (2, SECONDS))
    )
    if not shutil.which("ns"):
        print("SKIPPED: ns-2 is not installed (Debian: apt-get install ns2)")
        figures.add("time", f"{flows} wired flows, times as fast", "", peer="ns-2 is not installed")
        return
    our_program = build()
    ns2_counts: list[RunCounts] = []
    our_counts: list[RunCounts] = []
    for seed in map(str, SEEDS):
        ns2_counts.append(run("ns", ROOT / "benches" / "ns2.tcl", flows, seconds, seed))
        our_counts.append(run(our_program, flows, seconds, seed))
    # The rate and the delay are constants of both programs.
    print(
        f"{flows} NewReno flows, {seconds} simulated seconds, 200 Mbit/s, 50 ms each way, {len(SEEDS)} seeds"
    )
    for name, runs in (("ns-2", ns2_counts), ("umtslab", our_counts)):
        print(f"{name:8} packets acknowledged {spread([run.acknowledged for run in runs])}")
        print(f"{'':8} sent                 {spread([run.sent for run in runs])}")
        print(f"{'':8} retransmitted        {spread([run.retransmitted for run in runs])}")
        cpu = [run.cpu_s for run in runs]
        print(f"{'':8} CPU s                {statistics.median(cpu):12.2f} ({min(cpu):.2f}, {max(cpu):.2f})")
        print(f"{'':8} peak MiB             {max(run.peak_mib for run in runs):12.1f}")
    ns2_cpu_s, our_cpu_s = (statistics.median(run.cpu_s for run in runs) for runs in (ns2_counts, our_counts))
    cpu_ratio = ns2_cpu_s / our_cpu_s
    memory_ratio = max(run.peak_mib for run in our_counts) / max(run.peak_mib for run in ns2_counts)
    print(f"times as fast: {cpu_ratio:.1f}; memory: {memory_ratio:.2f} of ns-2's")
    figures.add("time", f"{flows} wired flows, times as fast", f"{cpu_ratio:.1f}", peer="ns-2: 1")
    figures.add("memory", f"{flows} wired flows, share of the peer's", f"{memory_ratio:.2f}", peer="ns-2: 1")


if __name__ == "__main__":
    main()

"""`umts analyse` compared with tcptrace on the same captures, and peak memory for a large capture.

The bench generates captures of several kinds: few long downloads with whole frames, the same with
frames cut after the headers, and many short downloads. Both tools read them in turn, several times.
The table shows the median and the extremes of elapsed time and CPU time. On a busy machine, compare
CPU times too. The time to start the interpreter and its libraries is part of the command's time,
and is also shown separately. There is no pass or fail.

The tools compute:
- `tcptrace -l -r -n`: every connection in detail (packets, octets, retransmissions, duplicate
  acknowledgments, windows, idle times), with round-trip times of every segment, without DNS
  lookups.
- `tcptrace -l -r -n -W`: also the mean and maximum of the outstanding window.
- `umts analyse --json`: all of these in both directions; also the cause of every retransmission and
  whether it was needed (DSACK, timestamps, early acknowledgments), percentiles of the round-trip
  times, the time average of the outstanding window, sums over all connections; about 80 numbers for
  each connection.

Usage: analyse.py [MEGABYTES [MEGABYTES_FOR_MEMORY]]
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parents[1]
UMTS = Path(sys.executable).with_name("umts")
MEGABYTES = 300
MEGABYTES_FOR_MEMORY = 1000
REPEATS = 5
TCPTRACE = ("tcptrace", "-l", "-r", "-n")
KINDS = {
    "long": "16 long downloads, whole frames",
    "headers": "16 long downloads, 96 octets of each frame",
    "short": "downloads of at most 20 segments, whole frames",
}


@dataclass
class Usage:
    """Resources that a process used."""

    elapsed_s: float
    cpu_s: float
    peak_mib: float


def run(*command: str | Path) -> Usage:
    """Run a command and discard its output."""
    start_s = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed_s = time.perf_counter() - start_s
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return Usage(elapsed_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def analyse(capture: Path) -> Usage:
    """Run `umts analyse` with every metric of every connection as output."""
    return run(UMTS, "analyse", "--json", "--quiet", capture)


def make(kind: str, megabytes: int, capture: Path) -> str:
    """Write a capture. Returns a description of its content."""
    cargo = ["cargo", "run", "--release", "--locked", "--quiet", "--package", "umts-capture"]
    command = [*cargo, "--example", "traffic", "--", kind, str(megabytes), str(capture)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def spread(values: list[float]) -> str:
    """Format median and extremes."""
    return f"{statistics.median(values):7.2f} ({min(values):.2f} to {max(values):.2f})"


def compare(folder: Path, kind: str, megabytes: int, start: list[Usage]) -> None:
    """Let both tools read a capture of this kind in turn, and print their times."""
    capture = folder / f"{kind}.pcap"
    content = make(kind, megabytes, capture)
    print(f"\n{KINDS[kind]}: {megabytes} MB, {content}")
    print(f"{'':24}{'elapsed s':>24}{'CPU s':>24}")
    tools: dict[str, tuple[str | Path, ...]] = {
        "tcptrace -l -r -n": (*TCPTRACE, capture),
        "tcptrace -l -r -n -W": (*TCPTRACE, "-W", capture),
        "umts analyse --json": (UMTS, "analyse", "--json", "--quiet", capture),
    }
    usages: dict[str, list[Usage]] = {name: [] for name in tools}
    for _ in range(REPEATS):
        for name, command in tools.items():
            usages[name].append(run(*command))
    for name, all_runs in usages.items():
        elapsed, cpu = ([getattr(used, part) for used in all_runs] for part in ("elapsed_s", "cpu_s"))
        print(f"{name:24}{spread(elapsed):>24}{spread(cpu):>24}")
    *peers, own_command = usages
    for name in peers:
        text = ratios(usages[name], usages[own_command], start)
        print(f"times as fast as {name}: {text}")
        figures.add("time", f"{own_command}, {kind}, times as fast", "", peer=f"{name}: {text}")
    capture.unlink()


def ratios(theirs: list[Usage], ours: list[Usage], start: list[Usage]) -> str:
    """Format how many times faster `umts analyse` is, with and without start-up."""
    texts = []
    for part, name in (("elapsed_s", "elapsed"), ("cpu_s", "CPU")):
        theirs_s, ours_s, start_s = (
            statistics.median(getattr(used, part) for used in runs) for runs in (theirs, ours, start)
        )
        work_s = ours_s - start_s
        # The ratio means nothing if nearly all of the time is start-up.
        without_start = f"{theirs_s / work_s:.1f}" if work_s > 0.1 * ours_s else "too short"
        texts.append(f"{name} {theirs_s / ours_s:.1f} (without starting: {without_start})")
    return ", ".join(texts)


def memory(folder: Path, megabytes: int) -> None:
    """Compare the peak memory for a large and a small capture."""
    for kind in KINDS:
        peaks = []
        for size in (10, megabytes):
            capture = folder / f"{kind}.pcap"
            content = make(kind, size, capture)
            peaks.append(analyse(capture).peak_mib)
            capture.unlink()
        print(
            f"{KINDS[kind]}: {peaks[0]:.0f} MiB for 10 MB, {peaks[1]:.0f} MiB for {megabytes} MB, {content}"
        )
        small = f"{peaks[0]:.0f} for 10 MB"
        figures.add("memory", f"umts analyse, {kind}, {megabytes} MB, MiB", f"{peaks[1]:.0f}", peer=small)


def main() -> None:
    """Compare the times, then measure memory."""
    megabytes, for_memory = (
        int(sys.argv[position]) if len(sys.argv) > position else default
        for position, default in ((1, MEGABYTES), (2, MEGABYTES_FOR_MEMORY))
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tiny = folder / "tiny.pcap"
        make("long", 1, tiny)
        start = [analyse(tiny) for _ in range(REPEATS)]
        elapsed_s, cpu_s = (
            statistics.median(getattr(used, part) for used in start) for part in ("elapsed_s", "cpu_s")
        )
        print(f"starting umts: {elapsed_s:.3f} s, {cpu_s:.3f} s of CPU time")
        if shutil.which("tcptrace"):
            for kind in KINDS:
                compare(folder, kind, megabytes, start)
        else:
            print("SKIPPED: tcptrace is not installed (Debian: apt-get install tcptrace)")
            figures.add("time", "umts analyse, times as fast", "", peer="tcptrace is not installed")
        print("\nPeak memory of `umts analyse --json`:")
        memory(folder, for_memory)


if __name__ == "__main__":
    main()

"""`umts analyse` held against tcptrace on the same captures, and the memory that a large capture takes.

The captures are made here, of several kinds: few long downloads with whole frames, the same cut off behind
the headers, and many short downloads. Both tools read them in turn, several times; the median is shown with
the extremes, as elapsed time and as CPU time. tcptrace is asked for what gives the same metrics, `tcptrace
-l -r -n`: every connection in detail, with round-trip times, without looking up names. `umts analyse
--json` writes all metrics of all connections; what starting the interpreter and its libraries takes is
shown apart, and is in the time of the command. Ratios are of elapsed time; on a machine that does other
work, look at CPU time too. Nothing here passes or fails. Usage: analyse.py [MEGABYTES
[MEGABYTES_FOR_MEMORY]]
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

ROOT = Path(__file__).resolve().parents[1]
UMTS = Path(sys.executable).with_name("umts")
MEGABYTES = 300
MEGABYTES_FOR_MEMORY = 1000
REPEATS = 5
KINDS = {
    "long": "16 long downloads, whole frames",
    "headers": "16 long downloads, 96 octets of each frame",
    "short": "downloads of at most 20 segments, whole frames",
}


@dataclass
class Took:
    """What a process took."""

    elapsed_s: float
    cpu_s: float
    peak_mib: float


def run(*command: str | Path) -> Took:
    """Run a command, its output into nothing."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed_s = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return Took(elapsed_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def analyse(capture: Path) -> Took:
    """Analyse with every metric of every connection as output."""
    return run(UMTS, "analyse", "--json", "--quiet", capture)


def make(kind: str, megabytes: int, capture: Path) -> str:
    """Write a capture; tell what is in it."""
    cargo = ["cargo", "run", "--release", "--locked", "--quiet", "--package", "umts-capture"]
    words = [*cargo, "--example", "traffic", "--", kind, str(megabytes), str(capture)]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def shown(values: list[float]) -> str:
    """Median and extremes."""
    return f"{statistics.median(values):7.2f} ({min(values):.2f} to {max(values):.2f})"


def compare(folder: Path, kind: str, megabytes: int, start: list[Took]) -> None:
    """Let both tools read a capture of a kind in turn."""
    capture = folder / f"{kind}.pcap"
    content = make(kind, megabytes, capture)
    print(f"\n{KINDS[kind]}: {megabytes} MB, {content}")
    print(f"{'':24}{'elapsed s':>24}{'CPU s':>24}")
    ours: list[Took] = []
    theirs: list[Took] = []
    for _ in range(REPEATS):
        theirs.append(run("tcptrace", "-l", "-r", "-n", capture))
        ours.append(analyse(capture))
    for name, took in (("tcptrace -l -r -n", theirs), ("umts analyse --json", ours)):
        elapsed, cpu = ([getattr(one, part) for one in took] for part in ("elapsed_s", "cpu_s"))
        print(f"{name:24}{shown(elapsed):>24}{shown(cpu):>24}")
    for part, name in (("elapsed_s", "elapsed"), ("cpu_s", "CPU")):
        tcptrace_s, umts_s = (
            statistics.median(getattr(one, part) for one in took) for took in (theirs, ours)
        )
        own_s = umts_s - statistics.median(getattr(one, part) for one in start)
        without = f"{tcptrace_s / own_s:.1f}" if own_s > 0.1 * umts_s else "too short to tell"
        print(f"times as fast, {name:8} {tcptrace_s / umts_s:.1f}; without starting: {without}")
    capture.unlink()


def memory(folder: Path, megabytes: int) -> None:
    """Hold the peak memory of a large capture against that of a small one."""
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


def main() -> None:
    """Compare, then measure memory."""
    megabytes, for_memory = (
        int(sys.argv[place]) if len(sys.argv) > place else default
        for place, default in ((1, MEGABYTES), (2, MEGABYTES_FOR_MEMORY))
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tiny = folder / "tiny.pcap"
        make("long", 1, tiny)
        start = [analyse(tiny) for _ in range(REPEATS)]
        cpu_s = statistics.median(one.cpu_s for one in start)
        print(f"starting umts: {cpu_s:.2f} s of CPU time")
        if shutil.which("tcptrace"):
            for kind in KINDS:
                compare(folder, kind, megabytes, start)
        else:
            print("SKIPPED: tcptrace is not installed (Debian: apt-get install tcptrace)")
        print("\nMost memory that `umts analyse --json` took:")
        memory(folder, for_memory)


if __name__ == "__main__":
    main()

"""CPU time of bare programs beside each other: `turns.py PROGRAM OTHER…`, each made by `tools/trained`.

Of each seed the least of many short runs counts, and the sum over seeds: what else a machine does only ever
adds, so that two copies of one program come within some three thousandths of each other in one go. What the
compiler puts where moves any program by a hundredth or two, in an idle machine as well.

Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path

from instructions import ERRORS

ROOT = Path(__file__).resolve().parents[1]
CHAPTER_8 = (
    "rrc.inactivity=4 s",
    "rrc.preemptive_inactivity=8 s",
    "rrc.upswitch_threshold=500 B",
    "rlc.max_dat=10",
)
NETWORKS: dict[str, tuple[str, ...]] = {
    "chapter-8": ("web-fach-dch-hybrid.toml", "duration=2500 s", *CHAPTER_8),
    "web-cell": ("web-cell.toml", "duration=2500 s"),
    "twenty": ("twenty-on-dch-64.toml", "duration=200 s"),
    "dch-384": ("ftp-on-dch-384.toml", "duration=2000 s"),
    "dch-384-errors": ("ftp-on-dch-384.toml", "duration=2000 s", *ERRORS),
    "fach": ("ftp-on-fach.toml", "duration=5000 s"),
}
"""Each takes less than a tenth of a second: some turns are not disturbed then."""


def at_least_one(text: str) -> int:
    """A number of something to measure."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is none: at least 1")
    return number


def cpu_s(program: Path, network: tuple[str, ...], seed: int) -> float:
    """User and system time of one run."""
    scenario, *settings = network
    words: list[str | Path] = [program, ROOT / "scenarios" / scenario, "metrics", *settings, f"seed={seed}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least_s(programs: list[Path], network: tuple[str, ...], seeds: int, turns: int) -> list[float]:
    """The least time of each program for each seed, summed over seeds."""
    least = {(at, seed): float("inf") for at in range(len(programs)) for seed in range(seeds)}
    for turn in range(turns):
        for seed in range(seeds):
            order = range(len(programs)) if (turn + seed) % 2 else reversed(range(len(programs)))
            for at in order:
                least[at, seed] = min(least[at, seed], cpu_s(programs[at], network, seed + 1))
    return [sum(least[at, seed] for seed in range(seeds)) for at in range(len(programs))]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="CPU time of bare programs beside each other")
    parser.add_argument("programs", nargs="+", type=Path, help="the first is what the others are told over")
    parser.add_argument("--seeds", type=at_least_one, default=12)
    parser.add_argument("--turns", type=at_least_one, default=12, help="of each seed")
    parser.add_argument("--network", choices=NETWORKS, action="append", help="only this one; may come again")
    options = parser.parse_args()
    programs = [program.resolve() for program in options.programs]
    for program in programs:
        if not program.is_file():
            parser.error(f"there is no program {program}: make one with tools/trained")
    # One core: to move to another costs more than what is looked for.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{'ms a run':<24}" + "".join(f"{program.name:>16}{'':>8}" for program in programs))
    for name in options.network or NETWORKS:
        times = least_s(programs, NETWORKS[name], options.seeds, options.turns)
        columns = (f"{time / options.seeds * 1000:>16.2f}{time / times[0]:>8.3f}" for time in times)
        print(f"{name:<24}" + "".join(columns), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What it costs to split a connection in the model, in instructions for each megabyte that is carried.

A download is run without a proxy, through one that lets it pass, and split, with the losses of the scenario
and without any. Two sizes of file are counted by valgrind; the difference leaves out starting up. A split
connection is two of TCP's, and may cost twice as much. Nothing here passes or fails.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import figures
from instructions import PLAIN, ROOT, build, instructions
from umtslab.numbers import number

SCENARIO = ROOT / "scenarios" / "split-download.toml"
SIZES_KB = (200, 1000)
LASTS = "duration=1000 s"
"""So long that every download ends; what is idle costs nothing."""
GOAL = 2.0


@dataclass(frozen=True)
class Network:
    """What is lost on the way."""

    name: str
    overrides: tuple[str, ...] = ()


NETWORKS = (
    Network("1 % lost in the Internet, 10 % of blocks"),
    Network("nothing lost", ("link.0.loss=0", "radio.bler=0")),
)
WITHOUT, PASS, SPLIT = "without a proxy", "a proxy that lets it pass", "split"
WAYS = {WITHOUT: (), PASS: ("pep.mode=pass",), SPLIT: ("pep.mode=split",)}


def without_proxy(folder: Path) -> Path:
    """The scenario without `[pep]`."""
    tables = SCENARIO.read_text(encoding="utf-8").split("\n[")
    kept = [table for table in tables if not table.startswith("pep")]
    file = folder / SCENARIO.name
    file.write_text("\n[".join(kept), encoding="utf-8")
    return file


def of_a_megabyte(scenario: Path, overrides: Sequence[str]) -> float:
    """Million instructions for each megabyte, starting up left out."""

    def count(size_kb: int) -> int:
        return instructions([PLAIN, scenario, "null", LASTS, f"flow.0.size={size_kb} kB", *overrides])

    short, long = SIZES_KB
    return (count(long) - count(short)) / (long - short) / 1e3


def main() -> int:
    """Count and print."""
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: no instructions are counted", file=sys.stderr)
        return 0
    build()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        files = dict.fromkeys(WAYS, SCENARIO) | {WITHOUT: without_proxy(Path(folder))}
        jobs = list(product(NETWORKS, WAYS))
        counts = pool.map(lambda job: of_a_megabyte(files[job[1]], (*job[0].overrides, *WAYS[job[1]])), jobs)
        found = dict(zip(jobs, counts, strict=True))
    for network in NETWORKS:
        plain = found[network, WITHOUT]
        print(f"\n{network.name:<46}{'million a MB':>14}{'ratio':>8}{'goal':>6}")
        for way in WAYS:
            ratio = found[network, way] / plain
            goal = number(GOAL) if way == SPLIT else ""
            print(f"{way:<46}{found[network, way]:>14,.2f}{ratio:>8.2f}{goal:>6}")
            if way != WITHOUT:
                figures.add(
                    "instructions",
                    f"{way}, {network.name}: times the instructions",
                    f"{ratio:.2f}",
                    goal=goal,
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""What chapters 7 and 8 of Dubois (2005) cost (`umts reproduce dubois2005/ch7 dubois2005/ch8`), by points.

Points that lie evenly in each chapter are swept with as many runs as the chapter has, for CPU time, and with
three more runs each under valgrind, for instructions; what a sweep takes whose runs are all there is taken
off. Of the shipped package if there is one (`make dist`), else of the plain one. Nothing here passes or
fails. Usage: chapters.py [POINTS]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import figures
from instructions import SHIPPED, instructions

from campaigns import cpu_s

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ("ch7", "ch8")
POINTS = 6
COUNTED_RUNS = 3
"""Of each point; valgrind makes them fifty times as slow."""
WANTED_MIN = 22.0


def campaign(chapter: str, place: Path, package: Path) -> list[str]:
    """A chapter as a campaign file for `place`, in which each point has a line of its own."""
    words = [sys.executable, "-m", "umtslab", "reproduce", f"dubois2005/{chapter}", "--campaign"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(words, check=True, capture_output=True, text=True, cwd=place, env=environment)
    return done.stdout.splitlines()


def fewer(lines: list[str], points: int, runs: int) -> str:
    """Some of its points, with so many runs of each."""
    all_points = [line for line in lines if line.lstrip().startswith("{")]
    taken = {all_points[len(all_points) * (2 * at + 1) // (2 * points)] for at in range(points)}
    kept = (line for line in lines if line in taken or line not in all_points)
    return "\n".join(f"runs = {runs}" if line.startswith("runs = ") else line for line in kept)


def sweep(place: Path, name: str, content: str) -> tuple[str | Path, ...]:
    """The words for a sweep of this campaign, one run after another."""
    file = place / f"{name}.toml"
    file.write_text(content)
    return ("-m", "umtslab", "sweep", file, "--jobs", "1", "--quiet", "--out", place / name)


def main() -> int:
    """Measure and print."""
    points = int(sys.argv[1]) if len(sys.argv) > 1 else POINTS
    package = SHIPPED if SHIPPED.exists() else ROOT / "python"
    print(f"of the {'shipped' if package == SHIPPED else 'plain'} package, {points} points of each chapter\n")
    print(f"{'':<10}{'runs':>8}{'million instructions a run':>28}{'CPU ms a run':>14}")
    all_instructions, all_minutes, all_runs = 0.0, 0.0, 0
    for chapter in CHAPTERS:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            lines = campaign(chapter, place, package)
            whole = tomllib.loads("\n".join(lines))
            runs = len(whole["list"]) * whole["runs"]
            timed = sweep(place, "timed", fewer(lines, points, whole["runs"]))
            seconds = cpu_s(*timed, place=place, package=package)
            a_run_s = (seconds - cpu_s(*timed, place=place, package=package)) / (points * whole["runs"])
            a_run = float("nan")
            if shutil.which("valgrind"):
                more = sweep(place, "timed", fewer(lines, points, whole["runs"] + COUNTED_RUNS))
                first = instructions([sys.executable, *more], package)
                a_run = (first - instructions([sys.executable, *more], package)) / (points * COUNTED_RUNS)
        print(f"{chapter:<10}{runs:>8,}{a_run / 1e6:>28.1f}{a_run_s * 1000:>14.1f}")
        all_runs += runs
        all_instructions += runs * a_run
        all_minutes += runs * a_run_s / 60
    print(
        f"\nall {all_runs:,} runs: {all_instructions / 1e12:.2f} million million instructions, "
        f"{all_minutes:.1f} CPU minutes on this machine; "
        f"{WANTED_MIN:.0f} are {all_instructions / WANTED_MIN / 60 / 1e9:.1f} thousand million a second"
    )
    name = "chapters 7 and 8, 14,760 runs: million million instructions"
    figures.add("campaigns", name, f"{all_instructions / 1e12:.2f}")
    figures.add("campaigns", "the same, CPU minutes", f"{all_minutes:.1f}", goal=f"{WANTED_MIN:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

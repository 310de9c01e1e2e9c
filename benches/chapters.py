"""What chapters 7 and 8 of Dubois (2005) cost (`umts reproduce dubois2005/ch7 dubois2005/ch8`), by points.

Points that lie evenly in each chapter are swept with as many runs as the chapter has, for CPU time, and with
three more runs each under valgrind, for instructions; what a sweep takes whose runs are all there is taken
off. Of the shipped package if there is one (`make dist`), else of the plain one. Nothing here passes or
fails.

    python benches/chapters.py                  # all of it, of this tree
    python benches/chapters.py --against TREE   # CPU time only, in turns with another tree
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import figures
from instructions import SHIPPED, instructions
from turns import at_least_one

from campaigns import cpu_s

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ("ch7", "ch8")
POINTS = 6
COUNTED_RUNS = 3
"""Of each point; valgrind makes them fifty times as slow."""
TURNS = 8
RUNS_IN_A_TURN = 3
"""Of each point: turns are short, so that some are not disturbed."""
WANTED_MIN = 22.0
PACKAGE = SHIPPED if SHIPPED.exists() else ROOT / "python"


def campaign(chapter: str, place: Path) -> list[str]:
    """A chapter as a campaign file for `place`, in which each point has a line of its own."""
    words = [sys.executable, "-m", "umtslab", "reproduce", f"dubois2005/{chapter}", "--campaign"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(words, check=True, capture_output=True, text=True, cwd=place, env=environment)
    return done.stdout.splitlines()


def points_and_runs(lines: list[str]) -> tuple[int, int]:
    """How many points a campaign has, and runs at each."""
    whole = tomllib.loads("\n".join(lines))
    return len(whole["list"]), int(whole["runs"])


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
    return ("sweep", file, "--jobs", "1", "--quiet", "--out", place / name)


def of_this_tree(points: int) -> None:
    """Instructions and CPU time of the points, and what both are of all runs."""
    print(f"{'':<10}{'runs':>8}{'million instructions a run':>28}{'CPU ms a run':>14}")
    counted, minutes, all_of_both = 0.0, 0.0, 0
    for chapter in CHAPTERS:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            lines = campaign(chapter, place)
            all_points, each = points_and_runs(lines)
            runs = all_points * each
            timed = ("-m", "umtslab", *sweep(place, "timed", fewer(lines, points, each)))
            seconds = cpu_s(*timed, place=place, package=PACKAGE)
            a_run_s = (seconds - cpu_s(*timed, place=place, package=PACKAGE)) / (points * each)
            a_run = float("nan")
            if shutil.which("valgrind"):
                sweep(place, "timed", fewer(lines, points, each + COUNTED_RUNS))
                first = instructions([sys.executable, *timed], PACKAGE)
                a_run = (first - instructions([sys.executable, *timed], PACKAGE)) / (points * COUNTED_RUNS)
        print(f"{chapter:<10}{runs:>8,}{a_run / 1e6:>28.1f}{a_run_s * 1000:>14.1f}")
        all_of_both += runs
        counted += runs * a_run
        minutes += runs * a_run_s / 60
    print(
        f"\nall {all_of_both:,} runs: {counted / 1e12:.2f} million million instructions, "
        f"{minutes:.1f} CPU minutes on this machine; "
        f"{WANTED_MIN:.0f} are {counted / WANTED_MIN / 60 / 1e9:.1f} thousand million a second"
    )
    name = "chapters 7 and 8, 14,760 runs: million million instructions"
    figures.add("campaigns", name, f"{counted / 1e12:.2f}")
    figures.add("campaigns", "the same, CPU minutes", f"{minutes:.1f}", goal=f"{WANTED_MIN:.0f}")


def a_run_ms(python: str | Path, package: Path, place: Path, content: str, runs: int) -> float:
    """CPU time of a run in a sweep that begins anew."""
    shutil.rmtree(place / "turn", ignore_errors=True)
    words = ("-m", "umtslab", *sweep(place, "turn", content))
    first = cpu_s(*words, place=place, package=package, python=python)
    return (first - cpu_s(*words, place=place, package=package, python=python)) / runs * 1000


def against(tree: Path, points: int) -> None:
    """Least and middle CPU times of both trees' runs, and what they would be of all."""
    sides: dict[str, tuple[str | Path, Path]] = {
        "before": (tree / ".venv/bin/python", tree / "python"),
        "now": (sys.executable, PACKAGE),
    }
    print(f"{'':<10}{'CPU ms a run before: least':>28}{'middle':>8}{'now: least':>12}{'middle':>8}")
    least, middle = dict.fromkeys(sides, 0.0), dict.fromkeys(sides, 0.0)
    for chapter in CHAPTERS:
        taken: dict[str, list[float]] = {side: [] for side in sides}
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            lines = campaign(chapter, place)
            now = fewer(lines, points, RUNS_IN_A_TURN)
            contents = {"now": now, "before": now.replace(str(ROOT), str(tree))}
            for turn in range(TURNS):
                for side in sides if turn % 2 else reversed(sides):
                    python, package = sides[side]
                    a_run = a_run_ms(python, package, place, contents[side], points * RUNS_IN_A_TURN)
                    taken[side].append(a_run)
        all_points, each = points_and_runs(lines)
        runs = all_points * each
        columns = [figure for side in sides for figure in (min(taken[side]), sorted(taken[side])[TURNS // 2])]
        print(f"{chapter:<10}{columns[0]:>28.1f}{columns[1]:>8.1f}{columns[2]:>12.1f}{columns[3]:>8.1f}")
        for side in sides:
            least[side] += runs * min(taken[side])
            middle[side] += runs * sorted(taken[side])[TURNS // 2]
    print(
        f"\nof all runs now over before: {least['now'] / least['before']:.3f} by the least, "
        f"{middle['now'] / middle['before']:.3f} by the middle of {TURNS} turns"
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="what chapters 7 and 8 of Dubois (2005) cost")
    parser.add_argument("points", nargs="?", type=at_least_one, default=POINTS, help="of each chapter")
    parser.add_argument(
        "--against", type=Path, help="a tree of another commit in which `make setup` was done"
    )
    options = parser.parse_args()
    if options.against and not (options.against / ".venv/bin/python").exists():
        parser.error(f"{options.against} has no .venv/bin/python: run `make setup` there")
    which = "shipped" if PACKAGE == SHIPPED else "plain"
    print(f"of the {which} package, {options.points} points of each chapter\n")
    if options.against:
        against(options.against.resolve(), options.points)
    else:
        of_this_tree(options.points)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What a campaign costs beside the runs themselves, and what reading thousands of stored runs takes.

CPU time. First a campaign of short runs, one thread: the whole command less what the core needs for the same
runs alone, in proportion to runs of 20 ms. Then, with so many stored runs: the same campaign again, a figure
and a report of it. Nothing here passes or fails. Usage: campaigns.py [RUNS]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import figures
from environment import with_byte_code

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = ROOT / "scenarios" / "ftp-on-fach.toml"
RUNS = 2_000
POINTS = 20
RUN_MS = 20.0
"""As long as the runs of a chapter take."""

CAMPAIGN = """
version = 1
scenario = "{scenario}"
runs = {runs}

[set]
duration = "5 s"

[grid]
"rlc.max_dat" = [{values}]
"""


def cpu_s(
    *words: str | Path,
    place: Path,
    package: Path = ROOT / "python",
    python: str | Path = sys.executable,
) -> float:
    """User and system time of a command, of whichever package and interpreter."""
    environment = with_byte_code(place / "byte-code", package)
    before = _children_s()
    subprocess.run(
        [python, *words],
        cwd=place,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return _children_s() - before


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


ALONE = """
from umtslab import Scenario, _core
base = Scenario.load("{scenario}", {{"duration": "5 s"}})
for value in range(1, {points} + 1):
    core = base.with_overrides({{"rlc.max_dat": value}}).core
    for number in range({runs} // {points}):
        _core.simulate(core, 1, number)
"""
"""The same runs, and nothing kept of them."""


def measure(place: Path, name: str, runs: int) -> tuple[float, float, float, float, float]:
    """CPU time of the runs alone, the campaign of them, the same again, a figure and a report of it."""
    values = ", ".join(map(str, range(1, POINTS + 1)))
    content = CAMPAIGN.format(scenario=SCENARIO, runs=runs // POINTS, values=values)
    (place / f"{name}.toml").write_text(content)
    umts = ("-m", "umtslab")
    sweep = (*umts, "sweep", f"{name}.toml", "--jobs", "1", "--quiet")
    return (
        cpu_s("-c", ALONE.format(scenario=SCENARIO, points=POINTS, runs=runs), place=place),
        cpu_s(*sweep, place=place),
        cpu_s(*sweep, place=place),
        cpu_s(*umts, "plot", name, "goodput_kbps", "-o", "figure.svg", place=place),
        cpu_s(*umts, "report", name, place=place),
    )


def main() -> int:
    """Measure and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        measure(place, "few", POINTS)  # writes the byte code
        alone, whole, again, plot, report = measure(place, "many", runs)
    share = (whole - alone) / runs * 1000 / RUN_MS
    rows = (
        (f"scheduling and storing, of a run of {RUN_MS:.0f} ms", f"{share:.1%}", "10%"),
        (f"the same campaign again, {runs:,} runs there, s", f"{again:.2f}", ""),
        (f"a figure of {runs:,} runs, s", f"{plot:.2f}", "3.00" if runs >= 14_000 else ""),
        (f"a report of {runs:,} runs, s", f"{report:.2f}", "3.00" if runs >= 14_000 else ""),
    )
    for name, found, goal in rows:
        print(f"{name:<56}{found:>8}{goal:>8}")
        figures.add("campaigns", name, found, goal=goal)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Instructions per simulated second, counted by valgrind. The load of the machine does not matter.

Each network runs for two lengths; the difference excludes the start-up. Counts are taken with
metrics, with metrics and time series, and with the null sink; the ratios are the cost of
observation. There is no pass or fail. `benches/history.csv` has the counts of earlier versions, and
the latest of them are printed too.

The bench compiles the plain build of a program that only runs a scenario. If `make dist` has made
the shipped build, the bench also counts `umts run` with its package. The profile of the shipped
build comes from other networks than these.

With `--against COMMIT` the plain builds of that commit and of this tree are counted, both with the
scenarios of that commit and the same lengths. This shows the cost of a change for networks that do
not use it. Usage: instructions.py [--quick] [--note VERSION] [--against COMMIT]
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PLAIN = TARGET / "release" / "one-run"
SHIPPED = ROOT / "target" / "dist" / "package"
HISTORY = ROOT / "benches" / "history.csv"
HISTORY_LENGTH = 6
"""Number of earlier versions that the printed history has."""


@dataclass(frozen=True)
class Bench:
    """A network and two lengths of run, in seconds."""

    name: str
    scenario: str
    lengths: tuple[int, int]
    overrides: tuple[str, ...] = ()
    goals: tuple[int, int] | None = None
    """Goals in thousand instructions per simulated second, for the plain and the shipped build."""
    column: str = ""
    """Name of the column in the history."""


ERRORS = ("radio.model=independent", "radio.bler=0.1")
IDLE_CELL = ("ue.0.count=30", "flow.0.traffic=file", "flow.0.size=100 kB")

BENCHES = (
    Bench("one user on FACH", "ftp-on-fach.toml", (300, 600), goals=(200, 160), column="fach"),
    Bench(
        "one user on a DCH of 384 kbit/s",
        "ftp-on-dch-384.toml",
        (50, 150),
        goals=(525, 420),
        column="dch_384",
    ),
    Bench(
        "twenty users on DCHs of 64 kbit/s",
        "twenty-on-dch-64.toml",
        (10, 30),
        goals=(2750, 2200),
        column="twenty",
    ),
    Bench("the web cell of chapter 7", "web-cell.toml", (200, 600), goals=(375, 300), column="web_cell"),
    Bench("the same DCH, 10 % errors", "ftp-on-dch-384.toml", (50, 150), overrides=ERRORS),
    Bench("two users on FACH", "ftp-on-fach-two-users.toml", (1_600, 1_900)),
    Bench("a TDD cell, pages and files", "tdd-mixed.toml", (40, 80)),
    Bench("a DSCH in 36 cells of a layout", "dsch-5km.toml", (20, 60)),
    Bench("a download split by a proxy", "split-download.toml", (20, 60), overrides=("flow.0.size=10 MB",)),
    Bench("thirty users, all idle", "twenty-on-dch-64.toml", (10_000, 1_000_000), overrides=IDLE_CELL),
)
COLUMNS = tuple(bench.column for bench in BENCHES if bench.column)


COPY_BY_WORDS = "glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000"
"""Setting that makes the C library copy and clear memory by words instead of string instructions.

Valgrind counts each byte of a string instruction as one instruction.
"""


def instructions(command: Sequence[str | Path], package: Path | None = None) -> int:
    """Count the instructions of a command, with `package` in the path of Python if given."""
    environment = dict(os.environ) | {"GLIBC_TUNABLES": COPY_BY_WORDS}
    if package is not None:
        environment |= {"PYTHONPATH": str(package), "PYTHONHASHSEED": "0"}
    counted = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    done = subprocess.run(counted, check=True, capture_output=True, text=True, env=environment)
    (count,) = re.findall(r"Collected : (\d+)", done.stderr)
    return int(count)


def count_program(bench: Bench, sink: str, length_s: int, program: Path = PLAIN, root: Path = ROOT) -> int:
    """Count a run of the plain program."""
    scenario = root / "scenarios" / bench.scenario
    return instructions([program, scenario, sink, f"duration={length_s} s", *bench.overrides])


def count_command(package: Path, bench: Bench, length_s: int, *options: str) -> int:
    """Count a run of `umts run`."""
    command = [sys.executable, "-m", "umtslab", "run", str(ROOT / "scenarios" / bench.scenario)]
    settings = [word for setting in bench.overrides for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as store:
        length = ("--duration", f"{length_s} s", "--quiet", "--out", store)
        return instructions([*command, *settings, *options, *length], package)


def per_simulated_second(bench: Bench, count: Callable[[int], int]) -> float:
    """Return thousand instructions per simulated second, without start-up."""
    short, long = bench.lengths
    return (count(long) - count(short)) / (long - short) / 1000


def count_all(benches: Sequence[Bench], sinks: Sequence[str], package: Path | None) -> dict[str, list[float]]:
    """Return the counts of each network by sink.

    Several run in parallel, which does not affect counts.
    """

    def count(job: tuple[Bench, str]) -> float:
        bench, sink = job
        if package is not None:
            return per_simulated_second(bench, lambda length_s: count_command(package, bench, length_s))
        return per_simulated_second(bench, lambda length_s: count_program(bench, sink, length_s))

    jobs = [(bench, sink) for bench in benches for sink in sinks]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = iter(list(pool.map(count, jobs)))
    return {bench.name: [next(results) for _ in sinks] for bench in benches}


def print_counts(build: str, counts: dict[str, list[float]], benches: Sequence[Bench]) -> None:
    """Print a line for each network, and add its figures to the table of all benches."""
    title = f"thousand instructions a simulated s, {build}"
    print(f"\n{title:<46}{'metrics':>10}{'goal':>8}{'series/metrics':>16}{'metrics/null':>14}")
    for bench in benches:
        metrics, *others = counts[bench.name]
        goal = f"{bench.goals[1 if build == 'shipped' else 0]:,}" if bench.goals else ""
        ratios = ""
        if others:
            series, null = others
            # Idle networks have hardly any instructions with the null sink.
            ratios = f"{series / metrics:>16.2f}{metrics / null:>14.2f}" if null >= 1 else ""
        print(f"{bench.name:<46}{metrics:>10,.1f}{goal:>8}{ratios}")
        name = f"{bench.name}, {build}, thousand a simulated s"
        figures.add("instructions", name, f"{metrics:,.1f}", goal=goal)


def print_history(now: dict[str, dict[str, float]]) -> None:
    """Print the counts of the latest versions and of this one."""
    with HISTORY.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    print(f"\n{'thousand instructions a simulated s, metrics':<46}{'build':>8}", end="")
    print("".join(f"{column:>10}" for column in COLUMNS))
    for build, counts in now.items():
        before = [row for row in rows if row["build"] == build][-HISTORY_LENGTH:]
        this_commit = {column: str(round(counts[column], 1)) for column in COLUMNS}
        for row in (*before, {"version": "here", "build": build, **this_commit}):
            values = "".join(f"{row[column]:>10}" for column in COLUMNS)
            print(f"{row['version']:<46}{row['build']:>8}{values}")


def note(version: str, now: dict[str, dict[str, float]]) -> None:
    """Add this version to the history."""
    with HISTORY.open("a", encoding="utf-8", newline="") as file:
        for build, counts in now.items():
            csv.writer(file, lineterminator="\n").writerow(
                [version, build, *(round(counts[column], 1) for column in COLUMNS)]
            )


def build(root: Path = ROOT, target: Path = TARGET) -> Path:
    """Compile the plain program of a tree. Returns its path.

    The crates have the same features as for the extension, so that crates compiled already are
    reused.
    """
    command = ["cargo", "build", "--release", "--locked", "--quiet"]
    if (root / "tools" / "one-run").is_dir():
        command += ["-p", "umts-bindings", "-p", "umts-one-run", "--bin", "one-run"]
        program = target / "release" / "one-run"
    else:  # Earlier commits have the program elsewhere.
        command += ["-p", "umts-simulate", "--example", "one_run"]
        program = target / "release" / "examples" / "one_run"
    subprocess.run(command, cwd=root, check=True, env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    return program


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Check out a commit into a temporary folder. The end of the block deletes it."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def print_against(commit: str, benches: Sequence[Bench]) -> None:
    """Compare both builds on the scenarios of `commit`.

    Networks that one build cannot run are left out.
    """
    with checked_out(commit) as tree, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        programs = (build(tree, TARGET / "against"), PLAIN)

        def count(job: tuple[Bench, Path]) -> float | None:
            bench, program = job
            try:
                return per_simulated_second(
                    bench, lambda length_s: count_program(bench, "metrics", length_s, program, tree)
                )
            except subprocess.CalledProcessError:
                return None

        counts = iter(list(pool.map(count, [(bench, program) for bench in benches for program in programs])))
    print(f"\n{'thousand instructions a simulated s, metrics':<46}{commit:>14}{'here':>10}{'ratio':>8}")
    for bench in benches:
        then, now = next(counts), next(counts)
        if then is None or now is None:
            print(f"{bench.name:<46}{'left out: one of both does not know it':>40}")
        else:
            print(f"{bench.name:<46}{then:>14,.1f}{now:>10,.1f}{now / then:>8.3f}")
            name = f"{bench.name}, plain, times the instructions of {commit}"
            figures.add("instructions", name, f"{now / then:.3f}")


def main() -> int:
    """Count the instructions and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="only the networks of the history, plain")
    parser.add_argument("--against", metavar="COMMIT", help="count that commit's build too, and nothing else")
    parser.add_argument("--note", metavar="VERSION", help="add the counts to the history under this name")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: no instructions are counted", file=sys.stderr)
        return 0
    build()
    if options.against:
        print_against(options.against, BENCHES)
        return 0
    builds: dict[str, Path | None] = {"plain": None}
    if SHIPPED.exists() and not options.quick:
        builds["shipped"] = SHIPPED
    benches = [bench for bench in BENCHES if bench.column or not options.quick]
    now: dict[str, dict[str, float]] = {}
    for name, package in builds.items():
        sinks = ["metrics"] if options.quick or package is not None else ["metrics", "series", "null"]
        counts = count_all(benches, sinks, package)
        if not options.quick:
            print_counts(name, counts, benches)
        now[name] = {bench.column: counts[bench.name][0] for bench in benches if bench.column}
    print_history(now)
    if options.note:
        note(options.note, now)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Imports of each verb: slow libraries are imported only by work that needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FTP, command
from umtslab.cli.verbs import VERBS

DATA_FRAMES = {"polars", "numpy", "pandas", "duckdb", "scipy"}
DRAWING = {"matplotlib", "jinja2"}
SCREEN = {"shtab"}
LATE = {
    "asyncio",
    "concurrent.futures",
    "difflib",
    "distributed",
    "importlib.metadata",
    "logging",
    "multiprocessing",
    "optuna",
    "SALib",
    "tempfile",
    "uuid",
}
"""Modules that neither runs nor reading of results may import: of the standard library and of
extras."""

NEVER = DATA_FRAMES | DRAWING | SCREEN | LATE
SHORT = ("--duration", "1 s")
CAMPAIGN = (FTP, "-P", "radio.bler=0.1,0.2", "--set", "duration=1 s", "--runs", "2", "--jobs", "1")


def imported_by(place: Path, *words: object, status: int = 0) -> set[str]:
    """Return the modules that a command has imported when it ends."""
    python, *rest = command(*words)
    done = subprocess.run(
        [python, "-X", "importtime", *rest], capture_output=True, text=True, check=False, cwd=place
    )
    assert done.returncode == status, done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result, a campaign and a capture."""
    folder = tmp_path_factory.mktemp("place")
    for words in (("run", FTP, *SHORT, "--pcap"), ("sweep", *CAMPAIGN, "--out", "swept")):
        subprocess.run(command(*words), cwd=folder, check=True, capture_output=True)
    return folder


RIGHT = {
    "nothing": ((), NEVER | {"umtslab._core", "sqlite3"}),
    "--help": (("--help",), NEVER | {"umtslab._core", "sqlite3"}),
    "--version": (("--version",), NEVER | {"sqlite3"}),
    "run": (("run", FTP, *SHORT), NEVER),
    "run --json": (("run", FTP, *SHORT, "--json", "--out", "fresh"), NEVER | {"shutil"}),
    "run, twice": (("run", FTP, *SHORT, "--runs", "2", "--jobs", "1"), NEVER),
    "run --series --budget": (("run", FTP, *SHORT, "--series", "--budget", "--pcap"), NEVER),
    "run --resume": (("run", FTP, *SHORT, "--resume"), NEVER),
    "sweep that is there": (("sweep", *CAMPAIGN, "--out", "swept"), NEVER),
    "sweep that is there, --json": (("sweep", *CAMPAIGN, "--out", "swept", "--json"), NEVER),
    "sweep anew": (("sweep", *CAMPAIGN, "--out", "anew"), NEVER),
    "sweep --plan": (("sweep", *CAMPAIGN, "--out", "swept", "--plan"), NEVER),
    "analyse": (("analyse", "results"), NEVER),
    "compare": (("compare", "results", "results"), NEVER),
    "params": (("params", "rlc"), NEVER | {"sqlite3"}),
    "bearers": (("bearers",), NEVER | {"sqlite3"}),
    "profiles": (("profiles",), NEVER | {"sqlite3"}),
    "rrc": (("rrc",), NEVER | {"sqlite3"}),
    "metrics": (("metrics",), NEVER | {"sqlite3"}),
    "schema": (("schema",), NEVER | {"sqlite3"}),
    "doctor": (("doctor",), DATA_FRAMES | DRAWING | SCREEN),
    "completions": (("completions", "bash"), DATA_FRAMES | DRAWING),
    "export": (("export", "results", "--csv"), {"numpy", "scipy", "duckdb"} | DRAWING | SCREEN),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_verb_imports_no_more_than_its_work_needs(case: str, place: Path) -> None:
    words, without = RIGHT[case]
    assert imported_by(place, *words) & without == set()


def test_analysis_of_a_capture_imports_no_simulation_modules(place: Path) -> None:
    capture = next(place.glob("results/runs/*/captures/*.pcapng"))
    without = NEVER | {"umtslab.run", "umtslab.store", "umtslab.scenario", "sqlite3"}
    assert imported_by(place, "analyse", capture) & without == set()


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_imports_no_library(verb: str, place: Path) -> None:
    assert imported_by(place, verb, "--help") & NEVER == set()


@pytest.mark.parametrize("verb", ["run", "sweep", "emulate", "plot", "analyse", "export"])
def test_help_imports_neither_the_store_nor_the_simulation(verb: str, place: Path) -> None:
    without = {"sqlite3", "tomllib", "umtslab.store", "umtslab.simulation", "umtslab.campaign"}
    assert imported_by(place, verb, "--help") & without == set()


WRONG = {
    "no such verb": ("rnu", FTP),
    "no such option": ("run", FTP, "--sed", "1"),
    "no such file": ("run", "nofile.toml"),
    "no such figure": ("plot", "results", "pie"),
    "no result": ("compare", "x", "y"),  # Keys of runs are hexadecimal.
    "nothing to emulate": ("emulate",),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_imports_no_library(case: str, place: Path) -> None:
    wanted = NEVER - {"difflib"}  # Needed for suggestions.
    assert imported_by(place, *WRONG[case], status=2) & wanted == set()


def test_a_missing_file_is_reported_before_the_simulation_is_imported(place: Path) -> None:
    without = {"sqlite3", "umtslab.store", "umtslab.simulation", "umtslab.plot", "umtslab.export"}
    assert imported_by(place, "run", "nofile.toml", status=2) & without == set()


def test_a_run_imports_no_plotting_library(place: Path) -> None:
    assert "umtslab.plot" not in imported_by(place, "run", FTP, *SHORT)


def test_importtime_lists_imported_modules(place: Path) -> None:
    program = "import polars, concurrent.futures"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program], capture_output=True, text=True, check=True
    )
    found = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert {"polars", "concurrent.futures"} <= found

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
COMPLETIONS = {"shtab"}
RARELY_NEEDED = {
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

SLOW = DATA_FRAMES | DRAWING | COMPLETIONS | RARELY_NEEDED
SHORT = ("--duration", "1 s")
CAMPAIGN = (FTP, "-P", "radio.bler=0.1,0.2", "--set", "duration=1 s", "--runs", "2", "--jobs", "1")


def imported_by(folder: Path, *words: object, status: int = 0) -> set[str]:
    """Return the modules that a command has imported when it ends."""
    python, *rest = command(*words)
    done = subprocess.run(
        [python, "-X", "importtime", *rest], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == status, done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result, a campaign and a capture."""
    folder = tmp_path_factory.mktemp("folder")
    for words in (("run", FTP, *SHORT, "--pcap"), ("sweep", *CAMPAIGN, "--out", "swept")):
        subprocess.run(command(*words), cwd=folder, check=True, capture_output=True)
    return folder


COMMANDS = {
    "nothing": ((), SLOW | {"umtslab._core", "sqlite3"}),
    "--help": (("--help",), SLOW | {"umtslab._core", "sqlite3"}),
    "--version": (("--version",), SLOW | {"sqlite3"}),
    "run": (("run", FTP, *SHORT), SLOW),
    "run --json": (("run", FTP, *SHORT, "--json", "--out", "fresh"), SLOW | {"shutil"}),
    "run --runs 2": (("run", FTP, *SHORT, "--runs", "2", "--jobs", "1"), SLOW),
    "run --series --budget": (("run", FTP, *SHORT, "--series", "--budget", "--pcap"), SLOW),
    "run --resume": (("run", FTP, *SHORT, "--resume"), SLOW),
    "sweep that is stored": (("sweep", *CAMPAIGN, "--out", "swept"), SLOW),
    "sweep that is stored, --json": (("sweep", *CAMPAIGN, "--out", "swept", "--json"), SLOW),
    "new sweep": (("sweep", *CAMPAIGN, "--out", "new"), SLOW),
    "sweep --plan": (("sweep", *CAMPAIGN, "--out", "swept", "--plan"), SLOW),
    "analyse": (("analyse", "results"), SLOW),
    "compare": (("compare", "results", "results"), SLOW),
    "params": (("params", "rlc"), SLOW | {"sqlite3"}),
    "bearers": (("bearers",), SLOW | {"sqlite3"}),
    "profiles": (("profiles",), SLOW | {"sqlite3"}),
    "rrc": (("rrc",), SLOW | {"sqlite3"}),
    "metrics": (("metrics",), SLOW | {"sqlite3"}),
    "schema": (("schema",), SLOW | {"sqlite3"}),
    "doctor": (("doctor",), DATA_FRAMES | DRAWING | COMPLETIONS),
    "completions": (("completions", "bash"), DATA_FRAMES | DRAWING),
    "export": (("export", "results", "--csv"), {"numpy", "scipy", "duckdb"} | DRAWING | COMPLETIONS),
}
"""Commands, each with modules that it must not import."""


@pytest.mark.parametrize("case", COMMANDS)
def test_a_verb_imports_no_more_than_its_work_needs(case: str, folder: Path) -> None:
    words, without = COMMANDS[case]
    assert imported_by(folder, *words) & without == set()


def test_analysis_of_a_capture_imports_no_simulation_modules(folder: Path) -> None:
    capture = next(folder.glob("results/runs/*/captures/*.pcapng"))
    without = SLOW | {"umtslab.run", "umtslab.store", "umtslab.scenario", "sqlite3"}
    assert imported_by(folder, "analyse", capture) & without == set()


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_imports_no_library(verb: str, folder: Path) -> None:
    assert imported_by(folder, verb, "--help") & SLOW == set()


@pytest.mark.parametrize("verb", ["run", "sweep", "emulate", "plot", "analyse", "export"])
def test_help_imports_neither_the_store_nor_the_simulation(verb: str, folder: Path) -> None:
    without = {"sqlite3", "tomllib", "umtslab.store", "umtslab.simulation", "umtslab.campaign"}
    assert imported_by(folder, verb, "--help") & without == set()


WRONG = {
    "no such verb": ("rnu", FTP),
    "no such option": ("run", FTP, "--sed", "1"),
    "no such file": ("run", "nofile.toml"),
    "no such figure": ("plot", "results", "pie"),
    "no result": ("compare", "x", "y"),  # Keys of runs are hexadecimal.
    "nothing to emulate": ("emulate",),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_imports_no_library(case: str, folder: Path) -> None:
    slow = SLOW - {"difflib"}  # Needed for suggestions.
    assert imported_by(folder, *WRONG[case], status=2) & slow == set()


def test_a_missing_file_is_reported_before_the_simulation_is_imported(folder: Path) -> None:
    without = {"sqlite3", "umtslab.store", "umtslab.simulation", "umtslab.plot", "umtslab.export"}
    assert imported_by(folder, "run", "nofile.toml", status=2) & without == set()


def test_a_run_imports_no_plotting_library(folder: Path) -> None:
    assert "umtslab.plot" not in imported_by(folder, "run", FTP, *SHORT)


def test_importtime_lists_imported_modules(folder: Path) -> None:
    """The other tests would pass if the list of modules were empty."""
    program = "import polars, concurrent.futures"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program], capture_output=True, text=True, check=True
    )
    listed = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert {"polars", "concurrent.futures"} <= listed

"""Reading a store needs no permission to write, and changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import tree
from umtslab import Scenario, open_store, simulate
from umtslab.store import read_store

UNPRIVILEGED = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
sets = (ctypes.c_uint32 * 6)()
assert libc.capget(header, sets) == 0
for word in range(3):
    sets[word] &= ~(1 << 1)
assert libc.capset(header, sets) == 0
from umtslab.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs ``umts`` without CAP_DAC_OVERRIDE, capability 1, with which root may write anywhere."""


def set_permissions(folder: Path, *, writable: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        mode = 0o755 if path.is_dir() else 0o644
        os.chmod(path, mode if writable else mode & ~0o222)


@pytest.fixture
def protected(tmp_path: Path, scenario: Scenario) -> Path:
    """A store of which `read` removes the write permission."""
    with open_store(tmp_path / "store") as store:
        simulate(scenario, runs=2, store=store)
    return tmp_path / "store"


def read(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command while no process without privileges may write to the store."""
    set_permissions(store, writable=False)
    try:
        return subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, *words],
            cwd=store.parent,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        set_permissions(store, writable=True)


def test_a_write_protected_store_is_exported(protected: Path) -> None:
    before = tree(protected)
    done = read(protected, "export", "store", "--csv")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3
    assert tree(protected) == before


def test_runs_in_the_log_of_a_killed_writer_are_read_from_the_folders(protected: Path) -> None:
    # To read a log beside the catalogue, SQLite must write its shared-memory file.
    (protected / "catalogue.sqlite-wal").write_bytes(b"left behind")
    done = read(protected, "compare", "store", "store", "--json")
    assert done.returncode == 0, done.stderr
    assert '"pairs": 2' in done.stdout


def test_runs_cannot_be_added_to_a_write_protected_store(protected: Path) -> None:
    before = tree(protected)
    done = read(protected, "run", "missing.toml", "--out", "store")
    assert done.returncode == 2
    done = read(protected, "sweep", os.fspath(Path(__file__).parents[2] / "scenarios/ftp-on-fach.toml"),
                "-P", "radio.bler=0.1", "--out", "store")  # fmt: skip
    # Status 1 is a failure, and 2 would be wrong usage.
    assert done.returncode == 1
    assert "store" in done.stderr
    assert tree(protected) == before


def test_a_reader_finds_runs_that_are_not_catalogued(tmp_path: Path, scenario: Scenario) -> None:
    with open_store(tmp_path) as store:
        runs = simulate(scenario, runs=2, store=store)
    for file in tmp_path.glob("catalogue.sqlite*"):
        file.unlink()
    before = tree(tmp_path)
    with read_store(tmp_path) as reader:
        assert reader.runs() == runs
        assert "--first-run 1" in reader.command(runs[1])
    assert tree(tmp_path) == before


def test_a_reader_reads_while_a_writer_writes(tmp_path: Path, scenario: Scenario) -> None:
    with open_store(tmp_path) as writer:
        first = simulate(scenario, store=writer)
        with read_store(tmp_path) as reader:
            assert reader.runs() == first
            second = simulate(scenario, first_run=1, store=writer)
            assert reader.runs() == [*first, *second]

"""Shared fixtures and helpers: short scenarios, their runs, and the command as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from umtslab import Scenario, Store, _core, open_store, simulate
from umtslab.cli import main
from umtslab.emulate import machine
from umtslab.plot import KINDS
from umtslab.plot.tables import SERIES_OF_SWITCHED_USERS
from umtslab.run import Run
from umtslab.store.seal import sealed, unsealed

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

LAYOUT_SERIES = {"cells", "dsch", "handovers"}
"""Series that only runs with a ``[layout]`` record."""

FTP = Path(__file__).parents[2] / "scenarios" / "ftp-on-fach.toml"
"""A scenario with one FTP user on a FACH of 32 kbit/s."""

DSCH = FTP.with_name("dsch-5km.toml")
"""A scenario with 36 cells. Web users share the DSCH of their cell."""

CAMPAIGN = f"""
version = 1
title = "Two versions & two error rates"
scenario = "{FTP}"
runs = 3
[set]
duration = "20 s"
[grid]
tcp.variant = ["reno", "tahoe"]
radio.bler = [0.1, 0.3]
"""
"""A small campaign with a title that must be escaped in HTML."""

WALL_CLOCK = ("test_emulate", "test_proxy", "test_reproduce_emulated")
"""Prefixes of test files that run in real time. Their tests mostly wait, in their own namespaces,
and the emulator has a real-time priority: two of them can run at the same time."""

ALONE = ("test_kills", "test_memory", "test_proxy_load")
"""Prefixes of test files that need the whole machine or measure memory. No other test runs at the
same time."""

IN_THIS_PROCESS = (
    "test_budget",
    "test_compare",
    "test_export",
    "test_headline_metrics",
    "test_latex",
    "test_plot",
    "test_plot_budget",
    "test_plot_several",
    "test_query",
    "test_report_command",
    "test_studies",
    "test_why",
)
"""Test files whose fixture `umts` runs commands in the process of the tests. Their commands need
slow libraries, which are imported once."""

# Hypothesis by default fails tests that a busy machine makes slow. The first example of a property
# also imports modules.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

Umts = Callable[..., subprocess.CompletedProcess[str]]
"""``umts(*words)`` runs the command in the test's temporary folder and returns the finished
process."""


def command(*words: object) -> list[str]:
    """Return the command line that runs ``umts`` in a new process."""
    return [sys.executable, "-m", "umtslab", *map(str, words)]


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Mark tests that must run alone, and tests that run in real time."""
    for item in items:
        if item.path.stem.startswith(ALONE):
            item.add_marker(pytest.mark.alone)
        elif item.path.stem.startswith(WALL_CLOCK):
            item.add_marker(pytest.mark.wall_clock)


@contextmanager
def started(words: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a process and kill it at the end of the block, also after an exception."""
    with subprocess.Popen(words, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="session")
def may_emulate() -> None:
    """Skip the test if the user may not create the namespaces and devices of an emulation."""
    for component, answer, advice in machine.needs():
        if component in ("namespaces", "TUN devices") and answer != "yes":
            pytest.skip(f"this user may not emulate: {answer}; {advice}")


def write_and_seal(file: Path, text: str) -> None:
    """Change a file of a run and its digest. A file with a wrong digest would not be read."""
    file.write_text(text)
    card = file.with_name("run.json")
    content = unsealed(card)
    content["files"][file.name] = _core.digest(text.encode())
    card.write_text(sealed(content, sort_keys=True))


def run_umts(folder: Path, *words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run ``umts *words`` in a folder, and check its exit status.

    The output has 120 columns and no colours.
    """
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        command(*words), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture
def umts(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Umts:
    """Run ``umts`` in the test's temporary folder; `status` is the expected exit status."""
    if request.path.stem not in IN_THIS_PROCESS:
        return partial(run_umts, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
        arguments = list(map(str, words))
        with redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
            returned = main(arguments)
        assert returned == status, output.getvalue() + errors.getvalue()
        return subprocess.CompletedProcess(arguments, returned, output.getvalue(), errors.getvalue())

    return run


@pytest.fixture
def scenario() -> Scenario:
    """Twenty seconds of FTP on FACH with many block errors, so that runs differ."""
    return short()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return open_store(tmp_path / "results")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with series and captures, in a store."""
    with open_store(tmp_path_factory.mktemp("recorded")) as store:
        return simulate(short(), store=store, series=True, pcap=True)[0]


@pytest.fixture(scope="session")
def switched() -> Run:
    """A run with series of users switched between FACH and DCH, some blocked by a full cell."""
    scenario = Scenario.load(FTP.with_name("ftp-fach-dch.toml"), [("duration", "40 s")])
    return simulate(scenario, series=True)[0]


@pytest.fixture(scope="session")
def tdd() -> Run:
    """A run with series of a TDD cell, including its slots."""
    changes = {"duration": "6 s", "measure.from": "0 s", "measure.slots": "true"}
    return simulate(Scenario.load(FTP.with_name("tdd-mixed.toml"), changes), series=True)[0]


@pytest.fixture(scope="session")
def many_cells() -> Run:
    """A run with series of many cells, including the requests for their DSCHs."""
    changes = {"duration": "6 s", "measure.from": "1 s", "measure.dsch": "true"}
    return simulate(Scenario.load(DSCH, changes), series=True)[0]


@pytest.fixture(scope="session")
def run_of_kind(recorded: Run, switched: Run, tdd: Run, many_cells: Run) -> Callable[[str], Run]:
    """Returns the run that has the series of a kind of figure."""

    def run_with_series(kind: str) -> Run:
        series = set(KINDS[kind].series)
        if LAYOUT_SERIES & series:
            return many_cells
        if "slots" in series:
            return tdd
        return switched if SERIES_OF_SWITCHED_USERS & series else recorded

    return run_with_series


def short(*overrides: tuple[str, str]) -> Scenario:
    """Return 20 s of FTP on FACH with a block error rate of 0.2, and these overrides."""
    return Scenario.load(FTP, [("duration", "20 s"), ("radio.bler", "0.2"), *overrides])


def tree(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below `folder` by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def overhanging(figure: Figure) -> list[str]:
    """Return the legends and axis labels that extend beyond the edge of a figure."""
    figure.draw_without_rendering()
    parts: dict[str, Artist] = {f"legend {number}": legend for number, legend in enumerate(figure.legends)}
    for axes in figure.axes:
        parts |= {label.get_text(): label for label in (axes.yaxis.label, axes.xaxis.label)}
    page = figure.bbox.padded(1.0)
    boxes = {name: part.get_window_extent() for name, part in parts.items()}
    return [
        name
        for name, box in boxes.items()
        if box.x0 < page.x0 or box.x1 > page.x1 or box.y0 < page.y0 or box.y1 > page.y1
    ]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this root may not mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)

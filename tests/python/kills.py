"""A campaign that is killed repeatedly, and checks of the files that remain."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conftest import FTP, command, tree

CAMPAIGN = f"""
version = 1
scenario = "{FTP}"
runs = 60
[set]
duration = "10 s"
[grid]
tcp.variant = ["reno", "newreno"]
radio.bler = [0.1, 0.2, 0.3]
"""
"""Its runs take a few milliseconds: much of the time is spent writing, when a kill could do
harm."""

WAIT_S = 120
"""Timeout for the end of a sweep, and for the start of a cluster."""


def write_campaign(folder: Path) -> Path:
    """Write the campaign. Returns its file."""
    file = folder / "killed.toml"
    file.write_text(CAMPAIGN)
    return file


class Sweep:
    """A running ``umts sweep``. Its output goes to files, so that no pipe can block the process."""

    def __init__(self, campaign: Path, out: Path, *words: object) -> None:
        self._printed = out.with_suffix(".json")
        self._errors = out.with_suffix(".err")
        with self._printed.open("wb") as printed, self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                command("sweep", campaign, "--out", out, "--json", "--quiet", *words),
                stdout=printed,
                stderr=errors,
            )

    def ends_within(self, time_s: float) -> bool:
        """Return whether the process exits by itself within `time_s`."""
        try:
            self._process.wait(time_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self._process.kill()
        self._process.wait(WAIT_S)

    def finish(self) -> str:
        """Wait for the end, which must be successful. Returns standard output."""
        if not self.ends_within(WAIT_S):
            self.kill()
            raise AssertionError(f"still running after {WAIT_S} s")
        assert self._process.returncode == 0, self._errors.read_text()
        return self._printed.read_text()


def kill_coordinator(campaign: Path, out: Path, time_s: float, *words: object) -> bool:
    """Start a sweep and kill it after `time_s`. Returns whether it was still running then."""
    sweep = Sweep(campaign, out, *words)
    is_running = not sweep.ends_within(time_s)
    if is_running:
        sweep.kill()
    return is_running


def kill_times(seed: int) -> random.Random:
    """Return a generator of times of kills: the same times in every test run."""
    return random.Random(seed)


def catalogue_rows(out: Path) -> list[tuple[object, ...]]:
    """Return the catalogue without creation times, and without the folder in the commands."""
    names = (
        "key, result, scenario, scenario_hash, parameters, version, code_commit, code, seed, run, events, "
        "duration_s, metrics, command"
    )
    db = sqlite3.connect(out / "catalogue.sqlite")
    selected = db.execute(f"SELECT {names} FROM runs ORDER BY key").fetchall()
    db.close()
    return [(*row[:-1], str(row[-1]).replace(str(out.absolute()), "OUT")) for row in selected]


def whole_runs(out: Path) -> dict[str, bytes]:
    """Return the files of all runs. Every run must have exactly the expected files."""
    files = tree(out / "runs")
    keys = {path.split("/")[0] for path in files}
    expected = {"run.json", "scenario.toml", "metrics.json", "connections.parquet"}
    for key in keys:
        present = {path.split("/", 1)[1] for path in files if path.startswith(key)}
        assert present == expected, (key, present)
    return files


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """Start a Dask scheduler with workers on the loopback. The end of the block stops them."""
    running = Cluster(folder)
    try:
        running.start(workers)
        yield running
    finally:
        running.end()


class Cluster:
    """A Dask scheduler and workers with one thread each, as separate processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = ""
        self.workers: list[subprocess.Popen[bytes]] = []
        self._scheduler: subprocess.Popen[bytes] | None = None

    def start(self, workers: int) -> None:
        """Start the scheduler, then the workers."""
        contact = self.folder / "scheduler.json"
        self._scheduler = self._process(
            "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", contact
        )
        deadline = time.monotonic() + WAIT_S
        while not (contact.exists() and contact.stat().st_size):
            assert self._scheduler.poll() is None, "the scheduler ended"
            assert time.monotonic() < deadline, "no scheduler"
            time.sleep(0.05)
        self.address = json.loads(contact.read_text())["address"]
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        """Start another worker with one thread."""
        words = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny")
        local = self.folder / "workers"
        local.mkdir(exist_ok=True)
        self.workers.append(self._process("dask_worker", self.address, *words, "--local-directory", local))

    def kill_worker(self) -> None:
        """Kill the oldest worker with SIGKILL."""
        worker = self.workers.pop(0)
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait(WAIT_S)

    def end(self) -> None:
        """Kill all remaining processes."""
        processes = [*self.workers, *([self._scheduler] if self._scheduler is not None else [])]
        for process in processes:
            process.kill()
        for process in processes:
            process.wait(WAIT_S)

    def _process(self, module: str, *words: object) -> subprocess.Popen[bytes]:
        """Start a command of Dask. Its output goes to a file in the folder."""
        log = (self.folder / f"{module}.log").open("ab")
        try:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", *map(str, words)],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        finally:
            log.close()

"""``umts emulate`` leaves nothing behind when one of its processes is killed at any time."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import lone_host
import pytest
from conftest import command

KILLS = int(os.environ.get("UMTS_KILLS", "3"))
"""Number of kills at random times. `make soak` sets a large number."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2 * lone_host.WAIT_S * (KILLS + 2)),
    pytest.mark.usefixtures("may_emulate"),
]
"""The timeout covers the wait for the end of the emulation after each kill."""

MARK = "UMTS_TEST_MARK"
"""Environment variable that all processes of an emulation inherit, to find them."""

VICTIMS = ("-m\0umtslab\0emulate", "emulate.launcher", "emulate.emulator")
"""The command, the launcher and the emulator."""

LATEST_S = 4.0
"""Latest time of a kill in seconds after the start: by then, the program runs even on a slow machine."""

WAIT_S = 30
"""Timeout for the start and for the end of an emulation."""


class Emulation:
    """A running emulation in a separate folder, with a separate folder for temporary files.

    A mark in the environment identifies all processes: command, launcher and emulator, the shell and its two
    ``sleep 1000``.
    """

    def __init__(self, folder: Path, variables: Mapping[str, str] = MappingProxyType({})) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.mark = f"{os.getpid()}-{time.monotonic_ns()}"
        environment = {**os.environ, **variables, MARK: self.mark, "TMPDIR": str(self.temporary)}
        words = ["emulate", "-q", "--", "sh", "-c", "sleep 1000 & sleep 1000"]
        self.process = subprocess.Popen(command(*words), cwd=folder, env=environment)

    def find(self, part: str) -> list[int]:
        """Return its processes with `part` in their command line."""
        return [pid for pid in processes(self.mark) if named(pid, part)]

    def wait_and_check(self) -> None:
        """Wait for the end, then check that no process or temporary file is left."""
        self.process.wait(WAIT_S)
        deadline = time.monotonic() + WAIT_S
        while list(processes(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.05)
        # Namespaces and devices disappear with the last process or mount that holds them.
        assert list(processes(self.mark)) == []
        assert list(self.temporary.iterdir()) == []


def processes(mark: str) -> Iterator[int]:
    """Yield the processes that have the mark in their environment."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                environment = (folder / "environ").read_bytes()
            except OSError:
                continue
            if f"{MARK}={mark}".encode() in environment.split(b"\0"):
                yield int(folder.name)


def named(pid: int, part: str) -> bool:
    """Whether a process has `part` in its command line."""
    try:
        return part in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def host() -> tuple[list[str], list[str]]:
    """Return the network devices, and the mounts of namespaces, that this process sees."""
    devices = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if "nsfs" in line]
    return sorted(devices), mounts


@pytest.mark.parametrize("victim", VICTIMS)
def test_nothing_is_left_after_a_kill_of_any_process(tmp_path: Path, victim: str) -> None:
    emulation = Emulation(tmp_path)
    deadline = time.monotonic() + WAIT_S
    # Words of a command line end with NUL, so the shell, which has both in one word, is not counted.
    while len(emulation.find("sleep\x001000")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    (pid,) = emulation.find(victim)
    os.kill(pid, signal.SIGKILL)
    emulation.wait_and_check()
    # The next emulation in the same results folder succeeds, and removes the drafts of the killed one.
    following = subprocess.run(
        command("emulate", "-q", "--", "true"), cwd=tmp_path, capture_output=True, check=False
    )
    assert following.returncode == 0
    assert len(list((tmp_path / "results" / "runs").iterdir())) == 1
    assert list((tmp_path / "results" / ".staging").glob("*.lock")) == []


SLOW_IMPORT = """
import sys, time
from pathlib import Path

class Slow:
    def find_spec(name, path=None, target=None):
        if name == {imported!r}:
            Path({reached!r}).touch()
            time.sleep(1000)

if {importing!r} in sys.orig_argv:
    sys.meta_path.insert(0, Slow)
"""
"""A `sitecustomize` that makes an import of a starting process last longer than the test."""


@pytest.mark.parametrize("victim", VICTIMS[:2])
@pytest.mark.parametrize(
    ("importing", "imported"),
    [("umtslab.emulate.emulator", "umtslab.emulate.report"), ("umtslab.emulate.internet", "dns")],
)
def test_a_slow_start_ends_when_the_command_or_the_launcher_is_killed(
    tmp_path: Path, importing: str, imported: str, victim: str
) -> None:
    reached, modules = tmp_path / "reached", tmp_path / "modules"
    modules.mkdir()
    slow = SLOW_IMPORT.format(reached=str(reached), importing=importing, imported=imported)
    (modules / "sitecustomize.py").write_text(slow, encoding="utf-8")
    paths = filter(None, (str(modules), os.environ.get("PYTHONPATH")))
    emulation = Emulation(tmp_path, {"PYTHONPATH": os.pathsep.join(paths)})
    deadline = time.monotonic() + WAIT_S
    while not reached.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    (pid,) = emulation.find(victim)
    os.kill(pid, signal.SIGKILL)
    emulation.wait_and_check()


def test_random_kills_leave_nothing(tmp_path: Path) -> None:
    draws = random.Random(KILLS)
    before = host()
    killed = 0
    while killed < KILLS:
        folder = tmp_path / str(killed)
        folder.mkdir()
        emulation = Emulation(folder)
        time.sleep(draws.uniform(0, LATEST_S))
        # The launcher and the emulator start later; the command always exists.
        running = [pid for victim in VICTIMS for pid in emulation.find(victim)] or [emulation.process.pid]
        os.kill(draws.choice(running), signal.SIGKILL)
        killed += 1
        emulation.wait_and_check()
        assert emulation.process.returncode != 0
    assert host() == before


def test_random_kills_leave_the_host_unchanged(tmp_path: Path) -> None:
    """Emulations with ``--internet`` and ``--attach-ue`` alternate, so the number of kills is even."""
    if (missing := lone_host.missing()) is not None:
        pytest.skip(f"--internet and --attach-ue are not tested here: {missing}")
    kills = KILLS // 2 * 2
    before, *after = lone_host.inside("killed_at_random", tmp_path, str(kills))
    assert before["processes"] == []
    assert after == [before] * kills

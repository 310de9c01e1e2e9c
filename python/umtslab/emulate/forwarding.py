"""IP forwarding of the host: a setting that the kernel does not restore after an emulation.

A process that needs forwarding *holds* it: a file in a folder below ``/run`` is named after the
process. The first holder records the previous setting. When no holder is alive, the previous
setting is restored. The launcher releases the hold of the user's process as well, in case the user's
process is killed. If both processes are killed, the next emulation or ``umts doctor --clean``
restores the setting.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = Path("/run/umtslab/forwarding")
SWITCH = Path("/proc/sys/net/ipv4/ip_forward")

_BEFORE = "before"
"""File with the setting before the first hold."""


def hold(pid: int, folder: Path = FOLDER, switch: Path = SWITCH) -> str | None:
    """Let the host forward packets while process `pid` lives.

    Returns a description of the change, or None if forwarding was on already.

    Raises
    ------
    OSError
        If this process may not change the setting.
    """
    with _locked(folder):
        _release_dead_holders(folder, switch)
        previous = switch.read_text(encoding="ascii").strip()
        note = folder / _BEFORE
        if not note.exists():
            note.write_text(previous, encoding="ascii")
        (folder / str(pid)).write_text(_started(pid), encoding="ascii")
        if previous == "1":
            return None
        switch.write_text("1", encoding="ascii")
        return f"net.ipv4.ip_forward = 1 (it was {previous})"


def release(pid: int, folder: Path = FOLDER, switch: Path = SWITCH) -> None:
    """Release the hold of process `pid`, if it has one."""
    if not folder.is_dir():
        return
    with _locked(folder):
        (folder / str(pid)).unlink(missing_ok=True)
        _release_dead_holders(folder, switch)


def clean(folder: Path = FOLDER, switch: Path = SWITCH) -> list[str]:
    """Restore the setting after killed emulations. Returns descriptions of what was done."""
    if not folder.is_dir():
        return []
    with _locked(folder):
        return _release_dead_holders(folder, switch)


def _release_dead_holders(folder: Path, switch: Path) -> list[str]:
    """Remove the holds of dead processes, and restore the setting if no hold is left.

    Returns a line for each action.
    """
    done = []
    holders = [file for file in folder.iterdir() if file.name.isdigit()]
    for file in holders:
        if not _is_alive(int(file.name), file.read_text(encoding="ascii")):
            file.unlink()
            done.append(f"removed the hold of the killed emulation with process {file.name}")
    note = folder / _BEFORE
    if note.exists() and not any(file.exists() for file in holders):
        before = note.read_text(encoding="ascii")
        if before and switch.read_text(encoding="ascii").strip() != before:
            switch.write_text(before, encoding="ascii")
            done.append(f"set net.ipv4.ip_forward back to {before}")
        note.unlink()
    return done


def _is_alive(pid: int, started: str) -> bool:
    """Whether the process with this number and start time still runs.

    The start time is empty if the process was killed before it had written its hold.
    """
    return started != "" and _started(pid) == started


def _started(pid: int) -> str:
    """Start time of a process in clock ticks since boot; empty if there is no such process.

    The process number and the start time together identify a process.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    # Search from the right: the program name, in parentheses, may contain any character.
    return stat.rpartition(")")[2].split()[19]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Create and lock the folder, and remove it at the end of the block if it is empty."""
    lock = _lock(folder)
    try:
        yield
        with suppress(OSError):  # The folder is not empty: other processes hold.
            folder.rmdir()
            folder.parent.rmdir()
    finally:
        os.close(lock)


def _lock(folder: Path) -> int:
    """Create the folder if necessary and lock it. Returns the open file."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The previous owner of the lock may have removed the folder.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), folder.stat()):
                return lock
        os.close(lock)

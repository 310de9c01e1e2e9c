"""Whether the host forwards packets: the one change of an emulation that does not vanish by itself.

Whoever needs it *holds* it, by a file named after a process in a folder in ``/run``. The first holder
notes how it was; when no holder is left that lives, it is set back. Several processes let go of the same
hold, so that one of them may be killed; what is left when all are killed, the next emulation or ``umts
doctor --clean`` finds.
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


def hold(pid: int, folder: Path = FOLDER, switch: Path = SWITCH) -> str | None:
    """Have the host forward packets as long as process `pid` lives; what was changed, for people.

    Raises
    ------
    OSError
        If this process may not change it.
    """
    with _alone(folder):
        _forget_the_dead(folder, switch)
        was = switch.read_text(encoding="ascii").strip()
        note = folder / _BEFORE
        if not note.exists():
            note.write_text(was, encoding="ascii")
        (folder / str(pid)).write_text(_started(pid), encoding="ascii")
        if was == "1":
            return None
        switch.write_text("1", encoding="ascii")
        return f"net.ipv4.ip_forward = 1 (it was {was})"


def let_go(pid: int, folder: Path = FOLDER, switch: Path = SWITCH) -> None:
    """End the hold of process `pid`, if it has one."""
    if not folder.is_dir():
        return
    with _alone(folder):
        (folder / str(pid)).unlink(missing_ok=True)
        _forget_the_dead(folder, switch)


def clean(folder: Path = FOLDER, switch: Path = SWITCH) -> list[str]:
    """Set back what killed emulations left; what was done, for people."""
    if not folder.is_dir():
        return []
    with _alone(folder):
        return _forget_the_dead(folder, switch)


def _forget_the_dead(folder: Path, switch: Path) -> list[str]:
    done = []
    holders = [file for file in folder.iterdir() if file.name.isdigit()]
    for file in holders:
        if not _lives(int(file.name), file.read_text(encoding="ascii")):
            file.unlink()
            done.append(f"forgot the emulation of process {file.name}, which was killed")
    note = folder / _BEFORE
    if note.exists() and not any(file.exists() for file in holders):
        before = note.read_text(encoding="ascii")
        if before and switch.read_text(encoding="ascii").strip() != before:
            switch.write_text(before, encoding="ascii")
            done.append(f"set net.ipv4.ip_forward back to {before}")
        note.unlink()
    return done


def _lives(pid: int, started: str) -> bool:
    return _started(pid) == started


def _started(pid: int) -> str:
    """When a process was started, which with its number is its identity; empty if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    # The name of the program, in brackets, may have any character in it.
    return stat.rpartition(")")[2].split()[19]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process looks at the folder meanwhile; it is there as long as something is in it."""
    lock = _lock(folder)
    try:
        yield
        with suppress(OSError):  # Another one's holds are in it.
            folder.rmdir()
            folder.parent.rmdir()
    finally:
        os.close(lock)


def _lock(folder: Path) -> int:
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Whoever had it before may have removed it.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), folder.stat()):
                return lock
        os.close(lock)

"""Control groups of an emulation: of its own, below the one in which it was started.

A program that is root in its place may mount the kernel's control groups. What it then sees begins at the
group in which its cgroup namespace was made, and root's files there are its own: in the group of the host's
processes it could kill them. So each place has a group of its own, in every hierarchy of the machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

PREFIX = "umts-emulate-"

LONGEST_END_S = 2.0
"""How long groups are waited for at the end, whose last processes the kernel may still be ending."""

_CPUS = ("cpuset.cpus", "cpuset.mems")


def create() -> list[str]:
    """Make groups for an emulation, one in each hierarchy in which this user may; their folders."""
    made = []
    for parent in own_groups():
        folder = parent / f"{PREFIX}{os.getpid()}"
        if _make(folder):
            made.append(str(folder))
    return made


def enter(folders: Sequence[str], name: str) -> None:
    """Move this process into the group `name` of an emulation, in every hierarchy."""
    for parent in folders:
        folder = Path(parent) / name
        if _make(folder):
            # 0 is the process that writes. A hierarchy may refuse it, as cpu does of real-time processes.
            with suppress(OSError):
                (folder / "cgroup.procs").write_text("0")


def is_missing(folders: Sequence[str]) -> bool:
    """Whether root's programs share a group with processes of the host after all."""
    hierarchies = Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
    return os.geteuid() == 0 and len(folders) < len(hierarchies)


def remove(folders: Sequence[str]) -> None:
    """Remove the groups of an emulation that has ended, and those below them."""
    deadline = time.monotonic() + LONGEST_END_S
    left = [Path(folder) for folder in folders]
    while left := [folder for folder in left if not _remove(folder)]:
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def clean() -> list[str]:
    """Remove what killed emulations left below this process's own groups; what was done, for people."""
    count = 0
    for parent in own_groups():
        count += sum(_remove(folder) for folder in parent.glob(f"{PREFIX}*"))
    return [f"removed {count} control groups of emulations that were killed"] if count else []


def own_groups() -> Iterator[Path]:
    """The folders of the groups of this process, of each hierarchy that is mounted."""
    mounts = list(_mounts(Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")))
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines():
        _, controllers, path = line.split(":", 2)
        wanted = set(filter(None, controllers.split(",")))
        for kind, options, root, place in mounts:
            is_wanted = wanted <= options if wanted else kind == "cgroup2"
            if is_wanted and (path + "/").startswith(root.rstrip("/") + "/"):
                yield Path(place, path[len(root.rstrip("/")) :].lstrip("/"))
                break


def _mounts(text: str) -> Iterator[tuple[str, set[str], str, str]]:
    """Kind, options, root and place of each mount of control groups."""
    for line in text.splitlines():
        before, _, behind = line.partition(" - ")
        root, place = before.split()[3:5]
        kind, _, options = behind.split(maxsplit=2)
        if kind in ("cgroup", "cgroup2"):
            # The first version cannot be told from the second one by controllers it does not have.
            yield kind, set(options.split(",")) if kind == "cgroup" else set(), root, place


def _make(folder: Path) -> bool:
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return False
    settle_cpus(folder)
    return True


def settle_cpus(folder: Path) -> None:
    """Give a group of cpuset what its parent has: without it it takes no process."""
    for name in _CPUS:
        with suppress(OSError):
            (folder / name).write_text((folder.parent / name).read_text())


def _remove(folder: Path) -> bool:
    """Whether the group is gone, and all below it."""
    try:
        for below in folder.iterdir():
            if below.is_dir():
                below.rmdir()
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True

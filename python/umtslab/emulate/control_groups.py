"""Control groups of an emulation, below the group of the process that starts it.

A program that runs as root in an emulation can mount the kernel's control groups. It then sees the group in
which its cgroup namespace was created, and may write there. If processes of the host were in that group, it
could kill them. Therefore each place of an emulation, which is the sandbox of a UE or of the server side, has
a group of its own in every hierarchy.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PREFIX = "umts-emulate-"

MAX_REMOVAL_S = 2.0
"""Maximum wait, when the groups are removed, for the kernel to end their last processes."""

_CPUS = ("cpuset.cpus", "cpuset.mems")


def create() -> list[str]:
    """Make a group for an emulation in each hierarchy that permits it. Returns the groups' folders."""
    folders = []
    for parent in own_groups():
        folder = parent / f"{PREFIX}{os.getpid()}"
        if _make(folder):
            folders.append(str(folder))
    return folders


def enter(folders: Sequence[str], name: str) -> None:
    """Move this process into the group `name` of an emulation, in every hierarchy."""
    for parent in folders:
        folder = Path(parent) / name
        if _make(folder):
            # 0 stands for the writing process. A hierarchy may refuse the process: the hierarchy of
            # the controller cpu refuses real-time processes.
            with suppress(OSError):
                (folder / "cgroup.procs").write_text("0")


def is_missing(folders: Sequence[str]) -> bool:
    """Whether programs that run as root share a group with processes of the host."""
    hierarchies = Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines()
    return os.geteuid() == 0 and len(folders) < len(hierarchies)


def remove(folders: Sequence[str]) -> None:
    """Remove the groups of an emulation that has ended, and all groups below them."""
    deadline = time.monotonic() + MAX_REMOVAL_S
    remaining = [Path(folder) for folder in folders]
    while remaining := [folder for folder in remaining if not _remove(folder)]:
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def clean() -> list[str]:
    """Remove groups of killed emulations below the groups of this process. Returns a summary."""
    folders = (folder for parent in own_groups() for folder in parent.glob(f"{PREFIX}*"))
    # The name ends with the process that made the group: an emulation may not have entered its group yet.
    dead = (folder for folder in folders if not Path("/proc", folder.name.removeprefix(PREFIX)).exists())
    count = sum(map(_remove, dead))
    return [f"removed {count} control groups of killed emulations"] if count else []


def own_groups() -> Iterator[Path]:
    """The folder of this process's group in each mounted hierarchy.

    A group outside the root of the cgroup namespace (``/../…``) has no folder there and is left out.
    """
    mounts = list(_mounts(Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")))
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="replace").splitlines():
        _, controllers, path = line.split(":", 2)
        if path.startswith("/.."):
            continue
        names = set(filter(None, controllers.split(",")))
        for mount in mounts:
            # A line without controllers is the group in cgroup2.
            is_hierarchy = names <= mount.controllers if names else mount.file_system == "cgroup2"
            root = mount.root.rstrip("/")
            if is_hierarchy and (path + "/").startswith(root + "/"):
                yield Path(mount.mount_point, path[len(root) :].lstrip("/"))
                break


class _Mount(NamedTuple):
    """A mount of control groups. `root` is the group that is visible at `mount_point`."""

    file_system: str
    controllers: set[str]
    root: str
    mount_point: str


def _mounts(text: str) -> Iterator[_Mount]:
    """Read the mounts of control groups from the text of ``mountinfo`` (proc_pid_mountinfo(5))."""
    for line in text.splitlines():
        mount_fields, _, file_system_fields = line.partition(" - ")
        root, mount_point = mount_fields.split()[3:5]
        # The source, between the file system and the options, may be empty.
        file_system, _, options = file_system_fields.split(" ", 2)
        # The options of cgroup name its controllers, the options of cgroup2 do not.
        if file_system == "cgroup":
            yield _Mount(file_system, set(options.split(",")), root, mount_point)
        elif file_system == "cgroup2":
            yield _Mount(file_system, set(), root, mount_point)


def _make(folder: Path) -> bool:
    """Create a control group. Returns false if that is not permitted."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return False
    copy_cpus(folder)
    return True


def copy_cpus(folder: Path) -> None:
    """Copy the processors and memory nodes of the parent: a cpuset group without them accepts no process."""
    for name in _CPUS:
        with suppress(OSError):
            (folder / name).write_text((folder.parent / name).read_text())


def _remove(folder: Path) -> bool:
    """Remove a group and all groups below it. Returns whether it is gone."""
    with suppress(OSError, RecursionError):
        for group, _, _ in os.walk(folder, topdown=False):
            os.rmdir(group)
    return not folder.exists()

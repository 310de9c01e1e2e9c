"""Sockets of running emulations in a results folder.

``umts emulate --live`` listens at ``live/NAME.sock`` of its results folder, and ``umts serve`` of this
folder connects. Only the user of the emulation may connect.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = "live"
"""Folder of the sockets in a results folder."""

_NAME = re.compile(r"e[0-9a-f]{8}")


def new_name() -> str:
    """Return a name for an emulation."""
    return f"e{secrets.token_hex(4)}"


def is_name(text: str) -> bool:
    """Whether a text is the name of an emulation. No live session of the page has such a name."""
    return _NAME.fullmatch(text) is not None


def names(store: Path) -> list[str]:
    """Return the names of the emulations that have a socket. Some may have been killed."""
    try:
        files = sorted(os.listdir(store / FOLDER))
    except OSError:
        return []
    stems = [file.removesuffix(".sock") for file in files if file.endswith(".sock")]
    return [name for name in stems if is_name(name)]


@contextmanager
def place(store: Path, name: str) -> Iterator[str]:
    """Create the folder, and yield a short path at which the emulation `name` can create its socket.

    The path is valid during the block. The path of a socket has at most 107 bytes (unix(7)), and the
    path of a results folder may be longer.
    """
    folder = store / FOLDER
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        repair = "not a folder: remove that file, or choose another folder for the results"
        raise NotADirectoryError(errno.ENOTDIR, repair, str(folder)) from error
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}.sock"
    finally:
        os.close(descriptor)


@contextmanager
def connected(store: Path, name: str, timeout_s: float) -> Iterator[socket.socket]:
    """Connect to the emulation `name`. `timeout_s` limits each operation.

    Raises
    ------
    OSError
        If no emulation listens there, or the file is not a socket of this user. Symbolic links are not
        followed.
    """
    path = store / FOLDER / f"{name}.sock"
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        file = os.fstat(descriptor)
        if not stat.S_ISSOCK(file.st_mode) or file.st_uid != os.geteuid():
            raise PermissionError(f"{path} is not a socket of this user")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(timeout_s)
            client.connect(f"/proc/self/fd/{descriptor}")
            yield client
    finally:
        os.close(descriptor)


def remove_dead(store: Path) -> None:
    """Remove the sockets of emulations that were killed."""
    for name in names(store):
        try:
            with connected(store, name, 1.0):
                pass
        except ConnectionRefusedError:
            with suppress(OSError):
                (store / FOLDER / f"{name}.sock").unlink()
        except OSError:
            pass

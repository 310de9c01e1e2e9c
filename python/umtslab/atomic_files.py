"""Files that are read whole within bounds, and files that are written atomically."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LARGEST = 16_000_000
"""The most octets of a file that is read as text, as of a scenario."""


STORED = 256_000_000
"""Most bytes of a file of a results folder that is read whole."""


def irregular(path: Path) -> str | None:
    """The kind of `path` in words if it is not a regular file; None for a regular file or a missing one.

    Links are followed. Nothing is opened: opening a named pipe blocks until its other end is opened.
    """
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return "a link to nothing" if path.is_symlink() else None
    except OSError as error:
        return f"a link that leads nowhere ({error.strerror})" if path.is_symlink() else None
    return next((words for is_kind, words in _KINDS if is_kind(kind)), None)


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def stored_bytes(path: Path, most: int = STORED) -> bytes:
    """The content of a file of a results folder, which may have been replaced by anything.

    Raises
    ------
    OSError
        If there is no file, or something else of its name, or more than `most` octets.
    """
    if (found := irregular(path)) is not None:
        raise OSError(errno.EINVAL, f"it is {found}, not a file", str(path))
    # Non-blocking: the file may have been replaced by a named pipe since the check.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(path))
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} octets", str(path))
    return content


def stored_text(path: Path, most: int = STORED) -> str:
    """The content of a file of a results folder as text.

    Raises
    ------
    OSError
        If it cannot be read.
    UnicodeDecodeError
        If it is not UTF-8.
    """
    return stored_bytes(path, most).decode()


def whole_text(path: Path) -> str:
    """The text of a file. A device is refused before it is opened, and what has no end when it is too long.

    Raises
    ------
    OSError
        If it cannot be read, or is too long.
    UnicodeDecodeError
        If it is not UTF-8.
    """
    kind = path.stat().st_mode
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        raise OSError(errno.EINVAL, "it is a device, not a file", str(path))
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(errno.EFBIG, f"it has more than {LARGEST} octets", str(path))
    return content.decode()


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it appears under its name when all went well, and otherwise leaves nothing."""
    with _temporary(path) as file:
        try:
            yield file
            file.flush()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _temporary(path: Path) -> IO[bytes]:
    """A file beside `path`; that it cannot be made is told of `path`, the name that somebody typed."""
    try:
        return open(path.parent / f".{path.name}.{os.urandom(8).hex()}", "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None

"""Bounded reads of files, and atomic writes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

MAX_TEXT_BYTES = 16_000_000
"""Maximum size in bytes of a file that is read as text, for example a scenario."""


MAX_STORED_BYTES = 256_000_000
"""Maximum size in bytes of a file of a results folder that is read whole."""


def describe_irregular(path: Path) -> str | None:
    """Describe the type of `path`; None if it is a regular file or does not exist.

    Symbolic links are followed. Nothing is opened, because opening a named pipe blocks until its
    other end is opened.
    """
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        return "a broken link" if path.is_symlink() else None
    except OSError as error:
        return f"a link that cannot be followed ({error.strerror})" if path.is_symlink() else None
    return next((description for is_kind, description in _KINDS if is_kind(kind)), None)


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def stored_bytes(path: Path, maximum: int = MAX_STORED_BYTES) -> bytes:
    """Read a file of a results folder.

    The file is checked first, because other programs may have replaced it.

    Raises
    ------
    OSError
        If the file is missing, is not a regular file, or has more than `maximum` bytes.
    """
    if (description := describe_irregular(path)) is not None:
        raise OSError(errno.EINVAL, f"it is {description}, not a file", str(path))
    # Non-blocking: the file may have been replaced by a named pipe since the check.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = file.read(maximum + 1)
    if len(content) > maximum:
        raise OSError(errno.EFBIG, f"it has more than {maximum} octets", str(path))
    return content


def stored_text(path: Path, maximum: int = MAX_STORED_BYTES) -> str:
    """Read a UTF-8 text file of a results folder.

    Raises
    ------
    OSError
        If the file cannot be read (`stored_bytes`).
    UnicodeDecodeError
        If the file is not UTF-8.
    """
    return stored_bytes(path, maximum).decode()


def bounded_text(path: Path) -> str:
    """Read a UTF-8 text file of at most `MAX_TEXT_BYTES` bytes.

    Devices are refused without opening them. The size is limited while reading, so an endless pipe
    is refused too.

    Raises
    ------
    OSError
        If the file cannot be read, is a device, or has more than `MAX_TEXT_BYTES` bytes.
    UnicodeDecodeError
        If the file is not UTF-8.
    """
    kind = path.stat().st_mode
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        raise OSError(errno.EINVAL, "it is a device, not a file", str(path))
    with path.open("rb") as file:
        content = file.read(MAX_TEXT_BYTES + 1)
    if len(content) > MAX_TEXT_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MAX_TEXT_BYTES} octets", str(path))
    return content.decode()


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file atomically: `path` is complete on success, unchanged on an exception.

    Yields a temporary binary file in the directory of `path`. At the end of the block the file is
    flushed and renamed to `path`. If the block raises, the file is deleted. There is no `fsync`: a
    power failure can lose the content.
    """
    with _temporary(path) as file:
        try:
            yield file
            file.flush()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


@contextmanager
def output_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that the user names.

    A pipe, a device and the target of a link are written directly, because replacing them would
    remove the pipe, the device or the link. Any other file is written atomically.
    """
    if path.is_symlink() or describe_irregular(path) is not None:
        with path.open("wb") as file:
            yield file
    else:
        with atomic_file(path) as file:
            yield file


def _temporary(path: Path) -> IO[bytes]:
    """Create a hidden file beside `path`. Errors name `path`, which the user knows."""
    try:
        return open(path.parent / f".{path.name}.{os.urandom(8).hex()}", "xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None

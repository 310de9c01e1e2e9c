"""Files that are read whole within bounds, and files that are there whole or not at all."""

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

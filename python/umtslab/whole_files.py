"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it appears under its name when all went well, and otherwise leaves nothing."""
    with _temporary(path) as file:
        try:
            yield file
            file.flush()
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _temporary(path: Path) -> IO[bytes]:
    """A file beside `path`; that it cannot be made is told of `path`, the name that somebody typed."""
    try:
        return NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _umask() -> int:
    """The permissions that new files do not get; temporary ones are private regardless of it."""
    current = os.umask(0)
    os.umask(current)
    return current

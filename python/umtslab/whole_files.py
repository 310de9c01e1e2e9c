"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


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

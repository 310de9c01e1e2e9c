"""Classification and texts of errors of the operating system."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def reason(error: OSError | sqlite3.Error) -> str:
    """Return the system's error text with the file name, if any."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


def is_disk_full(error: OSError | sqlite3.Error) -> bool:
    """Whether the error is lack of space (or quota)."""
    import sqlite3

    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def is_unwritable(error: OSError | sqlite3.Error) -> bool:
    """Whether the disk is full, or the file or folder exists but is not writable."""
    import sqlite3

    if is_disk_full(error):
        return True
    if isinstance(error, OSError):
        return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
    # The low byte is the primary code, the bits above it give the reason.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)

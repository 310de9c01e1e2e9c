"""What the operating system refused: in words, and whether room or permission was what it lacked."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def reason(error: OSError | sqlite3.Error) -> str:
    """What the system says, with the file that it says it about."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


def is_disk_full(error: OSError | sqlite3.Error) -> bool:
    """Whether there was no room, rather than no permission."""
    import sqlite3

    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def is_unwritable(error: OSError | sqlite3.Error) -> bool:
    """Whether a place is there, and has no room or may not be written."""
    import sqlite3

    if is_disk_full(error):
        return True
    if isinstance(error, OSError):
        return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
    # The low octet is the kind, what is above it the reason.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)

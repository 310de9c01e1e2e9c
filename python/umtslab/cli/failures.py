"""What goes wrong, as a message on standard error and an exit status."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

FAILED = 1
"""A run failed, a precision was missed, or results could not be written."""

WRONG = 2
"""Wrong usage or input; nothing was run."""


class UsageError(Exception):
    """The command line asks for something that makes no sense; the message says what would."""


class CannotOpen(Exception):
    """A results folder cannot be used; found out before anything was run."""

    def __init__(self, folder: object, cause: OSError | sqlite3.Error) -> None:
        super().__init__(f"cannot keep results in {folder}: {reason(cause)}")
        self.status = FAILED if is_disk_full(cause) else WRONG


def status_of(error: Exception) -> int:
    """Tell the user, and give the exit status; what nobody expected is raised again."""
    import sqlite3

    from cyclopts import CycloptsError

    from umtslab._core import CaptureReadError, CongestionControlError, OutputError, ScenarioError
    from umtslab.campaign.errors import CampaignError
    from umtslab.remote import WorkersFailed
    from umtslab.reproduce.errors import BadData, UnknownSelection
    from umtslab.run import MissingSeries
    from umtslab.store.folder import OtherLayout
    from umtslab.store.reader import RunNotFound

    if isinstance(error, CycloptsError):
        return WRONG  # cyclopts has said why
    if isinstance(error, BrokenPipeError):
        return _reader_left()
    if isinstance(error, CannotOpen):
        return complain(str(error), error.status)
    if isinstance(
        error,
        BadData
        | CampaignError
        | CaptureReadError
        | MissingSeries
        | OtherLayout
        | RunNotFound
        | ScenarioError
        | UnknownSelection
        | UsageError,
    ):
        return complain(str(error), WRONG)
    if isinstance(error, WorkersFailed | CongestionControlError):
        return complain(str(error), FAILED)
    if isinstance(error, OutputError):
        return complain(f"cannot write captures: {error}", FAILED)
    if isinstance(error, OSError | sqlite3.Error):
        return complain(f"cannot write results: {reason(error)}", FAILED)
    raise error


def complain(message: str, status: int) -> int:
    """Print `message` on standard error and give `status` back."""
    print(message if message.startswith(("umts", "error")) else f"umts: {message}", file=sys.stderr)
    return status


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


def _reader_left() -> int:
    """Whoever read our output (``| head``) has seen enough: end without another word."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0

"""What goes wrong, as a message on standard error and an exit status."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from umtslab.exit_status import FAILED, INTERRUPTED, WRONG
from umtslab.system_errors import is_disk_full, reason

if TYPE_CHECKING:
    import sqlite3

    from umtslab._core import ScenarioError


class UsageError(Exception):
    """The command line asks for something that makes no sense; the message says what would."""


class Interrupted(Exception):
    """Ctrl-C ended the work; the message says what is kept."""


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
    if isinstance(error, Interrupted):
        return complain(str(error), INTERRUPTED)
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
        | UnknownSelection
        | UsageError,
    ):
        return complain(str(error), WRONG)
    if isinstance(error, ScenarioError):
        return complain(f"{error}{_other_keys(error)}", WRONG)
    if isinstance(error, WorkersFailed | CongestionControlError):
        return complain(str(error), FAILED)
    if isinstance(error, OutputError):
        return complain(f"cannot write captures: {error}", FAILED)
    if isinstance(error, OSError | sqlite3.Error):
        return complain(f"cannot write results: {reason(error)}", FAILED)
    raise error


def _other_keys(error: ScenarioError) -> str:
    """What may have been meant by a key of the command line that has no table in front of it."""
    from umtslab.cli.keys import keys_like

    near = keys_like(error.key) if error.file == "--set" and error.key and "." not in error.key else []
    return f"did you mean {' or '.join(near)}?" if near else ""


def complain(message: str, status: int) -> int:
    """Print `message` on standard error and give `status` back."""
    print(message if message.startswith(("umts", "error")) else f"umts: {message}", file=sys.stderr)
    return status


def _reader_left() -> int:
    """Whoever read our output (``| head``) has seen enough: end without another word."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0

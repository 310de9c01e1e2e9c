"""Errors of the command: message on standard error and exit status."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, cast

from umtslab.exit_status import FAILED, INTERRUPTED, WRONG
from umtslab.system_errors import is_unwritable, reason

if TYPE_CHECKING:
    import sqlite3

    from umtslab._core import ScenarioError


class UsageError(Exception):
    """The command line is wrong. The message says what would be right."""


class Interrupted(Exception):
    """Ctrl-C ended the work. The message says which results are kept."""


class CannotOpen(Exception):
    """A results folder cannot be opened. Raised before any run starts."""

    def __init__(self, folder: object, cause: OSError | sqlite3.Error) -> None:
        super().__init__(f"cannot store results in {folder}: {reason(cause)}")
        self.status = FAILED if is_unwritable(cause) else WRONG


_INPUT_ERRORS = (
    "umtslab._core.CaptureReadError",
    "umtslab.budget.MissingBudget",
    "umtslab.campaign.errors.CampaignError",
    "umtslab.reproduce.errors.BadData",
    "umtslab.reproduce.errors.UnknownSelection",
    "umtslab.run.MissingSeries",
    "umtslab.scenario.CodeNotAllowed",
    "umtslab.store.folder.OtherLayout",
    "umtslab.store.folder.UnusablePath",
    "umtslab.store.query.WrongQuery",
    "umtslab.store.reader.RunNotFound",
    "umtslab.store.seal.Damaged",
)
"""Errors of input, by name, so that their modules need not be imported."""

_RUN_ERRORS = (
    "umtslab._core.CongestionControlError",
    "umtslab._core.SchedulerError",
    "umtslab.remote.WorkersFailed",
)


def status_of(error: Exception) -> int:
    """Print the error and return the exit status. Unexpected errors are raised again."""
    if isinstance(error, BrokenPipeError):
        return _end_silently()
    if isinstance(error, Interrupted):
        return print_error(str(error), INTERRUPTED)
    if isinstance(error, CannotOpen):
        return print_error(str(error), error.status)
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__}
    if isinstance(error, UsageError) or not kinds.isdisjoint(_INPUT_ERRORS):
        return print_error(str(error), WRONG)
    if "umtslab._core.ScenarioError" in kinds:
        return print_error(f"{error}{_other_keys(cast('ScenarioError', error))}", WRONG)
    if not kinds.isdisjoint(_RUN_ERRORS):
        return print_error(str(error), FAILED)
    if "umtslab._core.OutputError" in kinds:
        return print_error(f"cannot write captures: {error}", FAILED)
    if isinstance(error, OSError) or "sqlite3.Error" in kinds:
        return print_error(f"cannot write results: {reason(cast('OSError', error))}", FAILED)
    raise error


def _other_keys(error: ScenarioError) -> str:
    """Suggest scenario keys for a key without its table, as in ``--set bler=0.1``."""
    from umtslab.cli.keys import keys_like

    similar = keys_like(error.key) if error.file == "override" and error.key and "." not in error.key else []
    return f"did you mean {' or '.join(similar)}?" if similar else ""


def print_error(message: str, status: int) -> int:
    """Print `message` on standard error and return `status`."""
    print(message if message.startswith(("umts", "error")) else f"umts: {message}", file=sys.stderr)
    return status


def _end_silently() -> int:
    """Exit silently because the reader of standard output has closed the pipe (``| head``)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0

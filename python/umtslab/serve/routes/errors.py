"""Answers for exceptions of the routes: a status and one sentence, as `models.common.Problem`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from umtslab._core import ScenarioError
from umtslab.campaign.errors import CampaignError
from umtslab.reproduce.errors import UnknownSelection
from umtslab.run import MissingSeries
from umtslab.serve.emulations import ControlFailed, NoSuchEmulation
from umtslab.serve.experiments import UnknownMetric
from umtslab.serve.files import NoSuchFile
from umtslab.serve.jobs import Busy, JobFailed
from umtslab.serve.live import NoSuchSession, SessionFailed, TooManySessions
from umtslab.serve.scenarios import OutsideFolder, SyntaxMistake
from umtslab.serve.selection import TooManyItems
from umtslab.serve.tiles import NoSuchTile
from umtslab.serve.uploads import TooManyUploads
from umtslab.serve.work import WrongCapture
from umtslab.store import OtherLayout, RunNotFound

_STATUS: dict[int, tuple[type[Exception], ...]] = {
    400: (
        OutsideFolder,
        SyntaxMistake,
        TooManyItems,
        CampaignError,
        OtherLayout,
        ScenarioError,
        WrongCapture,
    ),
    404: (
        NoSuchFile,
        NoSuchTile,
        RunNotFound,
        UnknownSelection,
        UnknownMetric,
        MissingSeries,
        NoSuchSession,
        NoSuchEmulation,
    ),
    409: (JobFailed, SessionFailed, TooManySessions, ControlFailed),
    503: (Busy, TooManyUploads),
}
"""Exceptions by the HTTP status of the answer. Subclasses of an exception get the same status."""


def add_error_answers(app: FastAPI) -> None:
    """Answer the exceptions of `_STATUS` with their messages."""
    for status, exceptions in _STATUS.items():
        for exception in exceptions:
            app.add_exception_handler(exception, _answer(status))


def _answer(status: int) -> Callable[[Request, Exception], Awaitable[JSONResponse]]:
    async def handle(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": sentence(error)}, status)

    return handle


def sentence(error: Exception) -> str:
    """Return the message of an exception with a capital letter and a full stop."""
    text = str(error)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")

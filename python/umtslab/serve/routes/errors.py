"""Answers for exceptions of the routes: a status and one sentence, as `models.common.Problem`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import PurePath

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

from umtslab._core import ScenarioError
from umtslab.campaign.errors import CampaignError
from umtslab.figure_kinds import UnknownFigure
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
        UnknownFigure,
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
    """Answer the exceptions of `_STATUS` with their messages, and wrong requests with their mistakes."""
    app.add_exception_handler(RequestValidationError, _answer_wrong_request)
    for status, exceptions in _STATUS.items():
        for exception in exceptions:
            app.add_exception_handler(exception, _answer(status))


def _answer(status: int) -> Callable[[Request, Exception], Awaitable[JSONResponse]]:
    async def handle(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": sentence(error)}, status)

    return handle


async def _answer_wrong_request(_: Request, error: Exception) -> Response:
    """Answer with the mistakes of a request, without its values: they may be large, or no Unicode text."""
    assert isinstance(error, RequestValidationError)
    detail = [{name: mistake[name] for name in ("type", "loc", "msg")} for mistake in error.errors()]
    # `json.dumps` escapes all characters that are not ASCII, unlike `JSONResponse`.
    return Response(json.dumps({"detail": detail}), 422, media_type="application/json")


def sentence(error: Exception) -> str:
    """Return the message of an exception with a capital letter and a full stop."""
    text = str(error)
    if isinstance(error, ScenarioError):
        text = _mistakes_of(error)
    elif isinstance(error, SyntaxMistake) and error.line is not None:
        text = f"{error} (line {error.line})"
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _mistakes_of(error: ScenarioError) -> str:
    """Return the mistakes of a scenario as one line. The text of the exception is a drawing for terminals."""
    texts = []
    for mistake in error.mistakes or (error,):
        advice = "" if mistake.help is None else f": {mistake.help}"
        place = "" if mistake.line is None else f" ({PurePath(mistake.file).name}, line {mistake.line})"
        texts.append(f"{mistake.message}{advice}{place}")
    return "; ".join(texts)

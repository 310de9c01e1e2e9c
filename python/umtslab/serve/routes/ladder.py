"""Answers with the ladder of a connection: a page of its packets, a table, and a figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from fastapi.responses import Response

from umtslab.serve import work
from umtslab.serve.files import NoSuchFile
from umtslab.serve.jobs import DRAWING, perform
from umtslab.serve.routes.stored import INERT_POLICY, checked_number, download_as

_NO_CONNECTION = "the capture has no connection with this number"


def ladder_page(path: Path, shown_name: str, number: int, first: int, from_s: float | None) -> Any:
    """Return a page of packets, a `models.Ladder`. The page begins at packet `first` or at a time."""
    start_s = None if from_s is None or not math.isfinite(from_s) else from_s
    wanted = (checked_number(number), checked_number(max(1, first), "packet"), start_s)
    return _found(perform(work.ladder, path, shown_name, *wanted, limits=DRAWING))


def ladder_table(path: Path, number: int) -> Response:
    """Return the packets of a connection as CSV."""
    content = _found(perform(work.ladder_csv, path, checked_number(number), limits=DRAWING))
    headers = INERT_POLICY | download_as(f"connection-{number}-packets.csv")
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def ladder_figure(path: Path, number: int, first: int) -> Response:
    """Return a page of packets as a figure."""
    wanted = (checked_number(number), checked_number(max(1, first), "packet"))
    content = _found(perform(work.ladder_svg, path, *wanted, limits=DRAWING))
    headers = INERT_POLICY | download_as(f"connection-{number}-ladder.svg")
    return Response(content, media_type="image/svg+xml", headers=headers)


def _found(answer: Any) -> Any:
    if answer is None:
        raise NoSuchFile(_NO_CONNECTION)
    return answer

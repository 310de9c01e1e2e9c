"""Routes of uploaded captures: upload, analysis, and the TCP graphs of a connection."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from umtslab.serve import work
from umtslab.serve.files import NoSuchFile
from umtslab.serve.guard import UPLOAD, Oversized, TooSlow
from umtslab.serve.jobs import DRAWING, perform
from umtslab.serve.models.captures import Capture, Graphs, Ladder, Uploaded
from umtslab.serve.routes.ladder import ladder_figure, ladder_page, ladder_table
from umtslab.serve.routes.stored import checked_number
from umtslab.serve.uploads import Upload, Uploads


def add_capture_routes(app: FastAPI, uploads: Uploads) -> None:
    """Add the routes that receive and analyse uploaded captures."""

    @app.post(UPLOAD, response_model=Uploaded)
    async def upload(request: Request, name: str = "capture") -> Any:
        try:
            stored = await uploads.receive(name, request.stream())
        except (Oversized, TooSlow) as error:
            return JSONResponse({"detail": str(error)}, int(error.refusal.status))
        return {"id": stored.id, "name": stored.name}

    def uploaded(identity: str) -> Upload:
        capture = uploads.get(identity)
        if capture is None:
            raise NoSuchFile("this capture is no longer here: drop the file again")
        return capture

    @app.get("/api/captures/{identity}", response_model=Capture)
    def get_analysis(identity: str) -> Any:
        capture = uploaded(identity)
        return perform(work.analysis, capture.path, capture.name, limits=DRAWING)

    @app.get("/api/captures/{identity}/connections/{number}", response_model=Graphs)
    def get_graphs(identity: str, number: int) -> Any:
        path = uploaded(identity).path
        return perform(work.connection_graphs, path, checked_number(number), limits=DRAWING)

    @app.get("/api/captures/{identity}/connections/{number}/ladder", response_model=Ladder)
    def get_ladder(identity: str, number: int, first: int = 1, from_s: float | None = None) -> Any:
        capture = uploaded(identity)
        return ladder_page(capture.path, capture.name, number, first, from_s)

    @app.get("/api/captures/{identity}/connections/{number}/ladder.csv", response_class=Response)
    def get_ladder_csv(identity: str, number: int) -> Response:
        return ladder_table(uploaded(identity).path, number)

    @app.get("/api/captures/{identity}/connections/{number}/ladder.svg", response_class=Response)
    def get_ladder_svg(identity: str, number: int, first: int = 1) -> Response:
        return ladder_figure(uploaded(identity).path, number, first)

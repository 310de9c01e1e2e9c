"""Routes of the built page: its HTML file, scripts, styles and licences.

The page is one HTML file for all views. Its script reads the view from the address.
"""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import Response

from umtslab.serve.files import file_in

PAGE = Path(__file__).parents[1] / "page"
"""The built page. A source tree has it after ``make setup``."""

_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
}

_VIEWS = ("run", "try", "live", "campaign", "study", "reproduction")
"""Views of one object, which the rest of the address names."""

_LISTS = ("/", "/captures", "/live")
"""Addresses of the views without an object."""

_CACHED_FOR_EVER = {"cache-control": "private, max-age=31536000, immutable"}
"""Header of built scripts and styles: their names change with their content. The age is one year."""


def add_page_routes(app: FastAPI) -> None:
    """Add the routes of the page. They are not in the description of the addresses."""

    def html() -> Response:
        try:
            return _file(PAGE / "index.html")
        except OSError:
            text = "The page is not built. In the source tree: make page\n"
            return Response(text, 503, media_type="text/plain; charset=utf-8")

    @app.get("/assets/{name}", include_in_schema=False)
    def asset(name: str) -> Response:
        return _file(file_in(PAGE / "assets", name))

    @app.get("/licences.txt", include_in_schema=False)
    def licences() -> Response:
        return _file(file_in(PAGE, "licences.txt"))

    @app.exception_handler(HTTPStatus.NOT_FOUND)
    async def no_view(request: Request, error: HTTPException) -> Response:
        """Answer an address without a route. The page says so, and leads to the home page."""
        if request.url.path.startswith(("/api/", "/assets/")) or request.method != "GET":
            return await http_exception_handler(request, error)
        response = html()
        response.status_code = HTTPStatus.NOT_FOUND
        return response

    for address in (*_LISTS, *(f"/{view}/{{name:path}}" for view in _VIEWS)):
        app.add_api_route(address, html, methods=["GET"], include_in_schema=False)


def _file(path: Path) -> Response:
    content = _content(path, path.stat().st_mtime_ns)
    media_type = _MEDIA_TYPES.get(path.suffix, "application/octet-stream")
    headers = _CACHED_FOR_EVER if path.suffix in (".js", ".css") else {}
    return Response(content, media_type=media_type, headers=headers)


@lru_cache(maxsize=64)
def _content(path: Path, changed_ns: int) -> bytes:
    """Read a file. `changed_ns`, the time of the last change, makes a changed file a new entry."""
    return path.read_bytes()

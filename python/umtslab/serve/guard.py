"""The guard of `umts serve`: refuses requests that are not from its own page, before any handler runs.

ASGI middleware with three checks. The token keeps out other users of the machine. The origin keeps
out other sites in the same browser. The host keeps out names that an attacker's DNS server points
at this machine (DNS rebinding). GET and HEAD change nothing, so only POST and WebSockets need an
origin.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from umtslab.serve.settings import LARGEST_REQUEST, LARGEST_UPLOAD, Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Content security policy of every answer without another policy."""

READ_ONLY_POSTS = re.compile(r"/api/(try|live(/[^/]*/(control|end))?)")
"""Paths of POST requests that a read-only page allows, because they store nothing."""

UPLOAD = "/api/captures"
"""Path of uploads."""

BODY_S = 30.0
"""Maximum time for the body of a request, in seconds."""

MIN_UPLOAD_RATE = 64 * 1024
"""Minimum rate of an upload, in bytes per second, after the first `BODY_S` seconds."""

SEND_S = 30.0
"""Maximum time for a client to read one chunk of a response, in seconds."""

_HEADERS = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("content-security-policy", POLICY),
)

_POLICY_VIOLATION = 1008
"""Close code of a WebSocket (RFC 6455, section 7.4.1)."""


class Refusal(NamedTuple):
    """A refused request: status and one sentence."""

    status: HTTPStatus
    text: str


class Oversized(Exception):
    """The body of a request exceeds the limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"This is too large: the limit is {limit // 2**20} MB.")
        self.refusal = Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(self))


class TooSlow(Exception):
    """A client sends or reads its data too slowly."""

    def __init__(self) -> None:
        super().__init__("The request took too long.")
        self.refusal = Refusal(HTTPStatus.REQUEST_TIMEOUT, str(self))


class Guard:
    """ASGI middleware that checks each request, and adds the security headers to each response."""

    def __init__(self, app: App, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass the request on with limits."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        guarded = _Response(send)
        if (refusal := self.refusal(scope)) is not None:
            await _refuse(scope, guarded, refusal)
            return
        if (login := self._login(scope)) is not None:
            await login(guarded)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, guarded)
            return
        body = Body(scope, receive)
        try:
            # Only an upload may be too large for memory, so its handler receives it in chunks.
            if scope["method"] == "POST" and scope["path"] != UPLOAD:
                receive = await body.whole()
            else:
                receive = body.receive
        except (Oversized, TooSlow) as error:
            await _refuse(scope, guarded, error.refusal)
            return
        # If the client does not read the response, the server closes the connection.
        with suppress(TooSlow):
            await self._app(scope, receive, guarded)

    def refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is refused, or None. The token is checked last."""
        headers = _headers(scope)
        if (wrong := _wrong_path(scope)) is not None:
            return Refusal(HTTPStatus.BAD_REQUEST, wrong)
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._settings.hosts:
            return Refusal(
                HTTPStatus.MISDIRECTED_REQUEST, "This server does not answer for the host of this request."
            )
        is_socket = scope["type"] == "websocket"
        if not is_socket and scope["method"] not in ("GET", "HEAD", "POST"):
            return Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "This method is not allowed: use GET or POST.")
        if is_socket or scope["method"] == "POST":
            own_origin = [f"{self._settings.scheme}://{hosts[0]}".lower()]
            if [origin.lower() for origin in headers.get("origin", [])] != own_origin:
                return Refusal(HTTPStatus.FORBIDDEN, "This request does not come from this page.")
        if not (_has_token(scope) or self._is_known(headers)):
            return Refusal(
                HTTPStatus.UNAUTHORIZED,
                "This browser has no access yet. Open the address that umts serve printed.",
            )
        if not is_socket and scope["method"] == "POST":
            return self._refused_post(scope, headers)
        return None

    def _refused_post(self, scope: Scope, headers: dict[str, list[str]]) -> Refusal | None:
        """Return why a POST request with the token is refused, or None."""
        if self._settings.read_only and not READ_ONLY_POSTS.fullmatch(scope["path"]):
            return Refusal(
                HTTPStatus.FORBIDDEN, "This page is read-only. Copy the command to run it yourself."
            )
        length = headers.get("content-length", ["0"])[0]
        if not length.isdecimal() or int(length) > _limit(scope):
            return Oversized(_limit(scope)).refusal
        return None

    def _is_known(self, headers: dict[str, list[str]]) -> bool:
        """Whether the request has the cookie with the token."""
        cookies = SimpleCookie()
        try:
            for line in headers.get("cookie", []):
                cookies.load(line)
        except CookieError:
            return False
        cookie = cookies.get(self._settings.cookie)
        return cookie is not None and self._is_token(cookie.value)

    def _is_token(self, text: str) -> bool:
        """Whether the text is the token."""
        # The duration does not reveal how many characters agree.
        return secrets.compare_digest(text.encode(), self._settings.token.encode())

    def _login(self, scope: Scope) -> Callable[[Send], Awaitable[None]] | None:
        """Return the response to an address with a token, or None if it has none.

        The response stores the token in a cookie, and redirects to the address without the token.
        """
        if not _has_token(scope):
            return None
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in pairs if name == "token"]
        query = urlencode([(name, value) for name, value in pairs if name != "token"])
        # A path that begins with two slashes would be another host.
        path = "/" + quote(scope["path"].lstrip("/"))
        location = f"{path}?{query}" if query else path
        secure = "; Secure" if self._settings.has_tls else ""

        async def respond(send: Send) -> None:
            if scope["method"] != "GET" or len(tokens) != 1 or not self._is_token(tokens[0]):
                text = "This token is not valid. Open the address that umts serve printed last."
                await _refuse(scope, send, Refusal(HTTPStatus.FORBIDDEN, text))
                return
            cookie = (
                f"{self._settings.cookie}={self._settings.token}; HttpOnly; SameSite=Strict; Path=/{secure}"
            )
            headers = [
                (b"location", location.encode()),
                (b"set-cookie", cookie.encode()),
                (b"content-length", b"0"),
            ]
            await send({"type": "http.response.start", "status": HTTPStatus.SEE_OTHER, "headers": headers})
            await send({"type": "http.response.body", "body": b""})

        return respond


class _Response:
    """Sends a response with the security headers. Raises `TooSlow` if the client does not read it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            # A header of the handler takes precedence.
            headers = [(name.lower(), value) for name, value in message.get("headers", [])]
            names = {name for name, _ in headers}
            defaults = [(name.encode(), value.encode()) for name, value in _HEADERS]
            missing = [(name, value) for name, value in defaults if name not in names]
            message = {**message, "headers": headers + missing}
        try:
            await asyncio.wait_for(self._send(message), SEND_S)
        except TimeoutError:
            raise TooSlow from None


class Body:
    """Receives a body chunk by chunk, within limits of size and time."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._receive = receive
        self._limit = _limit(scope)
        # Only POST requests have a body.
        self._is_complete = scope["method"] != "POST"
        self._began = asyncio.get_running_loop().time()
        self._size = 0

    async def receive(self) -> Message:
        """Return the next message of the client.

        Raises
        ------
        Oversized, TooSlow
            If the body exceeds its limit of size or time.
        """
        if self._is_complete:
            return await self._receive()
        deadline = self._began + BODY_S + self._size / MIN_UPLOAD_RATE
        remaining_s = deadline - asyncio.get_running_loop().time()
        try:
            message = await asyncio.wait_for(self._receive(), max(remaining_s, 0.0))
        except TimeoutError:
            raise TooSlow from None
        self._size += len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        if self._size > self._limit:
            raise Oversized(self._limit)
        return message

    async def whole(self) -> Receive:
        """Receive the body, and return a function that delivers the body as one message."""
        chunks = []
        while not self._is_complete:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                break
            chunks.append(message.get("body", b""))
        pending: list[Message] = [{"type": "http.request", "body": b"".join(chunks), "more_body": False}]

        async def deliver() -> Message:
            return pending.pop() if pending else await self._receive()

        return deliver


def _limit(scope: Scope) -> int:
    """Return the maximum size of the body, in bytes."""
    return LARGEST_UPLOAD if scope["path"] == UPLOAD else LARGEST_REQUEST


def _headers(scope: Scope) -> dict[str, list[str]]:
    """Return the values of each header. A header may occur several times."""
    values: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return values


def _has_token(scope: Scope) -> bool:
    """Whether a request for a view has a token. API requests, WebSockets and POST need the cookie."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith("/api/"):
        return False
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return any(name == "token" for name, _ in pairs)


def _wrong_path(scope: Scope) -> str | None:
    """Return why a path is wrong: a control character, a backslash or ``..``."""
    path = scope["path"]
    if any(ord(character) < 32 or character in "\\\x7f" for character in path):
        return "The address has a character that no file name here has."
    if ".." in path.split("/"):
        return "The address must not have '..'."
    return None


async def _refuse(scope: Scope, send: Send, refusal: Refusal) -> None:
    """Respond with a short text. Closing a WebSocket that is not open yet gives status 403."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        return
    body = b"" if scope["method"] == "HEAD" else f"{refusal.text}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        # The rest of the body is not read.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": int(refusal.status), "headers": headers})
    await send({"type": "http.response.body", "body": body})


class MaskToken(logging.Filter):
    """Replaces the token in log records."""

    _TOKEN = re.compile(r"(token=|umtslab_\d+=)[^&\s;\"']+")

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the record's text. Always returns True."""
        record.msg = self._TOKEN.sub(r"\1***", record.getMessage())
        record.args = ()
        return True

"""The sockets of an emulation: HTTP with JSON over a Unix socket.

A control socket accepts orders about faults. The socket for ``umts serve`` has the state in addition:
``GET /emulation`` for what does not change, and ``GET /emulation/state``.

``http.server`` is part of Python and serves the built-in Internet of an emulation too. Each request has
a thread of its own beside the event loop, which only executes the finished orders: a client that hangs
does not delay the emulation.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import socketserver
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from umtslab.emulate.faults import ActiveFaults
from umtslab.faults import Fault, FaultError

if TYPE_CHECKING:
    from umtslab.emulate.live_state import LiveState

MAX_REQUEST = 65536
"""Maximum size of the content of a request, in bytes."""

MAX_CLIENTS = 16
"""Maximum number of requests at a time. Further clients get status 503."""

TIMEOUT_S = 10.0
"""Maximum time to wait for a part of a request, in seconds."""

MAX_PATH = 107
"""Maximum length of the path of a Unix socket, in bytes (unix(7))."""


def checked_path(path: Path) -> str:
    """Return the absolute path for a control socket.

    Raises
    ------
    ValueError
        If no socket can be created there.
    """
    absolute = os.path.abspath(path)
    if len(os.fsencode(absolute)) > MAX_PATH:
        raise ValueError(f"--control {path}: the path of a socket has at most {MAX_PATH} bytes: {absolute}")
    folder = os.path.dirname(absolute)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"--control {path}: cannot create files in {folder}")
    if os.path.lexists(absolute):
        if not stat.S_ISSOCK(os.lstat(absolute).st_mode):
            raise ValueError(f"--control {path}: the file exists and is not a socket; choose another path")
        if _is_in_use(absolute):
            raise ValueError(f"--control {path}: another program listens there; choose another path")
    return absolute


def _is_in_use(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        try:
            client.connect(path)
        except ConnectionRefusedError:
            return False
        except OSError:
            return True
    return True


@contextmanager
def served(path: str, faults: ActiveFaults, live: LiveState | None = None) -> Iterator[None]:
    """Accept requests at a Unix socket during a block. Only this user may connect.

    With `live` the state of the emulation is available too. A socket that a killed emulation left is
    replaced.
    """
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(os.lstat(path).st_mode) and not _is_in_use(path):
            os.unlink(path)
    server = _listen(path, faults, live)
    file = os.lstat(path)
    # The event loop reads the signals of this process. A thread that does not block them would take
    # them away.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        threading.Thread(target=server.serve_forever, name="control socket", daemon=True).start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        with suppress(FileNotFoundError):
            if os.path.samestat(os.lstat(path), file):
                os.unlink(path)


def _listen(path: str, faults: ActiveFaults, live: LiveState | None) -> _Server:
    mask = os.umask(0o177)
    try:
        return _Server(path, faults, live)
    except OSError as error:
        error.filename = path
        raise
    finally:
        os.umask(mask)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Serves each request in a thread, up to a limit."""

    daemon_threads = True
    request_queue_size = MAX_CLIENTS

    def __init__(self, path: str, faults: ActiveFaults, live: LiveState | None) -> None:
        self.faults = faults
        self.live = live
        self._free = threading.BoundedSemaphore(MAX_CLIENTS)
        super().__init__(path, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start the thread of a request."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        # The answer fits into the buffer of the socket.
        with suppress(OSError):
            request.setblocking(False)
            request.send(b"HTTP/1.0 503 Too many requests at a time\r\n\r\n")
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a request in its thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a connection: the client has gone or was too slow."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = TIMEOUT_S

    def do_GET(self) -> None:
        """List the faults, or return one. Return the state of an emulation that is shown live."""
        live = self.server.live
        if live is not None and self.path == "/emulation":
            self._answer(lambda _: (HTTPStatus.OK, live.about), has_fault=False)
        elif live is not None and self.path == "/emulation/state":
            self._answer(lambda _: (HTTPStatus.OK, live.state()), has_fault=False)
        else:
            self._answer(self._get)

    def do_POST(self) -> None:
        """Add a fault, change one, or remove all."""
        self._answer(self._post)

    def do_DELETE(self) -> None:
        """Remove a fault."""
        self._answer(self._delete)

    def _get(self, name: str | None) -> tuple[HTTPStatus, Any]:
        faults = self.server.faults
        if name is None:
            return HTTPStatus.OK, {"faults": [_content(fault) for fault in faults.list()]}
        return HTTPStatus.OK, _content(faults.get(name))

    def _post(self, name: str | None) -> tuple[HTTPStatus, Any]:
        faults = self.server.faults
        if self.path == "/reset":
            faults.reset()
            return HTTPStatus.NO_CONTENT, None
        body = self._body(("set",) if name is not None else ("name", "set"))
        if name is None:
            return HTTPStatus.CREATED, _content(faults.add(body.get("name"), body.get("set")))
        return HTTPStatus.OK, _content(faults.change(name, body.get("set")))

    def _delete(self, name: str | None) -> tuple[HTTPStatus, Any]:
        if name is None:
            raise FaultError(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "DELETE needs a fault",
                help="write DELETE /faults/NAME, or POST /reset",
            )
        self.server.faults.remove(name)
        return HTTPStatus.NO_CONTENT, None

    def _answer(self, respond: Any, *, has_fault: bool = True) -> None:
        """Send the answer of `respond`, or an error. `has_fault`: the path may name a fault."""
        try:
            status, content = respond(self._name() if has_fault else None)
        except FaultError as error:
            status, content = HTTPStatus(error.status), _error(error)
        # The state is JSON already.
        text = content if isinstance(content, str) else "" if content is None else json.dumps(content)
        self._send(status, text.encode() + b"\n" if text else b"")

    def _send(self, status: HTTPStatus, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _name(self) -> str | None:
        """The name of a fault in the path; None for the list."""
        if self.path in ("/faults", "/faults/") or (self.path == "/reset" and self.command == "POST"):
            return None
        if self.path.startswith("/faults/"):
            return unquote(self.path.removeprefix("/faults/"))
        raise FaultError(
            HTTPStatus.NOT_FOUND,
            f"there is no {self.command} {self.path}",
            help="write GET or POST /faults, GET, POST or DELETE /faults/NAME, or POST /reset",
        )

    def _body(self, keys: tuple[str, ...]) -> dict[str, Any]:
        """Read the content of a request, an object with no other keys than `keys`."""
        text = self.rfile.read(self._length())
        try:
            body = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise FaultError(HTTPStatus.BAD_REQUEST, f"the content is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise FaultError(
                HTTPStatus.BAD_REQUEST,
                "the content is not an object",
                help='write for example {"name": "tunnel", "set": {"radio.cut": true}}',
            )
        for key in body:
            if key not in keys:
                raise FaultError(HTTPStatus.BAD_REQUEST, "unknown key", key[:80], f"known: {', '.join(keys)}")
        return body

    def _length(self) -> int:
        given = self.headers.get("Content-Length", "")
        if not (given.isascii() and given.isdigit()):
            raise FaultError(
                HTTPStatus.LENGTH_REQUIRED,
                "the length of the content is unknown",
                help="send a Content-Length",
            )
        # Leading zeros would make a number of many digits, which `int` refuses to read.
        if len(given) > len(str(MAX_REQUEST)) or int(given) > MAX_REQUEST:
            raise FaultError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the content has {given[:20]} bytes",
                help=f"at most {MAX_REQUEST} bytes are accepted",
            )
        return int(given)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: standard error belongs to the programs."""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _content(fault: Fault) -> dict[str, Any]:
    return {"name": fault.name, "set": fault.set, "since_s": fault.since_s}


def _error(error: FaultError) -> dict[str, Any]:
    """The content of an answer with an error, as toxiproxy has it, with key and repair in addition."""
    content: dict[str, Any] = {"error": error.message, "status": int(error.status)}
    content |= {name: value for name, value in (("key", error.key), ("help", error.help)) if value}
    return content

"""A running ``umts serve``, and raw requests to the server."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

PATIENCE_S = 240.0
"""Limit on each wait for the server or the browser: long, because the machine may be busy. A test
that meets it has failed."""


@dataclass(frozen=True)
class Answer:
    """Status, headers (names in lower case) and body of an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    """A server: the port, the token in the address, and the file of the log."""

    port: int
    token: str
    log: Path
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        return f"umtslab_{self.port}={self.token}"

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str | None) -> Answer:
        """Send a request with default headers. `headers` replace them; None omits a header."""
        sent: dict[str, str | None] = {
            "host": f"127.0.0.1:{self.port}",
            "cookie": self.cookie,
            "origin": self.origin if method == "POST" else None,
            "content-type": "application/json" if method == "POST" else None,
            "content-length": str(len(body or b"")) if method == "POST" else None,
        } | headers
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            answer_headers = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, answer_headers, answer.read())
        finally:
            connection.close()

    def post(self, path: str, content: Any, **headers: str | None) -> Answer:
        """Send an object as JSON."""
        return self.ask(path, "POST", json.dumps(content).encode(), **headers)

    def channel(self) -> ClientConnection:
        """Open the WebSocket of the page."""
        from websockets.sync.client import connect
        from websockets.typing import Origin

        return connect(
            f"ws://127.0.0.1:{self.port}/api/socket",
            origin=Origin(self.origin),
            additional_headers={"Cookie": self.cookie},
            open_timeout=PATIENCE_S,
            ping_timeout=None,
            max_size=None,
        )


@contextmanager
def serving(folder: Path, *options: object) -> Iterator[Served]:
    """Start ``umts serve`` on a free port, with a log in `folder`."""
    log = folder / "serve.log"
    words = [sys.executable, "-m", "umtslab", "serve", *map(str, options), "--port", "0", "--log"]
    with (
        log.open("w") as errors,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert "token=" in line, log.read_text()
            address, _, token = line.split()[-1].partition("/?token=")
            yield Served(int(address.rpartition(":")[2]), token, log, process)
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()

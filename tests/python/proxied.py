"""A running ``umts proxy``, servers, and TCP operations to compare with direct connections."""

from __future__ import annotations

import json
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

WAIT_S = 60
"""Timeout for every operation, sufficient on any machine."""

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with time 0: closing sends a reset."""

Address = tuple[str, int]
Serve = Callable[[socket.socket], object]


class Proxy:
    """A running ``umts proxy``. By default it listens on a free port of the loopback.

    `address` is where it listens, and `room` the maximum number of connections.
    """

    def __init__(self, *words: str, log: Path | None = None, listen: str = "127.0.0.1:0") -> None:
        self.log = log
        log_options = () if log is None else ("--log", str(log))
        line = [sys.executable, "-m", "umtslab", "proxy", "--listen", listen, *words, *log_options]
        self.process = subprocess.Popen(line, text=True, stderr=subprocess.PIPE)
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        match = re.match(r"listens at (.+):(\d+), for up to ([\d,]+)", first)
        assert match is not None, first + self.process.stderr.read()
        host, port, room = match.groups()
        self.address: Address = (host.strip("[]"), int(port))
        self.room = int(room.replace(",", ""))
        # Two more lines describe the TCP of both sides. Tests read the lines after them.
        for _ in range(2):
            self.process.stderr.readline()

    def end(self) -> str:
        """Stop the proxy with SIGTERM. Returns its summary."""
        self.process.terminate()
        _, summary = self.process.communicate(timeout=WAIT_S)
        assert self.process.returncode == 0, summary
        return summary

    def ended(self, count: int) -> list[dict[str, Any]]:
        """Wait for `count` ended connections in the log. Returns their lines."""
        assert self.log is not None
        deadline = time.monotonic() + WAIT_S
        while True:
            text = self.log.read_text() if self.log.exists() else ""
            lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
            ended = [line for line in lines if line["event"] == "connection"]
            if len(ended) >= count:
                return ended
            assert time.monotonic() < deadline, ended
            time.sleep(0.02)


@contextmanager
def proxy(*words: str, log: Path | None = None, listen: str = "127.0.0.1:0") -> Iterator[Proxy]:
    """Start a proxy with these options, and kill it at the end of the block."""
    running = Proxy(*words, log=log, listen=listen)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.communicate()


@contextmanager
def server(serve: Serve, family: socket.AddressFamily = socket.AF_INET) -> Iterator[Address]:
    """Start a server that calls `serve` for each connection, in a separate thread."""
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    listening = socket.create_server((host, 0), family=family, backlog=512)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=_served, args=(serve, connection), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield (host, listening.getsockname()[1])
    finally:
        # Closing the socket would not wake a blocked accept.
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(WAIT_S)
        listening.close()


def _served(serve: Serve, connection: socket.socket) -> None:
    with connection, suppress(OSError):
        connection.settimeout(WAIT_S)
        serve(connection)


def connect(address: Address) -> socket.socket:
    """Connect with a timeout for all operations."""
    return socket.create_connection(address, WAIT_S)


def first_octet(address: Address, wait_s: float = WAIT_S) -> bytes:
    """Return the first byte of a new connection.

    An immediate reset may fail the connect or the read.
    """
    with connect(address) as connection:
        connection.settimeout(wait_s)
        return connection.recv(1)


def text(address: Address) -> str:
    """Format an address for the command line."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def all_of(connection: socket.socket) -> bytes:
    """Read until the end of the stream."""
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def reset(connection: socket.socket) -> None:
    """Close with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    connection.close()


def outcome(action: Callable[[], object]) -> str:
    """Return the result of an action as text, or the name of its exception."""
    try:
        return repr(action())
    except OSError as error:
        return type(error).__name__

"""Faults of a running emulation: a client of the control socket of ``umts emulate --control``.

For tests of programs over the emulated network. The test may run inside the emulation or beside it::

    from umtslab.faults import Faults

    faults = Faults()
    with faults.cut("radio"):
        ...  # no block arrives in either direction

A fault sets keys of the scenario that ``[[at]]`` may change, and is in force until it is removed. The
values before it are restored then.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

CONTROL_VARIABLE = "UMTS_CONTROL"
"""Environment variable of an emulation's programs with the absolute path of its control socket."""

Value = bool | int | float | str
"""Value of a scenario key, for example ``True``, ``0.1`` or ``"150 ms"``."""


class FaultError(Exception):
    """The emulation refused a request, which has changed nothing."""

    def __init__(self, status: int, message: str, key: str | None = None, help: str | None = None) -> None:
        super().__init__(": ".join(filter(None, (key, message))) + (f"; {help}" if help else ""))
        self.message = message
        """The mistake."""
        self.status = status
        """Status of HTTP: 400 for invalid values, 404 for an unknown fault, 409 for a name in use, 503
        after the end of the emulation."""
        self.key = key
        """The scenario key with the mistake, if there is one."""
        self.help = help
        """A repair, if there is one."""


@dataclass(frozen=True)
class Fault:
    """A fault in force."""

    name: str
    set: Mapping[str, Value]
    """The keys that it sets, and their values."""
    since_s: float
    """Time of the emulation in seconds at which it was added or last changed."""


class Faults:
    """The faults of one emulation.

    Parameters
    ----------
    path
        The control socket. By default, the socket of the emulation in which this program runs.
    timeout_s
        Maximum time to wait for an answer, in seconds. Requests before the start of the emulation wait
        for the start.
    """

    def __init__(self, path: str | Path | None = None, *, timeout_s: float = 30.0) -> None:
        found = os.environ.get(CONTROL_VARIABLE) if path is None else str(path)
        if not found:
            raise ValueError(
                f"no control socket: {CONTROL_VARIABLE} is not set; run this program with umts emulate "
                "--control PATH, or give the path of the socket"
            )
        self._path = found
        self._timeout_s = timeout_s
        self._numbers = itertools.count(1)

    def add(self, name: str, values: Mapping[str, Value]) -> Fault:
        """Add a fault. It takes precedence over earlier faults that set the same keys."""
        return _fault(self._request("POST", "/faults", {"name": name, "set": dict(values)}))

    def change(self, name: str, values: Mapping[str, Value]) -> Fault:
        """Replace the keys and values of a fault."""
        return _fault(self._request("POST", _place(name), {"set": dict(values)}))

    def get(self, name: str) -> Fault:
        """Return the fault with this name."""
        return _fault(self._request("GET", _place(name)))

    def list(self) -> list[Fault]:
        """Return the faults in force, in the order in which they were added."""
        return [_fault(fault) for fault in self._request("GET", "/faults")["faults"]]

    def remove(self, name: str) -> None:
        """Remove a fault, which restores the values before it."""
        self._request("DELETE", _place(name))

    def reset(self) -> None:
        """Remove all faults."""
        self._request("POST", "/reset")

    @contextmanager
    def fault(self, values: Mapping[str, Value], *, name: str | None = None) -> Iterator[Fault]:
        """Set keys of the scenario during a block, for example ``{"link.0.delay": "300 ms"}``."""
        added = self.add(name or f"{next(iter(values), '')}-{os.getpid()}-{next(self._numbers)}", values)
        try:
            yield added
        finally:
            try:
                self.remove(added.name)
            except FaultError as error:
                # `remove` or `reset` may have removed it in the block.
                if error.status != HTTPStatus.NOT_FOUND:
                    raise

    @contextmanager
    def cut(self, radio: str = "radio", *, name: str | None = None) -> Iterator[Fault]:
        """Cut the air during a block: of all users, or of a group with ``ue.NAME.radio``."""
        with self.fault({f"{radio}.cut": True}, name=name) as fault:
            yield fault

    @contextmanager
    def block_errors(
        self, bler: float, *, uplink: float | None = None, radio: str = "radio", name: str | None = None
    ) -> Iterator[Fault]:
        """Lose this share of the blocks during a block: of the downlink, and of the uplink if given."""
        values = {f"{radio}.bler": bler} | ({} if uplink is None else {f"{radio}.uplink.bler": uplink})
        with self.fault(values, name=name) as fault:
            yield fault

    @contextmanager
    def link(
        self,
        link: int | str,
        *,
        rate: str | None = None,
        delay: str | None = None,
        loss: float | None = None,
        name: str | None = None,
    ) -> Iterator[Fault]:
        """Change a link of the fixed network during a block. `link` is its index or its near end."""
        values: dict[str, Value | None] = {"rate": rate, "delay": delay, "loss": loss}
        given = {f"link.{link}.{key}": value for key, value in values.items() if value is not None}
        with self.fault(given, name=name) as fault:
            yield fault

    def _request(self, method: str, place: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request. Returns the content of the answer, or raises `FaultError`."""
        connection = _UnixConnection(self._path, self._timeout_s)
        try:
            connection.request(method, place, body=None if body is None else json.dumps(body))
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        content: Any = None
        with suppress(ValueError):
            content = json.loads(text)
        if answer.status >= HTTPStatus.BAD_REQUEST:
            known = content if isinstance(content, dict) else {}
            message = known.get("error") or answer.reason
            raise FaultError(answer.status, message, known.get("key"), known.get("help"))
        return content


class _UnixConnection(http.client.HTTPConnection):
    """A connection of HTTP over a Unix socket."""

    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _place(name: str) -> str:
    return f"/faults/{quote(name, safe='')}"


def _fault(content: Mapping[str, Any]) -> Fault:
    return Fault(content["name"], content["set"], content["since_s"])

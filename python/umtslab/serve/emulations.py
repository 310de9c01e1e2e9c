"""Emulations that run now: ``umts emulate --live`` with the results folder of the server.

Each emulation has a socket in the folder ``live`` of the store. A thread of its own requests the state
of an emulation, so that a stopped emulation delays no other one. The server only reads and sets faults,
and the emulation does not wait for the server.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from umtslab import live_sockets
from umtslab.serve import ended_emulations
from umtslab.serve.live_emulation import About, state_of
from umtslab.serve.models import live as models

MAX_EMULATIONS = 8
"""Emulations that are shown at the same time."""

WATCHED_S = 0.2
"""Time between two states of an emulation that a tab shows, in seconds."""

UNWATCHED_S = 1.0
"""Time between two states of an emulation that no tab shows, and between two looks into the folder."""

PATIENCE_S = 3.0
"""Limit on each operation of a socket, in seconds."""

MAX_ANSWER = 2 * 2**20
"""Limit on the size of an answer, in bytes."""

_REMEMBERED = 32
"""Ended emulations that are remembered."""


class NoSuchEmulation(LookupError):
    """An emulation does not exist, or has ended."""


class ControlFailed(Exception):
    """An emulation refused an order, or did not answer. The message says why."""


class _Connection(http.client.HTTPConnection):
    """HTTP over a socket that is connected already."""

    def __init__(self, client: socket.socket) -> None:
        super().__init__("localhost")
        self.sock = client


@dataclass
class Emulation:
    """A running emulation."""

    id: str
    about: About
    latest: tuple[int, str] = (0, "null")
    """The number of the latest state, and the state, a `models.LiveEmulation` as JSON. The first state
    has number 1."""
    wake: threading.Event = field(default_factory=threading.Event)


class Emulations:
    """The running emulations of a store. Its methods may be called from any thread."""

    def __init__(self, store: Path, changed: Callable[[str | None], None]) -> None:
        self._store = store
        self._changed = changed
        """Called after a change of an emulation, or, with None, of the list of emulations."""
        self._found: dict[str, Emulation] = {}
        self._viewers: Counter[str] = Counter()
        """Number of tabs that show an emulation."""
        self._followed: set[str] = set()
        self._ended: OrderedDict[str, str] = OrderedDict()
        """Emulations that have ended, with their commands."""
        self._runs: OrderedDict[str, str] = OrderedDict()
        """Keys of the stored runs of emulations that have ended."""
        self._searched: dict[str, int] = {}
        """Time of the last change of the stored runs at the last search for the run of an emulation."""
        self._lock = threading.Lock()
        self._is_closed = threading.Event()

    def find_new(self) -> None:
        """Look for new emulations in the folder."""
        for name in live_sockets.names(self._store):
            with self._lock:
                if name in self._followed or len(self._followed) >= MAX_EMULATIONS:
                    continue
                self._followed.add(name)
            threading.Thread(target=self._follow, args=(name,), name="umts-emulation", daemon=True).start()
        self._find_runs()

    def _find_runs(self) -> None:
        """Look for the runs of emulations that have ended and that a tab shows.

        An emulation is stored after it has ended, which may take a while.
        """
        with self._lock:
            known = self._found.keys() | self._followed | self._runs.keys()
            wanted = [name for name in self._viewers if live_sockets.is_name(name) and name not in known]
            self._searched = {name: at for name, at in self._searched.items() if name in wanted}
        if not wanted:
            return
        changed = ended_emulations.last_change(self._store)
        for name in wanted:
            if self._searched.get(name) == changed:
                continue
            self._searched[name] = changed
            key = ended_emulations.run_of(self._store, name)
            if key is not None:
                with self._lock:
                    self._runs[name] = key
                    while len(self._runs) > _REMEMBERED:
                        self._runs.popitem(last=False)
                self._changed(name)

    def run(self, identity: str) -> str | None:
        """Return the key of the stored run of an emulation that has ended, if it is known."""
        with self._lock:
            return self._runs.get(identity)

    def rows(self) -> list[dict[str, str]]:
        """Return the running emulations."""
        with self._lock:
            return [{"id": one.id, "title": one.about.command} for one in self._found.values()]

    def get(self, identity: str) -> Emulation:
        """Return a running emulation.

        Raises
        ------
        NoSuchEmulation
            If it does not exist or has ended.
        """
        with self._lock:
            found, ended = self._found.get(identity), self._ended.get(identity)
            is_stored = identity in self._runs
        if found is not None:
            return found
        if is_stored:
            raise NoSuchEmulation(f"the emulation{f' of {ended}' if ended else ''} has ended")
        if ended is not None:
            raise NoSuchEmulation(
                f"the emulation of {ended} has ended: its result is on Home, unless the emulation was killed"
            )
        raise NoSuchEmulation("there is no such emulation: start one with umts emulate --live -- COMMAND")

    def watch(self, identity: str) -> None:
        """Count a tab that shows an emulation, which may begin later."""
        with self._lock:
            self._viewers[identity] += 1
            emulation = self._found.get(identity)
        if emulation is not None:
            emulation.wake.set()

    def leave(self, identity: str) -> None:
        """Count a tab that no longer shows an emulation."""
        with self._lock:
            self._viewers[identity] -= 1
            if not self._viewers[identity]:
                del self._viewers[identity]

    def control(self, identity: str, name: str, choice: int) -> None:
        """Choose a value of a control. All values come from the emulation itself.

        Raises
        ------
        NoSuchEmulation
            If the emulation does not exist or has ended.
        ControlFailed
            If there is no such control or choice, or the emulation refuses it.
        """
        emulation = self.get(identity)
        control = next((one for one in emulation.about.controls if one.name == name), None)
        if control is None or not 0 <= choice < len(control.choices):
            raise ControlFailed("There is no such control, or no such choice of it. Reload the page.")
        fault = f"page-{control.name}"
        address = f"/faults/{quote(fault, safe='')}"
        values = control.choices[choice].set
        try:
            if not values:
                status, answer = self._request(identity, "DELETE", address)
                status = HTTPStatus.OK if status == HTTPStatus.NOT_FOUND else status
            else:
                status, answer = self._request(identity, "POST", address, {"set": values})
                if status == HTTPStatus.NOT_FOUND:
                    status, answer = self._request(
                        identity, "POST", "/faults", {"name": fault, "set": values}
                    )
        except (OSError, http.client.HTTPException) as error:
            raise ControlFailed(f"The emulation does not answer: {error}.") from error
        if status >= HTTPStatus.BAD_REQUEST:
            raise ControlFailed(f"The emulation refuses this: {_message(answer)}.")
        emulation.wake.set()

    def close(self) -> None:
        """Stop following emulations. They go on."""
        self._is_closed.set()
        with self._lock:
            for emulation in self._found.values():
                emulation.wake.set()

    # ── The thread of an emulation ──────────────────────────────────────────────────────────────────

    def _follow(self, name: str) -> None:
        """Request the states of an emulation until it ends."""
        emulation: Emulation | None = None
        last_answer_s = time.monotonic()
        try:
            while not self._is_closed.is_set():
                try:
                    if emulation is None:
                        emulation = self._begin(name)
                    if emulation is None:
                        return
                    self._receive(emulation)
                    last_answer_s = time.monotonic()
                except (FileNotFoundError, ConnectionError, PermissionError):
                    return
                except TimeoutError:
                    # A stopped emulation accepts connections, and does not answer.
                    if emulation is not None:
                        self._keep(emulation, silent_s=time.monotonic() - last_answer_s)
                if emulation is not None:
                    emulation.wake.wait(WATCHED_S if self._viewers[name] else UNWATCHED_S)
                    emulation.wake.clear()
                else:
                    self._is_closed.wait(UNWATCHED_S)
        except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
            # Another program listens there, or an emulation of another version.
            self._is_closed.wait(UNWATCHED_S)
        finally:
            self._end(name, emulation)

    def _begin(self, name: str) -> Emulation | None:
        status, answer = self._request(name, "GET", "/emulation")
        if status != HTTPStatus.OK:
            return None
        about = About.model_validate_json(answer)
        emulation = Emulation(name, about)
        with self._lock:
            self._found[name] = emulation
        self._changed(None)
        return emulation

    def _receive(self, emulation: Emulation) -> None:
        status, answer = self._request(emulation.id, "GET", "/emulation/state")
        if status == HTTPStatus.GATEWAY_TIMEOUT:
            raise TimeoutError
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            # It ends, and is being stored.
            return
        if status != HTTPStatus.OK:
            raise ValueError(f"status {status}")
        self._keep(emulation, json.loads(answer))

    def _keep(self, emulation: Emulation, answer: Any = None, silent_s: float = 0.0) -> None:
        """Keep a new state, or the age of the last one."""
        content = (
            json.loads(emulation.latest[1])
            if answer is None
            else state_of(emulation.id, emulation.about, answer)
        )
        if content is None:
            return
        content["silent_s"] = round(silent_s)
        # The answer is from another process: nothing else than the model reaches a browser.
        text = models.LiveEmulation.model_validate(content).model_dump_json()
        emulation.latest = (emulation.latest[0] + 1, text)
        self._changed(emulation.id)

    def _end(self, name: str, emulation: Emulation | None) -> None:
        with self._lock:
            self._followed.discard(name)
            self._found.pop(name, None)
            if emulation is not None:
                self._ended[name] = emulation.about.command
                while len(self._ended) > _REMEMBERED:
                    self._ended.popitem(last=False)
        if emulation is not None:
            self._changed(name)
            self._changed(None)

    def _request(
        self, name: str, method: str, address: str, body: Mapping[str, Any] | None = None
    ) -> tuple[int, bytes]:
        """Send a request to an emulation. Return the status and the content of the answer."""
        with live_sockets.connected(self._store, name, PATIENCE_S) as client:
            connection = _Connection(client)
            connection.request(method, address, body=None if body is None else json.dumps(body))
            answer = connection.getresponse()
            content = answer.read(MAX_ANSWER + 1)
        if len(content) > MAX_ANSWER:
            raise ValueError("the answer is too large")
        return answer.status, content


def _message(answer: bytes) -> str:
    """Return the message of an error, or a general one."""
    with suppress(ValueError, AttributeError):
        message = json.loads(answer).get("error")
        if isinstance(message, str):
            return message[:300].rstrip(".")
    return "no reason is given"

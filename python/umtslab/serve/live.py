"""Live sessions: simulations that visitors watch and control. Each is a process of its own.

The server keeps only the latest state of a session. A tab that reads slowly, or sleeps, gets that
state next, and none of the states before.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from umtslab.serve.jobs import Limits, end_of, start_process
from umtslab.serve.live_player import Start, play

LIVE = Limits(cpu_s=1800, wall_s=4 * 3600.0, memory=4 * 2**30, file_size=2**20)
"""Limits of the process of a session."""

MAX_SESSIONS = 4
"""Sessions at the same time."""

UNWATCHED_S = 600.0
"""Time after which a session ends that no tab shows, in seconds."""

_GRACE_S = 2.0
"""Time to wait for the exit status of a process that closed its connection."""


class NoSuchSession(LookupError):
    """A session does not exist, or has ended."""

    def __init__(self) -> None:
        super().__init__("there is no such live session: open a scenario live on the page Live")


class TooManySessions(Exception):
    """Too many sessions are open."""

    def __init__(self) -> None:
        super().__init__(
            f"There are {MAX_SESSIONS} live sessions already, which is the limit. End one of them first."
        )


class SessionFailed(Exception):
    """The process of a session ended. The message says why."""


@dataclass
class Session:
    """A live session."""

    id: str
    title: str
    start: Start
    process: Any
    connection: Connection
    deadline: float
    """Time of the clock `time.monotonic` at which the session ends."""
    latest: tuple[int, str] = (0, "null")
    """The number of the latest state, and the state, a `models.Live` as JSON. The first state has
    number 1."""
    failure: str | None = None
    viewers: int = 0
    unwatched_since: float = field(default_factory=time.monotonic)
    sending: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Sessions:
    """The live sessions of the server."""

    changed: Callable[[str | None], None]
    """Called from any thread after a change of a session, or, with None, of the list of sessions."""
    _sessions: dict[str, Session] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, start: Callable[[str], Start], title: str) -> str:
        """Start a session, and return its name. `start` makes the runs from the name.

        Raises
        ------
        TooManySessions
            If `MAX_SESSIONS` are open.
        """
        self.end_unwatched()
        with self._lock:
            if len(self._open()) >= MAX_SESSIONS:
                raise TooManySessions
            # Failed sessions are remembered until others take their place.
            for failed in [found for found in self._sessions.values() if found.failure is not None]:
                del self._sessions[failed.id]
            identity = secrets.token_hex(4)
            made = start(identity)
            process, connection = start_process(play, LIVE, made)
            deadline = time.monotonic() + LIVE.wall_s
            session = Session(identity, title, made, process, connection, deadline)
            self._sessions[identity] = session
        threading.Thread(target=self._receive, args=(session,), name="umts-live", daemon=True).start()
        self.changed(None)
        return identity

    def rows(self) -> list[dict[str, str]]:
        """Return the open sessions, newest last."""
        with self._lock:
            return [{"id": session.id, "title": session.title} for session in self._open()]

    def get(self, identity: str) -> Session:
        """Return a session.

        Raises
        ------
        NoSuchSession
            If it does not exist or has ended.
        SessionFailed
            If its process ended by itself.
        """
        with self._lock:
            session = self._sessions.get(identity)
        if session is None:
            raise NoSuchSession
        if session.failure is not None:
            raise SessionFailed(session.failure)
        return session

    def control(self, identity: str, order: dict[str, Any]) -> None:
        """Pass an order to a session.

        Raises
        ------
        NoSuchSession, SessionFailed
            As `get`.
        """
        session = self.get(identity)
        with session.sending, suppress(OSError):
            session.connection.send(order)

    def end(self, identity: str) -> None:
        """End a session.

        Raises
        ------
        NoSuchSession
            If it does not exist.
        """
        with self._lock:
            session = self._sessions.pop(identity, None)
        if session is None:
            raise NoSuchSession
        _kill(session)
        self.changed(identity)
        self.changed(None)

    def watch(self, identity: str) -> None:
        """Count a tab that shows a session. Does nothing if there is no such session."""
        with self._lock:
            if (session := self._sessions.get(identity)) is not None:
                session.viewers += 1

    def leave(self, identity: str) -> None:
        """Count a tab that no longer shows a session."""
        with self._lock:
            if (session := self._sessions.get(identity)) is not None:
                session.viewers -= 1
                session.unwatched_since = time.monotonic()

    def end_unwatched(self) -> None:
        """End the sessions that no tab has shown for `UNWATCHED_S`, and those at their limit of time."""
        now = time.monotonic()
        with self._lock:
            over = [
                session.id
                for session in self._open()
                if now > session.deadline
                or (session.viewers == 0 and now - session.unwatched_since > UNWATCHED_S)
            ]
        for identity in over:
            with suppress(NoSuchSession):
                self.end(identity)

    def close(self) -> None:
        """End all sessions."""
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            _kill(session)

    def _open(self) -> list[Session]:
        return [session for session in self._sessions.values() if session.failure is None]

    def _receive(self, session: Session) -> None:
        """Keep the latest state of a session until its process ends."""
        failure = None
        try:
            while True:
                kind, text = session.connection.recv()
                if kind == "failed":
                    failure = text
                    break
                session.latest = (session.latest[0] + 1, text)
                self.changed(session.id)
        except (EOFError, OSError):
            pass
        with self._lock:
            was_open = session.id in self._sessions
        if was_open:
            session.process.join(_GRACE_S)
            failure = failure or end_of(session.process.exitcode, LIVE).replace("The job", "The live session")
            session.failure = f"{failure} Open the scenario live again."
            self.changed(session.id)
            self.changed(None)
        session.connection.close()


def _kill(session: Session) -> None:
    if session.process.is_alive():
        session.process.kill()
    session.process.join()


def state_of(session: Session) -> Any:
    """Return the latest state of a session as an object."""
    return json.loads(session.latest[1])

"""The socket over which each tab gets the jobs, live sessions and emulations, and the state of one of them.

A tab that shows a live session or an emulation says so in a `models.live.Watch`. After each change
the tab gets a `models.live.State`, but only the latest one, and only after it has confirmed the state
before. So a slow or sleeping tab delays no other tab, and gets no outdated states.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from umtslab.live_sockets import is_name
from umtslab.serve.emulations import Emulations, NoSuchEmulation
from umtslab.serve.jobs import Jobs
from umtslab.serve.live import NoSuchSession, SessionFailed, Sessions
from umtslab.serve.models.live import Watch
from umtslab.serve.routes.errors import sentence
from umtslab.serve.routes.scenarios import job_list

_MAX_SENDING_S = 10.0
"""Time in which a message must be sent. Otherwise the socket is closed."""

_MIN_INTERVAL_S = 0.04
"""Minimum time between two messages to a tab: 25 per second are enough for moving charts."""


class Tab:
    """A tab of a browser, with the live session that it shows."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        """Set if the tab has to get a new state. At first it has to."""
        self.changed.set()
        self.session: str | None = None
        """Identity of the live session or emulation that the tab shows."""
        self.sent = 0
        """Number of the last state of the session that was sent."""
        self.shown = 0
        """Number of the last state that the tab has confirmed."""
        self.has_missed = False
        """Whether something changed while the tab had not confirmed the last state."""

    @property
    def awaits_confirmation(self) -> bool:
        """Whether the tab has not shown the last state yet. It may sleep."""
        return self.shown < self.sent


class Tabs:
    """All connected tabs."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tabs: set[Tab] = set()

    def begin(self) -> None:
        """Remember the running event loop, in which the tabs are woken."""
        self._loop = asyncio.get_running_loop()

    def wake(self, session: str | None = None) -> None:
        """Wake all tabs, or those that show a session. May be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._set_changed, session)

    def _set_changed(self, session: str | None) -> None:
        for tab in self._tabs:
            if session is None or tab.session == session:
                tab.changed.set()

    @contextmanager
    def connected(self) -> Iterator[Tab]:
        """Add a tab as long as its socket is open."""
        tab = Tab()
        self._tabs.add(tab)
        try:
            yield tab
        finally:
            self._tabs.discard(tab)


def add_socket(app: FastAPI, jobs: Jobs, sessions: Sessions, emulations: Emulations, tabs: Tabs) -> None:
    """Add the socket. For each tab one task receives and another one sends."""

    @app.websocket("/api/socket")
    async def socket(channel: WebSocket) -> None:
        await channel.accept()
        with tabs.connected() as tab:
            sending = asyncio.create_task(_send_states(channel, tab, jobs, sessions, emulations))
            try:
                while not sending.done():
                    _receive(await channel.receive_text(), tab, sessions, emulations)
            except (WebSocketDisconnect, RuntimeError):
                pass
            finally:
                if tab.session is not None:
                    sessions.leave(tab.session)
                    emulations.leave(tab.session)
            sending.cancel()
            with suppress(asyncio.CancelledError, TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
                await sending


def _receive(text: str, tab: Tab, sessions: Sessions, emulations: Emulations) -> None:
    """Read a message of a tab. Messages that are no `models.live.Watch` are dropped."""
    try:
        message = Watch.model_validate_json(text)
    except ValidationError:
        return
    if message.watch != tab.session:
        _show(message.watch, tab, sessions, emulations)
    tab.shown = max(tab.shown, message.shown)
    if tab.has_missed and not tab.awaits_confirmation:
        tab.changed.set()


def _show(identity: str | None, tab: Tab, sessions: Sessions, emulations: Emulations) -> None:
    """Make a tab show another session or emulation, or none. The numbers of states begin again."""
    for shown in (sessions, emulations):
        if tab.session is not None:
            shown.leave(tab.session)
        if identity is not None:
            shown.watch(identity)
    tab.session, tab.sent, tab.shown = identity, 0, 0
    tab.changed.set()


async def _send_states(
    channel: WebSocket, tab: Tab, jobs: Jobs, sessions: Sessions, emulations: Emulations
) -> None:
    """Send the latest state after each change, and after the tab has shown the one before."""
    while True:
        await tab.changed.wait()
        tab.changed.clear()
        tab.has_missed = tab.awaits_confirmation
        if tab.awaits_confirmation:
            # The confirmation sets `changed` again.
            continue
        await asyncio.wait_for(channel.send_text(_state(tab, jobs, sessions, emulations)), _MAX_SENDING_S)
        await asyncio.sleep(_MIN_INTERVAL_S)


def _state(tab: Tab, jobs: Jobs, sessions: Sessions, emulations: Emulations) -> str:
    """Return a `models.live.State` as JSON. The state of the session or emulation is text already."""
    content: dict[str, Any] = {
        **job_list(jobs),
        "sessions": sessions.rows(),
        "emulations": emulations.rows(),
        "live_number": 0,
        "live_problem": None,
        "live_run": None,
    }
    live = emulation = "null"
    if tab.session is not None:
        try:
            if is_name(tab.session):
                content["live_number"], emulation = emulations.get(tab.session).latest
            else:
                content["live_number"], live = sessions.get(tab.session).latest
        except (NoSuchSession, SessionFailed, NoSuchEmulation) as error:
            content["live_problem"] = sentence(error)
            content["live_run"] = emulations.run(tab.session)
        tab.sent = content["live_number"]
    # Insert the texts as the last members of the object.
    without_brace = json.dumps(content)[:-1]
    return f'{without_brace}, "live": {live}, "emulation": {emulation}}}'

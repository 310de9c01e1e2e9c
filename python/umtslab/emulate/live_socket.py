"""The socket at which ``umts serve`` reads the state of an emulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from umtslab import live_sockets
from umtslab.emulate.fault_server import served
from umtslab.emulate.faults import ActiveFaults
from umtslab.emulate.live_state import LiveState
from umtslab.emulate.session import Session


@contextmanager
def shown(session: Session, faults: ActiveFaults, live: LiveState) -> Iterator[None]:
    """Answer requests of ``umts serve`` during a block."""
    store = Path(session.store)
    # Before the clock starts: checking the controls takes a while and holds the interpreter.
    _ = live.about
    live_sockets.remove_dead(store)
    with live_sockets.place(store, session.live) as path, served(path, faults, live):
        yield

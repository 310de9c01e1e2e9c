"""The state of a running emulation, for ``umts serve`` of the same results folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from umtslab import _core
from umtslab.emulate.background import simulates_flows
from umtslab.emulate.faults import ActiveFaults
from umtslab.emulate.live_controls import controls
from umtslab.faults import FaultError

if TYPE_CHECKING:
    from umtslab.emulate.session import Session
    from umtslab.scenario import Scenario

VERSION = 1
"""Version of the answers. ``umts serve`` shows no emulation with another one."""

MAX_USERS = 32
"""Users in an answer. More would delay the event loop, which copies their states."""

BINS = 10
"""Bins of 0.1 s in each point of the charts."""

POINTS = 60
"""Points of each chart."""

PATIENCE_S = 1.5
"""Time to wait for the event loop, in seconds."""


class LiveState:
    """Answers requests about one emulation. Its methods may be called from any thread."""

    def __init__(self, session: Session, scenario: Scenario, faults: ActiveFaults) -> None:
        self.viewer = _core.LiveViewer()
        self._session = session
        self._scenario = scenario
        self._faults = faults
        self._rtt_s: float | None = None
        """The last round-trip time that the meter measured."""

    def keep(self, reading: Mapping[str, Any]) -> None:
        """Keep the round-trip time of the meter, if it measured one."""
        self._rtt_s = reading.get("rtt_s", self._rtt_s)

    @cached_property
    def about(self) -> dict[str, Any]:
        """Properties that do not change during the emulation."""
        session, scenario = self._session, self._scenario
        return {
            "version": VERSION,
            "command": shlex.join(session.command),
            "programs": 1 + len(session.ues),
            "scenario": scenario.name,
            "seed": session.seed,
            "has_flows": simulates_flows(scenario, session),
            "keeps_flows": session.keep_flows,
            "strict": session.strict,
            "controls": [asdict(control) for control in controls(scenario.core)],
        }

    def state(self) -> str:
        """Return the current state as JSON.

        Raises
        ------
        FaultError
            If the emulation has ended, has not begun, or does not answer.
        """
        try:
            found = self.viewer.read(self._scenario.core, MAX_USERS, BINS, POINTS, PATIENCE_S)
        except RuntimeError as error:
            raise FaultError(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from error
        except TimeoutError as error:
            raise FaultError(HTTPStatus.GATEWAY_TIMEOUT, str(error)) from error
        faults = [
            {"name": fault.name, "set": dict(fault.set), "since_s": fault.since_s}
            for fault in self._faults.list()
        ]
        head = {"faults": faults, "rtt_s": self._rtt_s}
        return f'{json.dumps(head)[:-1]}, "now": {found}}}'

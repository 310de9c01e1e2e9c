"""A stand-in for ``umts emulate --live``: its socket with the state of a simulation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from umtslab import Scenario, _core, live_sockets
from umtslab.emulate.fault_server import served
from umtslab.emulate.faults import ActiveFaults
from umtslab.emulate.live_controls import controls
from umtslab.emulate.live_state import BINS, MAX_USERS, POINTS, VERSION

SCENARIOS = Path(__file__).parents[2] / "scenarios"

ON_TIME = {
    "lateness_p50_s": 6e-5,
    "lateness_p99_s": 5.4e-4,
    "lateness_max_s": 0.0123,
    "lateness_limit_s": 0.01,
    "instants": 3000.0,
    "late_instants": 1.0,
    "tun_drops": 0.0,
    "devices_lost": 0.0,
    "real_time": 0.0,
}
"""Fidelity of an emulation on a machine that keeps up."""


class FaultOrders:
    """Records the orders about faults, one per second."""

    def __init__(self) -> None:
        self.orders: list[tuple[str, str | None]] = []

    def set(self, scenario: _core.Scenario, name: str, values: str) -> int:
        """Check and record a fault."""
        scenario.with_overrides([("at", f'[{{ time = "0 s", set = {values} }}]')])
        self.orders.append((name, values))
        return len(self.orders) * 1_000_000_000

    def remove(self, name: str) -> int:
        """Record a removal."""
        self.orders.append((name, None))
        return len(self.orders) * 1_000_000_000


class StandIn:
    """Answers as `umtslab.emulate.live_state.LiveState`, with the state of a simulation."""

    def __init__(self, scenario: str = "ftp-on-dch-64", at_s: float = 20.0) -> None:
        self.scenario = Scenario.load(SCENARIOS / f"{scenario}.toml")
        self.faults = ActiveFaults(self.scenario.core)
        self.orders = FaultOrders()
        self.faults.control = self.orders  # type: ignore[assignment]
        self.is_degraded = False
        self.requests = 0
        runs = _core.LiveRuns([self.scenario.core], 1, 0)
        runs.advance(round(at_s * 1e9), 60.0)
        self._time_s = at_s
        self._state = runs.state(0, MAX_USERS, BINS, POINTS)
        self.about: dict[str, Any] = {
            "version": VERSION,
            "command": "curl http://example.com/bytes/500000",
            "programs": 1,
            "scenario": self.scenario.name,
            "seed": 1,
            "has_flows": True,
            "keeps_flows": False,
            "strict": False,
            "controls": [asdict(control) for control in controls(self.scenario.core)],
        }

    def state(self) -> str:
        """Return the state, 0.1 s later at each request."""
        self.requests += 1
        faults = [
            {"name": fault.name, "set": dict(fault.set), "since_s": fault.since_s}
            for fault in self.faults.list()
        ]
        late = {"lateness_p99_s": 0.0312, "late_instants": 90.0} if self.is_degraded else {}
        now = {
            "time_s": self._time_s + self.requests / 10,
            "state": json.loads(self._state),
            "fidelity": ON_TIME | late,
            "refused": 0,
            "degraded": self.is_degraded,
        }
        return json.dumps({"faults": faults, "rtt_s": 0.2345, "now": now})


@contextmanager
def emulated(store: Path, stand_in: StandIn, name: str = "e0000000a") -> Iterator[StandIn]:
    """Listen as a running emulation of the store during a block."""
    with (
        live_sockets.place(store, name) as path,
        served(path, stand_in.faults, stand_in),  # type: ignore[arg-type]
    ):
        yield stand_in

"""Simulated flows beside real programs.

A UE with a real program has no simulated traffic by default.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from umtslab.emulate.session import Session
    from umtslab.scenario import Scenario


class _Flow(NamedTuple):
    """A flow of a scenario file, and the number of its users with programs."""

    number: int
    ue: str
    traffic: str
    users: int
    programs: int


def simulates_flows(scenario: Scenario, session: Session) -> bool:
    """Whether there are simulated users beside the programs."""
    flows = _flows(scenario, 1 + len(session.ues))
    return any(session.keep_flows or flow.programs < flow.users for flow in flows)


def left_out(scenario: Scenario, programs: int) -> str | None:
    """Describe the flows that are omitted because the first UEs have programs.

    None if there are none.
    """
    found = [_described(flow) for flow in _flows(scenario, programs) if flow.programs]
    if not found:
        return None
    return (
        f"not simulated, because programs replace them: {', '.join(found)} (--keep-flows simulates them too)"
    )


def _described(flow: _Flow) -> str:
    users = f"`{flow.ue}`"
    if flow.programs < flow.users:
        users = f"the first {flow.programs} of {flow.users} `{flow.ue}`"
    return f"flow {flow.number} ({flow.traffic}) of {users}"


def _flows(scenario: Scenario, programs: int) -> list[_Flow]:
    """Return the flows of a scenario in which the first `programs` UEs have programs."""
    content: dict[str, Any] = json.loads(scenario.core.to_json())
    users, with_programs, rest = {}, {}, programs
    for group in content["ue"]:
        # Groups of calls have no users.
        count = group.get("count") or 0
        users[group["name"]], with_programs[group["name"]] = count, min(count, rest)
        rest -= with_programs[group["name"]]
    flows = enumerate(content.get("flow", []))
    return [
        _Flow(number, flow["ue"], flow["traffic"], users[flow["ue"]], with_programs[flow["ue"]])
        for number, flow in flows
    ]

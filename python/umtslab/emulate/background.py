"""The simulated flows of an emulation, in addition to the packets of real programs.

By default a program replaces the simulated flows of its UE. Programs run at the first UEs of the
scenario.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from umtslab.emulate.session import Session
    from umtslab.scenario import Scenario


class _Flow(NamedTuple):
    """A flow of a scenario file."""

    number: int
    """Position in the file, from 0."""
    ue: str
    """Name of the group of UEs that have the flow."""
    traffic: str
    users: int
    """Number of UEs in the group."""
    programs: int
    """Number of these UEs that have a program."""


def simulates_flows(scenario: Scenario, session: Session) -> bool:
    """Whether flows of users without programs, or with `keep_flows` of any user, are simulated."""
    flows = _flows(scenario, 1 + len(session.ues))
    return any(session.keep_flows or flow.programs < flow.users for flow in flows)


def left_out(scenario: Scenario, programs: int) -> str | None:
    """Describe the flows that are omitted because the first UEs have programs.

    None if there are none.
    """
    replaced = [_described(flow) for flow in _flows(scenario, programs) if flow.programs]
    if not replaced:
        return None
    flows = ", ".join(replaced)
    return f"not simulated, because programs replace them: {flows} (--keep-flows simulates them too)"


def _described(flow: _Flow) -> str:
    """Describe a flow and the users without its simulation."""
    users = f"`{flow.ue}`"
    if flow.programs < flow.users:
        users = f"the first {flow.programs} of {flow.users} `{flow.ue}`"
    return f"flow {flow.number} ({flow.traffic}) of {users}"


def _flows(scenario: Scenario, programs: int) -> list[_Flow]:
    """Return the flows of a scenario in which the first `programs` UEs have programs."""
    content: dict[str, Any] = json.loads(scenario.core.to_json())
    users: dict[str, int] = {}  # number of users by name of their group
    with_programs: dict[str, int] = {}  # number of users with a program, likewise
    unassigned = programs
    for group in content["ue"]:
        name = group["name"]
        users[name] = group.get("count") or 0  # groups of calls have no users
        with_programs[name] = min(users[name], unassigned)
        unassigned -= with_programs[name]
    flows = enumerate(content.get("flow", []))
    return [
        _Flow(
            number=number,
            ue=flow["ue"],
            traffic=flow["traffic"],
            users=users[flow["ue"]],
            programs=with_programs[flow["ue"]],
        )
        for number, flow in flows
    ]

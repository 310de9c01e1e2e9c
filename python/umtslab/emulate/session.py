"""The configuration of one emulation, which the processes pass on as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

METRICS_VARIABLE = "UMTS_METRICS"
"""Environment variable of the programs with the name of a file. A program may write its own metrics
to the file, as a JSON object of names and numbers. They become results of the emulation."""

RECORDING = "packets-in.pcapng"
"""File of a recorded emulation with the packets as they came in, for a replay."""


@dataclass(frozen=True)
class Session:
    """The network of an emulation, its programs, and the results to store."""

    scenario: str
    """The whole scenario, as TOML."""
    base_dir: str
    """Folder of the files that the scenario names."""
    seed: int
    command: tuple[str, ...]
    """Program of the first UE. Its exit status is the exit status of the emulation."""
    ues: tuple[str, ...] = ()
    """Shell commands of the second and further UEs."""
    servers: tuple[str, ...] = ()
    """Shell commands of the server side."""
    tcp: tuple[tuple[str, str], ...] = ()
    """Kernel variables below ``net/ipv4``, and route metrics as ``route.NAME``."""
    store: str = "results"
    series: bool = False
    pcap: bool = False
    record: bool = False
    control: str = ""
    """Absolute path of the control socket. Empty: there is none."""
    live: str = ""
    """Name of the emulation in ``umts serve`` of the results folder. Empty: it is not shown."""
    strict: bool = False
    meter: bool = True
    json: bool = False
    """Print one JSON object to standard output. Output of the command goes to standard error."""
    waits: bool = False
    """Wait for the programs of all UEs, not only for the command."""
    has_internet: bool = False
    """Give programs access to the host's network by NAT, which needs root. Otherwise built-in
    servers answer at every address."""
    has_host_services: bool = False
    """With `has_internet`, programs can also reach the host's own addresses."""
    proxy: tuple[tuple[str, str], ...] = ()
    """Options of ``umts proxy`` for a proxy between the links. Empty: no proxy."""
    proxy_sides: tuple[tuple[tuple[str, str], ...], ...] = ((), ())
    """TCP settings of the proxy, as in `tcp`: towards the servers and towards the users."""
    wires: tuple[str, ...] = ()
    """Two attached devices of this host instead of namespaces: of the UE and of the network."""
    keep_flows: bool = False
    """Simulate the flows of the programs' UEs beside the programs. Otherwise these never begin."""
    variables: tuple[tuple[str, str], ...] = field(default=())
    """Environment variables for the programs, in addition to the user's environment."""
    are_prompt: bool = False
    """Run the programs with a real-time priority below the emulator's, if the user may. The
    scheduling of programs then hardly adds to the delays of the network."""

    def to_json(self) -> str:
        """Return the session as a JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Session:
        """Read the result of `to_json`."""
        content = json.loads(text)
        for name in ("command", "ues", "servers", "wires"):
            content[name] = tuple(content[name])
        for name in ("tcp", "variables", "proxy"):
            content[name] = _pairs(content[name])
        content["proxy_sides"] = tuple(_pairs(side) for side in content["proxy_sides"])
        return cls(**content)


def _pairs(lists: list[list[str]]) -> tuple[tuple[str, str], ...]:
    """Convert pairs, which JSON stores as lists, back to tuples."""
    return tuple((key, value) for key, value in lists)

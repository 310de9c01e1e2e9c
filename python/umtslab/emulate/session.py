"""What one emulation is asked for, as it crosses from process to process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

METRICS_VARIABLE = "UMTS_METRICS"
"""Environment variable of the programs: a file in which one of them may leave metrics of its own, as a JSON
object of names and numbers, for the results of the emulation."""

RECORDING = "packets-in.pcapng"
"""Packets as they came in, in the folder of an emulation that was recorded."""


@dataclass(frozen=True)
class Session:
    """An emulation: the network, the programs in it, and what is kept of it."""

    scenario: str
    """The whole scenario, as TOML."""
    base_dir: str
    """Where files are that it names."""
    seed: int
    command: tuple[str, ...]
    """Runs in the first UE; its exit status is the emulation's."""
    ues: tuple[str, ...] = ()
    """Run in the second UE and those after it, by the shell."""
    servers: tuple[str, ...] = ()
    """Run on the server side, by the shell."""
    tcp: tuple[tuple[str, str], ...] = ()
    """Kernel variables below ``net/ipv4``, and route metrics as ``route.NAME``."""
    store: str = "results"
    series: bool = False
    pcap: bool = False
    record: bool = False
    strict: bool = False
    meter: bool = True
    json: bool = False
    """One JSON object goes to standard output, and what the command writes there to standard error."""
    waits: bool = False
    """The programs of all UEs are waited for, and not the command alone."""
    has_internet: bool = False
    """The host's network is reached by NAT, which takes root; otherwise every address answers inside."""
    has_host_services: bool = False
    """The host's own addresses are in reach, too."""
    proxy: tuple[tuple[str, str], ...] = ()
    """What a proxy between the links is told, as ``umts proxy`` has it; there is none if it is empty."""
    proxy_sides: tuple[tuple[tuple[str, str], ...], ...] = ((), ())
    """As `tcp`, towards the servers and towards the users of the proxy."""
    wires: tuple[str, ...] = ()
    """Two devices of this host in place of namespaces: the UE's, and that of the network."""
    keep_flows: bool = False
    """Flows of the programs' UEs are simulated beside the programs; else they never begin."""
    variables: tuple[tuple[str, str], ...] = field(default=())
    """Environment variables for the programs, besides those of the user."""
    are_prompt: bool = False
    """Its programs have a real-time priority below the emulator's, if this user may: then their own delays
    are not taken for the network's."""

    def to_json(self) -> str:
        """As one JSON object."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Session:
        """Inverse of `to_json`."""
        content = json.loads(text)
        for name in ("command", "ues", "servers", "wires"):
            content[name] = tuple(content[name])
        for name in ("tcp", "variables", "proxy"):
            content[name] = _pairs(content[name])
        content["proxy_sides"] = tuple(_pairs(side) for side in content["proxy_sides"])
        return cls(**content)


def _pairs(found: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in found)

"""What is kept of an emulation: the same files as of a simulation, and how far it can be trusted."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab import _core
from umtslab.emulate.session import Session
from umtslab.run import Identity, Run, code_version, finite

if TYPE_CHECKING:
    from umtslab.scenario import Scenario
    from umtslab.store import Store
    from umtslab.store.store import Draft


SIMULATED = "simulated_connections"
"""The table of the connections of simulated users, as ``connections`` is of a simulation."""


def keep(
    session: Session,
    scenario: Scenario,
    result: _core.EmulationResult,
    draft: Draft,
    store: Store,
    became: Mapping[str, Any],
    own: Mapping[str, float],
) -> Run:
    """Put an emulation and its account into the store, with metrics that its programs measured themselves.

    The metrics of TCP are those of the programs' connections, from the capture at the server side; the
    table of connections has them alone. Those of simulated users beside them are ``simulated_connections``.
    """
    metrics = dict(result.metrics)
    connections: Any = result.connections
    server = draft.captures / "server.pcapng"
    analysis = _core.analyse([str(server)])[0]
    if analysis.metrics.get("packets"):
        metrics |= analysis.metrics
        connections = analysis.connections
    metrics |= own
    tables = {"connections": connections, **result.series}
    if simulates_flows(scenario):
        tables[SIMULATED] = result.connections
    name = f"{scenario.name} (emulated)"
    run = Run(
        name,
        _next_identity(session, scenario, store),
        finite(metrics),
        result.events,
        result.duration_s,
        None,
        tables,
    )
    if not session.pcap:
        _drop(draft.folder / "captures")
    card = {"session": asdict(replace(session, scenario="")), **became}
    text = json.dumps(card, indent=1, sort_keys=True) + "\n"
    (draft.folder / "emulation.json").write_text(text, encoding="utf-8")
    again = (
        ["replay", str(store.path / "runs" / run.key)] if session.record else ["emulate", *_options(session)]
    )
    # The catalogue takes text: octets that are none are told from others no more.
    command = shlex.join(["umts", *again]).encode(errors="replace").decode()
    return store.keep(draft, run, scenario, series=session.series, pcap=session.pcap, command=command)


def account(result: _core.EmulationResult, peak_memory: int) -> dict[str, Any]:
    """What became of an emulation besides its metrics: packets, what the kernel did, how far to trust it.

    `peak_memory` is the most octets that the emulator had.
    """
    return {
        "status": result.status,
        "digest": result.digest,
        "packets": result.packets,
        "tcp": result.tcp,
        "fidelity": {**result.fidelity, "peak_memory_bytes": peak_memory},
        "degraded": result.degraded,
    }


def simulates_flows(scenario: Scenario) -> bool:
    """Whether simulated users are beside the programs."""
    return bool(json.loads(scenario.core.to_json()).get("flow"))


def _options(session: Session) -> list[str]:
    """The words that start such an emulation again, with the scenario that the run folder keeps."""
    words = ["--scenario", "scenario.toml", "--seed", str(session.seed)]
    for option, values in (("--ue", session.ues), ("--server", session.servers)):
        for value in values:
            words += [option, value]
    for option, device in zip(("--attach-ue", "--attach-net"), session.wires, strict=False):
        words += [option, device]
    words += ["--internet"] if session.has_internet else []
    for name, value in () if session.wires else session.tcp:
        words += ["--tcp-set", f"{name}={value}"]
    return [*words, "--", *session.command]


def programs_own(file: Path) -> dict[str, float]:
    """Metrics that a program left, as `METRICS_VARIABLE` says; whatever is no number by name is left out."""
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        print(f"umts: the metrics of a program are no JSON object: {file.name} is left out", file=sys.stderr)
        found = {}
    file.unlink()
    if not isinstance(found, dict):
        return {}
    with_numbers = {name: value for name, value in found.items() if type(value) in (int, float)}
    return {name: float(value) for name, value in with_numbers.items() if abs(value) <= sys.float_info.max}


def identity(session: Session, scenario: Scenario, number: int) -> Identity:
    """The name of an emulation: of all with this network, programs and settings, the one of this number."""
    words = json.dumps(
        [
            session.command,
            session.ues,
            session.servers,
            session.tcp,
            session.wires,
            session.has_internet,
        ]
    )
    digest = blake2b(f"emulated\0{scenario.content_hash}\0{words}".encode(), digest_size=16).hexdigest()
    return Identity(digest, code_version(), session.seed, number)


def _next_identity(session: Session, scenario: Scenario, store: Store) -> Identity:
    """No two emulations are the same run, so each gets the next free number."""
    number = 0
    while store.get(found := identity(session, scenario, number)) is not None:
        number += 1
    return found


def _drop(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()

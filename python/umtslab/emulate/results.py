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


def keep(
    session: Session,
    scenario: Scenario,
    result: _core.EmulationResult,
    draft: Draft,
    store: Store,
    own: Mapping[str, float],
) -> Run:
    """Put an emulation into the store, with the metrics that its programs measured their own way.

    The metrics of TCP are those of the programs' connections, from the capture at the server side; the
    table of connections has them alone.
    """
    metrics = dict(result.metrics)
    connections: Any = result.connections
    server = draft.captures / "server.pcapng"
    analysis = _core.analyse([str(server)])[0]
    if analysis.metrics.get("packets"):
        metrics |= analysis.metrics
        connections = analysis.connections
    metrics |= own
    name = f"{scenario.name} (emulated)"
    run = Run(
        name,
        _next_identity(session, scenario, store),
        finite(metrics),
        result.events,
        result.duration_s,
        None,
        {"connections": connections, **result.series},
    )
    if not session.pcap:
        _drop(draft.folder / "captures")
    card = {
        "session": asdict(replace(session, scenario="")),
        "status": result.status,
        "digest": result.digest,
        "packets": result.packets,
        "tcp": result.tcp,
        "fidelity": result.fidelity,
        "degraded": result.degraded,
    }
    text = json.dumps(card, indent=1, sort_keys=True) + "\n"
    (draft.folder / "emulation.json").write_text(text, encoding="utf-8")
    again = (
        ["replay", str(store.path / "runs" / run.key)] if session.record else ["emulate", *_options(session)]
    )
    command = shlex.join(["umts", *again])
    return store.keep(draft, run, scenario, series=session.series, pcap=session.pcap, command=command)


def _options(session: Session) -> list[str]:
    """The words that start such an emulation again, with the scenario that the run folder keeps."""
    words = ["--scenario", "scenario.toml", "--seed", str(session.seed)]
    for option, values in (("--ue", session.ues), ("--server", session.servers)):
        for value in values:
            words += [option, value]
    for option, device in zip(("--attach-ue", "--attach-net"), session.wires, strict=False):
        words += [option, device]
    for name, value in () if session.wires else session.tcp:
        words += ["--tcp-set", f"{name}={value}"]
    return [*words, "--", *session.command]


def programs_own(file: Path) -> dict[str, float]:
    """Metrics that a program left, as `METRICS_VARIABLE` says; whatever is no number by name is left out."""
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        print(f"umts: the metrics of a program are no JSON object: {file.name} is left out", file=sys.stderr)
        found = {}
    file.unlink()
    if not isinstance(found, dict):
        return {}
    return {name: float(value) for name, value in found.items() if type(value) in (int, float)}


def identity(session: Session, scenario: Scenario, number: int) -> Identity:
    """The name of an emulation: of all with this network, programs and settings, the one of this number."""
    words = json.dumps([session.command, session.ues, session.servers, session.tcp, session.wires])
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

"""Results of an emulation: the same files as of a simulation, and an account of its fidelity."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab.emulate.background import simulates_flows
from umtslab.emulate.faults import Order
from umtslab.emulate.report import core_share
from umtslab.emulate.session import RECORDING, Session
from umtslab.emulate.traffic import (
    SIMULATED_CONNECTIONS,
    TCP_SERIES,
    Traffic,
    combine_proxy_sides,
    of_captures,
    simulated,
    whole_network,
)
from umtslab.run import Identity, Metrics, Run, finite
from umtslab.version import code_version

if TYPE_CHECKING:
    from umtslab import _core
    from umtslab.scenario import Scenario
    from umtslab.store import Store
    from umtslab.store.store import Draft


def run_of(
    session: Session,
    scenario: Scenario,
    result: _core.EmulationResult,
    draft: Draft,
    store: Store,
    program_metrics: Mapping[str, float],
) -> Run:
    """Return an emulation as a run that is not stored yet.

    `program_metrics` are metrics that its programs measured themselves. Metrics and series of TCP
    describe the programs' connections and come from the captures at both ends. Connections of
    simulated users have the separate table ``simulated_connections``, and their series have names
    with the prefix ``simulated_``. If a capture could not be written, the TCP metrics are unknown.
    """
    metrics, tables = _metrics_and_tables(session, scenario, result, draft)
    metrics |= _accepted_metrics(program_metrics, metrics)
    # No spaces: files are named after the run.
    name = f"{scenario.name}-emulated"
    return Run(
        scenario=name,
        identity=_next_identity(session, scenario, store),
        metrics=finite(metrics),
        events=result.events,
        duration_s=result.duration_s,
        folder=None,
        tables=tables,
    )


def store_run(
    session: Session,
    scenario: Scenario,
    run: Run,
    draft: Draft,
    store: Store,
    account: Mapping[str, Any],
) -> Run:
    """Store an emulation, with its account in ``emulation.json``.

    Captures are deleted unless `session.pcap`.
    """
    if not session.pcap:
        _delete_folder(draft.folder / "captures")
    card = {"session": asdict(replace(session, scenario="")), **account}
    text = json.dumps(card, indent=1, sort_keys=True) + "\n"
    (draft.folder / "emulation.json").write_text(text, encoding="utf-8")
    repeat = (
        ["replay", str(store.path / "runs" / run.key)]
        if (draft.folder / RECORDING).is_file()
        else ["emulate", *_options(session)]
    )
    command = shlex.join(["umts", *repeat])
    return store.keep(draft, run, scenario, series=session.series, pcap=session.pcap, command=command)


def _metrics_and_tables(
    session: Session, scenario: Scenario, result: _core.EmulationResult, draft: Draft
) -> tuple[Metrics, dict[str, Any]]:
    """Return the metrics and tables of an emulation."""
    traffic = _traffic(session, result, draft)
    has_flows = simulates_flows(scenario, session)
    tables: dict[str, Any] = {"connections": traffic.connections, **traffic.series}
    for kind, table in result.series.items():
        if kind not in TCP_SERIES:
            tables[kind] = table
        elif has_flows:
            tables[simulated(kind)] = table
    if has_flows:
        tables[SIMULATED_CONNECTIONS] = result.connections
    metrics = whole_network(
        result.metrics,
        traffic.metrics,
        result.duration_s,
        switched=switched_users(scenario),
        has_flows=has_flows,
    )
    return metrics, tables


def _traffic(session: Session, result: _core.EmulationResult, draft: Draft) -> Traffic:
    """Analyse the programs' TCP connections from the captures at both ends."""
    if str(draft.captures / "server.pcapng") not in result.files:
        return Traffic.unknown()

    def between(server: str, ue: str) -> Traffic:
        server_file, ue_file = (draft.captures / f"{point}.pcapng" for point in (server, ue))
        return of_captures(server_file, ue_file, result.duration_s, series=session.series)

    if not session.proxy:
        return between("server", "ue")
    return combine_proxy_sides(between("server", "proxy-server"), between("proxy-radio", "ue"))


def account_of(
    result: _core.EmulationResult, peak_memory: int, orders: Sequence[Order] = ()
) -> dict[str, Any]:
    """Return the account of an emulation: exit statuses, packets, kernel settings, faults, fidelity.

    `peak_memory` is the emulator's peak memory in bytes. `orders` are the orders about faults.
    """
    return {
        "status": result.status,
        "statuses": {
            "ues": result.ues,
            "servers": result.servers,
            "internet": result.internet,
            "proxy": result.proxy,
        },
        "digest": result.digest,
        "packets": result.packets,
        "faults": [order.recorded() for order in orders],
        "tcp": result.tcp,
        "proxy_tcp": result.proxy_tcp,
        "fidelity": {
            **result.fidelity,
            "core_share": core_share(result.fidelity),
            "peak_memory_bytes": peak_memory,
        },
        "degraded": result.degraded,
        "lost": result.lost,
        "before_first_connection": _before_first_connection(result),
    }


def _before_first_connection(result: _core.EmulationResult) -> dict[str, Any] | None:
    if result.before_connection is None:
        return None
    waited_s, promotion_s, used_dns = result.before_connection
    return {"waited_s": waited_s, "promotion_s": promotion_s, "has_asked_names": used_dns}


def switched_users(scenario: Scenario) -> int:
    """Return the number of UEs that RRC switches between channels."""
    groups = json.loads(scenario.core.to_json())["ue"]
    return sum(group.get("count", 0) for group in groups if group.get("bearer") == "switched")


def _accepted_metrics(
    program_metrics: Mapping[str, float], measured: Mapping[str, float | None]
) -> dict[str, float]:
    """Return the accepted metrics of a program. A program cannot replace metrics `measured` here."""
    accepted = {}
    for name, value in program_metrics.items():
        if measured.get(name) is not None:
            print(
                f"umts: {name} is a metric of the emulation itself: the value of the program is ignored",
                file=sys.stderr,
            )
        elif not _NAME.fullmatch(name):
            print(
                f"umts: {name!r} is not a valid name of a metric, such as page_ms: its value is ignored",
                file=sys.stderr,
            )
        else:
            accepted[name] = value
    return accepted


_NAME = re.compile("[a-z][a-z0-9_]{0,63}")
"""Names of metrics. A name may become a column, a heading or a file name."""


def _options(session: Session) -> list[str]:
    """Return options that repeat the emulation with the scenario file of the run's folder."""
    words = ["--scenario", "scenario.toml", "--seed", str(session.seed)]
    for option, values in (("--ue", session.ues), ("--server", session.servers)):
        for value in values:
            words += [option, value]
    for option, device in zip(("--attach-ue", "--attach-net"), session.wires, strict=False):
        words += [option, device]
    words += ["--wait"] if session.waits else []
    words += ["--keep-flows"] if session.keep_flows else []
    words += ["--proxy"] if session.proxy else []
    words += ["--internet"] if session.has_internet else []
    words += ["--host-services"] if session.has_host_services else []
    for name, value in () if session.wires else session.tcp:
        words += ["--tcp-set", f"{name}={value}"]
    return [*words, "--", *session.command]


def read_program_metrics(file: Path) -> dict[str, float]:
    """Read and delete the metrics that a program left in `file` (see `METRICS_VARIABLE`).

    Values other than finite numbers are dropped. Without a file, or without a JSON object in it,
    there are no metrics.
    """
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        print(
            f"umts: the metrics of a program are not a JSON object: {file.name} is ignored", file=sys.stderr
        )
        content = {}
    file.unlink()
    if not isinstance(content, dict):
        return {}
    # Not `isinstance`, because true and false are integers of Python. NaN fails the comparison.
    numbers = {name: value for name, value in content.items() if type(value) in (int, float)}
    return {name: float(value) for name, value in numbers.items() if abs(value) <= sys.float_info.max}


def identity(session: Session, scenario: Scenario, number: int) -> Identity:
    """Identity of emulation `number` among those with the same network, programs and settings."""
    settings: list[object] = [
        session.command,
        session.ues,
        session.servers,
        session.tcp,
        session.wires,
        session.has_internet,
    ]
    words = json.dumps([*settings, session.proxy, session.proxy_sides] if session.proxy else settings)
    digest = blake2b(f"emulated\0{scenario.content_hash}\0{words}".encode(), digest_size=16).hexdigest()
    return Identity(digest, code_version(), session.seed, number)


def _next_identity(session: Session, scenario: Scenario, store: Store) -> Identity:
    """Return the identity with the next free number: no two emulations are the same run."""
    number = 0
    while store.get(run_identity := identity(session, scenario, number)) is not None:
        number += 1
    return run_identity


def _delete_folder(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()

"""Throughput and CPU time of several proxies between the same client and server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import figures
from proxied_path import CLIENT, SERVER, at, make_path

from proxying.programs import ASK, SERVE

HOST = CLIENT[0].removesuffix("0")
"""Address of this host, towards the client."""

SENDS, ECHOES = 7011, 7012
"""Ports of the server: on one it sends without end, on the other it echoes (`SERVE`)."""


class Peer(NamedTuple):
    """A running proxy, or the server itself. The client connects to it."""

    host: str
    """Its address."""
    sends: int
    """Its port for connections to `SENDS`."""
    echoes: int
    """Its port for connections to `ECHOES`."""
    processes: tuple[int, ...]
    """Its processes; their CPU time is measured."""


@contextmanager
def direct() -> Iterator[Peer]:
    """Measure without a proxy: this host forwards packets."""
    yield Peer(SERVER[0], SENDS, ECHOES, processes=())


@contextmanager
def ours() -> Iterator[Peer]:
    """Run a `umts proxy` with one worker for each port of the server."""
    processes = [_umts(port) for port in (SENDS, ECHOES)]
    try:
        yield Peer(HOST, 8000 + SENDS, 8000 + ECHOES, tuple(process.pid for process in processes))
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def _umts(port: int) -> subprocess.Popen[str]:
    """Start `umts proxy` for one port of the server."""
    options = ["--listen", f"{HOST}:{8000 + port}", "--to", f"{SERVER[0]}:{port}", "--workers", "1"]
    command = [sys.executable, "-m", "umtslab", "proxy", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()
    return process


def haproxy() -> AbstractContextManager[Peer]:
    """Run haproxy with one thread in TCP mode. It splices when its heuristic favours it."""
    return _haproxy(" option splice-auto\n")


def copying_haproxy() -> AbstractContextManager[Peer]:
    """Run haproxy without splicing."""
    return _haproxy("")


@contextmanager
def _haproxy(option: str) -> Iterator[Peer]:
    servers = {8000 + port: f"{SERVER[0]}:{port}" for port in (SENDS, ECHOES)}
    with running_haproxy(servers, option) as pid:
        yield Peer(HOST, 8000 + SENDS, 8000 + ECHOES, (pid,))


@contextmanager
def running_haproxy(servers: dict[int, str], option: str, max_connections: int = 4000) -> Iterator[int]:
    """Run haproxy with one thread. `servers` has the server for each port of this host.

    Yields its process number.
    """
    program = os.environ.get("HAPROXY") or shutil.which("haproxy")
    if program is None:
        raise FileNotFoundError("haproxy")
    times = "timeout connect 10s\n timeout client 1m\n timeout server 1m\n"
    limit = f" maxconn {max_connections}\n"
    lines = f"global\n nbthread 1\n{limit}defaults\n mode tcp\n{limit}{option} {times}"
    for port, server in servers.items():
        lines += f"listen p{port}\n bind {HOST}:{port}\n server s {server}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write(lines)
        file.flush()
        process = subprocess.Popen([program, "-db", "-q", "-f", file.name])
        try:
            time.sleep(1)
            yield process.pid
        finally:
            process.kill()
            process.wait()


OURS = "umts proxy"
PEERS: dict[str, Callable[[], Any]] = {
    "direct": direct,
    OURS: ours,
    "haproxy": haproxy,
    "haproxy, copying": copying_haproxy,
}

TIME_WAIT_LIMIT = "/proc/sys/net/ipv4/tcp_max_tw_buckets"
"""Kernel limit of connections in TIME-WAIT."""

PRIORITY = 10
"""SCHED_FIFO priority, above all processes without a real-time priority."""


def _request(peer: Peer, seconds: float, action: str, *more: str) -> Any:
    """Let the client repeat an action, and return its result."""
    arguments = (peer.host, str(peer.sends), str(peer.echoes), str(seconds), action, *more)
    return json.loads(at("client", ASK, *arguments).communicate()[0])


def _cpu(peer: Peer) -> float:
    """Return the CPU time of the proxy in seconds."""
    ticks = 0
    for process in peer.processes:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # user and system time
    return ticks / os.sysconf("SC_CLK_TCK")


def _measure_peer(peer: Peer, seconds: float) -> dict[str, float]:
    """Measure rates, delays and CPU times of one proxy."""
    row = {}
    for flows in (1, 4):
        start = _cpu(peer)
        octets, duration = _request(peer, seconds, "download", str(flows))
        row[f"Gbit/s, {flows}"] = octets * 8 / duration / 1e9
        row[f"CPU s/GB, {flows}"] = (_cpu(peer) - start) / octets * 1e9
    quantiles = _request(peer, seconds, "exchanges")
    row["100 octets p50 µs"], row["p99 µs"] = quantiles[49] * 1e6, quantiles[98] * 1e6
    start = _cpu(peer)
    row["connections/s"] = _request(peer, seconds, "openings")
    row["CPU µs each"] = (_cpu(peer) - start) / (row["connections/s"] * seconds) * 1e6
    return row


def equalise_conditions() -> None:
    """Set a real-time priority, and keep earlier measurements from slowing later ones."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    # Connections in TIME-WAIT occupy ports for a minute. The fewer ports are free, the longer the
    # kernel searches for one.
    set_limit = f"open({TIME_WAIT_LIMIT!r}, 'w').write('0')"
    Path(TIME_WAIT_LIMIT).write_text("0")
    for host in ("client", "server"):
        at(host, set_limit).communicate()


def measure(seconds: float, rounds: int = 5) -> None:
    """Measure all proxies in turn, several times.

    Prints the medians of the figures, and of the ratios of figures of the same turn.
    """
    make_path()
    equalise_conditions()
    serving = at("server", SERVE)
    assert serving.stdout is not None
    serving.stdout.readline()
    rows: dict[str, list[dict[str, float]]] = {}
    for _ in range(rounds):
        for name, peer in PEERS.items():
            try:
                with peer() as running:
                    rows.setdefault(name, []).append(_measure_peer(running, seconds))
            except FileNotFoundError as missing:
                print(f"{missing} is not installed: left out")
    columns = list(rows["direct"][0])
    print("".join(f"{name:>20}" for name in ("", *columns)))
    medians = {
        name: [median(row[column] for row in turns) for column in columns] for name, turns in rows.items()
    }
    for name, values in medians.items():
        print(f"{name:>20}" + "".join(f"{value:>20.2f}" for value in values))
    for name in (name for name in medians if name not in ("direct", OURS)):
        pairs = list(zip(rows[OURS], rows[name], strict=True))
        ratios = [median([own[column] / other[column] for own, other in pairs]) for column in columns]
        print(f"{'over ' + name:>20}" + "".join(f"{ratio:>20.2f}" for ratio in ratios))
    for index, column in enumerate(columns):
        others = [f"{name}: {values[index]:.2f}" for name, values in medians.items() if name != OURS]
        others += [f"{name} is not installed" for name in PEERS if name not in medians]
        figures.add("time", f"{OURS}, {column}", f"{medians[OURS][index]:.2f}", peer=", ".join(others))

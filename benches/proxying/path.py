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


class Peer(NamedTuple):
    """A running proxy: its address and ports, and the processes whose CPU time counts."""

    host: str
    sends: int
    echoes: int
    processes: tuple[int, ...]


@contextmanager
def direct() -> Iterator[Peer]:
    """Measure without a proxy: this host forwards packets."""
    yield Peer(SERVER[0], SENDS, ECHOES, ())


@contextmanager
def ours() -> Iterator[Peer]:
    """Run a `umts proxy` with one worker for each port of the server."""
    made = [_umts(port) for port in (SENDS, ECHOES)]
    try:
        yield Peer(HOST, 8000 + SENDS, 8000 + ECHOES, tuple(process.pid for process in made))
    finally:
        for process in made:
            process.kill()
            process.communicate()


def _umts(port: int) -> subprocess.Popen[str]:
    words = ["--listen", f"{HOST}:{8000 + port}", "--to", f"{SERVER[0]}:{port}", "--workers", "1"]
    line = [sys.executable, "-m", "umtslab", "proxy", *words]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
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
    ways = {8000 + port: f"{SERVER[0]}:{port}" for port in (SENDS, ECHOES)}
    with running_haproxy(ways, option) as pid:
        yield Peer(HOST, 8000 + SENDS, 8000 + ECHOES, (pid,))


@contextmanager
def running_haproxy(ways: dict[int, str], option: str, room: int = 4000) -> Iterator[int]:
    """Run haproxy with one thread, from ports of this host to servers.

    Yields its process number.
    """
    program = os.environ.get("HAPROXY") or shutil.which("haproxy")
    if program is None:
        raise FileNotFoundError("haproxy")
    times = "timeout connect 10s\n timeout client 1m\n timeout server 1m\n"
    lines = f"global\n nbthread 1\n maxconn {room}\ndefaults\n mode tcp\n maxconn {room}\n{option} {times}"
    for port, server in ways.items():
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

TIME_WAITS = "/proc/sys/net/ipv4/tcp_max_tw_buckets"
"""Kernel limit of connections in TIME-WAIT."""

PRIORITY = 10
"""SCHED_FIFO priority, above all processes without a real-time priority."""


def _request(peer: Peer, seconds: float, what: str, *more: str) -> Any:
    words = (peer.host, str(peer.sends), str(peer.echoes), str(seconds), what, *more)
    return json.loads(at("client", ASK, *words).communicate()[0])


def _cpu(peer: Peer) -> float:
    """Return the CPU time of the proxy in seconds."""
    ticks = 0
    for process in peer.processes:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _measured(peer: Peer, seconds: float) -> dict[str, float]:
    row = {}
    for flows in (1, 4):
        before = _cpu(peer)
        octets, took = _request(peer, seconds, "download", str(flows))
        row[f"Gbit/s, {flows}"] = octets * 8 / took / 1e9
        row[f"CPU s/GB, {flows}"] = (_cpu(peer) - before) / octets * 1e9
    quantiles = _request(peer, seconds, "exchanges")
    row["100 octets p50 µs"], row["p99 µs"] = quantiles[49] * 1e6, quantiles[98] * 1e6
    before = _cpu(peer)
    row["connections/s"] = _request(peer, seconds, "openings")
    row["CPU µs each"] = (_cpu(peer) - before) / (row["connections/s"] * seconds) * 1e6
    return row


def make_alike() -> None:
    """Set equal conditions for the first and the last measurement."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    # Connections in TIME-WAIT occupy ports for a minute, and the kernel searches longer if few are
    # free.
    none = f"open({TIME_WAITS!r}, 'w').write('0')"
    Path(TIME_WAITS).write_text("0")
    for host in ("client", "server"):
        at(host, none).communicate()


def measure(seconds: float, rounds: int = 5) -> None:
    """Measure all proxies in turn, several times.

    Prints medians of figures, and of ratios within a turn.
    """
    make_path()
    make_alike()
    serving = at("server", SERVE)
    assert serving.stdout is not None
    serving.stdout.readline()
    rows: dict[str, list[dict[str, float]]] = {}
    for _ in range(rounds):
        for name, peer in PEERS.items():
            try:
                with peer() as at_work:
                    rows.setdefault(name, []).append(_measured(at_work, seconds))
            except FileNotFoundError as missing:
                print(f"{missing} is not installed: left out")
    columns = list(rows["direct"][0])
    print("".join(f"{name:>20}" for name in ("", *columns)))
    medians = {
        name: [median(row[column] for row in found) for column in columns] for name, found in rows.items()
    }
    for name, values in medians.items():
        print(f"{name:>20}" + "".join(f"{value:>20.2f}" for value in values))
    for name in (name for name in medians if name not in ("direct", OURS)):
        pairs = list(zip(rows[OURS], rows[name], strict=True))
        ratios = [median([own[column] / other[column] for own, other in pairs]) for column in columns]
        print(f"{'over ' + name:>20}" + "".join(f"{ratio:>20.2f}" for ratio in ratios))
    for place, column in enumerate(columns):
        beside = [f"{name}: {values[place]:.2f}" for name, values in medians.items() if name != OURS]
        beside += [f"{name} is not installed" for name in PEERS if name not in medians]
        figures.add("time", f"{OURS}, {column}", f"{medians[OURS][place]:.2f}", peer=", ".join(beside))

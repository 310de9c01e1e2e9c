"""Slowdown of a normal client ("honest") by a client that attacks, directly and through proxies.

Honest client, server and proxy share the available processor with the lowest number, normally 0.
The hostile client runs on processor 1 (`HOSTILE` selects it). So the hostile client slows the
others only by the work that it causes, not by its own CPU time. A direct connection shows the part
of the server and the kernel. Each turn measures the honest client first alone and then beside the
hostile one, so that other processes affect both times. It times a new connection with 100 bytes
there and back, 100 bytes there and back on an existing connection, and 4 MiB on an existing
connection.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from statistics import median
from typing import NamedTuple

import figures
from proxied_path import SERVER, at, make_path
from umtslab.numbers import number

from proxying.flood_programs import HONEST, HOSTILE, PORT, SERVE
from proxying.path import HOST, OURS, equalise_conditions, running_haproxy

LISTEN = 8000 + PORT
GOAL = 2.0
"""Goal: the largest time of the honest client during a flood, divided by its time alone."""
FEW_DESCRIPTORS = 600
"""Number of file descriptors of a proxy that is to run out of them."""
MAX_CONNECTIONS = 9_500
"""Connection limit of haproxy, about the maximum for 20,000 descriptors."""
UNUSED_ADDRESS = "198.51.100.77"
"""An unused address in the client's network: packets to it are lost."""


class Target(NamedTuple):
    """Address to which clients connect, and the server that they request by SOCKS5, if they do."""

    host: str
    port: int
    server: str = ""


class Flood(NamedTuple):
    """Behaviour of a hostile client."""

    name: str
    kind: str
    rate: float = 0
    """Actions per second; 0: as many as one processor can do."""
    connections: int = 0
    """Number of connections that the client opens at the start and keeps open."""
    by_socks5: bool = False
    has_few_descriptors: bool = False
    """Whether the proxy has few descriptors, so that the hostile client can occupy all of them."""


class Turn(NamedTuple):
    """Measurements of one flood with one target."""

    alone: dict[str, float]
    """Mean times of the honest client in seconds, before the flood."""
    beside: dict[str, float]
    """The same times during the flood."""
    rate: float
    """Actions of the hostile client per second."""
    failed: float
    """Share of these actions that failed."""


FLOODS = (
    Flood("SYNs from nowhere, 20,000 a second", "syn", rate=20_000),
    # The connections are the load. The action does nothing, and the rate only limits its calls.
    Flood("9,000 silent connections", "silent", rate=1, connections=9_000),
    Flood("9,000 that send an octet each 9 s", "octets", rate=1_000, connections=9_000),
    Flood("1,000 resets of clients a second", "client resets", rate=1_000),
    Flood("resets of clients, as fast as it goes", "client resets"),
    Flood("1,000 resets of the server a second", "server resets", rate=1_000),
    Flood("resets of the server, as fast as it goes", "server resets"),
    Flood(
        "refused for want of descriptors", "refused", rate=1_000, connections=1_000, has_few_descriptors=True
    ),
    Flood("connections to the proxy itself", "itself", rate=1_000, by_socks5=True),
    Flood("octets that are no SOCKS5", "garbage", rate=1_000, by_socks5=True),
)
ACTIONS = ("opening", "exchange", "download")


@contextmanager
def direct(flood: Flood) -> Iterator[Target]:
    """Measure without a proxy: this host forwards packets."""
    yield Target(SERVER[0], PORT)


@contextmanager
def ours(flood: Flood) -> Iterator[Target]:
    """Run `umts proxy` with one worker."""
    mode = ["--socks5"] if flood.by_socks5 else ["--to", f"{SERVER[0]}:{PORT}"]
    proxy = [
        sys.executable,
        "-m",
        "umtslab",
        "proxy",
        "--listen",
        f"{HOST}:{LISTEN}",
        "--workers",
        "1",
        *mode,
    ]
    limit = ["prlimit", f"--nofile={FEW_DESCRIPTORS}:{FEW_DESCRIPTORS}"] if flood.has_few_descriptors else []
    process = subprocess.Popen([*limit, *proxy], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()
    try:
        yield Target(HOST, LISTEN, SERVER[0] if flood.by_socks5 else "")
    finally:
        process.kill()
        process.communicate()


@contextmanager
def haproxy(flood: Flood) -> Iterator[Target]:
    """Run haproxy with one thread and without splicing, because pipes need descriptors."""
    with running_haproxy({LISTEN: f"{SERVER[0]}:{PORT}"}, "", MAX_CONNECTIONS):
        yield Target(HOST, LISTEN)


PEERS: dict[str, Callable[[Flood], AbstractContextManager[Target]]] = {
    "direct": direct,
    OURS: ours,
    "haproxy": haproxy,
}


def _applies(name: str, flood: Flood) -> bool:
    """Whether a flood applies: only `umts proxy` resets excess connections and speaks SOCKS5."""
    return name == OURS or not (flood.by_socks5 or flood.has_few_descriptors)


def _times(honest: subprocess.Popen[str], actions: str) -> dict[str, float]:
    """Let the honest client perform actions, and return the mean time of each."""
    assert honest.stdin is not None
    assert honest.stdout is not None
    honest.stdin.write(actions + "\n")
    honest.stdin.flush()
    times: dict[str, float] = json.loads(honest.stdout.readline())
    return times


def _turn(name: str, flood: Flood, seconds: float) -> Turn:
    # New connections are impossible without descriptors.
    actions = " ".join(ACTIONS[1:] if flood.has_few_descriptors else ACTIONS)
    with ExitStack() as clean_up:
        serving = at("server", SERVE, str(PORT))
        clean_up.callback(serving.communicate)
        clean_up.callback(serving.kill)
        assert serving.stdout is not None
        serving.stdout.readline()
        target = clean_up.enter_context(PEERS[name](flood))
        address = (target.host, str(target.port), target.server)
        honest = at("client", HONEST, *address, str(seconds), stdin=subprocess.PIPE)
        clean_up.callback(honest.communicate)
        clean_up.callback(honest.kill)
        assert honest.stdout is not None
        honest.stdout.readline()
        times_alone = _times(honest, actions)
        hostile = at("client", HOSTILE, *address, flood.kind, str(flood.rate), str(flood.connections))
        clean_up.callback(hostile.kill)
        assert hostile.stdout is not None
        hostile.stdout.readline()
        times_with_flood = _times(honest, actions)
        hostile.terminate()
        count, failed, duration = map(float, hostile.communicate()[0].split())
    return Turn(times_alone, times_with_flood, count / duration, failed / max(1, count))


def measure(seconds: float, rounds: int = 3) -> None:
    """Measure all floods in turn, several times. Prints medians of the ratios within a turn."""
    if len(os.sched_getaffinity(0)) < 2:
        print("floods are measured on two processors: the hostile client has one of its own")
        return
    make_path()
    equalise_conditions()
    neighbour = ["ip", "neigh", "replace", UNUSED_ADDRESS, "lladdr", "02:00:00:00:00:01", "dev", "client"]
    subprocess.run(neighbour, check=True)
    # The processor of this process and of the programs that it starts, except the hostile client.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("Time of the honest client during a flood, divided by its time alone (in brackets, in ms).")
    print(f"{'':<54}" + "".join(f"{title:>16}" for title in (*ACTIONS, "times a second", "of it failed")))
    for flood in FLOODS:
        _measure_flood(flood, {name: [] for name in PEERS if _applies(name, flood)}, seconds, rounds)


def _measure_flood(flood: Flood, turns_of: dict[str, list[Turn]], seconds: float, rounds: int) -> None:
    """Measure a flood with each proxy in turn, and print a line for each proxy."""
    for _ in range(rounds):
        for name in list(turns_of):
            try:
                turns_of[name].append(_turn(name, flood, seconds))
            except FileNotFoundError as missing:
                print(f"{missing} is not installed: left out")
                del turns_of[name]
    ratios: dict[str, str] = {}
    for name, turns in turns_of.items():
        cells, texts = [], []
        for action in ACTIONS:
            pairs = [(turn.beside[action], turn.alone[action]) for turn in turns if action in turn.alone]
            ratio = median(beside / alone for beside, alone in pairs) if pairs else None
            texts.append(number(ratio, 3))
            cells.append(
                f"{number(ratio, 3)} ({median(alone for _, alone in pairs) * 1e3:.2f})" if pairs else ""
            )
        ratios[name] = " ".join(texts)
        rate, failed = median(turn.rate for turn in turns), median(turn.failed for turn in turns)
        cells += [f"{rate:,.0f}", f"{failed:.0%}"]
        print(f"{flood.name:<42}{name:<12}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    ours = ratios.pop(OURS)
    figures.add(
        "time",
        f"{OURS}, {flood.name}: times the opening, exchange, download of honest clients",
        ours,
        goal=number(GOAL),
        peer=", ".join(f"{name}: {text}" for name, text in ratios.items()),
    )

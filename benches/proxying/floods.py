"""Slowdown of an honest client by hostile ones, directly and through proxies.

Honest client, server and proxy share one processor; the hostile client has another one. So its own
CPU time does not slow the others, but the work that it causes does. A direct connection shows the
part of the server and the kernel. Each turn measures both times, so that other processes affect
both. The times are: a new connection with 100 bytes there and back, 100 bytes on an existing
connection, 4 MiB on an existing connection.
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
from proxying.path import HOST, OURS, make_alike, running_haproxy

LISTEN = 8000 + PORT
GOAL = 2.0
FEW = 600
"""Number of descriptors of a proxy that shall run out of them."""
ROOM = 9_500
"""Connection limit of haproxy: about the most that 20,000 descriptors permit."""
NOWHERE = "198.51.100.77"
"""An unused address in the client's network: packets to it are lost."""


class Place(NamedTuple):
    """Address to which clients connect, and the server that they request by SOCKS5."""

    host: str
    port: int
    names: str = ""


class Flood(NamedTuple):
    """Behaviour of a hostile client."""

    name: str
    kind: str
    rate: float = 0
    """Actions per second; 0: as many as one processor can do."""
    held: int = 0
    """Number of connections that it holds open from the start."""
    by_socks5: bool = False
    is_scarce: bool = False
    """The proxy has few descriptors, and the hostile client occupies all of them."""


class Turn(NamedTuple):
    """Measurements of one flood at one place."""

    alone: dict[str, float]
    """Mean times of the honest client in seconds, before the flood."""
    beside: dict[str, float]
    rate: float
    """Actions of the hostile client per second."""
    failed: float
    """Share of these actions that failed."""


FLOODS = (
    Flood("SYNs from nowhere, 20,000 a second", "syn", 20_000),
    Flood("9,000 silent connections", "silent", 1, 9_000),
    Flood("9,000 that send an octet each 9 s", "octets", 1_000, 9_000),
    Flood("1,000 resets of clients a second", "client resets", 1_000),
    Flood("resets of clients, as fast as it goes", "client resets"),
    Flood("1,000 resets of the server a second", "server resets", 1_000),
    Flood("resets of the server, as fast as it goes", "server resets"),
    Flood("refused for want of descriptors", "refused", 1_000, 1_000, is_scarce=True),
    Flood("connections to the proxy itself", "itself", 1_000, by_socks5=True),
    Flood("octets that are no SOCKS5", "garbage", 1_000, by_socks5=True),
)
WHAT = ("opening", "exchange", "download")


@contextmanager
def direct(flood: Flood) -> Iterator[Place]:
    """Measure without a proxy: this host forwards packets."""
    yield Place(SERVER[0], PORT)


@contextmanager
def ours(flood: Flood) -> Iterator[Place]:
    """Run `umts proxy` with one worker."""
    way = ["--socks5"] if flood.by_socks5 else ["--to", f"{SERVER[0]}:{PORT}"]
    line = [sys.executable, "-m", "umtslab", "proxy", "--listen", f"{HOST}:{LISTEN}", "--workers", "1", *way]
    scarce = ["prlimit", f"--nofile={FEW}:{FEW}"] if flood.is_scarce else []
    process = subprocess.Popen([*scarce, *line], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()
    try:
        yield Place(HOST, LISTEN, SERVER[0] if flood.by_socks5 else "")
    finally:
        process.kill()
        process.communicate()


@contextmanager
def haproxy(flood: Flood) -> Iterator[Place]:
    """Run haproxy with one thread and without splicing, because pipes need descriptors."""
    with running_haproxy({LISTEN: f"{SERVER[0]}:{PORT}"}, "", ROOM):
        yield Place(HOST, LISTEN)


PEERS: dict[str, Callable[[Flood], AbstractContextManager[Place]]] = {
    "direct": direct,
    OURS: ours,
    "haproxy": haproxy,
}


def _is_for(name: str, flood: Flood) -> bool:
    """Whether a flood applies: only `umts proxy` resets excess connections and speaks SOCKS5."""
    return name == OURS or not (flood.by_socks5 or flood.is_scarce)


def _exchange_times(honest: subprocess.Popen[str], what: str) -> dict[str, float]:
    assert honest.stdin is not None
    assert honest.stdout is not None
    honest.stdin.write(what + "\n")
    honest.stdin.flush()
    found: dict[str, float] = json.loads(honest.stdout.readline())
    return found


def _turn(name: str, flood: Flood, seconds: float) -> Turn:
    # New connections are impossible without descriptors.
    what = " ".join(WHAT[1:] if flood.is_scarce else WHAT)
    with ExitStack() as all_:
        serving = at("server", SERVE, str(PORT))
        all_.callback(serving.communicate)
        all_.callback(serving.kill)
        assert serving.stdout is not None
        serving.stdout.readline()
        place = all_.enter_context(PEERS[name](flood))
        to = (place.host, str(place.port), place.names)
        honest = at("client", HONEST, *to, str(seconds), stdin=subprocess.PIPE)
        all_.callback(honest.communicate)
        all_.callback(honest.kill)
        assert honest.stdout is not None
        honest.stdout.readline()
        alone = _exchange_times(honest, what)
        hostile = at("client", HOSTILE, *to, flood.kind, str(flood.rate), str(flood.held))
        all_.callback(hostile.kill)
        assert hostile.stdout is not None
        hostile.stdout.readline()
        beside = _exchange_times(honest, what)
        hostile.terminate()
        count, failed, took = map(float, hostile.communicate()[0].split())
    return Turn(alone, beside, count / took, failed / max(1, count))


def measure(seconds: float, rounds: int = 3) -> None:
    """Measure all floods in turn, several times. Prints medians of the ratios within a turn."""
    if len(os.sched_getaffinity(0)) < 2:
        print("floods are measured on two processors: the hostile client has one of its own")
        return
    make_path()
    make_alike()
    lost = ["ip", "neigh", "replace", NOWHERE, "lladdr", "02:00:00:00:00:01", "dev", "client"]
    subprocess.run(lost, check=True)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("Honest clients' time beside a flood, over their time alone; in brackets milliseconds alone.")
    print(f"{'':<54}" + "".join(f"{title:>16}" for title in (*WHAT, "times a second", "of it failed")))
    for flood in FLOODS:
        _show(flood, {name: [] for name in PEERS if _is_for(name, flood)}, seconds, rounds)


def _show(flood: Flood, found: dict[str, list[Turn]], seconds: float, rounds: int) -> None:
    for _ in range(rounds):
        for name in list(found):
            try:
                found[name].append(_turn(name, flood, seconds))
            except FileNotFoundError as missing:
                print(f"{missing} is not installed: left out")
                del found[name]
    ratios: dict[str, str] = {}
    for name, turns in found.items():
        cells, told = [], []
        for what in WHAT:
            pairs = [(turn.beside[what], turn.alone[what]) for turn in turns if what in turn.alone]
            ratio = median(beside / alone for beside, alone in pairs) if pairs else None
            told.append(number(ratio, 3))
            cells.append(
                f"{number(ratio, 3)} ({median(alone for _, alone in pairs) * 1e3:.2f})" if pairs else ""
            )
        ratios[name] = " ".join(told)
        rate, failed = median(turn.rate for turn in turns), median(turn.failed for turn in turns)
        cells += [f"{rate:,.0f}", f"{failed:.0%}"]
        print(f"{flood.name:<42}{name:<12}" + "".join(f"{cell:>16}" for cell in cells), flush=True)
    own = ratios.pop(OURS)
    figures.add(
        "time",
        f"{OURS}, {flood.name}: times the opening, exchange, download of honest clients",
        own,
        goal=number(GOAL),
        peer=", ".join(f"{name}: {told}" for name, told in ratios.items()),
    )

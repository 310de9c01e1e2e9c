"""Downloads with the kernel's TCP with and without a split proxy, in pairs, and simulated ones.

A file of 500 kB over ps-384, with 70 ms to the servers, and 1 % or no packet loss there. Both
downloads of a pair have the same seed, so they meet the same losses while they send the same
packets.
"""

from __future__ import annotations

import sys

from umtslab import Scenario, simulate
from umtslab.analyse.statistics import Summary, difference_paired, summarise
from umtslab.emulate.network import Core, of_bearer

from emulation.session import emulations

BEARER, DELAY, LOSSES = "ps-384", "70 ms", ("0.01", "0")
SIZE = 500_000
CONCURRENT_PAIRS = 2
"""Number of concurrent pairs: few, so that the machine is fast enough."""
FETCH = """
import socket, time
address = socket.getaddrinfo("a.example", 80, type=socket.SOCK_STREAM)[0][4]
began = time.monotonic()
server = socket.create_connection(address)
requested_at = time.monotonic()
server.sendall(b"GET /bytes/SIZE HTTP/1.0\\r\\nHost: a.example\\r\\n\\r\\n")
head = server.recv(1)
answered = time.monotonic()
while server.recv(1 << 16):
    pass
print(time.monotonic() - began - (answered - requested_at))
""".replace("SIZE", str(SIZE))
"""Time from the first SYN to the last byte, without the round trip of the request. In the
simulation the server opens the connection, and there is neither a DNS query nor a request."""
TCP = {"tcp.profile": "linux-6", "tcp.variant": "sack"}
"""The model's equivalent of the kernel's reno."""
RUNS = 60


def check(seconds: float) -> None:
    """Print the results with and without loss. The number of pairs is `seconds`, at least two."""
    pairs = max(2, round(seconds))
    for loss in LOSSES:
        print(f"{SIZE // 1000} kB over {BEARER}, {DELAY} to the servers, loss {loss}, {pairs} pairs")
        plain, split = _kernel(loss, pairs)
        faster = difference_paired(zip(split, plain, strict=True))
        print(f"  the proxy makes it {_with_interval(faster)} s faster")
        for name, durations, proxied in (("without", plain, False), ("with a proxy", split, True)):
            kernel, simulated = summarise(durations), summarise(_simulated(loss, proxied))
            deviation = 100 * (kernel.mean or 0) / (simulated.mean or 1) - 100
            comparison = f"simulated {_with_interval(simulated)} s: {deviation:+.1f} %"
            print(f"  {name:<13}{_with_interval(kernel)} s, {comparison}")


def _with_interval(summary: Summary) -> str:
    """Format a mean with its 95 % interval."""
    return f"{summary.mean or 0:.2f} ± {summary.ci95 or 0:.2f}"


def _kernel(loss: str, pairs: int) -> tuple[list[float], list[float]]:
    """Return the durations in seconds of the downloads without and with a proxy, by seed."""
    network = ("--bearer", BEARER, "--core-delay", DELAY, "--core-loss", loss, "--tcp", "reno")
    plain: list[float] = []
    split: list[float] = []
    for first in range(1, pairs + 1, CONCURRENT_PAIRS):
        seeds = range(first, min(first + CONCURRENT_PAIRS, pairs + 1))
        commands = [
            [*network, "--seed", str(seed), *proxy, "--", sys.executable, "-c", FETCH]
            for seed in seeds
            for proxy in ((), ("--proxy",))
        ]
        with emulations(*commands) as finished:
            durations = [float(done.output) for done in finished]
        plain += durations[::2]
        split += durations[1::2]
    return plain, split


def _simulated(loss: str, proxied: bool) -> list[float]:
    """Return the durations in seconds of the same download in simulations."""
    flow = f'[[flow]]\nue = "ue"\ntraffic = "file"\nsize = "{SIZE} B"\nstart = "0 s"\n'
    proxy = '[proxy]\nat = "ggsn"\n' if proxied else ""
    text = of_bearer(BEARER, 1) + flow + proxy
    core = Core(delay=DELAY, loss=loss)
    common = {"duration": "300 s", **TCP}
    overrides = (*common.items(), *core.overrides(Scenario.parse(text, overrides=tuple(common.items()))))
    runs = simulate(Scenario.parse(text, overrides=overrides), runs=RUNS)
    return [run.metrics["download_time_s"] or 300.0 for run in runs]

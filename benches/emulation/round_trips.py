"""Round-trip times of echo requests over a DCH, measured and predicted by simulation.

The simulation sends the requests of a recorded emulation through the same network at the same
times, with an immediate reply at the server side. The prediction excludes delays of the machine:
lateness of the emulator, and the time that the kernel and the program need.
"""

from __future__ import annotations

import json
import math
import statistics
import struct
import tempfile
from collections.abc import Iterable
from pathlib import Path

from umtslab import Scenario, _core

from emulation import recording
from emulation.recording import Packet
from emulation.session import SERVER, Emulation, emulations, probe

EPOCH_NS = 1_104_537_600 * 10**9
"""Time zero of a run in captures: 2005-01-01."""
INTERVAL_S = 0.337
"""Longer than a round trip, and no multiple of a TTI: requests come in all phases."""
IDENTIFIER = slice(24, 28)
"""Identifier and number of an echo message in an IPv4 packet."""


def check(seconds: float) -> None:
    """Print medians, and the differences between single round trips and their predictions."""
    bearers = ("ps-384", "ps-64", "fach")
    count = max(10, int(seconds / INTERVAL_S))
    print(f"round trips of {count} echo requests of 76 octets each")
    ping = probe("ping", SERVER[4], "--count", count, "--interval", INTERVAL_S)
    with emulations(*(["--bearer", name, "--record", "--", *ping] for name in bearers)) as finished:
        for name, done in zip(bearers, finished, strict=True):
            _show(name, done)


def _show(bearer: str, done: Emulation) -> None:
    """Print the round-trip times of a bearer, measured and predicted."""
    round_trips_ms = [1000 * value for value in done.answer["round_trips_s"] if value is not None]
    predicted = [1000 * value for value in predict(done)]
    if len(round_trips_ms) != len(predicted):
        raise RuntimeError(f"{len(round_trips_ms)} of the {len(predicted)} requests were answered")
    apart = sorted(a - b for a, b in zip(round_trips_ms, predicted, strict=True))
    median, expected = statistics.median(round_trips_ms), statistics.median(predicted)
    print(
        f"  {bearer:7} median {median:.3f} ms, predicted {expected:.3f} ms ({median - expected:+.3f}); "
        f"one by one {statistics.median(apart):+.3f} (p90 {apart[math.ceil(0.9 * len(apart)) - 1]:+.3f}, "
        f"max {apart[-1]:+.3f}); {done.verdict()}"
    )


def predict(done: Emulation, network: Scenario | None = None) -> list[float]:
    """Simulate the requests of a recorded emulation. Returns round-trip times in seconds.

    The requests go through the network of the emulation, or through `network`.
    """
    scenario = network or Scenario.load(done.folder / "scenario.toml")
    sent = [packet for packet in recording.read(done.folder / "packets-in.pcapng") if packet.port == 1]
    # Replies and the STATUS reports about them share the bearer with requests. Iterate until the
    # times of the replies are stable.
    replies: list[Packet] = []
    for _ in range(10):
        at_server, at_ue = _replay(done, scenario, [*sent, *replies])
        answered = [
            Packet(packet.at_ns + 1, 0, _reply(packet.data)) for packet in at_server if _is(packet, 8)
        ]
        if answered == replies:
            break
        replies = answered
    back = {packet.data[IDENTIFIER]: packet.at_ns for packet in at_ue if _is(packet, 0)}
    return [(back[packet.data[IDENTIFIER]] - packet.at_ns) / 1e9 for packet in sent]


def _replay(
    done: Emulation, scenario: Scenario, packets: Iterable[Packet]
) -> tuple[list[Packet], list[Packet]]:
    """Replay these packets. Returns the packets captured at the server side and at the UE."""
    card = json.loads((done.folder / "run.json").read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recording.write(folder / "in.pcapng", packets, 2)
        end_s = card["duration_s"] + 10.0
        _core.replay(
            scenario.core, card["seed"], str(folder / "in.pcapng"), real_ues=1, end_s=end_s, pcap_dir=name
        )
        return _captured(folder / "server.pcapng"), _captured(folder / "ue.pcapng")


def _captured(path: Path) -> list[Packet]:
    """Return the packets of a capture, with times relative to the start of the run."""
    return [Packet(packet.at_ns - EPOCH_NS, packet.port, packet.data) for packet in recording.read(path)]


def _is(packet: Packet, kind: int) -> bool:
    """Whether a packet is an ICMP message of type `kind`: 8 is an echo request, 0 a reply."""
    return packet.data[9] == 1 and packet.data[20] == kind


def _reply(request: bytes) -> bytes:
    """Return the reply: addresses exchanged, type 0.

    The checksum is not updated, as it is not verified.
    """
    return request[:12] + request[16:20] + request[12:16] + struct.pack("!B", 0) + request[21:]

"""``umts emulate`` over a TDD cell: a program requests capacity like simulated users."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Umts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("may_emulate")]

SCENARIOS = Path(__file__).parents[2] / "scenarios"

PING = """
import socket, struct, time

def checksum(octets):
    words = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    words = (words >> 16) + (words & 0xFFFF)
    return ~(words + (words >> 16)) & 0xFFFF

def echo(number, check):
    return struct.pack("!BBHHH8s", 8, 0, check, 1, number, b"12345678")

with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as pings:
    pings.settimeout(20)
    for number in range(6):
        sent = time.monotonic()
        pings.sendto(echo(number, checksum(echo(number, 0))), ("10.45.0.1", 0))
        # After the IP header of 20 bytes: type 0 is an echo reply, and bytes 6 and 7 are its number.
        while (answer := pings.recv(100))[20] != 0 or struct.unpack("!H", answer[26:28])[0] != number:
            pass
        print(1000 * (time.monotonic() - sent), flush=True)
        time.sleep(0.0731)
"""
"""Sends six echo requests and prints the round-trip times in ms.

A message of 36 bytes fills one block: eight bytes of payload after the IP and ICMP headers. The pause
is no multiple of a frame, so that requests begin at different times within a frame.
"""

FRAME_MS = 10.0


def times_of_messages(capture: Path) -> dict[tuple[int, int], float]:
    """Return the capture time in ms of each ICMP message, by type and sequence number."""
    fields = ("frame.time_epoch", "icmp.type", "icmp.seq")
    chosen = [word for field in fields for word in ("-e", field)]
    done = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", "icmp", "-T", "fields", *chosen],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    # Seconds since 1970 have too many digits for a float, so only the last digits are kept.
    return {(int(kind), int(number)): 1000 * (float(time[-13:]) % 100) for time, kind, number in rows}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="reading the captures needs tshark")
def test_a_ping_alone_in_a_tdd_cell_takes_the_predicted_frames(umts: Umts, tmp_path: Path) -> None:
    """Uplink: RACH in the next frame, two frames until the grant, a frame with the block.

    Downlink: the next frame.
    """
    # The simulated flow starts after the pings.
    late_flow = ("--set", "flow.0.start=59 s")
    scenario = SCENARIOS / "tdd-one-user.toml"
    done = umts("emulate", "--scenario", scenario, *late_flow, "--pcap", "--", sys.executable, "-c", PING)
    round_trips_ms = [float(line) for line in done.stdout.split()]
    (run,) = (tmp_path / "results" / "runs").iterdir()
    ue, rnc = (times_of_messages(run / "captures" / f"{point}.pcapng") for point in ("ue", "rnc"))
    request, reply = 8, 0
    for number, round_trip_ms in enumerate(round_trips_ms):
        sent_by_ue, sent_by_rnc = ue[request, number], rnc[reply, number]
        # Frames of the docstring above: 1 + 2 + 1 up, and 1 down.
        predicted_at_rnc = (math.ceil(sent_by_ue / FRAME_MS) + 4) * FRAME_MS
        predicted_at_ue = (math.ceil(sent_by_rnc / FRAME_MS) + 1) * FRAME_MS
        assert rnc[request, number] == pytest.approx(predicted_at_rnc, abs=0.5)
        assert ue[reply, number] == pytest.approx(predicted_at_ue, abs=0.5)
        # The program's round trip includes both directions of the cell, and the kernel of its host.
        assert round_trip_ms > predicted_at_ue - sent_by_ue
    assert len(round_trips_ms) == 6


def test_a_program_gets_answers_in_a_tdd_cell_with_other_users(umts: Umts, tmp_path: Path) -> None:
    done = umts("emulate", "--scenario", SCENARIOS / "tdd-ftp-3gpp.toml", "--", sys.executable, "-c", PING)
    assert len(done.stdout.split()) == 6
    (run,) = (tmp_path / "results" / "runs").iterdir()
    assert (run / "metrics.json").is_file()

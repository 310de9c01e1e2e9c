"""``umts analyse`` on captures of other origins: tunnels, UDP, compressed files, wrong clocks, limits."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Umts, command
from test_split_captures import conversation, pcap
from umtslab import analyse_captures
from umtslab.split_captures import split_transfers

REPORTS = Path(__file__).parents[2] / "crates" / "capture" / "tests" / "reports"
"""Folder of small captures, each with one peculiarity."""


def udp(source: int, target: int, data: bytes) -> bytes:
    """Return a datagram between two ports. Each port has a different address."""
    header = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(data), 0, 0, 64, 17, 0)
    header += bytes((10, 0, 0, source % 250, 10, 0, 0, target % 250))
    return header + struct.pack("!HHHH", source, target, 8 + len(data), 0) + data


@pytest.fixture
def datagrams(tmp_path: Path) -> Path:
    """A capture of eleven datagrams in 0.2 s, and one in the opposite direction."""
    packets = [(100 + 0.02 * number, udp(5000, 5001, bytes(200))) for number in range(11)]
    return pcap(tmp_path / "udp.pcap", [*packets, (100.3, udp(5001, 5000, bytes(50)))])


def test_a_connection_in_gtp_u_is_shown_with_its_tunnel(umts: Umts) -> None:
    [run] = json.loads(umts("analyse", REPORTS / "gn.pcap", "--json").stdout)["runs"]
    plain, tunnelled = run["connections"]
    assert (plain["client_teid"], tunnelled["client_teid"], tunnelled["server_teid"]) == (None, 1, 1)
    assert tunnelled["payload_bytes"] == 5000
    output = umts("analyse", REPORTS / "gn.pcap", "-c", 1).stdout
    assert "TEID of the client's packets 0x1" in output


def test_warnings_name_impossible_and_late_segments(umts: Umts) -> None:
    errors = umts("analyse", REPORTS / "challenge.pcap").stderr
    assert "2 segments acknowledge or reset data that their connection cannot have sent" in errors
    errors = umts("analyse", REPORTS / "hole.pcap").stderr
    assert "5 segments filled holes more than 3 ms late" in errors


def test_an_impossible_clock_is_an_error_that_names_the_interface(umts: Umts) -> None:
    done = umts("analyse", REPORTS / "tsresol.pcapng", status=2)
    assert "interface 0 counts time in units of 10^-127 s" in done.stderr
    assert done.stdout == ""


def test_udp_flows_are_reported(umts: Umts, datagrams: Path) -> None:
    [run] = json.loads(umts("analyse", datagrams, "--json").stdout)["runs"]
    [flow] = run["udp_flows"]
    assert (flow["client"], flow["server"], flow["sender"]) == ("10.0.0.0:5000", "10.0.0.1:5001", "client")
    assert (flow["packets"], flow["payload_bytes"], flow["reverse_packets"]) == (11, 2200, 1)
    assert flow["rate_kbps"] == pytest.approx(2200 * 8 / 200)  # bits per ms
    assert flow["longest_gap_s"] == pytest.approx(0.02, abs=1e-5)
    assert flow["spin_rtt_s"] is None
    assert run["counts"]["udp"] == 12
    output = umts("analyse", datagrams).stdout
    assert "12 packets, 0 of TCP, 12 of UDP" in output
    assert "longest gap (s)" in output
    [analysis] = analyse_captures(datagrams)
    assert analysis.udp_flows()["packets"].to_list() == [11]
    assert analysis.udp_rest == {"packets": 0, "payload_bytes": 0}


def test_skipped_packets_are_counted_by_reason(umts: Umts, tmp_path: Path) -> None:
    icmp = struct.pack("!BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 1, 0) + bytes(16)
    esp = struct.pack("!BBHHHBBH", 0x45, 0, 60, 0, 0, 64, 50, 0) + bytes(48)
    pcap(tmp_path / "other.pcap", [(1, icmp), (2, esp), (3, esp)])
    done = umts("analyse", "other.pcap")
    assert "skipped: 2 ESP, 1 ICMP" in done.stdout
    assert "2 packets are ESP, which is not decoded" in done.stderr


def test_compressed_captures_in_a_folder_are_read(umts: Umts, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    folder.mkdir()
    plain = (REPORTS / "mirror.pcap").read_bytes()
    (folder / "one.pcap.gz").write_bytes(gzip.compress(plain))
    count = 1
    for tool, suffix in (("zstd", "zst"), ("lz4", "lz4")):
        if shutil.which(tool):
            words = [tool, "-q", "-c", str(REPORTS / "mirror.pcap")]
            packed = subprocess.run(words, capture_output=True, check=True).stdout
            (folder / f"one.pcapng.{suffix}").write_bytes(packed)
            count += 1
    (folder / "notes.gz").write_bytes(b"no capture")
    runs = json.loads(umts("analyse", folder, "--json", "-q").stdout)["runs"]
    assert len(runs) == count
    [expected] = json.loads(umts("analyse", REPORTS / "mirror.pcap", "--json", "-q").stdout)["runs"]
    for run in runs:
        assert run["metrics"] == expected["metrics"]


def test_a_truncated_compressed_capture_has_a_warning(umts: Umts, tmp_path: Path) -> None:
    compressed = gzip.compress((REPORTS / "mirror.pcap").read_bytes())
    (tmp_path / "cut.pcap.gz").write_bytes(compressed[:-200])
    assert "the compressed file is cut off" in umts("analyse", "cut.pcap.gz").stderr


@pytest.mark.parametrize("limit", ["-1", "0", "99999999999999999999", "18446744073709551616"])
@pytest.mark.parametrize("split", [(), ("--split",)])
def test_limits_out_of_range_are_errors(umts: Umts, split: tuple[str, ...], limit: str) -> None:
    capture = REPORTS / "mirror.pcap"
    done = umts("analyse", capture, capture, *split, f"--connections-limit={limit}", status=2)
    assert "--connections-limit takes a whole number from 1 to 4294967296" in done.stderr
    assert "Traceback" not in done.stderr
    done = umts("analyse", capture, "--connection", "99999999999999999999", status=2)
    assert "--connection takes a whole number from 0 to" in done.stderr
    for number in (int(limit), -(2**70)):
        with pytest.raises(ValueError, match="most_connections"):
            split_transfers((capture, capture), most_connections=number)
        with pytest.raises(ValueError, match="most_connections"):
            analyse_captures(capture, most_connections=number)


def test_captures_without_tcp_have_no_transfers(umts: Umts, datagrams: Path, tmp_path: Path) -> None:
    empty = pcap(tmp_path / "empty.pcap", [])
    full = REPORTS / "mirror.pcap"
    for first, second in ((datagrams, full), (full, datagrams), (empty, empty), (empty, full)):
        done = umts("analyse", first, second, "--split")
        assert "0 transfers" in done.stdout
        assert "Traceback" not in done.stderr
        answer = json.loads(umts("analyse", first, second, "--split", "--json", "-q").stdout)
        assert answer == {"transfers": []}
    assert "none of them is TCP" in umts("analyse", datagrams, full, "--split").stderr


DELAY_S = 0.0004
"""Time of each packet between the two sides of the proxy."""


def transfers(folder: Path, count: int) -> tuple[Path, Path]:
    """Write captures of both sides of a proxy, with a new connection every millisecond.

    Each packet passes the second side `DELAY_S` after the first.
    """
    sides: tuple[list[tuple[float, bytes]], ...] = ([], [])
    for number in range(count):
        client, server = (1 + number // 50_000, 1024 + number % 50_000), (250, 80)
        request, answer = b"GET /%d" % number, b"%08d" % number * 20
        for side, delay in zip(sides, (0.0, DELAY_S), strict=True):
            side += conversation(100 + number / 1000 + delay, client, server, request, answer)
    first, second = (pcap(folder / f"{number}.pcap", side) for number, side in enumerate(sides))
    return first, second


def test_the_limit_of_connections_applies_to_both_sides_of_a_proxy(umts: Umts, tmp_path: Path) -> None:
    sides = transfers(tmp_path, 30)
    assert "30 transfers" in umts("analyse", *sides, "--split").stdout
    done = umts("analyse", *sides, "--split", "--connections-limit", 10)
    assert "10 transfers" in done.stdout
    assert "20 connections have no separate rows" in done.stderr


def test_the_delay_of_a_transfer_is_the_time_between_both_captures(umts: Umts, tmp_path: Path) -> None:
    sides = transfers(tmp_path, 30)
    paired = json.loads(umts("analyse", *sides, "--split", "--json").stdout)["transfers"]
    assert len(paired) == 30
    # Times in the captures are whole microseconds.
    assert all(transfer["delay_s"] == pytest.approx(DELAY_S, abs=2e-6) for transfer in paired)


def test_round_trips_that_were_not_captured_at_the_sender_have_a_note(umts: Umts, tmp_path: Path) -> None:
    sides = transfers(tmp_path, 1)
    output = umts("analyse", *sides, "--split").stdout
    assert "round-trip times are not the sender's" in output
    assert "captured at" in output


@pytest.mark.slow
def test_many_transfers_take_bounded_memory(tmp_path: Path) -> None:
    sides = transfers(tmp_path, 10_000)
    program = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    for more in ((), ("--json",), ("--connections-limit", "1000")):
        words = command("analyse", *sides, "--split", "-q", *more)
        done = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
        )
        peak_kib = int(done.stdout)
        assert peak_kib < (100_000 if "--connections-limit" in more else 200_000), more

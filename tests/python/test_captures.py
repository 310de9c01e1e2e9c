"""Captures of runs, read by tshark and tcptrace."""

from __future__ import annotations

import itertools
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from umtslab import Scenario, analyse_captures, open_store, simulate
from umtslab.captures import PacketRange
from umtslab.ladder import csv, packets

SCENARIOS = Path(__file__).parents[2] / "scenarios"
CAPTURE_POINTS = ("server", "rnc", "ue")

LOSSY = [
    ("radio.model", "independent"),
    ("radio.bler", "0.1"),
    ("rlc.max_dat", "3"),
    ("flow.0.traffic", "file"),
    ("flow.0.size", "300 kB"),
    ("duration", "60 s"),
]
"""A download over a DCH on which RLC discards some segments and TCP retransmits them. It ends with
FINs."""


def need(tool: str) -> str:
    """Return the path of a program. Skips the test if it is not installed."""
    path = shutil.which(tool)
    if path is None:
        pytest.skip(f"{tool} is not installed")
    return path


class Download(NamedTuple):
    """A simulated download: the folder of its captures, and its metrics."""

    captures: Path
    metrics: dict[str, float | None]


@pytest.fixture(scope="module")
def download(tmp_path_factory: pytest.TempPathFactory) -> Download:
    """A lossy download."""
    scenario = Scenario.load(SCENARIOS / "ftp-on-dch-384-3gpp.toml", LOSSY)
    with open_store(tmp_path_factory.mktemp("captures")) as store:
        (run,) = simulate(scenario, store=store, pcap=True)
        assert run.folder is not None
        return Download(run.folder / "captures", dict(run.metrics))


def fields(capture: Path, display_filter: str, *names: str) -> list[list[str]]:
    """Return fields of the packets that pass a display filter of tshark."""
    options = [word for name in names for word in ("-e", name)]
    command: list[str | Path] = [
        need("tshark"),
        "-r",
        capture,
        "-Y",
        display_filter,
        "-T",
        "fields",
        *options,
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.parametrize("point", CAPTURE_POINTS)
def test_tshark_finds_nothing_malformed(download: Download, point: str) -> None:
    capture = download.captures / f"{point}.pcapng"
    assert fields(capture, "frame", "frame.number")
    assert fields(capture, "_ws.malformed || _ws.expert.severity == error", "frame.number") == []
    # The payload is not captured, so only the checksum of the IP header can be verified. 1 is good,
    # and 2 is not verified.
    assert {status for (status,) in fields(capture, "ip", "ip.checksum.status")} <= {"1", "2"}


def test_every_packet_of_the_server_has_a_unique_ip_id(download: Download) -> None:
    sent = fields(download.captures / "server.pcapng", "ip.src == 198.18.0.0/15", "ip.id")
    assert len({identity for (identity,) in sent}) == len(sent)


def test_tshark_counts_as_many_retransmissions_as_the_run(download: Download) -> None:
    capture, metrics = download.captures / "server.pcapng", download.metrics
    # The metric counts retransmissions of the sender of the data. The receiver may retransmit its
    # FIN.
    retransmissions = fields(
        capture, "tcp.analysis.retransmission && ip.src == 198.18.0.0/15", "frame.number"
    )
    assert metrics["tcp_retransmissions"] is not None
    assert metrics["tcp_retransmissions"] > 0
    assert len(retransmissions) == metrics["tcp_retransmissions"]


def test_tcptrace_sees_a_complete_connection_with_the_metrics_of_the_run(download: Download) -> None:
    capture, metrics = download.captures / "server.pcapng", download.metrics
    text = subprocess.run(
        [need("tcptrace"), "-l", capture], check=True, capture_output=True, text=True
    ).stdout
    assert "complete conn: yes" in text, text
    # Values of both directions. The data go in one direction only.
    retransmissions = [int(count) for count in re.findall(r"rexmt data pkts:\s+(\d+)", text)]
    assert max(retransmissions) == metrics["tcp_retransmissions"]
    unique_bytes = [int(count) for count in re.findall(r"unique bytes sent:\s+(\d+)", text)]
    assert max(unique_bytes) == 300_000


# ── The ladder of a connection ──────────────────────────────────────────────────────────────────────


def without_handshake(capture: Path, folder: Path) -> Path:
    """Return a copy of a capture that begins with the fourth packet."""
    copy = folder / "late.pcapng"
    words: list[str | Path] = [need("tshark"), "-r", capture, "-Y", "frame.number > 3", "-w", copy]
    subprocess.run(words, check=True, capture_output=True)
    return copy


@pytest.mark.parametrize("point", ["server", "ue"])
@pytest.mark.parametrize("has_handshake", [True, False])
def test_a_ladder_has_the_numbers_of_tshark(
    download: Download, tmp_path: Path, point: str, has_handshake: bool
) -> None:
    capture = download.captures / f"{point}.pcapng"
    if not has_handshake:
        capture = without_handshake(capture, tmp_path)
    [analysis] = analyse_captures(capture, packets=PacketRange(0))
    table = analysis.packets()
    dissected = fields(
        capture, "tcp.stream == 0", "tcp.seq", "tcp.ack", "tcp.len", "tcp.window_size", "tcp.time_relative"
    )
    assert analysis.packet_counts["packets"] == len(table) == len(dissected) > 100
    for packet, window, (seq, ack, payload, size, time_s) in zip(
        packets(table), table["window_octets"], dissected, strict=True
    ):
        assert (packet.seq, packet.ack or 0, packet.payload) == (int(seq), int(ack), int(payload))
        assert packet.time_s == pytest.approx(float(time_s), abs=1e-6)
        # tshark shows the field of the header if the scale is unknown.
        assert packet.window == (size if has_handshake else f"{size} × ?")
        assert window == (int(size) if has_handshake else None)


FLAGS = ("FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR")
"""Flags of TCP (RFC 9293 §3.1), from the lowest bit of the header."""


def bits(*flags: str) -> int:
    """Return the octet of the header with these flags."""
    return sum(1 << FLAGS.index(flag) for flag in flags)


def write_flags(file: Path) -> int:
    """Write a download with all combinations of PSH, URG, ECE and CWR. Return the number of packets."""
    choices = [
        bits("ACK", *flags)
        for count in range(5)
        for flags in itertools.combinations(("PSH", "URG", "ECE", "CWR"), count)
    ]
    end = 1 + 100 * len(choices)
    # Sender, sequence and acknowledgment number, flags, octets of payload.
    sent = [
        ("client", 0, 0, bits("SYN", "ECE", "CWR"), 0),
        ("server", 0, 1, bits("SYN", "ACK", "ECE"), 0),
        ("client", 1, 1, bits("ACK"), 0),
        *(("server", 1 + 100 * number, 1, flags, 100) for number, flags in enumerate(choices)),
        *(("client", 1, 101 + 100 * number, flags, 0) for number, flags in enumerate(choices)),
        ("server", end, 1, bits("FIN", "PSH", "ACK"), 0),
        ("client", 1, end + 1, bits("RST", "ACK"), 0),
    ]
    hosts = {"client": (0x0A000001, 40_000), "server": (0x0A000002, 80)}
    with file.open("wb") as out:
        # Microseconds, version 2.4, raw IP.
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101))
        for number, (sender, seq, ack, flags, payload) in enumerate(sent):
            size = 40 + payload
            (source, port), (target, target_port) = (
                hosts[sender],
                hosts["server" if sender == "client" else "client"],
            )
            ip = struct.pack(">BBHHHBBHII", 0x45, 0, size, number, 0, 64, 6, 0, source, target)
            tcp = struct.pack(">HHIIBBHHH", port, target_port, seq, ack, 5 << 4, flags, 9000, 0, 0)
            out.write(struct.pack("<IIII", number, 0, size, size) + ip + tcp + bytes(payload))
    return len(sent)


def test_a_ladder_has_the_flags_of_tshark(tmp_path: Path) -> None:
    capture = tmp_path / "flags.pcap"
    count = write_flags(capture)
    [analysis] = analyse_captures(capture, packets=PacketRange(0))
    table = analysis.packets()
    dissected = fields(capture, "tcp.stream == 0", "tcp.flags")
    assert len(table) == len(dissected) == count
    saved = pl.read_csv(csv(table).encode())["flags"]
    for packet, flags, (header,) in zip(packets(table), saved, dissected, strict=True):
        assert packet.flags == flags
        names = flags.split(", ")
        assert bits(*names) == int(header, 16)
        assert names == sorted(names, key=FLAGS.index)
        # The arrow names all flags, except ACK beside data.
        shown = packet.label.removesuffix(" again").split(", ")
        assert set(names) - set(shown) <= {"ACK"}


def test_a_ladder_marks_the_packets_that_tshark_marks(download: Download) -> None:
    capture = download.captures / "server.pcapng"
    [analysis] = analyse_captures(capture, packets=PacketRange(0))
    listed = packets(analysis.packets())
    for kind, expression in (
        ("retransmission", "tcp.analysis.retransmission"),
        # tshark also marks the answer to a FIN that was sent again. No data of the receiver are
        # outstanding then, so it is no duplicate ACK (RFC 5681 §2).
        ("duplicate_ack", "tcp.analysis.duplicate_ack && ip.dst == 198.18.0.0/15"),
    ):
        marked = {int(number) for (number,) in fields(capture, expression, "frame.number")}
        assert {packet.packet for packet in listed if packet.kind == kind} == marked
        assert marked


def test_the_receive_window_agrees_with_tshark(download: Download) -> None:
    capture = download.captures / "server.pcapng"
    [analysis] = analyse_captures(capture, time_sequence=0)
    expression = "ip.dst == 198.18.0.0/15 && tcp.flags.ack == 1"
    sizes = [int(size) for (size,) in fields(capture, expression, "tcp.window_size")]
    changes = [size for before, size in zip([None, *sizes], sizes, strict=False) if size != before]
    assert analysis.series("window")["window_octets"].to_list() == changes

"""``umts analyse A B --split``: captures of both sides of a proxy, simulated or real.

A proxy splits a transfer into two connections. The analysis finds the pairs in the two captures, by
their endpoints or by their content and opening times.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import captured_proxy
import pytest
from conftest import FTP, Umts
from umtslab import Scenario, simulate
from umtslab.run import Run
from umtslab.split_captures import split_transfers
from umtslab.store import open_store


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two downloads over a simulated proxy, without losses, and their captures."""
    changes = {"radio.bler": "0", "link.0.loss": "0", "ue.0.count": "2"}
    scenario = Scenario.load(FTP.with_name("split-download.toml"), changes)
    with open_store(tmp_path_factory.mktemp("proxied")) as store:
        return simulate(scenario, store=store, pcap=True)[0]


def sides(run: Run) -> tuple[Path, Path]:
    """Return the proxy's captures towards the server and towards the radio."""
    files = {file.stem: file for file in run.captures()}
    return files["proxy-server"], files["proxy-radio"]


def test_both_connections_of_each_transfer_are_paired(proxied: Run) -> None:
    transfers = split_transfers(sides(proxied))
    assert len(transfers) == 2
    for transfer in transfers:
        # A transfer's connections share the client or server address.
        assert {transfer.first["client"], transfer.first["server"]} & {
            transfer.second["client"],
            transfer.second["server"],
        }
        assert transfer.octets >= 50_000
        assert transfer.first["ended"] == transfer.second["ended"] == "finished"


def test_the_proxys_buffer_agrees_with_the_metrics_of_the_run(proxied: Run) -> None:
    transfers = split_transfers(sides(proxied))
    ahead = [transfer.ahead_octets for transfer in transfers]
    buffered = proxied.metrics["proxy_buffer_max_octets"]
    assert buffered is not None
    # `ahead_octets` counts data that the proxy has acknowledged but the user has not. Its maximum
    # is the maximum of the proxy's buffer except for two segments.
    assert max(octets or 0 for octets in ahead) == pytest.approx(buffered, abs=2 * 1460)
    for transfer in transfers:
        assert transfer.delay_s is not None
        assert transfer.longest_delay_s is not None
        assert 0 < transfer.delay_s < transfer.longest_delay_s < 2


def test_the_order_of_the_captures_does_not_matter(proxied: Run) -> None:
    def described(captures: tuple[Path, Path]) -> list[tuple[object, ...]]:
        return sorted((t.first["client"], t.delay_s, t.ahead_octets) for t in split_transfers(captures))

    server, radio = sides(proxied)
    assert described((server, radio)) == described((radio, server))


def test_transfers_are_printed(umts: Umts, proxied: Run) -> None:
    server, radio = sides(proxied)
    printed = umts("analyse", server, radio, "--split").stdout
    assert "2 transfers" in printed
    assert "finished, finished" in printed
    assert "proxy-radio.pcapng" in printed
    answer = json.loads(umts("analyse", server, radio, "--split", "--json").stdout)
    assert [len(transfer["connections"]) for transfer in answer["transfers"]] == [2, 2]


def test_split_needs_two_captures(umts: Umts, proxied: Run) -> None:
    server, _ = sides(proxied)
    refused = umts("analyse", server, "--split", status=2)
    assert "give two captures, not 1" in refused.stderr


COUNT = 40
"""Number of transfers over a real proxy."""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["explicit", "socks5", "proxy-protocol"])
def test_connections_of_a_proxy_with_its_own_addresses_are_paired_by_content(
    umts: Umts, tmp_path: Path, mode: str
) -> None:
    unshare = ["unshare", "--net", "--map-root-user", "--user", "--kill-child", "--fork", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], check=False).returncode:
        pytest.skip("the test needs a network namespace")
    words = [sys.executable, captured_proxy.__file__, str(tmp_path), mode, str(COUNT)]
    script = 'ip link set lo up && exec "$@"'
    done = subprocess.run([*unshare, script, "sh", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # The ports of the client and of the proxy towards the server, and the size of each transfer.
    sizes = {(client, proxy): octets for client, proxy, octets in json.loads(done.stdout)}
    transfers = split_transfers((tmp_path / "servers.pcap", tmp_path / "clients.pcap"))
    assert len(transfers) == COUNT
    for transfer in transfers:
        # Data come from the server, so the connection to the server is first.
        proxy, client = (
            int(str(row["client"]).rpartition(":")[2]) for row in (transfer.first, transfer.second)
        )
        assert sizes[client, proxy] == transfer.octets
        assert transfer.delay_s is not None
        assert 0 <= transfer.delay_s < 5
    printed = umts("analyse", tmp_path / "clients.pcap", tmp_path / "servers.pcap", "--split").stdout
    assert f"{COUNT} transfers" in printed


End = tuple[int, int]
"""The last byte of an address in 10.0.0.0/24, and a port."""


def segment(sender: End, receiver: End, fields: tuple[int, int, int], data: bytes) -> bytes:
    """Return an IPv4 packet with a TCP segment. `fields` are flags, sequence number, acknowledgment."""
    flags, seq, ack = fields
    (source, source_port), (target, target_port) = sender, receiver
    header = struct.pack("!BBHHHBBH", 0x45, 0, 40 + len(data), 0, 0, 64, 6, 0)
    header += bytes((10, 0, 0, source, 10, 0, 0, target))
    ports = struct.pack("!HH", source_port, target_port)
    return header + ports + struct.pack("!IIBBHHH", seq, ack, 0x50, flags, 65535, 0, 0) + data


def pcap(file: Path, packets: list[tuple[float, bytes]], cut: int | None = None) -> Path:
    """Write IP packets with their times to a capture, with at most `cut` bytes of each."""
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for time_s, octets in sorted(packets):
            captured = octets[:cut]
            seconds, microseconds = int(time_s), round(time_s % 1 * 1e6)
            out.write(struct.pack("<IIII", seconds, microseconds, len(captured), len(octets)) + captured)
    return file


def conversation(
    start_s: float, client: End, server: End, request: bytes, answer: bytes
) -> list[tuple[float, bytes]]:
    """Return the packets of a connection with a request and its answer, one in each millisecond.

    The SYN of the client has the sequence number 100, and the SYN of the server 500.
    """
    fin, syn, ack = 1, 2, 16
    after_request, after_answer = 101 + len(request), 501 + len(answer)
    return [
        (start_s, segment(client, server, (syn, 100, 0), b"")),
        (start_s + 0.001, segment(server, client, (syn | ack, 500, 101), b"")),
        (start_s + 0.002, segment(client, server, (ack, 101, 501), request)),
        (start_s + 0.003, segment(server, client, (fin | ack, 501, after_request), answer)),
        (start_s + 0.004, segment(client, server, (fin | ack, after_request, after_answer + 1), b"")),
        (start_s + 0.005, segment(server, client, (ack, after_answer + 1, after_request + 1), b"")),
    ]


def test_pairing_uses_content_and_opening_times_for_truncated_captures(tmp_path: Path) -> None:
    """The client 10.0.0.1 connects to the proxy 10.0.0.9, and the proxy to the server 10.0.0.20."""
    clients, servers = [], []
    for number in range(3):
        request, answer = b"GET /%d HTTP/1.1" % number, bytes([number]) * (1000 + number)
        clients += conversation(10 + number / 100, (1, 5000 + number), (9, 80), request, answer)
        # The proxy connects to the server in reverse order.
        servers += conversation(10.5 - number / 100, (9, 7000 + number), (20, 80), request, answer)
    whole = (pcap(tmp_path / "a.pcap", clients), pcap(tmp_path / "b.pcap", servers))
    transfers = split_transfers(whole)
    # The last digits of both clients' ports, which are equal in a pair.
    digits_and_sizes = [
        (int(transfer.first["client"][-1]), int(transfer.second["client"][-1]), transfer.octets)
        for transfer in transfers
    ]
    assert sorted(digits_and_sizes) == [(0, 0, 1000), (1, 1, 1001), (2, 2, 1002)]
    # Headers alone have 40 bytes.
    cut = (pcap(tmp_path / "c.pcap", clients, 40), pcap(tmp_path / "d.pcap", servers, 40))
    assert len(split_transfers(cut)) == 3


def test_connections_without_partner_are_left_out(tmp_path: Path) -> None:
    partner = conversation(10, (9, 7000), (20, 80), b"one", b"1" * 100)
    with_partner = conversation(10, (1, 5000), (9, 80), b"one", b"1" * 100)
    without = conversation(10, (1, 5001), (9, 80), b"two", b"2" * 100)
    files = (pcap(tmp_path / "a.pcap", with_partner + without), pcap(tmp_path / "b.pcap", partner))
    (transfer,) = split_transfers(files)
    assert {transfer.first["client"], transfer.second["client"]} == {"10.0.0.1:5000", "10.0.0.9:7000"}


def test_three_thousand_connections_are_paired(tmp_path: Path) -> None:
    clients, servers = [], []
    for number in range(3000):
        request, answer = b"%06d" % number * 8, bytes(200)
        client, proxy, server = (100 + number % 100, 5000 + number), (9, 7000 + number), (20, 80)
        clients += conversation(10 + number / 1000, client, (9, 80), request, answer)
        servers += conversation(10.0005 + number / 1000, proxy, server, request, answer)
    files = (pcap(tmp_path / "a.pcap", clients), pcap(tmp_path / "b.pcap", servers))
    transfers = split_transfers(files)
    assert len(transfers) == 3000
    for transfer in transfers:
        rows = (transfer.first, transfer.second)
        client_port, proxy_port = sorted(int(row["client"].rpartition(":")[2]) for row in rows)
        assert client_port - 5000 == proxy_port - 7000

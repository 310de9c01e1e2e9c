"""``umts analyse A B --split``: captures of both sides of a proxy, simulated or real."""

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
from umtslab.split_captures import Row, SplitTransfer, split_transfers
from umtslab.store import open_store

CLEAN = {"radio.bler": "0", "link.0.loss": "0"}


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Run:
    scenario = Scenario.load(FTP.with_name("split-download.toml"), list({**CLEAN, "ue.0.count": "2"}.items()))
    with open_store(tmp_path_factory.mktemp("proxied")) as store:
        return simulate(scenario, store=store, pcap=True)[0]


def sides(run: Run) -> tuple[Path, Path]:
    files = {file.stem: file for file in run.captures()}
    return files["proxy-server"], files["proxy-radio"]


def test_both_connections_of_each_transfer_are_paired(proxied: Run) -> None:
    found = split_transfers(sides(proxied))
    assert len(found) == 2
    for transfer in found:
        # A transfer's connections share the client or server address.
        assert {transfer.first["client"], transfer.first["server"]} & {
            transfer.second["client"],
            transfer.second["server"],
        }
        assert transfer.octets >= 50_000
        assert transfer.first["ended"] == transfer.second["ended"] == "finished"


def test_the_proxys_buffer_agrees_with_the_metrics_of_the_run(proxied: Run) -> None:
    found = split_transfers(sides(proxied))
    ahead = [transfer.ahead_octets for transfer in found]
    told = proxied.metrics["proxy_buffer_max_octets"]
    assert told is not None
    # `ahead_octets` counts data that the proxy has acknowledged but the user has not. Its maximum
    # is about the maximum of the proxy's buffer.
    assert max(octets or 0 for octets in ahead) == pytest.approx(told, abs=2 * 1460)
    for transfer in found:
        assert transfer.delay_s is not None
        assert transfer.longest_delay_s is not None
        assert 0 < transfer.delay_s < transfer.longest_delay_s < 2


def test_the_order_of_the_captures_decides_nothing(proxied: Run) -> None:
    server, radio = sides(proxied)
    forth, back = split_transfers((server, radio)), split_transfers((radio, server))
    key = [(transfer.first["client"], transfer.delay_s, transfer.ahead_octets) for transfer in forth]
    assert sorted(key) == sorted((t.first["client"], t.delay_s, t.ahead_octets) for t in back)


def test_transfers_are_printed(umts: Umts, proxied: Run) -> None:
    server, radio = sides(proxied)
    printed = umts("analyse", server, radio, "--split").stdout
    assert "2 transfers" in printed
    assert "finished, finished" in printed
    assert "proxy-radio.pcapng" in printed
    told = json.loads(umts("analyse", server, radio, "--split", "--json").stdout)
    assert [len(transfer["connections"]) for transfer in told["transfers"]] == [2, 2]


def test_split_needs_two_captures(umts: Umts, proxied: Run) -> None:
    server, _ = sides(proxied)
    refused = umts("analyse", server, "--split", status=2)
    assert "give two captures, not 1" in refused.stderr


COUNT = 40


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["explicit", "socks5", "proxy-protocol"])
def test_connections_of_a_proxy_with_its_own_addresses_are_paired_by_content(
    umts: Umts, tmp_path: Path, mode: str
) -> None:
    unshare = ["unshare", "--net", "--map-root-user", "--user", "--kill-child", "--fork", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], check=False).returncode:
        pytest.skip("it takes a network of its own")
    words = [sys.executable, captured_proxy.__file__, str(tmp_path), mode, str(COUNT)]
    script = 'ip link set lo up && exec "$@"'
    done = subprocess.run([*unshare, script, "sh", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    known = {(client, towards): octets for client, towards, octets in json.loads(done.stdout)}
    found = split_transfers((tmp_path / "servers.pcap", tmp_path / "clients.pcap"))
    assert len(found) == COUNT
    for transfer in found:
        # Data come from the server, so the connection to the server is first.
        towards, client = (
            int(str(row["client"]).rpartition(":")[2]) for row in (transfer.first, transfer.second)
        )
        assert known[client, towards] == transfer.octets
        assert transfer.delay_s is not None
        assert 0 <= transfer.delay_s < 5
    printed = umts("analyse", tmp_path / "clients.pcap", tmp_path / "servers.pcap", "--split").stdout
    assert f"{COUNT} transfers" in printed


def ipv4(client: tuple[int, int], server: tuple[int, int], words: tuple[int, int, int], data: bytes) -> bytes:
    """A segment between two ends in 10.0.0.0/8.

    An end is the last byte of its address and its port.
    """
    (flags, seq, ack), (source, port), (target, to) = words, client, server
    header = struct.pack("!BBHHHBBH", 0x45, 0, 40 + len(data), 0, 0, 64, 6, 0)
    header += bytes((10, 0, 0, source, 10, 0, 0, target))
    return header + struct.pack("!HHIIBBHHH", port, to, seq, ack, 0x50, flags, 65535, 0, 0) + data


def pcap(file: Path, packets: list[tuple[float, bytes]], cut: int | None = None) -> Path:
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for at, octets in sorted(packets):
            kept = octets[:cut]
            out.write(struct.pack("<IIII", int(at), round(at % 1 * 1e6), len(kept), len(octets)) + kept)
    return file


def conversation(
    at: float, client: tuple[int, int], server: tuple[int, int], asked: bytes, answer: bytes
) -> list[tuple[float, bytes]]:
    """A request and its answer with FINs, one packet each millisecond."""
    up = ((2, 100, 0), (16, 101, 501), (16, 101 + len(asked), 501 + len(answer)))
    return [
        (at, ipv4(client, server, up[0], b"")),
        (at + 0.001, ipv4(server, client, (18, 500, 101), b"")),
        (at + 0.002, ipv4(client, server, up[1], asked)),
        (at + 0.003, ipv4(server, client, (17, 501, 101 + len(asked)), answer)),
        (at + 0.004, ipv4(client, server, (17, up[2][1], up[2][2] + 1), b"")),
        (at + 0.005, ipv4(server, client, (16, 502 + len(answer), 102 + len(asked)), b"")),
    ]


def test_pairing_uses_content_and_opening_times_for_truncated_captures(tmp_path: Path) -> None:
    asked = [b"GET /%d HTTP/1.1" % number for number in range(3)]
    clients, servers = [], []
    for number, word in enumerate(asked):
        answer = bytes([number]) * (1000 + number)
        clients += conversation(10 + number / 100, (1, 5000 + number), (9, 80), word, answer)
        # The proxy connects to the server in reverse order.
        servers += conversation(10.5 - number / 100, (9, 7000 + number), (20, 80), word, answer)
    whole = (pcap(tmp_path / "a.pcap", clients), pcap(tmp_path / "b.pcap", servers))
    found = split_transfers(whole)
    ends = [(int(t.first["client"][-1]), int(t.second["client"][-1]), t.octets) for t in found]
    assert sorted(ends) == [(0, 0, 1000), (1, 1, 1001), (2, 2, 1002)]
    cut = (pcap(tmp_path / "c.pcap", clients, 40), pcap(tmp_path / "d.pcap", servers, 40))
    assert len(split_transfers(cut)) == 3


def test_connections_without_partner_are_left_out(tmp_path: Path) -> None:
    same = conversation(10, (1, 5000), (9, 80), b"one", b"1" * 100)
    other = conversation(10, (1, 5001), (9, 80), b"two", b"2" * 100)
    strange = conversation(10, (9, 7000), (20, 80), b"one", b"1" * 100)
    files = (pcap(tmp_path / "a.pcap", same + other), pcap(tmp_path / "b.pcap", strange))
    (transfer,) = split_transfers(files)
    assert {transfer.first["client"], transfer.second["client"]} == {"10.0.0.1:5000", "10.0.0.9:7000"}


def test_many_connections_are_paired(tmp_path: Path) -> None:
    clients, servers = [], []
    for number in range(3000):
        asked, answer = b"%06d" % number * 8, bytes(200)
        ends = (100 + number % 100, 5000 + number), (9, 80)
        clients += conversation(10 + number / 1000, *ends, asked, answer)
        servers += conversation(10.0005 + number / 1000, (9, 7000 + number), (20, 80), asked, answer)
    files = (pcap(tmp_path / "a.pcap", clients), pcap(tmp_path / "b.pcap", servers))
    found = split_transfers(files)
    ports = [tuple(int(t[end]["client"].rpartition(":")[2]) for end in (0, 1)) for t in map(sides_of, found)]
    assert len(found) == 3000
    assert all(one - 5000 == other - 7000 for one, other in map(sorted, ports))


def sides_of(transfer: SplitTransfer) -> tuple[Row, Row]:
    return transfer.first, transfer.second

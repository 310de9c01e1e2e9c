"""``umts emulate --proxy``: the kernel's TCP terminates connections between the links."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import Umts, run_umts
from umtslab.captures import analyse_captures
from umtslab.emulate.node import node_of
from umtslab.split_captures import split_transfers

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("may_emulate")]

OCTETS = 60_000
"""Size of the download."""

FETCH = "import urllib.request, sys; sys.stdout.write(str(len(urllib.request.urlopen(sys.argv[1]).read())))"

UDP_CLIENT = """
import socket, sys
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(20)
client.sendto(b"question", ("192.0.2.9", 7000))
sys.stdout.write(repr(client.recvfrom(100)))
"""

UDP_SERVER = (
    "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 7000)); "
    "packet, client = s.recvfrom(100); s.sendto(packet[::-1], client); s.recvfrom(100)"
)
"""Answers one datagram with its bytes in reverse order."""

REFUSED = """
import socket, sys
try:
    socket.create_connection(("192.0.2.9", 9), timeout=20).recv(1)
except OSError as error:
    sys.stdout.write(type(error).__name__)
"""
"""Connects to a port on which no server listens, and prints the name of the exception."""

UPLOAD = """
import sys, urllib.request
body = bytes(20000)
for host in ("some.example", "[2001:db8::9]"):
    sys.stdout.write(urllib.request.urlopen(f"http://{host}/upload", body).read().decode())
"""
"""Uploads 20,000 bytes by IPv4 and by IPv6, and prints the sizes that the servers received."""


def run_of(folder: Path) -> Path:
    """Return the folder of the only run."""
    (run,) = (folder / "results" / "runs").iterdir()
    return run


def rtt(capture: Path) -> float:
    """Return the minimum round-trip time in seconds, seen from the point of capture."""
    (value,) = analyse_captures(capture)[0].connections()["min_rtt_s"].to_list()
    return float(value)


@pytest.fixture(scope="module")
def download(may_emulate: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a download from a distant server, with losses."""
    folder = tmp_path_factory.mktemp("download")
    core = ["--core-delay", "80 ms", "--core-loss", "0.02"]
    recording = ["--pcap", "--record", "--series", "--budget"]
    url = f"http://some.example/bytes/{OCTETS}"
    done = run_umts(folder, "emulate", "--proxy", *core, *recording, "--", sys.executable, "-c", FETCH, url)
    assert done.stdout == str(OCTETS)
    assert "proxy, towards users: cubic" in done.stderr
    return run_of(folder)


def test_each_side_has_its_own_round_trip(download: Path) -> None:
    captures = download / "captures"
    server, radio = (rtt(captures / f"{name}.pcapng") for name in ("server", "proxy-radio"))
    # Twice the core delay of 80 ms is on the side of the servers, and only there.
    assert 0.16 <= server < 0.25
    assert 0.03 < radio < 0.16
    connections = polars.read_parquet(download / "connections.parquet")
    assert connections.select("connection", "transfer", "leg", "ue").rows() == [
        (0, 0, "server", 0),
        (1, 0, "radio", 0),
    ]
    metrics = json.loads((download / "metrics.json").read_text())
    assert metrics["proxy_transfers"] == 1
    round_trips = polars.read_parquet(download / "series" / "program_rtt.parquet")
    assert set(round_trips["from"]) == {"server", "proxy", "ue"}


def test_captures_agree_with_the_proxys_log(download: Path) -> None:
    captures = download / "captures"
    (transfer,) = split_transfers((captures / "proxy-server.pcapng", captures / "proxy-radio.pcapng"))
    lines = [json.loads(line) for line in (download / "proxy.jsonl").read_text().splitlines()]
    (connection,) = (line for line in lines if line["event"] == "connection")
    # The routes set congestion control, independent of the host's default.
    started = lines[0]
    routes = [*started["client_side"]["by_routes"], *started["server_side"]["by_routes"]]
    assert {route["congestion_control"] for route in routes} == {"cubic"}
    sides = (connection["client_congestion_control"], connection["server_congestion_control"])
    assert sides == ("cubic", "cubic")
    # The captures and the proxy's log count the same bytes from the first one on.
    assert connection["octets_down"] == transfer.octets >= OCTETS
    assert transfer.first["client"] == transfer.second["client"] == connection["client"]
    # The proxy receives data before the UE does, and buffers more than one segment of 1,448 bytes.
    assert transfer.delay_s is not None
    assert transfer.delay_s > 0
    assert transfer.ahead_octets is not None
    assert transfer.ahead_octets > 1448


def test_the_budget_of_a_transfer_covers_all_legs(download: Path) -> None:
    metrics = json.loads((download / "metrics.json").read_text())
    parts = {name: value for name, value in metrics.items() if name.startswith("transfer_budget_")}
    total = parts.pop("transfer_budget_total_s")
    seconds = [value for name, value in parts.items() if name.endswith("_s")]
    assert sum(seconds) == pytest.approx(total, abs=1e-6)
    # The download takes 60,000 * 8 / 384,000 = 1.25 s on a DCH of 384 kbit/s.
    assert parts["transfer_budget_radio_serialisation_s"] > 0.5
    assert parts["transfer_budget_server_propagation_s"] >= 0.08  # The core delay, at least once.
    table = polars.read_parquet(download / "series" / "transfer_budget_intervals.parquet")
    assert set(table["leg"]) == {"server", "radio", "proxy"}
    # Transfer 0 is the DNS lookup, which is not split.
    assert set(table["transfer"]) == {1}


def test_a_proxied_emulation_replays_event_for_event(umts: Umts, tmp_path: Path, download: Path) -> None:
    replay = umts("replay", download, "--pcap", tmp_path / "replayed")
    assert "every event was the same as in the emulation" in replay.stdout
    for point in ("proxy-server", "proxy-radio"):
        replayed = (tmp_path / "replayed" / f"{point}.pcapng").read_bytes()
        assert replayed == (download / "captures" / f"{point}.pcapng").read_bytes()


def test_other_protocols_bypass_the_proxy(umts: Umts, tmp_path: Path) -> None:
    server = f'exec {sys.executable} -c "{UDP_SERVER}"'
    words = ["--proxy", "--pcap", "--server", server, "--", sys.executable, "-c", UDP_CLIENT]
    assert umts("emulate", "-q", *words).stdout == "(b'noitseuq', ('192.0.2.9', 7000))"
    captures = run_of(tmp_path) / "captures"
    sizes = {name: (captures / f"{name}.pcapng").stat().st_size for name in ("proxy-server", "proxy-radio")}
    # The captures of the proxy have only file headers.
    assert all(size < 500 for size in sizes.values()), sizes
    metrics = json.loads((run_of(tmp_path) / "metrics.json").read_text())
    assert (metrics["udp_sent_uplink"], metrics["udp_received"]) == (1, 1)


def test_uploads_and_both_versions_of_ip_are_split(umts: Umts, tmp_path: Path) -> None:
    words = ["--proxy=rnc", "--", sys.executable, "-c", UPLOAD]
    assert umts("emulate", "-q", *words).stdout.split() == ["20000", "20000"]
    run = run_of(tmp_path)
    rows = polars.read_parquet(run / "connections.parquet")
    assert rows["leg"].to_list() == ["server", "radio"] * 2
    # A transfer has the number of its first connection.
    assert rows["transfer"].to_list() == [0, 0, 2, 2]
    lines = [json.loads(line) for line in (run / "proxy.jsonl").read_text().splitlines()]
    assert [line["octets_up"] > 20_000 for line in lines if line["event"] == "connection"] == [True, True]


def test_a_refused_port_is_a_reset(umts: Umts, tmp_path: Path) -> None:
    done = umts("emulate", "-q", "--proxy", "--", sys.executable, "-c", REFUSED)
    assert done.stdout == "ConnectionResetError"
    lines = (run_of(tmp_path) / "proxy.jsonl").read_text().splitlines()
    assert [line["ended"] for line in map(json.loads, lines[1:])] == ["refused"]


SCENARIO = """
version = 1
duration = "60 s"
[proxy]
at = "rnc"
buffer = "32 kB"
{proxy}
[[ue]]
name = "user"
count = 2
bearer = "ps-384"
{flow}
"""
"""Two UEs for programs, behind a proxy. `proxy` are further keys of the proxy, `flow` further UEs and
their flows."""


def test_the_proxy_of_a_scenario_also_serves_programs(umts: Umts, tmp_path: Path) -> None:
    sides = '[proxy.radio_side]\nvariant = "reno"\ninitial_window = "3 segments"\nrto_min = "400 ms"\n'
    flow = '[[ue]]\nname = "other"\nbearer = "ps-64"\n[[flow]]\nue = "other"\ntraffic = "ftp"\n'
    file = tmp_path / "both.toml"
    file.write_text(SCENARIO.format(proxy=sides, flow=flow))
    url = "http://some.example/bytes/20000"
    done = umts("emulate", "--scenario", file, "--pcap", "--", sys.executable, "-c", FETCH, url)
    assert done.stdout == "20000"
    assert "proxy, towards users: reno, initial window 3" in done.stderr
    assert "proxy, towards servers: cubic, initial window 10" in done.stderr
    run = run_of(tmp_path)
    card = json.loads((run / "emulation.json").read_text())
    assert [side["route.congctl"] for side in card["proxy_tcp"]] == ["cubic", "reno"]
    assert card["proxy_tcp"][1]["route.rto_min"] == "400"
    simulated = polars.read_parquet(run / "series" / "simulated_connections.parquet")
    assert simulated["leg"].to_list() == ["server", "radio"]
    assert polars.read_parquet(run / "connections.parquet")["leg"].to_list() == ["server", "radio"]


def test_a_proxy_that_does_not_split_is_not_used_for_programs(umts: Umts, tmp_path: Path) -> None:
    file = tmp_path / "snoop.toml"
    file.write_text(SCENARIO.format(proxy='mode = "snoop"', flow=""))
    words = ["--scenario", file, "--", sys.executable, "-c", FETCH, "http://some.example/bytes/2000"]
    done = umts("emulate", *words)
    assert done.stdout == "2000"
    assert "warning: proxy: the proxy applies to simulated users only; programs pass it" in done.stderr
    assert not (run_of(tmp_path) / "proxy.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--proxy=pgw"], "--proxy=pgw sets the scenario key proxy.at"),
        (
            ["--proxy", "--set", "proxy.at=ggsn", "--set", "proxy.buffer=4 kB"],
            "proxy.buffer = 4 kB: the kernel's",
        ),
        (
            ["--proxy", "--set", "proxy.at=ggsn", "--set", "proxy.ports=[80]"],
            "proxy.ports: the kernel's proxy splits",
        ),
        (["--proxy", "--set", "proxy.at=ggsn", "--set", "proxy.memory=1 MB"], 'write at_limit = "refuse"'),
        (
            ["--proxy", "--set", "proxy.at=ggsn", "--set", "proxy.radio_side.variant=tahoe"],
            "proxy.radio_side.variant = tahoe: the kernel has no such congestion control",
        ),
    ],
)
def test_features_that_the_kernels_proxy_lacks_are_refused(
    umts: Umts, tmp_path: Path, words: list[str], message: str
) -> None:
    refused = umts("emulate", *words, "--", "touch", tmp_path / "ran", status=2)
    assert message in refused.stderr
    assert not (tmp_path / "ran").exists()


def test_outages_of_the_proxy_are_refused() -> None:
    proxy: dict[str, Any] = {"outage": [{"from": "1 s", "to": "2 s"}]}
    with pytest.raises(ValueError, match="no outages"):
        node_of(proxy, ())

"""``umts emulate`` with Internet access and attached devices, on a separate host in namespaces."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

import inline_hosts
import lone_host
import pytest
from conftest import Umts
from umtslab.emulate import forwarding, machine, resolver

pytestmark = pytest.mark.slow

WAIT_S = 30
"""Timeout for an answer on the loopback, which normally comes at once."""

NOTHING = {"forwards": "0", "devices": [], "holds": [], "folder": False}


def skip_without_host() -> None:
    missing = lone_host.missing()
    found = {what: answer for what, answer, _ in machine.needs()}
    if missing is None and found["TUN devices"] != "yes":
        missing = found["TUN devices"]
    if missing is not None:
        pytest.skip(f"--internet is not tested here: {missing}")


@pytest.fixture
def _host() -> None:
    skip_without_host()


@pytest.fixture(scope="module")
def inline(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Results of odd frames, and of more frames than the emulator can read."""
    skip_without_host()
    found: dict[str, Any] = inline_hosts.inside("inline", tmp_path_factory.mktemp("inline"))
    return found


@pytest.mark.usefixtures("_host")
def test_a_program_reaches_the_hosts_internet_with_the_hosts_address(tmp_path: Path) -> None:
    found = lone_host.inside("reach", tmp_path)
    assert (found["status"], found["said"]) == (0, lone_host.HOST), found
    told = found["told"]
    for change in ("net.ipv4.ip_forward = 1", "device umts-gi0", "nftables table umtslab0"):
        assert change in told
    assert found["left"] == NOTHING


@pytest.mark.usefixtures("_host")
@pytest.mark.parametrize("place", ["ggsn", "rnc"])
def test_a_proxy_splits_connections_to_the_hosts_internet(tmp_path: Path, place: str) -> None:
    found = lone_host.inside("reach", tmp_path, f"--proxy={place}")
    assert (found["status"], found["said"]) == (0, lone_host.HOST), found
    assert found["left"] == NOTHING
    (run,) = (tmp_path / "results" / "runs").iterdir()
    _, connection = (json.loads(line) for line in (run / "proxy.jsonl").read_text().splitlines())
    # The proxy connects from the program's address. NAT comes after the proxy, so the server sees
    # the address of the host.
    assert connection["client"].startswith("10.45.0.2:")
    assert connection["server"].endswith(":7000")
    assert connection["octets_down"] == len(lone_host.HOST)


@pytest.mark.usefixtures("_host")
def test_the_hosts_own_addresses_need_host_services(tmp_path: Path) -> None:
    found = lone_host.inside("own_services", tmp_path)
    usual, asked_for = found["usual"], found["asked for"]
    # Connections are refused with EHOSTUNREACH (113) instead of timing out, except to a broadcast
    # address.
    assert usual["said"][:2] == ["OSError 113", "OSError 113"], found
    assert "reached" not in usual["said"][2]
    assert "rejects packets to the host itself" in usual["told"]
    assert asked_for["said"][:2] == ["reached", "reached"], found
    # The device has no IPv6, not even a link-local address.
    assert usual["IPv6"] == asked_for["IPv6"] == ""
    assert usual["left"] == asked_for["left"] == NOTHING


@pytest.mark.usefixtures("_host")
def test_the_loss_of_an_attached_device_is_reported(tmp_path: Path) -> None:
    found = inline_hosts.inside("vanished", tmp_path)
    assert found["down"] == {"status": 0, "told": ""}
    assert found["gone"]["status"] == 125
    assert "umts: device right was removed: no packets cross the radio any more" in found["gone"]["told"]


@pytest.mark.usefixtures("_host")
def test_two_emulations_share_forwarding_and_the_last_restores_it(tmp_path: Path) -> None:
    between, after = lone_host.inside("two_at_once", tmp_path)
    assert between["said"] == lone_host.HOST
    assert (between["left"]["forwards"], between["left"]["devices"]) == ("1", ["umts-gi0"])
    assert after["left"] == NOTHING


@pytest.mark.usefixtures("_host")
def test_a_killed_emulation_leaves_nothing_on_the_host(tmp_path: Path) -> None:
    *one_by_one, both, cleaned = lone_host.inside("killed", tmp_path)
    assert one_by_one == [NOTHING] * 3
    # No process was left to restore the setting. The record of it is still there.
    assert both["forwards"] == "1"
    assert "before" in both["holds"]
    assert cleaned == NOTHING


@pytest.mark.usefixtures("_host")
def test_the_hosts_name_service_is_out_of_reach(tmp_path: Path) -> None:
    assert lone_host.inside("names", tmp_path) == "ConnectionRefusedError\n"


@pytest.mark.usefixtures("_host")
def test_a_closed_terminal_leaves_nothing_on_the_host(tmp_path: Path) -> None:
    assert lone_host.inside("closed_terminal", tmp_path) == NOTHING


def test_frames_beside_the_radio_are_counted(inline: dict[str, Any]) -> None:
    found = inline["oddities"]
    packets = json.loads(found["said"])["emulation"]["packets"]
    assert (packets["malformed"], packets["too_large"]) == (5, 1), found
    assert packets["frames_aside"] >= 2
    assert packets["frames_aside_lost"] == packets["unroutable"] == packets["refused"] == 0
    carried = packets["packets_out"] + packets["inside_at_end"]
    assert packets["packets_in"] == carried + packets["malformed"] + packets["too_large"]
    # The packet keeps its VLAN tag.
    assert found["heard"] == "7 tagged\n"
    for part in ("5 malformed", "1 too large", "frames passed beside the radio"):
        assert part in found["told"]


def test_kernel_drops_in_front_of_a_device_are_counted(inline: dict[str, Any]) -> None:
    told = inline["unread"]
    # Some megabytes wait in the kernel: the receive buffer is above the limit for unprivileged
    # users.
    assert told["packets"]["packets_in"] > 1000, told
    assert told["fidelity"]["tun_drops"] > 1000
    assert told["packets"]["packets_in"] + told["fidelity"]["tun_drops"] >= 12_000
    assert told["degraded"]


@pytest.mark.usefixtures("_host")
def test_the_radio_joins_two_devices_and_the_hosts_behind_them(tmp_path: Path) -> None:
    found = inline_hosts.inside("between", tmp_path)
    assert [said[0] for said in found["said"]] == ["30000\n"] * 2, found
    assert "every event was the same as in the emulation" in found["replayed"][0]
    for results in ("results0", "results1"):
        (run,) = (tmp_path / results / "runs").iterdir()
        metrics = json.loads((run / "metrics.json").read_text())
        assert metrics["min_rtt_s"] > 0.05
        packets = json.loads((run / "emulation.json").read_text())["packets"]
        assert packets["malformed"] == packets["unroutable"] == packets["refused"] == 0
    expected = (
        "both ends of the radio",
        "there is no device of this name",
        "ip address flush dev right",
        "mtu 1500",
        "ip link set left up",
    )
    for (told, status), part in zip(found["refused"], expected, strict=True):
        assert part in told
        assert status == 2


def test_attached_devices_need_both_options_and_no_others(umts: Umts) -> None:
    assert "must be given together" in umts("emulate", "--attach-ue", "a", "--", "true", status=2).stderr
    both = ("--attach-ue", "a", "--attach-net", "b")
    assert "remove --internet" in umts("emulate", *both, "--ue", "true", "--", "true", status=2).stderr


def test_forwarding_is_restored_when_the_last_holder_releases_it(tmp_path: Path) -> None:
    folder, switch = tmp_path / "held", tmp_path / "ip_forward"
    switch.write_text("0\n")
    own, other = os.getpid(), os.getppid()
    assert forwarding.hold(own, folder, switch) == "net.ipv4.ip_forward = 1 (it was 0)"
    assert forwarding.hold(other, folder, switch) is None
    forwarding.release(own, folder, switch)
    forwarding.release(own, folder, switch)
    assert switch.read_text() == "1"
    forwarding.release(other, folder, switch)
    assert switch.read_text() == "0"
    assert not folder.exists()


def test_holds_of_killed_processes_are_cleaned(tmp_path: Path) -> None:
    folder, switch = tmp_path / "held", tmp_path / "ip_forward"
    switch.write_text("0\n")
    forwarding.hold(os.getpid(), folder, switch)
    # The start time differs, as if another process had this number now.
    (folder / str(os.getpid())).write_text("1")
    assert forwarding.clean(folder, switch)[-1] == "set net.ipv4.ip_forward back to 0"
    assert switch.read_text() == "0"
    assert forwarding.clean(folder, switch) == []
    assert forwarding.clean(tmp_path / "absent", switch) == []


def test_a_host_that_forwards_already_is_unchanged(tmp_path: Path) -> None:
    folder, switch = tmp_path / "held", tmp_path / "ip_forward"
    switch.write_text("1\n")
    assert forwarding.hold(os.getpid(), folder, switch) is None
    forwarding.release(os.getpid(), folder, switch)
    assert switch.read_text() == "1\n"


def test_name_servers_come_from_the_host() -> None:
    text = (
        "# comment\nsearch example.org\nnameserver 192.0.2.9\nnameserver  2001:db8::1 # second\nnameserver\n"
    )
    assert resolver.name_servers(text) == ["192.0.2.9", "2001:db8::1"]
    assert resolver.name_servers("") == ["127.0.0.1"]


def test_a_query_goes_to_the_first_server_that_answers() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(WAIT_S)
        port = server.getsockname()[1]

        def answer() -> None:
            query, client = server.recvfrom(100)
            server.sendto(b"xxlate", client)
            server.sendto(query + b"!", client)

        thread = threading.Thread(target=answer)
        thread.start()
        # No name server listens at the first address.
        assert resolver.forward_query(b"12 who", ["::1", "127.0.0.1"], port) == b"12 who!"
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_answers_to_other_queries_do_not_extend_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "TIMEOUT_S", 0.3)
    over = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(WAIT_S)

        def answer_others() -> None:
            _, client = server.recvfrom(100)
            while not over.wait(0.02):
                server.sendto(b"xxlate", client)

        thread = threading.Thread(target=answer_others)
        thread.start()
        assert resolver.forward_query(b"12 who", ["127.0.0.1"], server.getsockname()[1]) is None
        over.set()
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_packets_keep_the_tags_of_their_vlans(tmp_path: Path) -> None:
    heard = inline_hosts.inside("vlans", tmp_path)
    assert sorted(heard, key=str) == sorted([[7, "7"], [None, "none"], [8, "8"]] * 3, key=str)

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
"""What is left on a host without emulations: see `lone_host.left_on_host`."""


def skip_without_host() -> None:
    """Skip the test if this machine cannot have the namespaces of a separate host."""
    missing = lone_host.missing()
    answers = {component: answer for component, answer, _ in machine.needs()}
    if missing is None and answers["TUN devices"] != "yes":
        missing = answers["TUN devices"]
    if missing is not None:
        pytest.skip(f"--internet is not tested here: {missing}")


@pytest.fixture
def _host() -> None:
    skip_without_host()


@pytest.fixture(scope="module")
def inline(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Results of odd frames, and of more frames than the emulator can read."""
    skip_without_host()
    results: dict[str, Any] = inline_hosts.inside("inline", tmp_path_factory.mktemp("inline"))
    return results


@pytest.mark.usefixtures("_host")
def test_a_program_reaches_the_hosts_internet_with_the_hosts_address(tmp_path: Path) -> None:
    result = lone_host.inside("reach", tmp_path)
    assert (result["status"], result["output"]) == (0, lone_host.HOST), result
    for change in ("net.ipv4.ip_forward = 1", "device umts-gi0", "nftables table umtslab0"):
        assert change in result["errors"]
    assert result["left"] == NOTHING


@pytest.mark.usefixtures("_host")
@pytest.mark.parametrize("node", ["ggsn", "rnc"])
def test_a_proxy_splits_connections_to_the_hosts_internet(tmp_path: Path, node: str) -> None:
    result = lone_host.inside("reach", tmp_path, f"--proxy={node}")
    assert (result["status"], result["output"]) == (0, lone_host.HOST), result
    assert result["left"] == NOTHING
    (run,) = (tmp_path / "results" / "runs").iterdir()
    _, connection = (json.loads(line) for line in (run / "proxy.jsonl").read_text().splitlines())
    # The proxy connects from the program's address. NAT comes after the proxy, so the server sees
    # the address of the host.
    assert connection["client"].startswith("10.45.0.2:")
    assert connection["server"].endswith(":7000")
    assert connection["octets_down"] == len(lone_host.HOST)


@pytest.mark.usefixtures("_host")
def test_the_hosts_own_addresses_need_host_services(tmp_path: Path) -> None:
    results = lone_host.inside("own_services", tmp_path)
    without, with_option = results["without option"], results["with option"]
    # Connections are refused with EHOSTUNREACH (113) instead of timing out, except to a broadcast
    # address.
    assert without["output"][:2] == ["OSError 113", "OSError 113"], results
    assert "reached" not in without["output"][2]
    assert "rejects packets to the host itself" in without["errors"]
    assert with_option["output"][:2] == ["reached", "reached"], results
    # The device has no IPv6, not even a link-local address.
    assert without["IPv6"] == with_option["IPv6"] == ""
    assert without["left"] == with_option["left"] == NOTHING


@pytest.mark.usefixtures("_host")
def test_only_the_removal_of_an_attached_device_is_an_error(tmp_path: Path) -> None:
    results = inline_hosts.inside("vanished", tmp_path)
    # The device was set down and up again.
    assert results["down"] == {"status": 0, "errors": ""}
    deleted = results["deleted"]
    assert deleted["status"] == 125
    assert "umts: device right was removed: no packets cross the radio any more" in deleted["errors"]


@pytest.mark.usefixtures("_host")
def test_two_emulations_share_forwarding_and_the_last_restores_it(tmp_path: Path) -> None:
    between, after = lone_host.inside("two_at_once", tmp_path)
    assert between["output"] == lone_host.HOST
    assert (between["left"]["forwards"], between["left"]["devices"]) == ("1", ["umts-gi0"])
    assert after["left"] == NOTHING


@pytest.mark.usefixtures("_host")
def test_a_killed_emulation_leaves_nothing_on_the_host(tmp_path: Path) -> None:
    *one_by_one, both, cleaned = lone_host.inside("killed", tmp_path)
    assert one_by_one == [NOTHING] * 3
    # No process was left to restore the setting. The file with its former value, "before", still
    # exists.
    assert both["forwards"] == "1"
    assert "before" in both["holds"]
    assert cleaned == NOTHING


@pytest.mark.usefixtures("_host")
def test_the_hosts_name_service_is_out_of_reach(tmp_path: Path) -> None:
    assert lone_host.inside("names", tmp_path) == "ConnectionRefusedError\n"


@pytest.mark.usefixtures("_host")
def test_a_closed_terminal_leaves_nothing_on_the_host(tmp_path: Path) -> None:
    assert lone_host.inside("closed_terminal", tmp_path) == NOTHING


def test_dropped_packets_and_frames_that_bypass_the_radio_are_counted(inline: dict[str, Any]) -> None:
    result = inline["odd frames"]
    packets = json.loads(result["output"])["emulation"]["packets"]
    assert (packets["malformed"], packets["too_large"]) == (5, 1), result
    assert packets["frames_aside"] >= 2
    assert packets["frames_aside_lost"] == packets["unroutable"] == packets["refused"] == 0
    carried = packets["packets_out"] + packets["inside_at_end"]
    assert packets["packets_in"] == carried + packets["malformed"] + packets["too_large"]
    # The packet keeps its VLAN tag.
    assert result["received"] == "7 tagged\n"
    for part in ("5 malformed", "1 too large", "frames passed beside the radio"):
        assert part in result["errors"]


def test_kernel_drops_in_front_of_a_device_are_counted(inline: dict[str, Any]) -> None:
    result = inline["unread"]
    read, dropped = result["packets"]["packets_in"], result["fidelity"]["tun_drops"]
    # Some megabytes wait in the kernel: the receive buffer is above the limit for unprivileged
    # users.
    assert read > 1000, result
    assert dropped > 1000
    # The flood has 12,000 datagrams.
    assert read + dropped >= 12_000
    assert result["degraded"]


@pytest.mark.usefixtures("_host")
def test_the_radio_joins_two_devices_and_the_hosts_behind_them(tmp_path: Path) -> None:
    result = inline_hosts.inside("between", tmp_path)
    assert [output for output, _, _ in result["downloads"]] == ["30000\n"] * 2, result
    assert "every event was the same as in the emulation" in result["replayed"][0]
    for results in ("results0", "results1"):
        (run,) = (tmp_path / results / "runs").iterdir()
        metrics = json.loads((run / "metrics.json").read_text())
        assert metrics["min_rtt_s"] > 0.05
        packets = json.loads((run / "emulation.json").read_text())["packets"]
        assert packets["malformed"] == packets["unroutable"] == packets["refused"] == 0
    messages = (
        "both ends of the radio",
        "there is no device of this name",
        "ip address flush dev right",
        "mtu 1500",
        "ip link set left up",
    )
    for (errors, status), message in zip(result["refused"], messages, strict=True):
        assert message in errors
        assert status == 2


def test_attached_devices_need_both_options_and_no_others(umts: Umts) -> None:
    assert "must be given together" in umts("emulate", "--attach-ue", "a", "--", "true", status=2).stderr
    both = ("--attach-ue", "a", "--attach-net", "b")
    # One message names the options that exclude attached devices, --ue among them.
    assert "remove --internet" in umts("emulate", *both, "--ue", "true", "--", "true", status=2).stderr


def test_forwarding_is_restored_when_the_last_holder_releases_it(tmp_path: Path) -> None:
    folder, switch = tmp_path / "forwarding", tmp_path / "ip_forward"
    switch.write_text("0\n")
    own, other = os.getpid(), os.getppid()
    assert forwarding.hold(own, folder, switch) == "net.ipv4.ip_forward = 1 (it was 0)"
    assert forwarding.hold(other, folder, switch) is None
    # The second release of one holder has no effect.
    forwarding.release(own, folder, switch)
    forwarding.release(own, folder, switch)
    assert switch.read_text() == "1"
    forwarding.release(other, folder, switch)
    assert switch.read_text() == "0"
    assert not folder.exists()


def test_locks_of_killed_processes_are_removed(tmp_path: Path) -> None:
    folder, switch = tmp_path / "forwarding", tmp_path / "ip_forward"
    switch.write_text("0\n")
    forwarding.hold(os.getpid(), folder, switch)
    # The start time differs, as if another process had this number now.
    (folder / str(os.getpid())).write_text("1")
    assert forwarding.clean(folder, switch)[-1] == "set net.ipv4.ip_forward back to 0"
    assert switch.read_text() == "0"
    assert forwarding.clean(folder, switch) == []
    assert forwarding.clean(tmp_path / "absent", switch) == []


def test_a_host_that_forwards_already_is_unchanged(tmp_path: Path) -> None:
    folder, switch = tmp_path / "forwarding", tmp_path / "ip_forward"
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
            # An answer to another query begins with another ID.
            server.sendto(b"xxlate", client)
            server.sendto(query + b"!", client)

        thread = threading.Thread(target=answer)
        thread.start()
        # No name server listens at the first address.
        assert resolver.forward_query(b"12query", ["::1", "127.0.0.1"], port) == b"12query!"
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
        assert resolver.forward_query(b"12query", ["127.0.0.1"], server.getsockname()[1]) is None
        over.set()
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_packets_keep_the_tags_of_their_vlans(tmp_path: Path) -> None:
    # The tag of each packet, and the tag that the sender wrote into its payload.
    received = inline_hosts.inside("vlans", tmp_path)
    assert sorted(received, key=str) == sorted([[7, "7"], [None, "none"], [8, "8"]] * 3, key=str)

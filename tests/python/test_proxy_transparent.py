"""``umts proxy --transparent``: it intercepts forwarded connections and leaves nothing behind.

Network namespaces of one machine form a client, a host that forwards its packets, and a server. The
proxy runs on the host between them. `proxied_path.inside` runs a function of `proxied_programs.py`
in these namespaces, and returns what it found.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import proxied_path
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def _path() -> None:
    """Skip the test if this machine cannot have the network namespaces of `proxied_path`."""
    lacks = proxied_path.missing()
    if lacks is not None:
        pytest.skip(lacks)


@pytest.mark.usefixtures("_path")
def test_connections_behave_as_without_the_proxy(tmp_path: Path) -> None:
    compared = proxied_path.inside("findings_without_and_with_proxy", tmp_path)
    for host in proxied_path.SERVER:
        direct, split = compared["direct"][host], compared["split"][host]
        # Bytes received by the client; whether the server saw the client's address, and its port.
        assert direct["half-closed"] == ["1000000", True, True]
        assert direct["reset of the client"] == "ConnectionResetError"
        assert (direct["slow"], direct["slow server"]) == (True, "10000000")
        assert (direct["server ends first"], direct["both end at once"]) == ("500000", "500")
        # The kernel completes the client's handshake before the proxy connects to the server.
        assert (direct.pop("refused"), split.pop("refused")) == (
            "ConnectionRefusedError",
            "ConnectionResetError",
        )
        del direct["same port"]
        same_port = split.pop("same port")
        # The server sees the client's address whenever a port is used again. It sees the client's port
        # unless the kernel holds an earlier connection of this port in TIME-WAIT.
        results = [result[:2] for result in same_port if isinstance(result, list)]
        assert results, same_port
        assert all(result == ["1000000", True] for result in results), same_port
        assert split == direct
    assert (compared["status"], compared["is_restored"]) == (0, True), compared["summary"]
    assert compared["connections"] >= 10
    # The guard restores the settings; the proxy binds foreign addresses. Neither runs as root or as
    # a user of other processes: they have users from the range of systemd's dynamic users.
    users = [int(user) for user, _ in compared["rights"]]
    assert len(set(users)) == 2
    assert all(61_184 <= user <= 65_519 for user in users)
    # Effective capabilities: CAP_KILL and CAP_NET_ADMIN, CAP_NET_BIND_SERVICE and CAP_NET_RAW.
    assert [capabilities for _, capabilities in compared["rights"]] == ["1020", "2400"]


@pytest.mark.usefixtures("_path")
def test_a_kill_of_one_process_restores_direct_connections(tmp_path: Path) -> None:
    guard, proxy = proxied_path.inside("killed", tmp_path, "pass")
    # The server resets the connection, with and without a proxy.
    for result in (guard, proxy):
        assert result["reset"] == result["reset after cleaning"] == "ConnectionResetError"
        assert result["is_restored"]
    # A rule without effect is left until `umts doctor --clean`.
    assert guard["changed"] == ["rules"]
    assert "removed 1 rules of killed proxies" in guard["cleaned"]
    assert proxy["changed"] == []
    # Emulations of other tests may have left control groups.
    assert "proxies" not in proxy["cleaned"]
    assert "a policy rule is left" in guard["errors"]
    assert "umts doctor --clean" in guard["errors"]
    assert "the proxy was killed (SIGKILL)" in proxy["errors"]


ALL_COMPLETE = ["100000"] * (1 + 4 + 2)
"""Bytes over an earlier connection, to the service at four addresses of the proxy's host, and to
the server at two addresses."""


@pytest.mark.usefixtures("_path")
@pytest.mark.parametrize("words", [(), ("--ports", "7001"), ("--if-dead", "refuse"), ("--ports", "80")])
def test_services_of_the_proxys_host_are_not_intercepted(tmp_path: Path, words: tuple[str, ...]) -> None:
    before, during, after = proxied_path.inside("own_services", tmp_path, *words)
    assert before == during == after == ALL_COMPLETE


@pytest.mark.usefixtures("_path")
@pytest.mark.parametrize("words", [(), ("--if-dead", "refuse")])
def test_connections_from_servers_to_clients_pass(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert proxied_path.inside("opened_by_the_server", tmp_path, *words) == ["True True"] * 3


@pytest.mark.usefixtures("_path")
def test_the_kernel_has_the_rules_in_order(tmp_path: Path) -> None:
    words = ("--ports", "80,443", "--if-dead", "refuse", "--deny", ":25", "--allow", ":80")
    assert proxied_path.inside("ordered", tmp_path, *words) == {
        "prerouting": [
            "services of this host",
            *["new connections", "without a proxy"] * 2,
            "connections of the proxy, from both sides",
            *["answers to SYN cookies, which have no socket yet"] * 2,
        ],
        "output": ["not a SYN cookie", "SYN cookie"],
        "input": ["--deny", "--allow", "not among --allow"],
    }


@pytest.mark.usefixtures("_path")
def test_a_policy_applies_to_intercepted_connections(tmp_path: Path) -> None:
    # Results by IPv4 and by IPv6.
    refused, answered = ["ConnectionRefusedError"] * 2, ["100000"] * 2
    without_policy = proxied_path.inside("refusing", tmp_path)
    assert without_policy["7001"] == answered
    # The firewall's forward chain does not see intercepted connections, and the proxy warns of it.
    warning = "intercepted connections are not forwarded"
    (line,) = [line for line in without_policy["printed"] if line.startswith(warning)]
    assert "--deny" in line
    for words in (("--deny", "7001"), ("--deny", "192.0.2.0/24:7001,[2001:db8:2::]/64")):
        assert proxied_path.inside("refusing", tmp_path, *words)["7001"] == refused, words
    allowing = proxied_path.inside("refusing", tmp_path, "--allow", "192.0.2.10:7001")
    assert allowing["7001"] == [answered[0], refused[0]]
    assert allowing["7002"] == refused


@pytest.mark.usefixtures("_path")
def test_an_unprivileged_user_cannot_block_or_kill_a_proxy(tmp_path: Path) -> None:
    kill_statuses, users, half_closed, cleaned = proxied_path.inside("held_names", tmp_path)
    # `kill` exits with 1 if it is not permitted.
    assert kill_statuses == [1, 1]
    assert not {"0", "65534"} & set(users)
    assert half_closed == ["1000000", True]
    # Emulations of other tests may have left control groups.
    assert "proxies" not in cleaned


@pytest.mark.usefixtures("_path")
def test_doctor_cleans_at_once_after_a_kill_of_both_processes(tmp_path: Path) -> None:
    for output, is_clean in proxied_path.inside("cleaned_at_once", tmp_path, "3"):
        # The output agrees with the state: everything is removed, or something stays.
        assert is_clean == ("removed 1 rules of killed proxies" in output), output
        assert is_clean or "their rules stay" in output


@pytest.mark.usefixtures("_path")
def test_connections_can_be_refused_after_a_kill(tmp_path: Path) -> None:
    for result in proxied_path.inside("killed", tmp_path, "refuse"):
        assert result["reset"] == "ConnectionRefusedError"
        # After `umts doctor --clean` the server is reached again, and it resets the connection.
        assert result["reset after cleaning"] == "ConnectionResetError"
        assert result["is_restored"]


@pytest.mark.usefixtures("_path")
def test_missing_devices_and_privileges_are_errors_that_leave_nothing(tmp_path: Path) -> None:
    absent, nobody, window = proxied_path.inside("refused", tmp_path)
    message = "umts: --from absent: there is no such device; `ip link` lists them\n"
    assert absent == [2, message, True]
    assert (nobody[0], nobody[2]) == (2, True)
    assert nobody[1].startswith("umts: --transparent requires root")
    assert (window[0], window[2]) == (2, True)
    assert window[1].startswith(
        "umts: initial_window and min_rto are settings of routes, which only root can create"
    )


@pytest.mark.usefixtures("_path")
def test_each_side_uses_its_initial_window_and_minimum_rto(tmp_path: Path) -> None:
    result = proxied_path.inside("windowed", tmp_path)
    client, server = result["sides"]
    assert ", initial window 3 segments, receive buffer" in client
    assert ", minimum retransmission timeout 0.7 s, receive buffer" in server
    # Nothing was sent to the client yet, so its window is the initial one. The server acknowledged
    # long before the timeout.
    to_client, to_server = result["sockets"]
    assert " cwnd:3 " in to_client, result
    timeout_ms = re.search(r" rto:(\d+)", to_server)
    # The kernel rounds the timeout up to its tick.
    assert timeout_ms is not None, result
    assert 700 <= int(timeout_ms[1]) < 750, result
    assert " cwnd:3 " not in to_server, result
    assert result["is_restored"], result


@pytest.mark.usefixtures("_path")
def test_vanished_client_ends_as_client_gone(tmp_path: Path) -> None:
    assert proxied_path.inside("vanished", tmp_path) == ["client_gone"]


@pytest.mark.usefixtures("_path")
def test_congestion_control_of_a_route_is_used_unless_set(tmp_path: Path) -> None:
    default = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    without_options, with_window, with_cubic = proxied_path.inside("route_congestion_control", tmp_path)
    # The IPv4 route sets reno. The IPv6 route does not set congestion control.
    for result, over_ipv4, over_ipv6 in (
        (without_options, "reno", default),
        (with_window, "reno", default),
        (with_cubic, "cubic", "cubic"),
    ):
        assert result["used"] == [[False, over_ipv6, default], [True, over_ipv4, default]]
        routes = result["started"]["client_side"]["by_routes"]
        assert {route["congestion_control"] for route in routes} == {over_ipv4, over_ipv6}
    assert "congestion control reno" in without_options["sides"][0]
    assert {route["initial_window"] for route in with_window["started"]["client_side"]["by_routes"]} == {3}


@pytest.mark.usefixtures("_path")
def test_syns_of_nonexistent_hosts_do_not_affect_clients(tmp_path: Path) -> None:
    result = proxied_path.inside("flooded", tmp_path, "20000")
    assert result["sent"] == "done\n"
    for client in result["findings"]:
        assert client["half-closed"] == ["1000000", True, True]
        assert (client["slow"], client["reset"]) == (True, "ConnectionResetError")
    # Connections without a completed handshake are not accepted.
    assert result["descriptors"] < 60


@pytest.mark.usefixtures("_path")
def test_no_effect_remains_whenever_the_proxy_is_killed(tmp_path: Path) -> None:
    """``UMTS_KILLS`` is the number of kills; `make soak` sets fifty."""
    kills = os.environ.get("UMTS_KILLS", "4")
    *after, cleaned = proxied_path.inside("killed_at_random", tmp_path, kills)
    # Only a policy rule with an empty table may be left.
    assert after == [[]] * int(kills)
    assert cleaned == []


@pytest.mark.usefixtures("_path")
def test_the_doctor_reports_running_proxies(tmp_path: Path) -> None:
    tproxy, running = proxied_path.inside("doctor_report", tmp_path)
    assert tproxy.startswith("yes: ")
    assert running.startswith("1: ")

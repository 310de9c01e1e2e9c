"""A test network for ``umts proxy --transparent``: a client, the proxy's host, and a server.

::

    client ── device "client" ── proxy's host ── device "server" ── server

Each host is a network namespace. A test calls `inside` with the name of a function of this file, for
example `findings_without_and_with_proxy`. The function runs in a new process on the proxy's host, which
forwards between the other two, and prints its result as JSON. Programs on the client and the server are
in `proxied_programs`. Nothing here reaches the machine's own network.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from lone_host import missing as missing
from proxied_programs import (
    COMPARING_CLIENT,
    ECHO_CLIENT,
    ECHO_SERVER,
    IDLE_CLIENT,
    NAME_HOLDER,
    READING_CLIENT,
    SERVE,
    SHORT_CLIENT,
    STALLED_CLIENT,
    SYN_FLOOD,
)

WAIT_S = 60

NFT = shutil.which("nft")
"""The nftables tool. Without it the tests do not check the rules."""

CLIENT, SERVER = ("198.51.100.10", "2001:db8:1::10"), ("192.0.2.10", "2001:db8:2::10")
"""IPv4 and IPv6 address of each host."""

ROUTERS = ("198.51.100.1", "2001:db8:1::1", "192.0.2.1", "2001:db8:2::1")
"""Addresses of the proxy's host: two towards the client, two towards the server."""


def inside(function: str, folder: Path, *words: str) -> Any:
    """Call a function of this file with `words` in separate namespaces. Returns its result."""
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    line = [*unshare, sys.executable, __file__, function, *words]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def _run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _returns_to(before: dict[str, str]) -> bool:
    """Whether the state of the host becomes `before` again within 10 s.

    The kernel removes routes shortly after their device.
    """
    deadline = time.monotonic() + 10
    while state() != before and time.monotonic() < deadline:
        time.sleep(0.02)
    return state() == before


def make_path() -> None:
    """Create devices ``client`` and ``server`` with a host behind each, and servers on the latter.

    This host forwards between them.
    """
    # A separate /run, in which the names of the network namespaces do not collide.
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    _run("ip", "link", "set", "lo", "up")
    # Neighbour solicitations come from link-local addresses. Duplicate address detection would
    # delay these by two seconds.
    for conf in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{conf}/accept_dad").write_text("0")
    _add_host("client", CLIENT, ROUTERS[:2])
    _add_host("server", SERVER, ROUTERS[2:])
    for key in ("ipv4/ip_forward", "ipv6/conf/all/forwarding"):
        Path("/proc/sys/net", key).write_text("1")
    servers = at("server", SERVE)
    assert servers.stdout is not None
    servers.stdout.readline()


def _add_host(name: str, addresses: tuple[str, ...], routers: tuple[str, ...]) -> None:
    """Create a host behind the device `name`, with this host as its router.

    `addresses` and `routers` are the two ends of the link, in IPv4 and in IPv6.
    """
    own = os.readlink("/proc/self/ns/net")
    host = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    while os.readlink(f"/proc/{host.pid}/ns/net") == own:
        time.sleep(0.01)
    namespace = Path(f"/run/{name}")
    namespace.touch()
    _run("mount", "--bind", f"/proc/{host.pid}/ns/net", str(namespace))
    _run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
    ip_of_host = ("nsenter", f"--net={namespace}", "ip")
    for address, router, length in zip(addresses, routers, (24, 64), strict=True):
        options = ["nodad"] if ":" in address else []
        _run(*ip_of_host, "address", "add", f"{address}/{length}", "dev", "eth0", *options)
        _run("ip", "address", "add", f"{router}/{length}", "dev", name, *options)
    _run(*ip_of_host, "link", "set", "eth0", "up")
    _run("ip", "link", "set", name, "up")
    _run(*ip_of_host, "link", "set", "lo", "up")
    for router, version in zip(routers, ("-4", "-6"), strict=True):
        _run(*ip_of_host, version, "route", "add", "default", "via", router)


def at(host: str, program: str, *words: str, stdin: int | None = None) -> subprocess.Popen[str]:
    """Start a Python program on one of the hosts."""
    line = ["nsenter", f"--net=/run/{host}", sys.executable, "-c", program, *words]
    return subprocess.Popen(line, text=True, stdin=stdin, stdout=subprocess.PIPE)


def query_servers() -> Any:
    """Run the client `COMPARING_CLIENT` against the server. Returns its findings."""
    return json.loads(at("client", COMPARING_CLIENT, *SERVER).communicate(timeout=3 * WAIT_S)[0])


def short_request(host: str, port: str = "7001") -> str:
    """Run the client `SHORT_CLIENT`. Returns what it prints."""
    return at("client", SHORT_CLIENT, host, port).communicate(timeout=WAIT_S)[0].strip()


def proxy(*words: str) -> subprocess.Popen[str]:
    """Start a transparent proxy for connections from the client."""
    line = [sys.executable, "-m", "umtslab", "proxy", "--transparent", "--from", "client", *words]
    process = subprocess.Popen(line, text=True, stderr=subprocess.PIPE)
    assert process.stderr is not None
    first = process.stderr.readline()
    assert first.startswith("listens at"), first + process.stderr.read()
    return process


def state() -> dict[str, str]:
    """Return everything in this network that a proxy may leave or change."""
    return {
        "links": " ".join(line.split()[1] for line in _run("ip", "-o", "link").splitlines()),
        "rules": _run("ip", "rule") + _run("ip", "-6", "rule"),
        "routes": _run("ip", "-4", "route", "show", "table", "all")
        + "".join(
            line
            for line in _run("ip", "-6", "route", "show", "table", "all").splitlines(keepends=True)
            if "fe80" not in line and "multicast" not in line
        ),
        "nftables": _run(NFT, "list", "ruleset") if NFT else "",
    }


def add_foreign_rules() -> None:
    """Add nftables rules that do not belong to the proxy, if the tool is installed."""
    if NFT:
        _run(NFT, "add table inet host; add chain inet host forward { type filter hook forward priority 0; }")
        _run(NFT, "add rule inet host forward tcp dport 25 counter drop")


def findings_without_and_with_proxy() -> dict[str, Any]:
    """Findings of a client without and with a proxy; also the proxy's end, users and capabilities."""
    make_path()
    before, direct = state(), query_servers()
    process = proxy("--log", "log")
    rights = [_user_and_capabilities(pid) for pid in (process.pid, *_children(process.pid))]
    split = query_servers()
    process.terminate()
    summary = process.communicate(timeout=WAIT_S)[1]
    lines = [json.loads(line) for line in Path("log").read_text().splitlines()]
    return {
        "direct": direct,
        "split": split,
        "summary": summary,
        "status": process.returncode,
        "is_restored": state() == before,
        "rights": rights,
        "connections": sum(line["event"] == "connection" for line in lines),
    }


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _user_and_capabilities(pid: int) -> list[str]:
    """Return the user ID and the effective capabilities of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = dict(line.split(":\t") for line in lines)
    return [values["Uid"].split()[1], values["CapEff"].lstrip("0")]


def own_services(*words: str) -> list[list[Any]]:
    """Results of a client at services of the proxy's host, before, during and after a proxy.

    The client reads from a connection that was opened before the proxy started. Then it uses the
    service at each address of the proxy's host, and the server at each of its addresses.
    """
    make_path()
    serving = subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    serving.stdout.readline()
    earlier = at("client", READING_CLIENT, ROUTERS[0], stdin=subprocess.PIPE)
    assert earlier.stdin is not None
    assert earlier.stdout is not None

    def request_all() -> list[Any]:
        print("more", file=earlier.stdin, flush=True)
        read = [earlier.stdout.readline().strip()] if earlier.stdout else []
        return [*read, *(short_request(host) for host in (*ROUTERS, *SERVER))]

    results = [request_all()]
    process = proxy(*words)
    results.append(request_all())
    process.terminate()
    process.communicate(timeout=WAIT_S)
    results.append(request_all())
    earlier.kill()
    earlier.communicate()
    serving.kill()
    serving.communicate()
    return results


def opened_by_the_server(*words: str) -> list[str]:
    """Results of connections from the server's host to the client's, before and during a proxy.

    Each echoes a megabyte. The first connection does so again when the proxy is running.
    """
    make_path()
    echoing = at("client", ECHO_SERVER)
    assert echoing.stdout is not None
    echoing.stdout.readline()
    before = at("server", ECHO_CLIENT, *CLIENT, stdin=subprocess.PIPE)
    assert before.stdin is not None
    assert before.stdout is not None
    print("go", file=before.stdin, flush=True)
    results = [before.stdout.readline().strip()]
    process = proxy(*words)
    print("go", file=before.stdin, flush=True)
    results.append(before.stdout.readline().strip())
    during = at("server", ECHO_CLIENT, *CLIENT, stdin=subprocess.PIPE)
    assert during.stdin is not None
    assert during.stdout is not None
    print("go", file=during.stdin, flush=True)
    results.append(during.stdout.readline().strip())
    for program in (before, during, echoing):
        program.kill()
        program.communicate()
    process.terminate()
    process.communicate(timeout=WAIT_S)
    return results


def ordered(*words: str) -> dict[str, list[str]]:
    """Comments of the nftables rules of a running proxy, by chain, in the kernel's order."""
    make_path()
    process = proxy(*words)
    comments = rules()
    process.terminate()
    process.communicate(timeout=WAIT_S)
    return comments


NETLINK_NETFILTER = 12
NFNL_SUBSYS_NFTABLES, NFT_MSG_GETRULE = 10, 7
NFTA_RULE_CHAIN, NFTA_RULE_USERDATA = 2, 7
NLM_F_REQUEST, NLM_F_DUMP = 0x001, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
"""Protocol, types of messages and attributes, and flags of netlink, as in the kernel's headers."""

NETLINK_HEADERS = 20
"""Bytes of the headers of a message: 16 of netlink, 4 of netfilter."""


def rules() -> dict[str, list[str]]:
    """Return the comments of all nftables rules, by chain.

    They are read over netlink, so that the test does not need the tool ``nft``.
    """
    netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
    netlink.bind((0, 0))
    # The zeros ask for all families of addresses.
    kind = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE
    sequence_number = 1
    netlink.send(
        struct.pack(
            "=IHHIIBBH", NETLINK_HEADERS, kind, NLM_F_REQUEST | NLM_F_DUMP, sequence_number, 0, 0, 0, 0
        )
    )
    comments: dict[str, list[str]] = {}
    while True:
        answer = netlink.recv(1 << 17)
        while answer:
            length, kind = struct.unpack_from("=IH", answer)
            if kind in (NLMSG_ERROR, NLMSG_DONE):
                return comments
            attributes = _attributes(answer[NETLINK_HEADERS:length])
            chain = attributes[NFTA_RULE_CHAIN].rstrip(b"\0").decode()
            # The user data of a rule are its comment, after a type and a length.
            comment = attributes.get(NFTA_RULE_USERDATA, b"")[2:].rstrip(b"\0").decode()
            comments.setdefault(chain, []).append(comment)
            # Messages begin at multiples of four bytes.
            answer = answer[(length + 3) & ~3 :]


def _attributes(octets: bytes) -> dict[int, bytes]:
    """Return the netlink attributes of a message by type, without their flags."""
    attributes = {}
    while len(octets) >= 4:
        length, kind = struct.unpack_from("=HH", octets)
        attributes[kind & 0x3FFF] = octets[4:length]
        octets = octets[(length + 3) & ~3 :]
    return attributes


def refusing(*words: str) -> dict[str, list[str]]:
    """Results at two ports of the server by IPv4 and IPv6, and the lines that the proxy printed."""
    make_path()
    process = proxy(*words)
    results = {port: [short_request(host, port) for host in SERVER] for port in ("7001", "7002")}
    process.terminate()
    assert process.stderr is not None
    results["printed"] = process.stderr.read().splitlines()
    process.wait(WAIT_S)
    return results


def held_names() -> list[Any]:
    """Results while an unprivileged user runs `NAME_HOLDER` and tries to kill the proxy.

    `NAME_HOLDER` binds abstract socket names. If such a name identified a running proxy, another user could
    block the proxy or mislead ``doctor --clean``.

    Statuses of the kills, users of the proxy's processes, a finding of a client, and the output of
    ``doctor --clean`` after the proxy.
    """
    make_path()
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    holder = subprocess.Popen([*nobody, sys.executable, "-c", NAME_HOLDER], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    holder.stdout.readline()
    process = proxy()
    processes = [str(pid) for pid in (process.pid, *_children(process.pid))]
    killing = [[*nobody, "kill", "-9", pid] for pid in processes]
    kills = [subprocess.run(line, check=False, stderr=subprocess.DEVNULL) for line in killing]
    users = [_user_and_capabilities(int(pid))[0] for pid in processes]
    half_closed = query_servers()[SERVER[0]]["half-closed"][:2]
    process.terminate()
    process.communicate(timeout=WAIT_S)
    cleaned = _run(sys.executable, "-m", "umtslab", "doctor", "--clean").strip()
    holder.kill()
    holder.communicate()
    return [[done.returncode for done in kills], users, half_closed, cleaned]


def cleaned_at_once(times: str) -> list[list[Any]]:
    """Output of ``doctor --clean`` right after a kill of both processes, and whether it cleaned."""
    make_path()
    before = state()
    results: list[list[Any]] = []
    for _ in range(int(times)):
        process = proxy()
        for victim in (process.pid, *_children(process.pid)):
            os.kill(victim, signal.SIGKILL)
        output = _run(sys.executable, "-m", "umtslab", "doctor", "--clean").strip()
        process.communicate(timeout=WAIT_S)
        results.append([output, state()["rules"] == before["rules"]])
    return results


def killed(if_dead: str) -> list[dict[str, Any]]:
    """Changes of the host after a kill of guard or proxy, and after ``doctor --clean``.

    The guard is the process that starts the proxy and restores the host after it. `if_dead` is the option of
    ``umts proxy``: the treatment of new connections while no proxy runs.
    """
    make_path()
    before = state()
    results = []
    for victim in ("guard", "proxy"):
        process = proxy("--if-dead", if_dead)
        (worker,) = _children(process.pid)
        os.kill(process.pid if victim == "guard" else worker, signal.SIGKILL)
        errors = process.communicate(timeout=WAIT_S)[1]
        deadline = time.monotonic() + WAIT_S
        while "umts-proxy" in state()["links"]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        after = state()
        result: dict[str, Any] = {
            "errors": errors,
            "changed": [name for name in after if after[name] != before[name]],
            "reset": query_servers()[SERVER[0]]["reset"],
            "cleaned": _run(sys.executable, "-m", "umtslab", "doctor", "--clean").strip(),
            "is_restored": _returns_to(before),
            "reset after cleaning": query_servers()[SERVER[0]]["reset"],
        }
        results.append(result)
    return results


def refused() -> list[list[Any]]:
    """Errors for a missing device and missing privileges, and whether the state is unchanged."""
    make_path()
    before = state()
    results: list[list[Any]] = []
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    to = ["--listen", "127.0.0.1:0", "--to", f"{SERVER[0]}:7001"]
    for prefix, words in (
        ([], ["--transparent", "--from", "absent"]),
        (nobody, ["--transparent", "--from", "client"]),
        (nobody, [*to, "--client-set", "initial_window=10"]),
    ):
        line = [*prefix, sys.executable, "-m", "umtslab", "proxy", *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        results.append([done.returncode, done.stderr, state() == before])
    return results


def windowed() -> dict[str, Any]:
    """The first lines of a proxy with an initial window and a minimum RTO, and its sockets' details."""
    make_path()
    before = state()
    words = ["--client-set", "initial_window=3 segments", "--server-set", "min_rto=700 ms"]
    process = proxy(*words)
    assert process.stderr is not None
    sides = [process.stderr.readline() for _ in range(2)]
    client = at("client", IDLE_CLIENT, SERVER[0])
    assert client.stdout is not None
    client.stdout.readline()
    # The proxy uses the server's address towards the client: sockets to the client, then to the server.
    sockets = [_run("ss", "-tinH", f"( {which} = {SERVER[0]} )") for which in ("src", "dst")]
    client.kill()
    client.communicate()
    process.terminate()
    process.communicate(timeout=WAIT_S)
    return {"sides": sides, "sockets": sockets, "is_restored": state() == before}


def vanished() -> list[str]:
    """How the log says that connections ended after the client has lost the network."""
    make_path()
    process = proxy("--log", "log", "--user-timeout", "500 ms")
    client = at("client", STALLED_CLIENT, SERVER[0])
    assert client.stdout is not None
    client.stdout.readline()
    _run("nsenter", "--net=/run/client", "ip", "link", "set", "eth0", "down")
    deadline = time.monotonic() + WAIT_S
    while len(lines := Path("log").read_text().splitlines()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    client.kill()
    client.communicate()
    process.terminate()
    process.communicate(timeout=WAIT_S)
    return [json.loads(line)["ended"] for line in lines[1:]]


def route_congestion_control() -> list[dict[str, Any]]:
    """Output and log if the route to the client sets congestion control, for different options."""
    make_path()
    route = [CLIENT[0].removesuffix("10") + "0/24", "dev", "client", "congctl", "reno", "advmss", "1300"]
    _run("ip", "route", "change", *route)
    results = []
    for words in ((), ("initial_window=3",), ("initial_window=3", "congestion_control=cubic")):
        process = proxy("--log", "log", *(word for key in words for word in ("--client-set", key)))
        assert process.stderr is not None
        sides = [process.stderr.readline() for _ in range(2)]
        query_servers()
        process.terminate()
        process.communicate(timeout=WAIT_S)
        started, *connections = map(json.loads, Path("log").read_text().splitlines())
        Path("log").unlink()
        # Whether the client used IPv4, and the congestion control of both sides.
        used = {
            (
                line["client"].startswith(CLIENT[0]),
                line["client_congestion_control"],
                line["server_congestion_control"],
            )
            for line in connections
            if line["setup_s"] is not None
        }
        results.append({"sides": sides, "started": started, "used": sorted(used)})
    return results


def flooded(count: str) -> dict[str, Any]:
    """Findings of a client during and after a flood of `count` SYNs from a nonexistent host."""
    make_path()
    process = proxy()
    flood = at("client", SYN_FLOOD, SERVER[0], count)
    findings = [query_servers()[SERVER[0]]]
    sent = flood.communicate(timeout=WAIT_S)[0]
    findings.append(query_servers()[SERVER[0]])
    (worker,) = _children(process.pid)
    descriptors = len(list(Path(f"/proc/{worker}/fd").iterdir()))
    process.terminate()
    process.communicate(timeout=WAIT_S)
    return {"findings": findings, "sent": sent, "descriptors": descriptors}


def _changed_since(before: dict[str, str]) -> list[str]:
    """Names of the parts of the state that differ from `before`, except policy rules."""
    return [name for name, value in state().items() if value != before[name] and name != "rules"]


def killed_at_random(kills: str) -> list[list[str]]:
    """Differences from the initial state after each of `kills` kills, and after ``doctor --clean``.

    A kill is of the guard, the proxy or both, at a random time. Policy rules may be left after it.
    """
    make_path()
    add_foreign_rules()
    before = state()
    draws = random.Random(kills)
    differences = []
    for _ in range(int(kills)):
        process = subprocess.Popen(
            [sys.executable, "-m", "umtslab", "proxy", "--transparent", "--from", "client", "-q"]
        )
        time.sleep(draws.uniform(0, 1.5))
        running = [process.pid, *_children(process.pid)]
        for victim in draws.choice(([draws.choice(running)], running)):
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        process.wait(WAIT_S)
        # A process that was not killed removes the rest when it notices; the kernel removes its tables.
        deadline = time.monotonic() + WAIT_S
        while (changed := _changed_since(before)) and time.monotonic() < deadline:
            time.sleep(0.02)
        differences.append(changed)
    _run(sys.executable, "-m", "umtslab", "doctor", "--clean")
    differences.append([name for name, value in state().items() if value != before[name]])
    return differences


def doctor_report() -> list[str]:
    """Lines of ``umts doctor`` about proxies while one is running."""
    make_path()
    process = proxy()
    rows = json.loads(_run(sys.executable, "-m", "umtslab", "doctor", "--json"))
    process.terminate()
    process.communicate(timeout=WAIT_S)
    return [f"{row['found']}: {row['remark']}" for row in rows if row["what"] in ("TPROXY", "proxies")]


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))

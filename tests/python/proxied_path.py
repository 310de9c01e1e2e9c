"""A client, a host with ``umts proxy --transparent`` and a server in separate network namespaces.

`inside` runs this file. Nothing here reaches the machine's own network.
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
    ASK,
    ASK_ONCE,
    ASK_SHORTLY,
    CALL,
    ECHO,
    FLOOD,
    READ_A_LITTLE,
    SERVE,
    SQUAT,
    STAY,
)

WAIT_S = 60

NFT = shutil.which("nft")
"""The nftables tool. Without it the tests do not check the rules."""

CLIENT, SERVER = ("198.51.100.10", "2001:db8:1::10"), ("192.0.2.10", "2001:db8:2::10")


def inside(what: str, folder: Path, *words: str) -> Any:
    """Call the function `what` of this file with `words` in separate namespaces.

    Returns its result.
    """
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    line = [*unshare, sys.executable, __file__, what, *words]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def _run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _becomes(wanted: dict[str, str]) -> bool:
    """Whether the state becomes `wanted` soon.

    The kernel removes routes shortly after their device.
    """
    deadline = time.monotonic() + 10
    while state() != wanted and time.monotonic() < deadline:
        time.sleep(0.02)
    return state() == wanted


def make_path() -> None:
    """Create devices ``client`` and ``server`` with a host behind each.

    This host forwards between them.
    """
    own = os.readlink("/proc/self/ns/net")
    # A separate /run, in which the names of the network namespaces do not collide.
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    _run("ip", "link", "set", "lo", "up")
    # Neighbour solicitations come from link-local addresses. Duplicate address detection would
    # delay these by two seconds.
    for conf in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{conf}/accept_dad").write_text("0")
    for name, net, addresses in (("client", 1, CLIENT), ("server", 2, SERVER)):
        host = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        while os.readlink(f"/proc/{host.pid}/ns/net") == own:
            time.sleep(0.01)
        place = Path(f"/run/{name}")
        place.touch()
        _run("mount", "--bind", f"/proc/{host.pid}/ns/net", str(place))
        _run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
        routers = (addresses[0].removesuffix("0"), f"2001:db8:{net}::1")
        for address, router, length in zip(addresses, routers, (24, 64), strict=True):
            within = f"nsenter --net={place} ip"
            six = ["nodad"] if ":" in address else []
            _run(*within.split(), "address", "add", f"{address}/{length}", "dev", "eth0", *six)
            _run("ip", "address", "add", f"{router}/{length}", "dev", name, *six)
        for device, prefix in (("eth0", within.split()), (name, ["ip"])):
            _run(*prefix, "link", "set", device, "up")
        _run(*within.split(), "link", "set", "lo", "up")
        for router, version in zip(routers, ("-4", "-6"), strict=True):
            _run(*within.split(), version, "route", "add", "default", "via", router)
    for key in ("ipv4/ip_forward", "ipv6/conf/all/forwarding"):
        Path("/proc/sys/net", key).write_text("1")
    serving = at("server", SERVE)
    assert serving.stdout is not None
    serving.stdout.readline()


def at(host: str, program: str, *words: str, stdin: int | None = None) -> subprocess.Popen[str]:
    """Start a Python program on one of the hosts."""
    line = ["nsenter", f"--net=/run/{host}", sys.executable, "-c", program, *words]
    return subprocess.Popen(line, text=True, stdin=stdin, stdout=subprocess.PIPE)


def query_servers() -> Any:
    """Run the client `ASK` against the server. Returns its findings."""
    return json.loads(at("client", ASK, *SERVER).communicate(timeout=3 * WAIT_S)[0])


def short_request(host: str, port: str = "7001") -> str:
    """Run the client `ASK_SHORTLY`. Returns what it prints."""
    return at("client", ASK_SHORTLY, host, port).communicate(timeout=WAIT_S)[0].strip()


def proxy(*words: str) -> subprocess.Popen[str]:
    """Start a transparent proxy for connections from the client."""
    line = [sys.executable, "-m", "umtslab", "proxy", "--transparent", "--from", "client", *words]
    made = subprocess.Popen(line, text=True, stderr=subprocess.PIPE)
    assert made.stderr is not None
    first = made.stderr.readline()
    assert first.startswith("listens at"), first + made.stderr.read()
    return made


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


def compared() -> dict[str, Any]:
    """Findings of a client without and with a proxy, and whether the proxy leaves changes."""
    make_path()
    before, direct = state(), query_servers()
    made = proxy("--log", "log")
    rights = [_rights(pid) for pid in (made.pid, *_children(made.pid))]
    split = query_servers()
    made.terminate()
    said = made.communicate(timeout=WAIT_S)[1]
    lines = [json.loads(line) for line in Path("log").read_text().splitlines()]
    return {
        "direct": direct,
        "split": split,
        "said": said,
        "status": made.returncode,
        "left": state() == before,
        "rights": rights,
        "connections": sum(line["event"] == "connection" for line in lines),
    }


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _rights(pid: int) -> list[str]:
    """Return the user ID and the effective capabilities of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    values = dict(line.split(":\t") for line in lines)
    return [values["Uid"].split()[1], values["CapEff"].lstrip("0")]


ROUTERS = (CLIENT[0].removesuffix("0"), "2001:db8:1::1", SERVER[0].removesuffix("0"), "2001:db8:2::1")
"""Addresses of the proxy's host, towards the client and towards the server."""


def own_services(*words: str) -> list[list[Any]]:
    """Results at services of the proxy's host before, during and after a proxy.

    The client uses a connection that was opened before the proxy, then the service at each address
    of the proxy's host, then the server behind the proxy.
    """
    make_path()
    serving = subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    serving.stdout.readline()
    kept = at("client", STAY, ROUTERS[0], stdin=subprocess.PIPE)
    assert kept.stdin is not None
    assert kept.stdout is not None

    def look() -> list[Any]:
        print("more", file=kept.stdin, flush=True)
        found = [kept.stdout.readline().strip()] if kept.stdout else []
        return [*found, *(short_request(host) for host in (*ROUTERS, *SERVER))]

    found = [look()]
    made = proxy(*words)
    found.append(look())
    made.terminate()
    made.communicate(timeout=WAIT_S)
    found.append(look())
    kept.kill()
    kept.communicate()
    serving.kill()
    serving.communicate()
    return found


def opened_by_the_server(*words: str) -> list[str]:
    """Results of connections from the server's host to the client's, before and during a proxy.

    Each echoes a megabyte. The first connection does so again when the proxy is running.
    """
    make_path()
    echoing = at("client", ECHO)
    assert echoing.stdout is not None
    echoing.stdout.readline()
    before = at("server", CALL, *CLIENT, stdin=subprocess.PIPE)
    assert before.stdin is not None
    assert before.stdout is not None
    print("go", file=before.stdin, flush=True)
    found = [before.stdout.readline().strip()]
    made = proxy(*words)
    print("go", file=before.stdin, flush=True)
    found.append(before.stdout.readline().strip())
    during = at("server", CALL, *CLIENT, stdin=subprocess.PIPE)
    assert during.stdin is not None
    assert during.stdout is not None
    print("go", file=during.stdin, flush=True)
    found.append(during.stdout.readline().strip())
    for one in (before, during, echoing):
        one.kill()
        one.communicate()
    made.terminate()
    made.communicate(timeout=WAIT_S)
    return found


def ordered(*words: str) -> dict[str, list[str]]:
    """Comments of the nftables rules of a running proxy, by chain, in the kernel's order."""
    make_path()
    made = proxy(*words)
    found = rules()
    made.terminate()
    made.communicate(timeout=WAIT_S)
    return found


def rules() -> dict[str, list[str]]:
    """Return the comments of all nftables rules, by chain."""
    asking = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
    asking.bind((0, 0))
    # A dump request of NFT_MSG_GETRULE for all families.
    asking.send(struct.pack("=IHHIIBBH", 20, 10 << 8 | 7, 0x301, 1, 0, 0, 0, 0))
    found: dict[str, list[str]] = {}
    while True:
        answer = asking.recv(1 << 17)
        while answer:
            length, kind = struct.unpack_from("=IH", answer)
            if kind in (2, 3):
                return found
            parts = _attributes(answer[20:length])
            chain = parts[2].rstrip(b"\0").decode()
            found.setdefault(chain, []).append(parts.get(7, b"")[2:].rstrip(b"\0").decode())
            answer = answer[(length + 3) & ~3 :]


def _attributes(octets: bytes) -> dict[int, bytes]:
    found = {}
    while len(octets) >= 4:
        length, kind = struct.unpack_from("=HH", octets)
        found[kind & 0x3FFF] = octets[4:length]
        octets = octets[(length + 3) & ~3 :]
    return found


def refusing(*words: str) -> dict[str, list[str]]:
    """Results at two ports of the server by IPv4 and IPv6, and the proxy's output."""
    make_path()
    made = proxy(*words)
    found = {port: [short_request(host, port) for host in SERVER] for port in ("7001", "7002")}
    made.terminate()
    assert made.stderr is not None
    found["said"] = made.stderr.read().splitlines()
    made.wait(WAIT_S)
    return found


def held_names() -> list[Any]:
    """Results of a proxy while a user holds the names of `SQUAT` and tries to kill the proxy."""
    make_path()
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    squatter = subprocess.Popen([*nobody, sys.executable, "-c", SQUAT], stdout=subprocess.PIPE, text=True)
    assert squatter.stdout is not None
    squatter.stdout.readline()
    made = proxy()
    processes = [str(pid) for pid in (made.pid, *_children(made.pid))]
    killing = [[*nobody, "kill", "-9", pid] for pid in processes]
    kills = [subprocess.run(line, check=False, stderr=subprocess.DEVNULL) for line in killing]
    users = [_rights(int(pid))[0] for pid in processes]
    works = query_servers()[SERVER[0]]["half-closed"][:2]
    made.terminate()
    made.communicate(timeout=WAIT_S)
    cleaned = _run(sys.executable, "-m", "umtslab", "doctor", "--clean").strip()
    squatter.kill()
    squatter.communicate()
    return [[done.returncode for done in kills], users, works, cleaned]


def cleaned_at_once(times: str) -> list[list[Any]]:
    """Output of ``doctor --clean`` right after a kill of both processes, and whether it cleaned."""
    make_path()
    before = state()
    found: list[list[Any]] = []
    for _ in range(int(times)):
        made = proxy()
        for victim in (made.pid, *_children(made.pid)):
            os.kill(victim, signal.SIGKILL)
        said = _run(sys.executable, "-m", "umtslab", "doctor", "--clean").strip()
        made.communicate(timeout=WAIT_S)
        found.append([said, state()["rules"] == before["rules"]])
    return found


def killed(if_dead: str) -> list[dict[str, Any]]:
    """Changes of the host after a kill of guard or proxy, and after ``doctor --clean``."""
    make_path()
    before = state()
    found = []
    for victim in ("guard", "proxy"):
        made = proxy("--if-dead", if_dead)
        (worker,) = _children(made.pid)
        os.kill(made.pid if victim == "guard" else worker, signal.SIGKILL)
        told = made.communicate(timeout=WAIT_S)[1]
        deadline = time.monotonic() + WAIT_S
        while "umts-proxy" in state()["links"]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        then = state()
        changed = [name for name in then if then[name] != before[name]]
        now = query_servers()[SERVER[0]]["reset"]
        cleaned = _run(sys.executable, "-m", "umtslab", "doctor", "--clean")
        left = {"changed": changed, "reached": now, "cleaned": cleaned.strip(), "sound": _becomes(before)}
        left["told"] = told
        found.append({**left, "reached then": query_servers()[SERVER[0]]["reset"]})
    return found


def refused() -> list[list[Any]]:
    """Errors for a missing device and missing privileges, and whether the state is unchanged."""
    make_path()
    before = state()
    found: list[list[Any]] = []
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    to = ["--listen", "127.0.0.1:0", "--to", f"{SERVER[0]}:7001"]
    for prefix, words in (
        ([], ["--transparent", "--from", "absent"]),
        (nobody, ["--transparent", "--from", "client"]),
        (nobody, [*to, "--client-set", "initial_window=10"]),
    ):
        line = [*prefix, sys.executable, "-m", "umtslab", "proxy", *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        found.append([done.returncode, done.stderr, state() == before])
    return found


def windowed() -> dict[str, Any]:
    """Socket details of both sides with a set initial window and minimum RTO."""
    make_path()
    before = state()
    words = ["--client-set", "initial_window=3 segments", "--server-set", "min_rto=700 ms"]
    made = proxy(*words)
    assert made.stderr is not None
    said = [made.stderr.readline() for _ in range(2)]
    asking = at("client", ASK_ONCE, SERVER[0])
    assert asking.stdout is not None
    asking.stdout.readline()
    told = [_run("ss", "-tinH", f"( {which} = {SERVER[0]} )") for which in ("src", "dst")]
    asking.kill()
    asking.communicate()
    made.terminate()
    made.communicate(timeout=WAIT_S)
    return {"said": said, "told": told, "left": state() == before}


def vanished() -> list[str]:
    """How the log reports connections of a client with a vanished network."""
    make_path()
    made = proxy("--log", "log", "--user-timeout", "500 ms")
    asking = at("client", READ_A_LITTLE, SERVER[0])
    assert asking.stdout is not None
    asking.stdout.readline()
    _run("nsenter", "--net=/run/client", "ip", "link", "set", "eth0", "down")
    deadline = time.monotonic() + WAIT_S
    while len(lines := Path("log").read_text().splitlines()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    asking.kill()
    asking.communicate()
    made.terminate()
    made.communicate(timeout=WAIT_S)
    return [json.loads(line)["ended"] for line in lines[1:]]


def route_congestion_control() -> list[dict[str, Any]]:
    """Output and log if the route to the client sets congestion control, for different options."""
    make_path()
    route = [CLIENT[0].removesuffix("10") + "0/24", "dev", "client", "congctl", "reno", "advmss", "1300"]
    _run("ip", "route", "change", *route)
    found = []
    for words in ((), ("initial_window=3",), ("initial_window=3", "congestion_control=cubic")):
        made = proxy("--log", "laws", *(word for key in words for word in ("--client-set", key)))
        assert made.stderr is not None
        said = [made.stderr.readline() for _ in range(2)]
        query_servers()
        made.terminate()
        made.communicate(timeout=WAIT_S)
        started, *connections = map(json.loads, Path("laws").read_text().splitlines())
        Path("laws").unlink()
        laws = {
            (
                line["client"].startswith(CLIENT[0]),
                line["client_congestion_control"],
                line["server_congestion_control"],
            )
            for line in connections
            if line["setup_s"] is not None
        }
        found.append({"said": said, "started": started, "laws": sorted(laws)})
    return found


def flooded(count: str) -> dict[str, Any]:
    """Findings of a client during and after a flood of `count` SYNs from a nonexistent host."""
    make_path()
    made = proxy()
    flood = at("client", FLOOD, SERVER[0], count)
    found = [query_servers()[SERVER[0]]]
    sent = flood.communicate(timeout=WAIT_S)[0]
    found.append(query_servers()[SERVER[0]])
    (worker,) = _children(made.pid)
    descriptors = len(list(Path(f"/proc/{worker}/fd").iterdir()))
    made.terminate()
    made.communicate(timeout=WAIT_S)
    return {"found": found, "sent": sent, "descriptors": descriptors}


def killed_at_random(kills: str) -> list[list[str]]:
    """Differences from the initial state after each of `kills` kills of guard, proxy or both."""
    make_path()
    add_foreign_rules()
    before = state()
    draw = random.Random(kills)
    found = []
    for _ in range(int(kills)):
        made = subprocess.Popen(
            [sys.executable, "-m", "umtslab", "proxy", "--transparent", "--from", "client", "-q"]
        )
        time.sleep(draw.uniform(0, 1.5))
        there = [made.pid, *_children(made.pid)]
        for victim in draw.choice(([draw.choice(there)], there)):
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        made.wait(WAIT_S)
        deadline = time.monotonic() + WAIT_S
        while "umts-proxy" in state()["links"] and time.monotonic() < deadline:
            time.sleep(0.02)
        then = state()
        found.append([name for name in then if then[name] != before[name] and name != "rules"])
    _run(sys.executable, "-m", "umtslab", "doctor", "--clean")
    found.append([name for name, value in state().items() if value != before[name]])
    return found


def doctor_report() -> list[str]:
    """Lines of ``umts doctor`` about proxies while one is running."""
    make_path()
    made = proxy()
    said = json.loads(_run(sys.executable, "-m", "umtslab", "doctor", "--json"))
    made.terminate()
    made.communicate(timeout=WAIT_S)
    return [f"{row['found']}: {row['remark']}" for row in said if row["what"] in ("TPROXY", "proxies")]


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))

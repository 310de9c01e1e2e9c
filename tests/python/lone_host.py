"""A host of its own for ``umts emulate --internet`` and inline: namespaces, one of them the Internet.

Run by `inside` as process 1 of them; nothing here reaches the machine's own network.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

HOST, SERVER = "192.0.2.1", "192.0.2.2"
FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
WAIT_S = 60

WHO_ASKS = (
    "import socket\n"
    "server = socket.create_server(('', 7000))\n"
    "while True:\n"
    "    connection, address = server.accept()\n"
    "    connection.sendall(address[0].encode())\n"
    "    connection.close()\n"
)

ASK = "import socket; print(socket.create_connection(('some.example', 7000)).recv(99).decode())"


def missing() -> str | None:
    """What this machine lacks for it; None if nothing."""
    if os.geteuid() != 0:
        return "it takes root"
    for tool in ("ip", "unshare", "nsenter"):
        if shutil.which(tool) is None:
            return f"it takes {tool}"
    return None


def inside(what: str, folder: Path, *words: str) -> Any:
    """What the function `what` of this file returns for `words`, called on a host of its own, in `folder`."""
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    done = subprocess.run(
        [*unshare, sys.executable, __file__, what, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def emulate(*words: str, **options: Any) -> subprocess.Popen[str]:
    """``umts emulate --internet`` with these words, at work."""
    return _umts("emulate", "--internet", *words, **options)


def _umts(*words: str, **options: Any) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "umtslab", *words]
    return subprocess.Popen(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def left() -> dict[str, Any]:
    """What there is on the host of an emulation."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    folder = Path("/run/umtslab/forwarding")
    return {
        "forwards": FORWARD.read_text().strip(),
        "devices": [line.split()[1].split("@")[0] for line in links.splitlines() if "umts" in line],
        "holds": sorted(file.name for file in folder.iterdir()) if folder.is_dir() else [],
        "folder": folder.parent.exists(),
    }


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so, or fail."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, left()
        time.sleep(0.05)


def reach() -> dict[str, Any]:
    """Ask a server on the Internet who asks it; a name is resolved on the way."""
    asking = emulate("--", sys.executable, "-c", ASK)
    said, told = asking.communicate()
    return {"status": asking.returncode, "said": said.strip(), "told": told, "left": left()}


REACH_HOST = """
import socket, sys
for address in sys.argv[1:]:
    try:
        with socket.create_connection((address, 8000), 20) as connection:
            print(connection.recv(99).decode())
    except OSError as error:
        print(type(error).__name__, error.errno)
"""


def own_services() -> dict[str, Any]:
    """What a program gets of a server that listens on all addresses of this host."""
    server = socket.create_server(("::", 8000), family=socket.AF_INET6, dualstack_ipv6=True)
    server.setblocking(False)
    words = (sys.executable, "-c", REACH_HOST, HOST, "10.46.0.1", "192.0.2.255")
    found: dict[str, Any] = {}
    for name, options in (("usual", ()), ("asked for", ("--host-services",))):
        asking = emulate(*options, "--", *words)
        six = ""
        while asking.poll() is None:
            with suppress(BlockingIOError):
                connection, _ = server.accept()
                connection.sendall(b"reached")
                connection.close()
            if left()["devices"]:
                six = (
                    six
                    or subprocess.run(
                        ["ip", "-6", "-o", "address", "show", "dev", "umts-gi0"],
                        capture_output=True,
                        text=True,
                        check=False,
                    ).stdout
                )
            time.sleep(0.02)
        said, told = asking.communicate()
        found[name] = {"said": said.splitlines(), "told": told, "IPv6": six, "left": left()}
    return found


FETCH = "import sys, urllib.request as r; print(len(r.urlopen(sys.argv[1]).read()))"


def _make_hosts() -> None:
    """Devices ``left`` and ``right``, and a host behind each."""
    for name, last in (("left", 10), ("right", 20)):
        host = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        _wait_for_namespace(host.pid, own)
        # Its number means nothing in the namespace of the emulator.
        place = Path(f"/run/{name}")
        place.touch()
        _run("mount", "--bind", f"/proc/{host.pid}/ns/net", str(place))
        _run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
        _run("ip", "link", "set", name, "up")
        for words in (
            f"address add 198.51.100.{last}/24 dev eth0",
            f"address add 2001:db8::{last}/64 dev eth0 nodad",
            "link set eth0 up",
        ):
            _run("nsenter", f"--net={place}", "ip", *words.split())


def between() -> dict[str, Any]:
    """A radio between two devices, with a host behind each: what comes through, and what is refused."""
    _make_hosts()
    server = ["nsenter", "--net=/run/right", sys.executable, "-m", "umtslab.emulate.internet"]
    subprocess.Popen(server, stdout=subprocess.DEVNULL)
    attach = ("--attach-ue", "left", "--attach-net", "right")
    fetch = ["nsenter", "--net=/run/left", sys.executable, "-c", FETCH]
    said: list[list[Any]] = []
    for host_name in ("198.51.100.20", "[2001:db8::20]"):
        command = [*fetch, f"http://{host_name}/bytes/30000"]
        out = f"results{len(said)}"
        at_work = _umts("emulate", *attach, "--record", "--out", out, "--", *command)
        said.append([*at_work.communicate(), at_work.returncode])
    replayed = _umts("replay", "results0").communicate()
    refused = []
    for wrong, change in (
        (("left", "left"), ""),
        (("left", "absent"), ""),
        (("left", "right"), "address add 192.0.2.77/24 dev right"),
        (("left", "right"), "link set left mtu 9000"),
        (("left", "right"), "link set left down"),
    ):
        if change:
            _run("ip", "address", "flush", "dev", "right")
            _run("ip", *change.split())
        at_work = _umts("emulate", "--attach-ue", wrong[0], "--attach-net", wrong[1], "--", "true")
        refused.append([at_work.communicate()[1], at_work.returncode])
        if "mtu" in change:
            _run("ip", "link", "set", "left", "mtu", "1500")
    return {"said": said, "replayed": replayed, "refused": refused}


HEAR = """
import socket, sys
# Of every protocol: to others the kernel shows frames of a VLAN without their tag.
hearing = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
hearing.bind(("eth0", 3))
hearing.setsockopt(263, 8, 1)
hearing.settimeout(30)
print("ready", flush=True)
while True:
    frame, auxiliary, _, sender = hearing.recvmsg(4000, 1000)
    if b"tagged" in frame and sender[2] != socket.PACKET_OUTGOING:
        (found,) = (data for _, _, data in auxiliary)
        # The number of the VLAN; the length of the packet is before the word.
        print(int.from_bytes(found[16:18], sys.byteorder), frame[frame.index(b"tagged"):].decode())
        break
"""
"""Waits for a packet with a tag, whose tag the kernel has taken out."""

SEND_ODDITIES = """
import socket, struct
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0))
one = bytes.fromhex("020000000001 020000000002")
ends = socket.inet_aton("198.51.100.10") + socket.inet_aton("198.51.100.20")
def ip(length, protocol=17):
    return struct.pack("!BBHHHBBH", 0x45, 0, length, 0, 0, 64, protocol, 0) + ends
# No router could read these; the last is cut off.
for wrong in (bytes(40), b"\\x45" + bytes(30), ip(1000) + bytes(20), b"\\x60" + bytes(5), b""):
    raw.send(one + b"\\x08\\x00" + wrong)
# Neither for one host nor IP: they go aside.
for kind in (b"\\x88\\xb5", b"\\x08\\x06"):
    raw.send(bytes(b"\\xff" * 6) + one[6:] + kind + bytes(46))
raw.send(one + b"\\x81\\x00\\x00\\x07\\x08\\x00" + ip(34) + bytes(8) + b"tagged")
# Four datagrams in one, which a device is said to cut (UDP_SEGMENT).
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.IPPROTO_UDP, 103, 1000)
out.sendto(bytes(4000), ("198.51.100.20", 9))
import time
time.sleep(1.5)
"""


def _introduce() -> None:
    """The left host knows the Ethernet address of the right one."""
    (device,) = json.loads(_said("nsenter", "--net=/run/right", "ip", "-j", "link", "show", "eth0"))
    neighbour = ["neighbour", "add", "198.51.100.20", "lladdr", device["address"], "dev", "eth0"]
    _run("nsenter", "--net=/run/left", "ip", *neighbour)


FLOOD = (
    "import socket\n"
    "out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "for n in range(12_000): out.sendto(bytes(1000), ('198.51.100.20', 9))\n"
)


def unread() -> dict[str, Any]:
    """What is told of a flood of 12,000 datagrams while the emulator is stopped."""
    sockets = Path("/proc/net/packet")
    before = len(sockets.read_text().splitlines())
    words = ("--attach-ue", "left", "--attach-net", "right", "-q", "--json", "--", "sleep", "2")
    at_work = _umts("emulate", *words)
    wait_for(lambda: len(sockets.read_text().splitlines()) == before + 2)
    # The command waits as a copy of the emulator until the network is there.
    wait_for(lambda: len(_processes("emulate.emulator")) == 1)
    (emulator,) = _processes("emulate.emulator")
    os.kill(emulator, signal.SIGSTOP)
    _run("nsenter", "--net=/run/left", sys.executable, "-c", FLOOD)
    os.kill(emulator, signal.SIGCONT)
    told: dict[str, Any] = json.loads(at_work.communicate()[0])["emulation"]
    return told


def inline() -> dict[str, Any]:
    """What an inline radio does with odd frames, and with more than it can read."""
    _make_hosts()
    # A datagram that a device is to cut is for a host whose Ethernet address is known.
    _introduce()
    return {"oddities": oddities(), "unread": unread()}


def vanished() -> dict[str, Any]:
    """What is told when one of the devices is taken away, and when one is set down and up again."""
    _make_hosts()
    words = ("--attach-ue", "left", "--attach-net", "right", "-q", "--")
    down = "ip link set right down; sleep 0.3; ip link set right up; sleep 0.3"
    found = {}
    for name, change in (("down", down), ("gone", "ip link delete right; sleep 0.3")):
        at_work = _umts("emulate", *words, "sh", "-c", f"{change}; exit 0")
        _, told = at_work.communicate()
        found[name] = {"status": at_work.returncode, "told": told}
    return found


def oddities() -> dict[str, Any]:
    """What becomes of frames that are not as they should be."""
    hearing = subprocess.Popen(
        ["nsenter", "--net=/run/right", sys.executable, "-c", HEAR], stdout=subprocess.PIPE, text=True
    )
    assert hearing.stdout is not None
    hearing.stdout.readline()
    sending = ["nsenter", "--net=/run/left", sys.executable, "-c", SEND_ODDITIES]
    words = ("--attach-ue", "left", "--attach-net", "right", "--json", "--bearer", "ps-384")
    at_work = _umts("emulate", *words, "--", *sending)
    said, told = at_work.communicate()
    return {"said": said, "told": told, "heard": hearing.communicate()[0]}


def two_at_once() -> list[dict[str, Any]]:
    """Two emulations that overlap: what each is told, and what is left."""
    first = emulate("-q", "--", "sleep", "1000")
    wait_for(lambda: left()["devices"] == ["umts-gi0"])
    second = emulate("-q", "--", sys.executable, "-c", ASK)
    said = second.communicate()[0].strip()
    between = left()
    first.terminate()
    first.wait()
    # A command that is told to end does not wait for those who set the host back; the folder goes last.
    wait_for(lambda: left()["devices"] == [] and not left()["folder"])
    return [{"said": said, "left": between}, {"left": left()}]


def killed() -> list[dict[str, Any]]:
    """What is left when one process of it is killed, and then when all are that set back."""
    victims = ("umtslab emulate", "emulate.launcher", "emulate.emulator")
    found = [_kill((victim,)) for victim in victims]
    # At once, so that none of them has the time.
    found.append(_kill(("umtslab emulate", "emulate.launcher"), stopped=True))
    subprocess.run([sys.executable, "-m", "umtslab", "doctor", "--clean"], check=True, stdout=sys.stderr)
    found.append(left())
    return found


VICTIMS = ("umtslab emulate", "emulate.launcher", "emulate.emulator")
LATEST_S = 3.0
"""When a program has been at work for a while."""


def killed_at_random(kills: str) -> list[dict[str, Any]]:
    """What there is before, and after each of some kills, in turn of one with the Internet and one inline."""
    _make_hosts()
    # Addresses that the kernel makes for itself.
    wait_for(lambda: _said("ip", "-6", "address").count("fe80") == 3)
    draw = random.Random(kills)
    states = [_state()]
    for number in range(int(kills)):
        way = ("--internet",) if number % 2 == 0 else ("--attach-ue", "left", "--attach-net", "right")
        emulation = _umts("emulate", *way, "-q", "--", "sh", "-c", "sleep 1000 & sleep 1000")
        time.sleep(draw.uniform(0, LATEST_S))
        there = [pid for victim in VICTIMS for pid in _processes(victim)] or [emulation.pid]
        os.kill(draw.choice(there), signal.SIGKILL)
        emulation.communicate()
        deadline = time.monotonic() + WAIT_S
        while _state() != states[0] and time.monotonic() < deadline:
            time.sleep(0.05)
        states.append(_state())
    return states


def _state() -> dict[str, Any]:
    """Everything on the host that an emulation may leave or change."""
    devices = [
        [device["ifname"], device["flags"], device["mtu"], device.get("promiscuity"), device.get("txqlen")]
        + [address["local"] for address in device["addr_info"]]
        for device in json.loads(_said("ip", "-j", "-d", "address"))
    ]
    return {
        **left(),
        "devices": devices,
        "routes": _said("ip", "route"),
        "packet sockets": len(Path("/proc/net/packet").read_text().splitlines()),
        "mounts": len(Path("/proc/self/mounts").read_text().splitlines()),
        "processes": [pid for part in (*VICTIMS, "sleep 1000") for pid in _processes(part)],
        "run": sorted(file.name for file in Path("/run").iterdir()),
    }


def _said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def names() -> str:
    """What a program inside makes of the socket where the host's name service listens."""
    place = Path("/run/nscd/socket")
    place.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(str(place))
        service.listen()
        connect = (
            "import socket\n"
            f"try: print(socket.socket(socket.AF_UNIX).connect({str(place)!r}))\n"
            "except OSError as error: print(type(error).__name__)"
        )
        return _umts("emulate", "-q", "--", sys.executable, "-c", connect).communicate()[0]


def hung_up() -> dict[str, Any]:
    """What is left when the terminal of an emulation is closed: all of its processes there get SIGHUP."""
    emulation = emulate("-q", "--", "sleep", "1000", start_new_session=True)
    wait_for(lambda: left()["devices"] == ["umts-gi0"])
    os.killpg(emulation.pid, signal.SIGHUP)
    emulation.wait()
    wait_for(lambda: left()["devices"] == [] and not left()["folder"])
    return left()


def _kill(victims: tuple[str, ...], *, stopped: bool = False) -> dict[str, Any]:
    emulation = emulate("-q", "--", "sleep", "1000")
    wait_for(lambda: left()["devices"] == ["umts-gi0"])
    pids = [pid for victim in victims for pid in _processes(victim)]
    assert len(pids) >= len(victims)
    for pid in pids if stopped else ():
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    emulation.wait()
    wait_for(lambda: left()["devices"] == [])
    if not stopped:
        wait_for(lambda: not left()["folder"])
    return left()


def _processes(part: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and folder.name != "1":
            try:
                words = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            if part in words:
                found.append(int(folder.name))
    return found


def _run(*words: str) -> None:
    subprocess.run(words, check=True)


def _wait_for_namespace(pid: int, other: str) -> None:
    wait_for(lambda: os.readlink(f"/proc/{pid}/ns/net") != other)


def _make() -> None:
    run = _run
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "none", "/run")
    Path("/run/resolv.conf").write_text(f"nameserver {SERVER}\n")
    run("mount", "--bind", "/run/resolv.conf", "/etc/resolv.conf")
    internet = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    own = os.readlink("/proc/self/ns/net")
    _wait_for_namespace(internet.pid, own)
    there = ["nsenter", "--net", "--target", str(internet.pid)]
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "wan", "type", "veth", "peer", "name", "isp", "netns", str(internet.pid))
    run("ip", "address", "add", f"{HOST}/24", "dev", "wan")
    run("ip", "link", "set", "wan", "up")
    run("ip", "route", "add", "default", "via", SERVER)
    for words in (
        "address add 192.0.2.2/24 dev isp",
        "link set isp up",
        "link set lo up",
        "route add local 198.18.0.0/15 dev lo",
    ):
        run(*there, "ip", *words.split())
    servers = [[sys.executable, "-m", "umtslab.emulate.internet"], [sys.executable, "-c", WHO_ASKS]]
    for server in servers:
        subprocess.Popen([*there, *server], stdout=subprocess.DEVNULL)
    reached = [sys.executable, "-c", "import socket; socket.create_connection(('some.example', 7000), 5)"]
    wait_for(lambda: subprocess.run(reached, check=False, stderr=subprocess.DEVNULL).returncode == 0)


if __name__ == "__main__":
    _make()
    CALLED: dict[str, Callable[..., Any]] = {
        "reach": reach,
        "two_at_once": two_at_once,
        "own_services": own_services,
        "killed": killed,
        "between": between,
        "inline": inline,
        "vanished": vanished,
        "killed_at_random": killed_at_random,
        "hung_up": hung_up,
        "names": names,
    }
    print(json.dumps(CALLED[sys.argv[1]](*sys.argv[2:])))

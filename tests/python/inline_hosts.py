"""Two hosts with an emulation between two devices: ``--attach-ue left --attach-net right``.

Runs as process 1 of separate namespaces, like `lone_host`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import lone_host
from lone_host import make_hosts, processes, run, said, umts, wait_for


def inside(what: str, folder: Path) -> Any:
    """Call the function `what` of this file on a separate host, in `folder`. Returns its result."""
    return lone_host.inside(what, folder, file=__file__)


FETCH = "import sys, urllib.request as r; print(len(r.urlopen(sys.argv[1]).read()))"


def between() -> dict[str, Any]:
    """Emulate between two devices.

    Returns what the left host fetches, and errors of wrong devices.
    """
    make_hosts()
    server = ["nsenter", "--net=/run/right", sys.executable, "-m", "umtslab.emulate.internet"]
    subprocess.Popen(server, stdout=subprocess.DEVNULL)
    attach = ("--attach-ue", "left", "--attach-net", "right")
    fetch = ["nsenter", "--net=/run/left", sys.executable, "-c", FETCH]
    said: list[list[Any]] = []
    for host_name in ("198.51.100.20", "[2001:db8::20]"):
        command = [*fetch, f"http://{host_name}/bytes/30000"]
        out = f"results{len(said)}"
        at_work = umts("emulate", *attach, "--record", "--out", out, "--", *command)
        said.append([*at_work.communicate(), at_work.returncode])
    replayed = umts("replay", "results0").communicate()
    refused = []
    for wrong, change in (
        (("left", "left"), ""),
        (("left", "absent"), ""),
        (("left", "right"), "address add 192.0.2.77/24 dev right"),
        (("left", "right"), "link set left mtu 9000"),
        (("left", "right"), "link set left down"),
    ):
        if change:
            run("ip", "address", "flush", "dev", "right")
            run("ip", *change.split())
        at_work = umts("emulate", "--attach-ue", wrong[0], "--attach-net", wrong[1], "--", "true")
        refused.append([at_work.communicate()[1], at_work.returncode])
        if "mtu" in change:
            run("ip", "link", "set", "left", "mtu", "1500")
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
"""Waits for a packet with a VLAN tag, which the kernel removes from the frame."""

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
    """Add the Ethernet address of the right host to the neighbours of the left host."""
    (device,) = json.loads(said("nsenter", "--net=/run/right", "ip", "-j", "link", "show", "eth0"))
    neighbour = ["neighbour", "add", "198.51.100.20", "lladdr", device["address"], "dev", "eth0"]
    run("nsenter", "--net=/run/left", "ip", *neighbour)


FLOOD = (
    "import socket\n"
    "out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "for n in range(12_000): out.sendto(bytes(1000), ('198.51.100.20', 9))\n"
)


def unread() -> dict[str, Any]:
    """Account of an emulation with an emulator that is stopped during a flood of 12,000 datagrams."""
    sockets = Path("/proc/net/packet")
    before = len(sockets.read_text().splitlines())
    words = ("--attach-ue", "left", "--attach-net", "right", "-q", "--json", "--", "sleep", "2")
    at_work = umts("emulate", *words)
    wait_for(lambda: len(sockets.read_text().splitlines()) == before + 2)
    # Until the network is ready, the command is a fork of the emulator with the same command line.
    wait_for(lambda: len(processes("emulate.emulator")) == 1)
    (emulator,) = processes("emulate.emulator")
    os.kill(emulator, signal.SIGSTOP)
    run("nsenter", "--net=/run/left", sys.executable, "-c", FLOOD)
    os.kill(emulator, signal.SIGCONT)
    told: dict[str, Any] = json.loads(at_work.communicate()[0])["emulation"]
    return told


def inline() -> dict[str, Any]:
    """Send odd frames, and more frames than the emulator can read."""
    make_hosts()
    # Segmentation by the device (UDP_SEGMENT) needs a known Ethernet address.
    _introduce()
    return {"oddities": oddities(), "unread": unread()}


def vanished() -> dict[str, Any]:
    """Status and output when a device is removed, and when a device is set down and up again."""
    make_hosts()
    words = ("--attach-ue", "left", "--attach-net", "right", "-q", "--")
    down = "ip link set right down; sleep 0.3; ip link set right up; sleep 0.3"
    found = {}
    for name, change in (("down", down), ("gone", "ip link delete right; sleep 0.3")):
        at_work = umts("emulate", *words, "sh", "-c", f"{change}; exit 0")
        _, told = at_work.communicate()
        found[name] = {"status": at_work.returncode, "told": told}
    return found


def oddities() -> dict[str, Any]:
    """Output of an emulation that gets odd frames, and the tag that a packet arrives with."""
    hearing = subprocess.Popen(
        ["nsenter", "--net=/run/right", sys.executable, "-c", HEAR], stdout=subprocess.PIPE, text=True
    )
    assert hearing.stdout is not None
    hearing.stdout.readline()
    sending = ["nsenter", "--net=/run/left", sys.executable, "-c", SEND_ODDITIES]
    words = ("--attach-ue", "left", "--attach-net", "right", "--json", "--bearer", "ps-384")
    at_work = umts("emulate", *words, "--", *sending)
    said, told = at_work.communicate()
    return {"said": said, "told": told, "heard": hearing.communicate()[0]}


VLANS = """
import json, socket, sys
# Of every protocol: to others the kernel shows frames of a VLAN without their tag.
hearing = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
hearing.bind(("eth0", 3))
hearing.setsockopt(263, 8, 1)
hearing.settimeout(30)
print("ready", flush=True)
heard = []
while len(heard) < int(sys.argv[1]):
    frame, auxiliary, _, sender = hearing.recvmsg(4000, 1000)
    if b"vlan " in frame and sender[2] != socket.PACKET_OUTGOING:
        (found,) = (data for _, _, data in auxiliary)
        # The status says whether there was a tag; its number is behind.
        status, number = (int.from_bytes(found[at:end], sys.byteorder) for at, end in ((0, 4), (16, 18)))
        says = frame[frame.index(b"vlan ") + 5:].decode().strip("\\0")
        heard.append([number if status & 16 else None, says])
print(json.dumps(heard))
"""
"""Waits for packets that name their VLAN. Prints the tag of each packet and the name."""

SEND_ON_VLANS = """
import socket, struct
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0))
one = bytes.fromhex("020000000001 020000000002")
ends = socket.inet_aton("198.51.100.10") + socket.inet_aton("198.51.100.20")
for turn in range(3):
    for vlan in ("7", "none", "8"):
        tag = b"" if vlan == "none" else b"\\x81\\x00" + struct.pack("!H", int(vlan))
        said = b"vlan " + vlan.encode()
        header = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(said), 0, 0, 64, 17, 0)
        raw.send(one + tag + b"\\x08\\x00" + header + ends + bytes(8) + said)
import time
time.sleep(1)
"""
"""Nine datagrams between the same two addresses, on two VLANs and on none."""


def vlans() -> list[list[Any]]:
    """Tags of packets between the same two addresses, as they come out and as they went in."""
    make_hosts()
    there = ["nsenter", "--net=/run/right", sys.executable, "-c", VLANS, "9"]
    hearing = subprocess.Popen(there, stdout=subprocess.PIPE, text=True)
    assert hearing.stdout is not None
    hearing.stdout.readline()
    sending = ["nsenter", "--net=/run/left", sys.executable, "-c", SEND_ON_VLANS]
    umts("emulate", "--attach-ue", "left", "--attach-net", "right", "-q", "--", *sending).communicate()
    heard: list[list[Any]] = json.loads(hearing.communicate()[0])
    return heard


if __name__ == "__main__":
    lone_host.answer({"between": between, "inline": inline, "vanished": vanished, "vlans": vlans})

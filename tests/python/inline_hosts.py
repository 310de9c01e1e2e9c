"""Two hosts with an emulation between two devices: ``--attach-ue left --attach-net right``.

The host ``left`` is behind the device of this name and stands for a UE, the host ``right`` for the
network. A test calls `inside` with the name of a function of this file, as in `lone_host`.
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
from lone_host import make_hosts, output_of, processes, run, umts, wait_for


def inside(function: str, folder: Path) -> Any:
    """Call a function of this file on a separate host, in `folder`. Returns its result."""
    return lone_host.inside(function, folder, file=__file__)


FETCH = "import sys, urllib.request as r; print(len(r.urlopen(sys.argv[1]).read()))"


def between() -> dict[str, Any]:
    """Emulate between two devices.

    Returns what the left host downloads from the right one by IPv4 and IPv6, the output of a
    replay, and the errors of devices that cannot be used.
    """
    make_hosts()
    server = ["nsenter", "--net=/run/right", sys.executable, "-m", "umtslab.emulate.internet"]
    subprocess.Popen(server, stdout=subprocess.DEVNULL)
    attach = ("--attach-ue", "left", "--attach-net", "right")
    fetch = ["nsenter", "--net=/run/left", sys.executable, "-c", FETCH]
    downloads: list[list[Any]] = []
    for host_name in ("198.51.100.20", "[2001:db8::20]"):
        command = [*fetch, f"http://{host_name}/bytes/30000"]
        out = f"results{len(downloads)}"
        emulation = umts("emulate", *attach, "--record", "--out", out, "--", *command)
        downloads.append([*emulation.communicate(), emulation.returncode])
    replayed = umts("replay", "results0").communicate()
    refused = []
    # Names of the devices, and a change of the device ``right`` or ``left`` before.
    for (ue, net), change in (
        (("left", "left"), ""),
        (("left", "absent"), ""),
        (("left", "right"), "address add 192.0.2.77/24 dev right"),
        (("left", "right"), "link set left mtu 9000"),
        (("left", "right"), "link set left down"),
    ):
        if change:
            run("ip", "address", "flush", "dev", "right")
            run("ip", *change.split())
        emulation = umts("emulate", "--attach-ue", ue, "--attach-net", net, "--", "true")
        refused.append([emulation.communicate()[1], emulation.returncode])
        if "mtu" in change:
            run("ip", "link", "set", "left", "mtu", "1500")
    return {"downloads": downloads, "replayed": replayed, "refused": refused}


RECEIVE_TAGGED = """
import socket, sys
# With another protocol than ETH_P_ALL (3) the kernel does not pass the tag of a VLAN.
receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
receiver.bind(("eth0", 3))
# SOL_PACKET, PACKET_AUXDATA
receiver.setsockopt(263, 8, 1)
receiver.settimeout(30)
print("ready", flush=True)
while True:
    frame, auxiliary, _, sender = receiver.recvmsg(4000, 1000)
    if b"tagged" in frame and sender[2] != socket.PACKET_OUTGOING:
        (packet_data,) = (data for _, _, data in auxiliary)
        # tp_vlan_tci of struct tpacket_auxdata: the number of the VLAN.
        print(int.from_bytes(packet_data[16:18], sys.byteorder), frame[frame.index(b"tagged"):].decode())
        break
"""
"""Waits for a packet with a VLAN tag, which the kernel removes from the frame."""

SEND_ODD_FRAMES = """
import socket, struct
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0))
unicast = bytes.fromhex("020000000001 020000000002")
ends = socket.inet_aton("198.51.100.10") + socket.inet_aton("198.51.100.20")
def ip(length, protocol=17):
    return struct.pack("!BBHHHBBH", 0x45, 0, length, 0, 0, 64, protocol, 0) + ends
# Five malformed packets.
for packet in (bytes(40), b"\\x45" + bytes(30), ip(1000) + bytes(20), b"\\x60" + bytes(5), b""):
    raw.send(unicast + b"\\x08\\x00" + packet)
# Broadcast frames with a protocol other than IP: they bypass the radio.
for kind in (b"\\x88\\xb5", b"\\x08\\x06"):
    raw.send(bytes(b"\\xff" * 6) + unicast[6:] + kind + bytes(46))
# A datagram on VLAN 7.
raw.send(unicast + b"\\x81\\x00\\x00\\x07\\x08\\x00" + ip(34) + bytes(8) + b"tagged")
# Four datagrams in one packet, to be segmented by the device (UDP_SEGMENT).
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.IPPROTO_UDP, 103, 1000)
out.sendto(bytes(4000), ("198.51.100.20", 9))
import time
time.sleep(1.5)
"""
"""Sends frames that an emulator must drop or pass beside the radio, then one too large packet."""


def _add_neighbour() -> None:
    """Add the Ethernet address of the right host to the neighbours of the left host."""
    (device,) = json.loads(output_of("nsenter", "--net=/run/right", "ip", "-j", "link", "show", "eth0"))
    neighbour = ["neighbour", "add", "198.51.100.20", "lladdr", device["address"], "dev", "eth0"]
    run("nsenter", "--net=/run/left", "ip", *neighbour)


FLOOD = (
    "import socket\n"
    "out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "for n in range(12_000): out.sendto(bytes(1000), ('198.51.100.20', 9))\n"
)


def unread() -> dict[str, Any]:
    """Result of an emulation in which the emulator is stopped during a flood of 12,000 datagrams."""
    sockets = Path("/proc/net/packet")
    before = len(sockets.read_text().splitlines())
    words = ("--attach-ue", "left", "--attach-net", "right", "-q", "--json", "--", "sleep", "2")
    emulation = umts("emulate", *words)
    wait_for(lambda: len(sockets.read_text().splitlines()) == before + 2)
    # Until the network is ready, the command is a fork of the emulator with the same command line.
    wait_for(lambda: len(processes("emulate.emulator")) == 1)
    (emulator,) = processes("emulate.emulator")
    os.kill(emulator, signal.SIGSTOP)
    run("nsenter", "--net=/run/left", sys.executable, "-c", FLOOD)
    os.kill(emulator, signal.SIGCONT)
    result: dict[str, Any] = json.loads(emulation.communicate()[0])["emulation"]
    return result


def inline() -> dict[str, Any]:
    """Results of odd frames, and of more frames than the emulator can read."""
    make_hosts()
    # Segmentation by the device (UDP_SEGMENT) needs a known Ethernet address.
    _add_neighbour()
    return {"odd frames": odd_frames(), "unread": unread()}


def vanished() -> dict[str, Any]:
    """Status and output when a device is removed, and when a device is set down and up again."""
    make_hosts()
    words = ("--attach-ue", "left", "--attach-net", "right", "-q", "--")
    down = "ip link set right down; sleep 0.3; ip link set right up; sleep 0.3"
    results = {}
    for name, change in (("down", down), ("deleted", "ip link delete right; sleep 0.3")):
        emulation = umts("emulate", *words, "sh", "-c", f"{change}; exit 0")
        _, errors = emulation.communicate()
        results[name] = {"status": emulation.returncode, "errors": errors}
    return results


def odd_frames() -> dict[str, Any]:
    """Output of an emulation that gets odd frames, and the tag that a packet arrives with."""
    receiver = subprocess.Popen(
        ["nsenter", "--net=/run/right", sys.executable, "-c", RECEIVE_TAGGED],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert receiver.stdout is not None
    receiver.stdout.readline()
    sending = ["nsenter", "--net=/run/left", sys.executable, "-c", SEND_ODD_FRAMES]
    words = ("--attach-ue", "left", "--attach-net", "right", "--json", "--bearer", "ps-384")
    emulation = umts("emulate", *words, "--", *sending)
    output, errors = emulation.communicate()
    return {"output": output, "errors": errors, "received": receiver.communicate()[0]}


RECEIVE_ON_VLANS = """
import json, socket, sys
# As in RECEIVE_TAGGED.
receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
receiver.bind(("eth0", 3))
receiver.setsockopt(263, 8, 1)
receiver.settimeout(30)
print("ready", flush=True)
received = []
while len(received) < int(sys.argv[1]):
    frame, auxiliary, _, sender = receiver.recvmsg(4000, 1000)
    if b"vlan " in frame and sender[2] != socket.PACKET_OUTGOING:
        (packet_data,) = (data for _, _, data in auxiliary)
        # tp_status has the bit TP_STATUS_VLAN_VALID (16) if the packet has a tag, tp_vlan_tci.
        status = int.from_bytes(packet_data[0:4], sys.byteorder)
        number = int.from_bytes(packet_data[16:18], sys.byteorder)
        name = frame[frame.index(b"vlan ") + 5:].decode().strip("\\0")
        received.append([number if status & 16 else None, name])
print(json.dumps(received))
"""
"""Waits for packets that name their VLAN. Prints the tag of each packet and the name."""

SEND_ON_VLANS = """
import socket, struct
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
raw.bind(("eth0", 0))
unicast = bytes.fromhex("020000000001 020000000002")
ends = socket.inet_aton("198.51.100.10") + socket.inet_aton("198.51.100.20")
for _ in range(3):
    for vlan in ("7", "none", "8"):
        tag = b"" if vlan == "none" else b"\\x81\\x00" + struct.pack("!H", int(vlan))
        payload = b"vlan " + vlan.encode()
        header = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0)
        raw.send(unicast + tag + b"\\x08\\x00" + header + ends + bytes(8) + payload)
import time
time.sleep(1)
"""
"""Nine datagrams between the same two addresses, on two VLANs and on none."""


def vlans() -> list[list[Any]]:
    """Tags of packets between the same two addresses, as received and as sent."""
    make_hosts()
    line = ["nsenter", "--net=/run/right", sys.executable, "-c", RECEIVE_ON_VLANS, "9"]
    receiver = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert receiver.stdout is not None
    receiver.stdout.readline()
    sending = ["nsenter", "--net=/run/left", sys.executable, "-c", SEND_ON_VLANS]
    umts("emulate", "--attach-ue", "left", "--attach-net", "right", "-q", "--", *sending).communicate()
    received: list[list[Any]] = json.loads(receiver.communicate()[0])
    return received


if __name__ == "__main__":
    lone_host.answer({"between": between, "inline": inline, "vanished": vanished, "vlans": vlans})

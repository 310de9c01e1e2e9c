"""Captures both sides of ``umts proxy`` on a separate loopback. A program of `test_split_captures`.

    captured_proxy.py FOLDER MODE COUNT

writes ``clients.pcap`` and ``servers.pcap`` into the folder, and prints for each transfer, as JSON,
the client's port, the proxy's port towards the server, and the number of bytes. MODE is ``explicit``
(a given server), ``socks5`` or ``proxy-protocol``.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import proxied

OUTGOING = 4
"""Packet type of outgoing packets. A packet socket gets each packet of the loopback twice, outgoing
and incoming."""


def capture(
    packet_socket: socket.socket, packets: list[tuple[float, bytes]], is_done: threading.Event
) -> None:
    """Record every packet once, with its arrival time, until `is_done` is set."""
    packet_socket.settimeout(0.1)
    while not is_done.is_set():
        try:
            octets, (_, _, kind, *_) = packet_socket.recvfrom(1 << 17)
        except TimeoutError:
            continue
        if kind != OUTGOING:
            packets.append((time.time(), octets))


def write(file: Path, packets: list[tuple[float, bytes]], port: int) -> None:
    """Write the TCP packets of one port to a pcap file with Ethernet frames."""
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for time_s, octets in packets:
            # Byte 23 is the protocol of an IPv4 header without options, 6 is TCP; bytes 34 to 37 are
            # the ports.
            if len(octets) >= 38 and port in struct.unpack("!HH", octets[34:38]) and octets[23] == 6:
                seconds, microseconds = int(time_s), int(time_s % 1 * 1e6)
                out.write(struct.pack("<IIII", seconds, microseconds, len(octets), len(octets)) + octets)


def main(folder: Path, mode: str, count: int) -> None:
    """Capture `count` transfers of random content and size, up to eight at the same time.

    A client sends a random name of 16 bytes, which determines the content.
    """
    proxy_ports: dict[bytes, int] = {}

    def serve(connection: socket.socket) -> None:
        # The name may follow a header of the PROXY protocol, of 28 bytes.
        name = b""
        while len(name) < (28 if mode == "proxy-protocol" else 0) + 16:
            name += connection.recv(1024)
        proxy_ports[name[-16:]] = connection.getpeername()[1]
        draws = random.Random(name[-16:])
        connection.sendall(draws.randbytes(2000 + draws.randrange(60_000)))

    with proxied.server(serve) as server:
        options = ["--to", proxied.text(server)] if mode != "socks5" else ["--socks5"]
        options += ["--proxy-protocol"] if mode == "proxy-protocol" else []
        with proxied.proxy(*options) as proxy:
            packet_socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            packet_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
            packet_socket.bind(("lo", 0))
            packets: list[tuple[float, bytes]] = []
            is_done = threading.Event()
            listener = threading.Thread(target=capture, args=(packet_socket, packets, is_done))
            listener.start()

            def fetch(number: int) -> tuple[int, bytes, int]:
                """Return the client's port, the name and the number of bytes of a transfer."""
                name = random.Random(number).randbytes(16)
                with proxied.connect(proxy.address) as connection:
                    client_port = connection.getsockname()[1]
                    if mode == "socks5":
                        # Version 5, one method: no authentication. Then CONNECT to an IPv4 address.
                        connection.sendall(b"\x05\x01\x00")
                        assert connection.recv(2) == b"\x05\x00"
                        host, port = server
                        destination = socket.inet_aton(host) + port.to_bytes(2)
                        connection.sendall(b"\x05\x01\x00\x01" + destination)
                        assert len(connection.recv(10)) == 10
                    connection.sendall(name)
                    octets = 0
                    while part := connection.recv(65536):
                        octets += len(part)
                return client_port, name, octets

            with ThreadPoolExecutor(8) as pool:
                transfers = list(pool.map(fetch, range(count)))
            # The last packets may still wait in the socket.
            time.sleep(0.3)
            is_done.set()
            listener.join()
    write(folder / "clients.pcap", packets, proxy.address[1])
    write(folder / "servers.pcap", packets, server[1])
    print(json.dumps([[client_port, proxy_ports[name], octets] for client_port, name, octets in transfers]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

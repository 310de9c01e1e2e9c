"""Programs for measurements inside an emulation: bulk TCP, echo requests, datagrams.

Times are from CLOCK_MONOTONIC, which all namespaces share. Each program prints its results as a
JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import struct
import time

CHUNK = 65536


def main() -> None:
    """Run the program that the first argument names."""
    parser = argparse.ArgumentParser(description=__doc__)
    programs = parser.add_subparsers(required=True)
    for name, run, options in (
        ("source", source, ("address", "--port", "--seconds", "--buffer")),
        ("sink", sink, ("--port", "--seconds")),
        ("fetch", fetch, ("address", "--port", "--seconds")),
        ("serve", serve, ("--port", "--seconds", "--buffer")),
        ("ping", ping, ("address", "--count", "--interval")),
        ("datagrams", datagrams, ("--port", "--count", "--interval", "--size")),
        ("collect", collect, ("address", "--port", "--count")),
    ):
        program = programs.add_parser(name)
        program.set_defaults(run=run)
        for option in options:
            if option == "address":
                program.add_argument(option)
            else:
                program.add_argument(option, type=type(DEFAULTS[option]), default=DEFAULTS[option])
    chosen = parser.parse_args()
    _raise_priority()
    chosen.run(chosen)


DEFAULTS = {
    "--port": 7000,
    "--seconds": 10.0,
    "--count": 100,
    "--interval": 0.1,
    "--size": 200,
    "--buffer": 262_144,
}


def _raise_priority() -> None:
    """Take a real-time priority below the emulator's if that is allowed, to add little delay."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    except OSError:
        return


def _listener(port: int) -> socket.socket:
    """Return a socket that listens on IPv4 and IPv6."""
    return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)


def _connect(address: str, port: int) -> socket.socket:
    """Connect, and retry for 30 s until the other end listens."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection((address, port))
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def _limit_buffer(connection: socket.socket, octets: int) -> None:
    """Limit the send buffer. Its content is still sent after the last write. 0 keeps the default."""
    if octets:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, octets)


def _write(connection: socket.socket, seconds: float) -> None:
    """Write for `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.sendall(bytes(CHUNK))


def _read(connection: socket.socket, seconds: float) -> dict[str, float]:
    """Read until the end. Returns the rate in the second half of `seconds`, between two reads."""
    reads: list[tuple[float, int]] = []
    total = 0
    while part := connection.recv(CHUNK):
        total += len(part)
        reads.append((time.monotonic(), total))
    start = reads[0][0]
    second_half = [read for read in reads if start + seconds / 2 <= read[0] <= start + seconds]
    (first_s, first_total), (last_s, last_total) = second_half[0], second_half[-1]
    return {"bits_per_s": 8 * (last_total - first_total) / (last_s - first_s), "octets": total}


def source(chosen: argparse.Namespace) -> None:
    """Connect, write for some time, and print the measurement of the sink."""
    with _connect(chosen.address, chosen.port) as connection:
        _limit_buffer(connection, chosen.buffer)
        _write(connection, chosen.seconds)
        connection.shutdown(socket.SHUT_WR)
        print(connection.makefile().read(), flush=True)


def sink(chosen: argparse.Namespace) -> None:
    """Accept one connection, read, and send the measured rate back."""
    with _listener(chosen.port) as listener:
        connection, _ = listener.accept()
        connection.sendall(json.dumps(_read(connection, chosen.seconds)).encode())
        connection.close()


def fetch(chosen: argparse.Namespace) -> None:
    """Connect, read, and print the measured rate."""
    with _connect(chosen.address, chosen.port) as connection:
        print(json.dumps(_read(connection, chosen.seconds)), flush=True)


def serve(chosen: argparse.Namespace) -> None:
    """Accept one connection and write for some time."""
    with _listener(chosen.port) as listener:
        connection, _ = listener.accept()
        _limit_buffer(connection, chosen.buffer)
        _write(connection, chosen.seconds)
        connection.close()


def ping(chosen: argparse.Namespace) -> None:
    """Send echo requests at regular intervals and print the round-trip times."""
    is_v6 = ":" in chosen.address
    family, protocol, request = (
        (socket.AF_INET6, socket.IPPROTO_ICMPV6, 128) if is_v6 else (socket.AF_INET, socket.IPPROTO_ICMP, 8)
    )
    times: list[float | None] = []
    with socket.socket(family, socket.SOCK_RAW, protocol) as raw:
        start = time.monotonic()
        for number in range(chosen.count):
            due = start + number * chosen.interval
            time.sleep(max(0.0, due - time.monotonic()))
            payload = bytes(48)
            head = struct.pack("!BBHHH", request, 0, 0, os.getpid() & 0xFFFF, number)
            packet = struct.pack(
                "!BBHHH", request, 0, _checksum(head + payload), os.getpid() & 0xFFFF, number
            )
            sent = time.monotonic()
            raw.sendto(packet + payload, (chosen.address, 0))
            times.append(_echo(raw, is_v6, number, sent))
    print(json.dumps({"round_trips_s": times}), flush=True)


def _echo(raw: socket.socket, is_v6: bool, number: int, sent: float) -> float | None:
    """Return the round-trip time of a request; None if there is no reply within ten seconds."""
    while (remaining := sent + 10 - time.monotonic()) > 0:
        raw.settimeout(remaining)
        try:
            packet = raw.recv(2000)
        except TimeoutError:
            return None
        arrived = time.monotonic()
        message = packet if is_v6 else packet[(packet[0] & 15) * 4 :]
        kind, _, _, identifier, sequence = struct.unpack("!BBHHH", message[:8])
        if (kind, identifier, sequence) == (129 if is_v6 else 0, os.getpid() & 0xFFFF, number):
            return arrived - sent
    return None


def _checksum(data: bytes) -> int:
    """Checksum of RFC 1071. The kernel computes the checksum of ICMPv6."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def datagrams(chosen: argparse.Namespace) -> None:
    """Send datagrams at regular intervals to the client, with their number and departure time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("0.0.0.0", chosen.port))
        _, client = udp.recvfrom(100)
        start = time.monotonic()
        for number in range(chosen.count):
            time.sleep(max(0.0, start + number * chosen.interval - time.monotonic()))
            udp.sendto(struct.pack("!Qd", number, time.monotonic()).ljust(chosen.size, b"\0"), client)


def collect(chosen: argparse.Namespace) -> None:
    """Request datagrams and print their delays.

    Ends with the last datagram, or after five seconds without one.
    """
    delays: dict[int, float] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(5)
        udp.sendto(b"begin", (chosen.address, chosen.port))
        while chosen.count - 1 not in delays:
            try:
                packet = udp.recv(2000)
            except TimeoutError:
                break
            arrived = time.monotonic()
            number, sent = struct.unpack_from("!Qd", packet)
            delays[number] = arrived - sent
    print(json.dumps({"delays_s": list(delays.values())}), flush=True)


if __name__ == "__main__":
    main()

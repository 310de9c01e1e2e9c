"""Transfer of a file over plain TCP, like a simulated one: the sender opens, writes and closes.

``send OCTETS`` runs at the server side and ``receive OCTETS`` in the UE, which announces itself to
the sender by a datagram. Times are of CLOCK_MONOTONIC, which all namespaces share. The sender's
times are in the first bytes of the file. The receiver writes the metrics of the transfer for the
results of the emulation.

``serve OCTETS`` and ``sessions OCTETS FROM UNTIL PAUSE`` transfer one file after another, like the
traffic ``ftp_sessions``: between two times after the start, with pauses, all in seconds. A file in
transfer at the end is cut off, as at the end of a simulation.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress

from umtslab.emulate.emulator import NAME_SERVER
from umtslab.emulate.session import METRICS_VARIABLE

PORT = 7000
CHUNK = 65536
SETTLE_S = 1.0
"""Delay before the connection and after the last byte, so that packets in flight arrive."""
ANNOUNCE_EVERY_S = 2.0
MAX_ANNOUNCEMENTS = 60
"""Number of announcements after which the transfer fails."""
TIMES = struct.Struct("!dd")
"""The first bytes of a file: times before and after the connection was established, in seconds."""


def send(octets: int) -> None:
    """Send a file to the first host that announces itself."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("0.0.0.0", PORT))
        _, (address, _) = receiver.recvfrom(100)
        time.sleep(SETTLE_S)
        began = time.monotonic()
        with socket.create_connection((address, PORT)) as connection:
            times = TIMES.pack(began, time.monotonic())
            connection.sendall((times + bytes(octets))[:octets])
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # returns when the receiver has closed


def receive(octets: int) -> dict[str, float]:
    """Request the file, receive it, and return the metrics of the transfer."""
    with (
        socket.create_server(("0.0.0.0", PORT)) as listener,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as announcer,
    ):
        listener.settimeout(ANNOUNCE_EVERY_S)
        for _ in range(MAX_ANNOUNCEMENTS):
            # The server side, where the sender runs, has the address of the name server.
            announcer.sendto(b"ready", (NAME_SERVER, PORT))
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                break
        else:
            raise ConnectionError("no connection for the file arrived")
        # The socket inherits no timeout: a download may stand still for minutes.
        connection.settimeout(None)
        head, arrived = b"", 0
        with connection:
            while arrived < octets and (part := connection.recv(CHUNK)):
                head += part[: max(0, TIMES.size - len(head))]
                arrived += len(part)
            ended = time.monotonic()
    if arrived < octets:
        raise ConnectionError(f"only {arrived} of {octets} octets arrived")
    began, connected = TIMES.unpack(head)
    time.sleep(SETTLE_S)
    return {"download_time_s": ended - began, "download_time_data_s": ended - connected}


def sessions(octets: int, begin_s: float, end_s: float, pause_s: float) -> None:
    """Receive files between two times after the start, with pauses."""
    start = time.monotonic()
    # The signal also ends a blocking call: the process ends, and the emulation with it.
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, end_s)
    time.sleep(begin_s)
    while time.monotonic() - start < end_s:
        receive(octets)
        # The pause includes `SETTLE_S` that has passed, and `SETTLE_S` before the sender connects again.
        time.sleep(max(0.0, pause_s - 2 * SETTLE_S))


def main(words: list[str]) -> None:
    """Run one side."""
    role, octets = words[0], int(words[1])
    if octets < TIMES.size:
        sys.exit(f"a file must have at least {TIMES.size} octets")
    if role == "send":
        send(octets)
        return
    if role == "serve":
        while True:
            # A request that was delayed may arrive when the client no longer listens.
            with suppress(ConnectionError):
                send(octets)
    if role == "sessions":
        sessions(octets, *map(float, words[2:]))
        return
    metrics = receive(octets)
    with open(os.environ[METRICS_VARIABLE], "w", encoding="utf-8") as file:
        json.dump(metrics, file)


if __name__ == "__main__":
    main(sys.argv[1:])

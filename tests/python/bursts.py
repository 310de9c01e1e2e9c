"""A TCP connection with bursts from the server, and the TCP counters of the server's kernel.

The server writes bursts of given sizes with given pauses and waits until the client has closed.
Then it writes the TCP counters of the namespace as JSON. The client waits for them, because the
emulation ends with the client.
"""

from __future__ import annotations

import argparse
import json
import socket
import time
from pathlib import Path

PORT = 7001
FILES = ("/proc/net/netstat", "/proc/net/snmp")


def main() -> None:
    """Run the server or the client."""
    parser = argparse.ArgumentParser(description=__doc__)
    roles = parser.add_subparsers(dest="role", required=True)
    server = roles.add_parser("serve")
    client = roles.add_parser("fetch")
    for role in (server, client):
        role.add_argument("counters", type=Path, help="file of the counters")
    server.add_argument("bursts", nargs="+", help="OCTETS:SECONDS, a write and the pause after it")
    client.add_argument("address")
    arguments = parser.parse_args()
    if arguments.role == "serve":
        serve(arguments.counters, arguments.bursts)
    else:
        fetch(arguments.address)
        _wait_for(arguments.counters)


def serve(path: Path, bursts: list[str]) -> None:
    """Accept one connection, write the bursts, then write the counters to `path`."""
    with socket.create_server(("0.0.0.0", PORT)) as listener:
        connection, _ = listener.accept()
        with connection:
            for burst in bursts:
                octets, seconds = burst.split(":")
                connection.sendall(bytes(int(octets)))
                time.sleep(float(seconds))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
    part = path.with_suffix(".part")
    part.write_text(json.dumps(counters()))
    part.rename(path)


def counters() -> dict[str, int]:
    """Return the TCP counters of the network namespace."""
    values_by_name: dict[str, int] = {}
    for file in FILES:
        # A line with names is followed by a line with their values. Both begin with the protocol.
        lines = Path(file).read_text().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            if names.startswith(("Tcp:", "TcpExt:")):
                values_by_name.update(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
    return values_by_name


def fetch(address: str) -> None:
    """Connect as soon as the server listens, and read until it closes. Prints the number of bytes."""
    deadline = time.monotonic() + 30
    while True:
        try:
            connection = socket.create_connection((address, PORT))
            break
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
    with connection:
        total = 0
        while part := connection.recv(65536):
            total += len(part)
    print(json.dumps({"octets": total}), flush=True)


def _wait_for(path: Path) -> None:
    """Wait at most a minute for the file to appear."""
    deadline = time.monotonic() + 60
    while not path.exists():
        if time.monotonic() > deadline:
            raise SystemExit(f"{path} was not written")
        time.sleep(0.1)


if __name__ == "__main__":
    main()

"""Forwards DNS queries of programs to the host's name servers, for ``umts emulate --internet``.

The listening sockets belong to the server side's namespace and come from the parent process. The
resolver runs in the host's network, so that it also reaches a name server on the host's loopback.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from pathlib import Path

PORT = 53
TIMEOUT_S = 5.0
"""Timeout for the answer of a name server to a query, or for a connection to it."""

IDLE_S = 60.0
"""Idle time after which a TCP connection is closed."""

_MAX_CONCURRENT = 64
"""Maximum concurrent queries, and maximum concurrent TCP connections. Further ones wait."""


def name_servers(configuration: str) -> list[str]:
    """Return the name servers of a ``resolv.conf``.

    As in the C library, 127.0.0.1 is the default.
    """
    lines = (line.split() for line in configuration.splitlines())
    addresses = [words[1] for words in lines if len(words) > 1 and words[0] == "nameserver"]
    return addresses or ["127.0.0.1"]


def forward_query(query: bytes, servers: list[str], port: int = PORT) -> bytes | None:
    """Return the answer of the first server that answers over UDP; None if no server does."""
    for server in servers:
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as upstream:
            try:
                upstream.connect((server, port))
                upstream.send(query)
                deadline = time.monotonic() + TIMEOUT_S
                while (remaining_s := deadline - time.monotonic()) > 0:
                    upstream.settimeout(remaining_s)
                    answer = upstream.recv(65535)
                    # Compare the query's ID: a late answer may belong to another query.
                    if answer[:2] == query[:2]:
                        return answer
            except OSError:
                continue
    return None


def serve_datagrams(listening: socket.socket, servers: list[str], port: int = PORT) -> None:
    """Answer UDP queries until the process ends."""
    slots = threading.BoundedSemaphore(_MAX_CONCURRENT)

    def answer(query: bytes, client: tuple[str, int]) -> None:
        try:
            response = forward_query(query, servers, port)
            if response is not None:
                listening.sendto(response, client)
        except OSError:
            pass  # The client is gone, or will repeat its query.
        finally:
            slots.release()

    while True:
        query, client = listening.recvfrom(65535)
        slots.acquire()
        threading.Thread(target=answer, args=(query, client), daemon=True).start()


def serve_connections(listening: socket.socket, servers: list[str], port: int = PORT) -> None:
    """Relay TCP connections to the first name server that accepts a connection."""
    slots = threading.BoundedSemaphore(_MAX_CONCURRENT)

    def relay(client: socket.socket) -> None:
        try:
            _relay(client, servers, port)
        finally:
            slots.release()

    while True:
        slots.acquire()
        client, _ = listening.accept()
        threading.Thread(target=relay, args=(client,), daemon=True).start()


def _relay(client: socket.socket, servers: list[str], port: int) -> None:
    """Relay a query over TCP to the first name server that accepts the connection."""
    with client:
        client.settimeout(IDLE_S)
        for server in servers:
            try:
                upstream = socket.create_connection((server, port), TIMEOUT_S)
            except OSError:
                continue
            with upstream:
                upstream.settimeout(IDLE_S)
                back = threading.Thread(target=_pump, args=(upstream, client), daemon=True)
                back.start()
                _pump(client, upstream)
                back.join()
            return


def _pump(source: socket.socket, sink: socket.socket) -> None:
    """Copy a stream, and its end, from one socket to the other."""
    try:
        while part := source.recv(65536):
            sink.sendall(part)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


def main(arguments: list[str]) -> None:
    """Serve; `arguments` are the name servers and the descriptors of the UDP and TCP sockets."""
    *servers, datagrams, connections = arguments
    udp = socket.socket(fileno=int(datagrams))
    tcp = socket.socket(fileno=int(connections))
    threading.Thread(target=serve_connections, args=(tcp, servers), daemon=True).start()
    serve_datagrams(udp, servers)


def host_name_servers() -> list[str]:
    """Return the host's own name servers."""
    try:
        return name_servers(Path("/etc/resolv.conf").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return name_servers("")


if __name__ == "__main__":
    main(sys.argv[1:])

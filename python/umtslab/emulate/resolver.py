"""Answers the names that programs ask for when the host's network is behind the server side.

The sockets where it is asked are of the server side's namespace and come from whoever starts it; it runs
in the host's network itself, so that the host's own name servers are in reach, even one on its loopback.
"""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

PORT = 53
TIMEOUT_S = 5.0
"""How long one name server is waited for."""

IDLE_S = 60.0
"""After so long without a word a connection is closed."""

_AT_ONCE = 64
"""Questions under way at once; more wait."""


def name_servers(configuration: str) -> list[str]:
    """Those of a ``resolv.conf``; without any, that of the machine itself, as resolvers have it."""
    lines = (line.split() for line in configuration.splitlines())
    found = [words[1] for words in lines if len(words) > 1 and words[0] == "nameserver"]
    return found or ["127.0.0.1"]


def ask(query: bytes, servers: list[str], port: int = PORT) -> bytes | None:
    """The answer of the first server that gives one, over UDP."""
    for server in servers:
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.settimeout(TIMEOUT_S)
            try:
                asking.connect((server, port))
                asking.send(query)
                answer = asking.recv(65535)
                # The number of the question: what comes late is of another one.
                while answer[:2] != query[:2]:
                    answer = asking.recv(65535)
                return answer
            except OSError:
                continue
    return None


def serve_datagrams(listening: socket.socket, servers: list[str], port: int = PORT) -> None:
    """Answer questions until the process ends."""
    room = threading.BoundedSemaphore(_AT_ONCE)

    def answer(query: bytes, asker: tuple[str, int]) -> None:
        try:
            found = ask(query, servers, port)
            if found is not None:
                listening.sendto(found, asker)
        except OSError:
            pass  # The asker is gone; it will ask again.
        finally:
            room.release()

    while True:
        query, asker = listening.recvfrom(65535)
        room.acquire()
        threading.Thread(target=answer, args=(query, asker), daemon=True).start()


def serve_connections(listening: socket.socket, servers: list[str], port: int = PORT) -> None:
    """Carry what is asked over TCP to the first server that takes connections, and back."""
    room = threading.BoundedSemaphore(_AT_ONCE)

    def carry(asker: socket.socket) -> None:
        try:
            _carry(asker, servers, port)
        finally:
            room.release()

    while True:
        room.acquire()
        asker, _ = listening.accept()
        threading.Thread(target=carry, args=(asker,), daemon=True).start()


def _carry(asker: socket.socket, servers: list[str], port: int) -> None:
    with asker:
        asker.settimeout(IDLE_S)
        for server in servers:
            try:
                answering = socket.create_connection((server, port), TIMEOUT_S)
            except OSError:
                continue
            with answering:
                answering.settimeout(IDLE_S)
                back = threading.Thread(target=_pump, args=(answering, asker), daemon=True)
                back.start()
                _pump(asker, answering)
                back.join()
            return


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while part := source.recv(65536):
            sink.sendall(part)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


def main(arguments: list[str]) -> None:
    """Serve; `arguments` are the name servers and then the two sockets, UDP and TCP."""
    *servers, datagrams, connections = arguments
    udp = socket.socket(fileno=int(datagrams))
    tcp = socket.socket(fileno=int(connections))
    threading.Thread(target=serve_connections, args=(tcp, servers), daemon=True).start()
    serve_datagrams(udp, servers)


def of_host() -> list[str]:
    """The host's own name servers."""
    try:
        return name_servers(Path("/etc/resolv.conf").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return name_servers("")


if __name__ == "__main__":
    main(sys.argv[1:])

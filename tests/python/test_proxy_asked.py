"""``umts proxy --socks5``, where each client names the server it wants, and the PROXY protocol.

The PROXY protocol is a header with the client's address and port, which the proxy sends to the
server before the data (``--proxy-protocol``).
"""

from __future__ import annotations

import json
import random
import socket
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import proxied
import pytest
from proxied import all_of, connect, outcome, proxy, server, text

# Messages of SOCKS version 5 (RFC 1928).
GREETING = b"\x05\x01\x00"
"""One method is offered: no authentication."""
NO_AUTHENTICATION = b"\x05\x00"
SUCCEEDED = b"\x05\x00\x00\x01" + bytes(6)
LOOPBACK = b"\x01\x7f\x00\x00\x01"
"""Address type 1 and 127.0.0.1."""
UNKNOWN_HOST = b"\x03\x0fnowhere.invalid"
"""Address type 3: a name after its length."""


def _answer(connection: socket.socket) -> None:
    """Serve a connection: send back all that the client has sent, after the word "got"."""
    connection.sendall(b"got " + all_of(connection))


def _request(port: int, host: bytes = LOOPBACK) -> bytes:
    """Return a CONNECT request."""
    return b"\x05\x01\x00" + host + port.to_bytes(2, "big")


def _failed(code: int) -> bytes:
    """Return the reply to a request that failed with this code."""
    return bytes([5, code, 0, 1]) + bytes(6)


NOT_ALLOWED, HOST_UNREACHABLE, CONNECTION_REFUSED, UNSUPPORTED_COMMAND = 2, 4, 5, 7
"""Codes of replies."""


def test_a_socks5_client_may_send_data_with_its_request() -> None:
    named = b"\x03\x09localhost"
    with server(_answer) as (_, port), proxy("--socks5") as running:
        for host in (LOOPBACK, named):
            with connect(running.address) as connection:
                # Sent at once: the bytes after the request belong to the stream.
                connection.sendall(GREETING + _request(port, host) + b"words")
                connection.shutdown(socket.SHUT_WR)
                assert all_of(connection) == NO_AUTHENTICATION + SUCCEEDED + b"got words"


def test_curl_works_over_socks5() -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nfound")

    with server(serve) as server_address, proxy("--socks5") as running:
        words = ["--silent", "--socks5-hostname", text(running.address), f"http://{text(server_address)}/"]
        done = subprocess.run(["curl", *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "found")


def test_failed_requests_get_a_reply_and_end(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        closed_port = closed.getsockname()[1]
    no_acceptable_method = b"\x05\xff"
    answers = {
        GREETING + _request(closed_port): NO_AUTHENTICATION + _failed(CONNECTION_REFUSED),
        # The command 2 is BIND.
        GREETING + b"\x05\x02\x00\x01": NO_AUTHENTICATION + _failed(UNSUPPORTED_COMMAND),
        # The only method is 2, user name and password.
        b"\x05\x01\x02": no_acceptable_method,
        b"GET / HTTP/1.1\r\n\r\n": b"",
    }
    with proxy("--socks5", log=tmp_path / "log") as running:
        for request, answer in answers.items():
            with connect(running.address) as connection:
                connection.sendall(request)
                try:
                    received = all_of(connection)
                except ConnectionResetError:
                    # The proxy does not read the bytes after an invalid request, so it resets.
                    received = b""
                assert received == answer
        assert sorted(line["ended"] for line in running.ended(4)) == [*["bad_request"] * 3, "refused"]


def test_a_request_may_arrive_byte_by_byte() -> None:
    with server(_answer) as (_, port), proxy("--socks5") as running, connect(running.address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for octet in GREETING + _request(port) + b"words":
            connection.sendall(bytes([octet]))
        connection.shutdown(socket.SHUT_WR)
        assert all_of(connection) == NO_AUTHENTICATION + SUCCEEDED + b"got words"


def test_optimistic_clients_get_the_reply_of_a_failed_request(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        closed_port = closed.getsockname()[1]
    codes = {_request(80, UNKNOWN_HOST): HOST_UNREACHABLE, _request(closed_port): CONNECTION_REFUSED}
    with proxy("--socks5", log=tmp_path / "log") as running:
        for request, code in codes.items():
            with connect(running.address) as connection:
                # Optimistic clients send data before they get an answer.
                connection.sendall(GREETING + request + b"GET / HTTP/1.1\r\n\r\n")
                assert all_of(connection) == NO_AUTHENTICATION + _failed(code)
        assert sorted(line["ended"] for line in running.ended(2)) == ["refused", "unreachable"]


def test_requests_to_the_proxy_itself_do_not_loop(tmp_path: Path) -> None:
    words = ("--socks5", "--workers", "1")
    with server(_answer) as (_, port), proxy(*words, log=tmp_path / "log") as running:
        for _ in range(20):
            with connect(running.address) as connection:
                connection.sendall(GREETING + _request(running.address[1]))
                assert outcome(lambda client=connection: all_of(client)) == "ConnectionResetError"  # type: ignore[misc]
        # Each request counts twice: the client's connection, and the one that the proxy opens to
        # itself.
        ended = [line["ended"] for line in running.ended(40)]
        assert (ended.count("loop"), ended.count("reset_by_server")) == (20, 20)
        with connect(running.address) as connection:
            connection.sendall(GREETING + _request(port) + b"words")
            connection.shutdown(socket.SHUT_WR)
            assert all_of(connection) == NO_AUTHENTICATION + SUCCEEDED + b"got words"


@pytest.mark.parametrize("name", ["0.0.0.0", "0", "::ffff:127.0.0.1", "localhost", "127.1"])
def test_requests_to_any_name_of_the_proxy_itself_do_not_loop(name: str, tmp_path: Path) -> None:
    host = b"\x03" + bytes([len(name)]) + name.encode()
    with proxy("--socks5", "--workers", "1", log=tmp_path / "log") as running:
        for _ in range(3):
            with connect(running.address) as connection:
                connection.sendall(GREETING + _request(running.address[1], host))
                with suppress(ConnectionResetError):
                    all_of(connection)
        # Each request counts at most twice: the client's connection, and the one to the proxy
        # itself.
        running.end()
        assert len(running.ended(3)) <= 6


def test_the_log_has_the_requested_destination(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        closed_port = closed.getsockname()[1]
    requests = {
        _request(80, UNKNOWN_HOST): ("nowhere.invalid:80", "nowhere.invalid:80", "unreachable"),
        _request(closed_port): (f"127.0.0.1:{closed_port}", f"127.0.0.1:{closed_port}", "refused"),
        _request(closed_port, b"\x03\x09127.0.0.1"): (
            f"127.0.0.1:{closed_port}",
            f"127.0.0.1:{closed_port}",
            "refused",
        ),
    }
    with proxy("--socks5", log=tmp_path / "log") as running:
        for number, (request, expected) in enumerate(requests.items(), 1):
            with connect(running.address) as connection:
                connection.sendall(GREETING + request)
                all_of(connection)
            line = running.ended(number)[-1]
            assert (line["asked"], line["server"], line["ended"]) == expected
        started = json.loads((tmp_path / "log").read_text().splitlines()[0])
    # A key has values of the same type in all records.
    assert isinstance(started["client_side"], dict)
    assert not {"client", "server"} & started.keys()


def test_only_allowed_destinations_are_reached(tmp_path: Path) -> None:
    with server(_answer) as (_, allowed), server(_answer) as (_, denied):
        words = ["--socks5", "--allow", f"127.0.0.1:{allowed},127.0.0.1:{denied}", "--deny", f":{denied}"]
        with proxy(*words, log=tmp_path / "log") as running:
            # Port 9 is neither allowed nor denied.
            for requested, code in ((allowed, 0), (denied, NOT_ALLOWED), (9, NOT_ALLOWED)):
                with connect(running.address) as connection:
                    connection.sendall(GREETING + _request(requested, b"\x03\x09localhost"))
                    connection.shutdown(socket.SHUT_WR)
                    # The code is the second byte of the reply, after the two of the method.
                    assert all_of(connection)[3:4] == bytes([code])
            ended = [line["ended"] for line in running.ended(3)]
    assert ended == ["in_order", "denied", "denied"]


def test_a_port_without_address_means_the_loopback_and_any_address_is_warned_of() -> None:
    with proxy("--socks5", listen="0") as running:
        assert running.address[0] == "127.0.0.1"
        running.process.terminate()
        assert running.process.stderr is not None
        assert "warning" not in running.process.stderr.read()
    with proxy("--socks5", listen="[::]:0") as running:
        assert running.process.stderr is not None
        assert running.process.stderr.readline().startswith(
            "warning: the proxy listens on every address of this host"
        )


def test_an_incomplete_request_times_out() -> None:
    with proxy("--socks5", "--connect-timeout", "200 ms") as running, connect(running.address) as connection:
        connection.sendall(b"\x05")
        assert outcome(lambda: connection.recv(1)) in ("b''", "ConnectionResetError")


def test_aborted_requests_do_not_affect_others() -> None:
    draws = random.Random(7)
    with server(_answer) as (_, port), proxy("--socks5") as running:
        whole = GREETING + _request(port)
        for _ in range(300):
            with connect(running.address) as connection, suppress(OSError):
                connection.sendall(whole[: draws.randrange(len(whole))])
                connection.shutdown(socket.SHUT_WR)
                all_of(connection)
        with connect(running.address) as connection:
            connection.sendall(whole)
            connection.shutdown(socket.SHUT_WR)
            assert all_of(connection) == NO_AUTHENTICATION + SUCCEEDED + b"got "


def test_servers_that_close_before_the_proxy_header_do_not_affect_others(tmp_path: Path) -> None:
    answers = threading.Event()

    def serve(connection: socket.socket) -> None:
        if answers.is_set():
            _answer(connection)

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address), "--proxy-protocol", log=tmp_path / "log") as running,
    ):
        for _ in range(50):
            with suppress(OSError), connect(running.address) as connection:
                all_of(connection)
        running.ended(50)
        answers.set()
        with connect(running.address) as connection:
            connection.sendall(b"words")
            connection.shutdown(socket.SHUT_WR)
            assert all_of(connection).endswith(b"words")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_server_gets_the_clients_address_first(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listen = f"[{host}]:0" if ":" in host else f"{host}:0"
    received: list[bytes] = []
    done = threading.Event()

    def serve(connection: socket.socket) -> None:
        received.append(all_of(connection))
        done.set()

    with (
        server(serve, family) as server_address,
        proxy("--to", text(server_address), "--proxy-protocol", listen=listen) as running,
        connect(running.address) as connection,
    ):
        own = connection.getsockname()[1]
        connection.sendall(b"hello")
        connection.shutdown(socket.SHUT_WR)
        assert done.wait(proxied.WAIT_S)
    # Version 2 of the PROXY protocol: signature, command, family, then addresses and ports of the
    # client and of the proxy after their length.
    address = socket.inet_pton(family, host)
    ports = own.to_bytes(2, "big") + running.address[1].to_bytes(2, "big")
    signature, command = b"\r\n\r\n\0\r\nQUIT\n", b"\x21"
    tcp = b"\x21" if ":" in host else b"\x11"
    length = (2 * len(address) + 4).to_bytes(2, "big")
    assert received == [signature + command + tcp + length + 2 * address + ports + b"hello"]

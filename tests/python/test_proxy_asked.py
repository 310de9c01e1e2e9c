"""``umts proxy --socks5``, in which clients name the server, and the PROXY protocol."""

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

OPENED = b"\x05\x00\x00\x01" + bytes(6)


def _answer(connection: socket.socket) -> None:
    connection.sendall(b"got " + all_of(connection))


def _request(port: int, host: bytes = b"\x01\x7f\x00\x00\x01") -> bytes:
    return b"\x05\x01\x00" + host + port.to_bytes(2, "big")


def test_a_socks5_client_may_send_data_with_its_request() -> None:
    named = b"\x03\x09localhost"
    with server(_answer) as (_, port), proxy("--socks5") as made:
        for host in (b"\x01\x7f\x00\x00\x01", named):
            with connect(made.address) as connection:
                # Sent at once: the bytes after the request belong to the stream.
                connection.sendall(b"\x05\x01\x00" + _request(port, host) + b"words")
                connection.shutdown(socket.SHUT_WR)
                assert all_of(connection) == b"\x05\x00" + OPENED + b"got words"


def test_curl_works_over_socks5() -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nfound")

    with server(serve) as there, proxy("--socks5") as made:
        words = ["--silent", "--socks5-hostname", text(made.address), f"http://{text(there)}/"]
        done = subprocess.run(["curl", *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "found")


def test_failed_requests_get_a_reply_and_end(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        nobody = gone.getsockname()[1]
    said = {
        b"\x05\x01\x00" + _request(nobody): b"\x05\x00\x05\x05\x00\x01" + bytes(6),
        b"\x05\x01\x00\x05\x02\x00\x01": b"\x05\x00\x05\x07\x00\x01" + bytes(6),
        b"\x05\x01\x02": b"\x05\xff",
        b"GET / HTTP/1.1\r\n\r\n": b"",
    }
    with proxy("--socks5", log=tmp_path / "log") as made:
        for request, answer in said.items():
            with connect(made.address) as connection:
                connection.sendall(request)
                try:
                    found = all_of(connection)
                except ConnectionResetError:
                    # The proxy does not read what follows an invalid request, so it resets.
                    found = b""
                assert found == answer
        assert sorted(line["ended"] for line in made.ended(4)) == [*["bad_request"] * 3, "refused"]


def test_a_request_may_arrive_byte_by_byte() -> None:
    with server(_answer) as (_, port), proxy("--socks5") as made, connect(made.address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for octet in b"\x05\x01\x00" + _request(port) + b"words":
            connection.sendall(bytes([octet]))
        connection.shutdown(socket.SHUT_WR)
        assert all_of(connection) == b"\x05\x00" + OPENED + b"got words"


def test_optimistic_clients_get_the_reply_of_a_failed_request(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        nobody = gone.getsockname()[1]
    unknown = b"\x03\x0fnowhere.invalid"
    with proxy("--socks5", log=tmp_path / "log") as made:
        for request, reply in ((_request(80, unknown), 4), (_request(nobody), 5)):
            with connect(made.address) as connection:
                # Optimistic clients send data before they get an answer.
                connection.sendall(b"\x05\x01\x00" + request + b"GET / HTTP/1.1\r\n\r\n")
                assert all_of(connection) == b"\x05\x00\x05" + bytes([reply, 0, 1]) + bytes(6)
        assert sorted(line["ended"] for line in made.ended(2)) == ["refused", "unreachable"]


def test_requests_for_the_proxy_itself_do_not_loop(tmp_path: Path) -> None:
    words = ("--socks5", "--workers", "1")
    with server(_answer) as (_, port), proxy(*words, log=tmp_path / "log") as made:
        for _ in range(20):
            with connect(made.address) as connection:
                connection.sendall(b"\x05\x01\x00" + _request(made.address[1]))
                assert outcome(lambda one=connection: all_of(one)) == "ConnectionResetError"  # type: ignore[misc]
        # Each request counts twice: the client's connection, and the one that the proxy opens to
        # itself.
        ended = [line["ended"] for line in made.ended(40)]
        assert (ended.count("loop"), ended.count("reset_by_server")) == (20, 20)
        with connect(made.address) as connection:
            connection.sendall(b"\x05\x01\x00" + _request(port) + b"words")
            connection.shutdown(socket.SHUT_WR)
            assert all_of(connection) == b"\x05\x00" + OPENED + b"got words"


@pytest.mark.parametrize("name", ["0.0.0.0", "0", "::ffff:127.0.0.1", "localhost", "127.1"])
def test_names_of_the_proxy_itself_do_not_loop(name: str, tmp_path: Path) -> None:
    host = b"\x03" + bytes([len(name)]) + name.encode()
    with proxy("--socks5", "--workers", "1", log=tmp_path / "log") as made:
        for _ in range(3):
            with connect(made.address) as connection:
                connection.sendall(b"\x05\x01\x00" + _request(made.address[1], host))
                with suppress(ConnectionResetError):
                    all_of(connection)
        # Each request counts at most twice: the client's connection, and the one to the proxy
        # itself.
        made.end()
        assert len(made.ended(3)) <= 6


def test_the_log_has_the_requested_destination(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        nobody = gone.getsockname()[1]
    requests = {
        _request(80, b"\x03\x0fnowhere.invalid"): ("nowhere.invalid:80", "nowhere.invalid:80", "unreachable"),
        _request(nobody): (f"127.0.0.1:{nobody}", f"127.0.0.1:{nobody}", "refused"),
        _request(nobody, b"\x03\x09127.0.0.1"): (f"127.0.0.1:{nobody}", f"127.0.0.1:{nobody}", "refused"),
    }
    with proxy("--socks5", log=tmp_path / "log") as made:
        for number, (request, expected) in enumerate(requests.items(), 1):
            with connect(made.address) as connection:
                connection.sendall(b"\x05\x01\x00" + request)
                all_of(connection)
            line = made.ended(number)[-1]
            assert (line["asked"], line["server"], line["ended"]) == expected
        started = json.loads((tmp_path / "log").read_text().splitlines()[0])
    # A key has values of the same type in all records.
    assert isinstance(started["client_side"], dict)
    assert not {"client", "server"} & started.keys()


def test_only_allowed_destinations_are_reached(tmp_path: Path) -> None:
    opened = b"\x05\x01\x00"
    with server(_answer) as (_, port), server(_answer) as (_, other):
        words = ["--socks5", "--allow", f"127.0.0.1:{port},127.0.0.1:{other}", "--deny", f":{other}"]
        with proxy(*words, log=tmp_path / "log") as made:
            for wanted, code in ((port, 0), (other, 2), (9, 2)):
                with connect(made.address) as connection:
                    connection.sendall(opened + _request(wanted, b"\x03\x09localhost"))
                    connection.shutdown(socket.SHUT_WR)
                    assert all_of(connection)[3:4] == bytes([code])
            ended = [line["ended"] for line in made.ended(3)]
    assert ended == ["in_order", "denied", "denied"]


def test_a_port_alone_means_loopback_and_an_open_proxy_warns() -> None:
    with proxy("--socks5", listen="0") as made:
        assert made.address[0] == "127.0.0.1"
        made.process.terminate()
        assert made.process.stderr is not None
        assert "warning" not in made.process.stderr.read()
    with proxy("--socks5", listen="[::]:0") as made:
        assert made.process.stderr is not None
        assert made.process.stderr.readline().startswith(
            "warning: the proxy listens on every address of this host"
        )


def test_an_incomplete_request_times_out() -> None:
    with proxy("--socks5", "--connect-timeout", "200 ms") as made, connect(made.address) as connection:
        connection.sendall(b"\x05")
        assert outcome(lambda: connection.recv(1)) in ("b''", "ConnectionResetError")


def test_aborted_requests_do_not_affect_others() -> None:
    draw = random.Random(7)
    with server(_answer) as (_, port), proxy("--socks5") as made:
        whole = b"\x05\x01\x00" + _request(port)
        for _ in range(300):
            with connect(made.address) as connection, suppress(OSError):
                connection.sendall(whole[: draw.randrange(len(whole))])
                connection.shutdown(socket.SHUT_WR)
                all_of(connection)
        with connect(made.address) as connection:
            connection.sendall(whole)
            connection.shutdown(socket.SHUT_WR)
            assert all_of(connection) == b"\x05\x00" + OPENED + b"got "


def test_a_server_may_close_before_the_proxy_header(tmp_path: Path) -> None:
    answers = threading.Event()

    def serve(connection: socket.socket) -> None:
        if answers.is_set():
            _answer(connection)

    with (
        server(serve) as there,
        proxy("--to", text(there), "--proxy-protocol", log=tmp_path / "log") as made,
    ):
        for _ in range(50):
            with suppress(OSError), connect(made.address) as connection:
                all_of(connection)
        made.ended(50)
        answers.set()
        with connect(made.address) as connection:
            connection.sendall(b"words")
            connection.shutdown(socket.SHUT_WR)
            assert all_of(connection).endswith(b"words")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_server_gets_the_clients_address_first(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listen = f"[{host}]:0" if ":" in host else f"{host}:0"
    heard: list[bytes] = []
    done = threading.Event()

    def serve(connection: socket.socket) -> None:
        heard.append(all_of(connection))
        done.set()

    with (
        server(serve, family) as there,
        proxy("--to", text(there), "--proxy-protocol", listen=listen) as made,
        connect(made.address) as connection,
    ):
        own = connection.getsockname()[1]
        connection.sendall(b"hello")
        connection.shutdown(socket.SHUT_WR)
        assert done.wait(proxied.WAIT_S)
    address = socket.inet_pton(family, host)
    ports = own.to_bytes(2, "big") + made.address[1].to_bytes(2, "big")
    head = b"\r\n\r\n\0\r\nQUIT\n\x21" + (b"\x21" if ":" in host else b"\x11")
    assert heard == [head + (2 * len(address) + 4).to_bytes(2, "big") + 2 * address + ports + b"hello"]

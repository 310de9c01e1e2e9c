"""``umts proxy`` with a given server: connections behave as without the proxy.

Most tests do the same twice, at the address of the server and at the address of the proxy in front
of it, and require equal results.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import proxied
import pytest
from proxied import Address, all_of, connect, first_octet, outcome, proxy, reset, server, text

FAMILIES = [
    pytest.param(socket.AF_INET, id="IPv4"),
    pytest.param(socket.AF_INET6, id="IPv6"),
]
MIB = 1 << 20
LARGE = 10_000_000
"""Bytes of a transfer that fits neither into the proxy's buffer nor into the socket buffers."""


@contextmanager
def server_and_proxy(
    serve: proxied.Serve, family: socket.AddressFamily, *words: str
) -> Iterator[tuple[Address, Address]]:
    """Start a server and a proxy in front of it. Yields the addresses of both."""
    listen = "127.0.0.1:0" if family == socket.AF_INET else "[::1]:0"
    with (
        server(serve, family) as server_address,
        proxy("--to", text(server_address), *words, listen=listen) as running,
    ):
        yield server_address, running.address


@pytest.mark.parametrize("family", FAMILIES)
def test_a_half_closed_client_gets_the_answer(family: socket.AddressFamily) -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"%d octets" % len(all_of(connection)))

    def fetch(address: Address) -> bytes:
        with connect(address) as connection:
            connection.sendall(bytes(LARGE))
            connection.shutdown(socket.SHUT_WR)
            return all_of(connection)

    with server_and_proxy(serve, family) as addresses:
        assert [fetch(address) for address in addresses] == [b"10000000 octets"] * 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_client_that_reads_late_gets_every_byte(family: socket.AddressFamily) -> None:
    sent = bytes(range(256)) * (LARGE // 256)

    def serve(connection: socket.socket) -> None:
        connection.sendall(sent)

    def read(address: Address) -> bool:
        with connect(address) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20_000)
            # The server closes before the client reads.
            time.sleep(0.5)
            return all_of(connection) == sent

    with server_and_proxy(serve, family) as addresses:
        assert [read(address) for address in addresses] == [True, True]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_server_that_reads_late_gets_every_byte(family: socket.AddressFamily) -> None:
    sent = bytes(range(256)) * (LARGE // 256)
    is_complete: list[bool] = []
    done = threading.Semaphore(0)

    def serve(connection: socket.socket) -> None:
        # The client closes before the server reads.
        time.sleep(0.5)
        is_complete.append(all_of(connection) == sent)
        done.release()

    with server_and_proxy(serve, family) as addresses:
        for address in addresses:
            with connect(address) as connection:
                connection.sendall(sent)
            assert done.acquire(timeout=proxied.WAIT_S)
    assert is_complete == [True, True]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_half_closed_server_gets_the_rest(family: socket.AddressFamily) -> None:
    received: list[int] = []
    done = threading.Semaphore(0)

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"all")
        connection.shutdown(socket.SHUT_WR)
        received.append(len(all_of(connection)))
        done.release()

    with server_and_proxy(serve, family) as addresses:
        for address in addresses:
            with connect(address) as connection:
                assert all_of(connection) == b"all"
                connection.sendall(bytes(LARGE))
            assert done.acquire(timeout=proxied.WAIT_S)
    assert received == [LARGE] * 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_client_port_can_be_reused_at_once(family: socket.AddressFamily) -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"all")

    def fetch(address: Address, port: int) -> tuple[bytes, int]:
        with socket.socket(family) as connection:
            connection.settimeout(proxied.WAIT_S)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            connection.bind((address[0], port))
            connection.connect(address)
            return all_of(connection), connection.getsockname()[1]

    with server_and_proxy(serve, family) as addresses:
        for address in addresses:
            # The end that closes first is in TIME-WAIT: the server, or the proxy instead of the
            # server.
            first, port = fetch(address, 0)
            assert [first] + [fetch(address, port)[0] for _ in range(3)] == [b"all"] * 4


def test_urgent_bytes_keep_their_position() -> None:
    received: list[bytes] = []
    done = threading.Event()

    def serve(connection: socket.socket) -> None:
        received.append(all_of(connection))
        done.set()

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address)) as running,
        connect(running.address) as connection,
    ):
        connection.sendall(b"ab")
        connection.send(b"c", socket.MSG_OOB)
        connection.sendall(b"d")
        connection.shutdown(socket.SHUT_WR)
        assert done.wait(proxied.WAIT_S)
    assert received == [b"abcd"]


URGENT_POSITIONS = (0, 1, 1000, 16_384, 99_999, 200_000, 399_999)
"""Positions of urgent bytes in a stream that is longer than the proxy copies at once."""


def _send_urgent(connection: socket.socket, sent: bytes) -> None:
    """Send a stream with urgent bytes at `URGENT_POSITIONS`, then close the direction."""
    done = 0
    for position in URGENT_POSITIONS:
        connection.sendall(sent[done:position])
        connection.send(sent[position : position + 1], socket.MSG_OOB)
        done = position + 1
    connection.sendall(sent[done:])
    connection.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("pause_s", [0.0, 0.3], ids=["at once", "after a pause"])
@pytest.mark.parametrize("direction", ["up", "down"])
def test_streams_with_urgent_bytes_are_complete(direction: str, pause_s: float, tmp_path: Path) -> None:
    """The reader begins at once, or when all data wait. Then the proxy splices up to each mark."""
    sent = bytes(range(250)) * 1600
    received: list[bytes] = []
    done = threading.Event()

    def serve(connection: socket.socket) -> None:
        if direction == "up":
            time.sleep(pause_s)
            received.append(all_of(connection))
        else:
            _send_urgent(connection, sent)
            all_of(connection)
        done.set()

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address), log=tmp_path / "log") as running,
        connect(running.address) as connection,
    ):
        if direction == "up":
            _send_urgent(connection, sent)
        else:
            time.sleep(pause_s)
            received.append(all_of(connection))
            connection.shutdown(socket.SHUT_WR)
        assert done.wait(proxied.WAIT_S)
        connection.close()
        (line,) = running.ended(1)
    assert received == [sent]
    octets, lost_octets = line[f"octets_{direction}"], line[f"lost_octets_{direction}"]
    assert (line["ended"], octets, lost_octets) == ("in_order", len(sent), 0)


def test_an_urgent_byte_does_not_delay_later_data() -> None:
    """Data after an urgent mark arrive while the connection stays open."""
    sent = bytes(range(250)) * 1600
    received: list[bytes] = []
    done = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection.makefile("rb") as reader:
            received.append(reader.read(len(sent)))
        done.set()
        all_of(connection)

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address)) as running,
        connect(running.address) as connection,
    ):
        connection.sendall(sent[:200_000])
        connection.send(sent[200_000:200_001], socket.MSG_OOB)
        connection.sendall(sent[200_001:])
        assert done.wait(proxied.WAIT_S)
    assert received == [sent]


def _server_resets(connection: socket.socket) -> None:
    connection.recv(1)
    reset(connection)


def _server_resets_when_full(connection: socket.socket) -> None:
    connection.settimeout(1)
    try:
        connection.sendall(bytes(100_000_000))
    except TimeoutError:
        reset(connection)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_reset_by_the_server_reaches_the_client(family: socket.AddressFamily) -> None:
    def fetch(address: Address) -> str:
        with connect(address) as connection:
            connection.sendall(b"x")
            return outcome(lambda: connection.recv(1))

    with server_and_proxy(_server_resets, family) as addresses:
        assert [fetch(address) for address in addresses] == ["ConnectionResetError"] * 2


def test_a_reset_reaches_the_client_though_the_buffers_are_full() -> None:
    def fetch(address: Address) -> str:
        with connect(address) as connection:
            # The server resets the connection after a second without progress.
            time.sleep(2.5)
            return outcome(lambda: all_of(connection))

    with server_and_proxy(_server_resets_when_full, socket.AF_INET) as (_, address):
        assert fetch(address) == "ConnectionResetError"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_reset_by_the_client_reaches_the_server(family: socket.AddressFamily) -> None:
    outcomes: list[str] = []
    done = threading.Semaphore(0)

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"x")
        outcomes.append(outcome(lambda: all_of(connection)))
        done.release()

    with server_and_proxy(serve, family) as addresses:
        for address in addresses:
            connection = connect(address)
            connection.recv(1)
            reset(connection)
            assert done.acquire(timeout=proxied.WAIT_S)
    assert outcomes == ["ConnectionResetError"] * 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_server_that_refuses_connections_causes_a_reset(
    family: socket.AddressFamily, tmp_path: Path
) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((host, 0), family=family) as gone:
        closed_port = (host, gone.getsockname()[1])
    with proxy("--to", text(closed_port), log=tmp_path / "log", listen=text((host, 0))) as running:
        assert outcome(lambda: first_octet(running.address)) == "ConnectionResetError"
        (line,) = running.ended(1)
        assert (line["ended"], line["server"], line["octets_up"]) == ("refused", text(closed_port), None)


@pytest.mark.parametrize("family", FAMILIES)
def test_client_and_server_may_close_at_the_same_time(family: socket.AddressFamily) -> None:
    meet = threading.Barrier(2, timeout=proxied.WAIT_S)
    received: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"s" * 1000)
        meet.wait()
        connection.shutdown(socket.SHUT_WR)
        received.append(all_of(connection))
        meet.wait()

    with server_and_proxy(serve, family) as addresses:
        for address in addresses:
            with connect(address) as connection:
                connection.sendall(b"c" * 1000)
                meet.wait()
                connection.shutdown(socket.SHUT_WR)
                assert all_of(connection) == b"s" * 1000
                meet.wait()
    assert received == [b"c" * 1000] * 2


def test_small_segments_are_not_delayed() -> None:
    def serve(connection: socket.socket) -> None:
        while part := connection.recv(100):
            connection.sendall(part)

    exchanges = 50

    def duration_s(address: Address) -> float:
        with connect(address) as connection:
            begin = time.monotonic()
            for _ in range(exchanges):
                connection.sendall(bytes(100))
                assert connection.recv(100, socket.MSG_WAITALL) == bytes(100)
            return time.monotonic() - begin

    with server_and_proxy(serve, socket.AF_INET) as (_, address):
        # If the segments of both directions were delayed by 200 ms, it would take twice as long.
        assert duration_s(address) < exchanges * 0.2


def test_an_idle_client_gets_a_reset(tmp_path: Path) -> None:
    log = tmp_path / "log"
    arrived = threading.Event()

    def serve(connection: socket.socket) -> None:
        arrived.set()
        all_of(connection)

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address), "--idle-timeout", "300 ms", log=log) as running,
        connect(running.address) as connection,
    ):
        # The kernel completes handshakes before the proxy accepts the connections.
        assert arrived.wait(proxied.WAIT_S)
        # Five pauses of 0.1 s, each shorter than the timeout, then the timeout of 0.3 s.
        for _ in range(5):
            time.sleep(0.1)
            connection.sendall(b"x")
        assert outcome(lambda: connection.recv(1)) == "ConnectionResetError"
        (line,) = running.ended(1)
        assert (line["ended"], line["octets_up"]) == ("idle", 5)
        assert line["duration_s"] >= 0.8


def test_the_log_has_bytes_and_endpoints_of_connections(tmp_path: Path) -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(bytes(3 * len(all_of(connection))))

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address), log=tmp_path / "log") as running,
    ):
        with connect(running.address) as connection:
            connection.sendall(bytes(1000))
            connection.shutdown(socket.SHUT_WR)
            client = connection.getsockname()
            assert len(all_of(connection)) == 3000
        (line,) = running.ended(1)
        assert (line["ended"], line["client"], line["server"]) == (
            "in_order",
            text(client),
            text(server_address),
        )
        assert (line["octets_up"], line["octets_down"], line["lost_octets_down"]) == (1000, 3000, 0)
        assert line["client_rtt_s"] > 0
        assert line["server_retransmissions"] == 0
        assert "1 connection (1 in order), 0 refused; octets: 1,000 up, 3,000 down" in running.end()


def test_metrics_include_open_connections() -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(bytes(len(connection.recv(100))))
        all_of(connection)

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address), "--metrics", "127.0.0.1:0") as running,
    ):
        assert running.process.stderr is not None
        url = running.process.stderr.readline().split()[-1]
        with connect(running.address) as connection:
            connection.sendall(bytes(100))
            assert connection.recv(100, socket.MSG_WAITALL) == bytes(100)

            def page() -> str:
                content: bytes = urllib.request.urlopen(url, timeout=proxied.WAIT_S).read()
                return content.decode()

            # The client may receive data before the proxy counts them.
            _wait_until(lambda: 'umts_proxy_octets_total{direction="down"} 100\n' in page())
            assert "umts_proxy_connections 1\n" in page()
            assert 'umts_proxy_rtt_seconds{leg="server",quantile="0.5"} ' in page()


def test_connections_above_the_limit_get_a_reset() -> None:
    with (
        server(all_of) as server_address,
        proxy("--to", text(server_address), "--connections", "2", "--workers", "1") as running,
        connect(running.address) as first,
        connect(running.address) as second,
    ):
        first.sendall(b"x")
        second.sendall(b"x")
        assert outcome(lambda: first_octet(running.address)) == "ConnectionResetError"
        first.close()
        # A connection below the limit is not reset. The server sends nothing, so reading times out.
        reply = ""
        for _ in range(100):
            reply = outcome(lambda: first_octet(running.address, 0.2))
            if reply == "TimeoutError":
                break
            time.sleep(0.05)
        assert reply == "TimeoutError", "the closed connection still counts"
        assert running.room == 2


def test_draining_loses_nothing(tmp_path: Path) -> None:
    """Draining loses no data that clients receive, and none that they send."""
    go_on = threading.Event()
    count, size = 20, LARGE // 10
    received: list[int] = []

    def serve(connection: socket.socket) -> None:
        connection.sendall(bytes(1000))
        go_on.wait(proxied.WAIT_S)
        connection.sendall(bytes(size))
        connection.shutdown(socket.SHUT_WR)
        received.append(len(all_of(connection)))

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address), log=tmp_path / "log") as running,
        ExitStack() as stack,
    ):
        connections = [stack.enter_context(connect(running.address)) for _ in range(count)]
        for connection in connections:
            connection.recv(1000, socket.MSG_WAITALL)
        running.process.terminate()
        _wait_until(lambda: outcome(lambda: connect(running.address).close()) == "ConnectionRefusedError")
        go_on.set()
        clients = set()
        for connection in connections:
            assert len(all_of(connection)) == size
            clients.add(text(connection.getsockname()))
            connection.sendall(bytes(size))
            connection.close()
        assert running.process.wait(proxied.WAIT_S) == 0
        ended = [line["ended"] for line in running.ended(count) if line["client"] in clients]
        _wait_until(lambda: len(received) == count)
    assert (ended, received) == (["in_order"] * count, [size] * count)


def test_a_second_signal_resets_all_connections(tmp_path: Path) -> None:
    with (
        server(all_of) as server_address,
        proxy("--to", text(server_address), log=tmp_path / "log") as running,
        connect(running.address) as connection,
    ):
        connection.sendall(b"x")
        running.process.terminate()
        _wait_until(lambda: outcome(lambda: connect(running.address).close()) == "ConnectionRefusedError")
        running.process.terminate()
        assert running.process.wait(proxied.WAIT_S) == 0
        assert outcome(lambda: connection.recv(1)) == "ConnectionResetError"
        client = text(connection.getsockname())
        assert [line["ended"] for line in running.ended(1) if line["client"] == client] == ["stopped"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        # TAKEN stands for an address on which another server listens.
        (["--to", "127.0.0.1:1"], "--listen is missing"),
        (["--listen", "127.0.0.1:0"], "--to is missing"),
        (["--listen", "TAKEN", "--to", "127.0.0.1:1"], "is already in use (`ss -ltnp` shows the process)"),
        (["--listen", "192.0.2.77:8080", "--to", "127.0.0.1:1"], "this host has no address 192.0.2.77"),
        (["--listen", "TAKEN", "--to", "TAKEN"], "is an address on which this proxy listens"),
        (["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--metrics", "TAKEN"], "--metrics 127.0.0.1:"),
        (
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--client-set", "congestion_control=evil"],
            "--client-set congestion_control=evil: not in this kernel, which has ",
        ),
        (
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--server-set", "congestion_control=evil"],
            "--server-set congestion_control=evil: not in this kernel, which has ",
        ),
        (
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--buffer", "1 kB"],
            "--buffer 1 kB: a buffer of less than",
        ),
        (
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--log", "/nowhere/log"],
            "--log /nowhere/log: ",
        ),
        (
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--user-timeout", "2592000 s"],
            "--user-timeout takes 1 ms to 596 h",
        ),
        (
            ["--listen", "127.0.0.1:0", "--to", "nowhere.invalid:80"],
            "--to nowhere.invalid:80: cannot resolve the host name",
        ),
        (
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--connections", "9999999"],
            "--connections 9999999: ",
        ),
    ],
)
def test_impossible_options_are_refused_with_a_reason(words: list[str], message: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        line = [text(taken.getsockname()) if word == "TAKEN" else word for word in words]
        umts = [sys.executable, "-m", "umtslab", "proxy", *line]
        done = subprocess.run(umts, capture_output=True, text=True, timeout=proxied.WAIT_S, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("umts: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_undelivered_data_occupy_memory_until_the_idle_timeout(tmp_path: Path) -> None:
    """Clients that close their direction and never read count until the idle timeout.

    Each connection may buffer 32 kB in each direction, so 256 kB are the memory of four.
    """
    words = ["--memory", "256 kB", "--buffer", "32 kB", "--idle-timeout", "1 s", "--workers", "1"]

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"x" * 20_000)
        all_of(connection)

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address), *words, log=tmp_path / "log") as running,
        ExitStack() as stack,
    ):
        assert running.room == 4
        for _ in range(running.room):
            silent = stack.enter_context(socket.socket())
            # The client's kernel buffers as little as possible.
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            silent.connect(running.address)
            silent.sendall(b"x")
            silent.shutdown(socket.SHUT_WR)
        reply = outcome(lambda: first_octet(running.address))
        assert reply == "ConnectionResetError", "the proxy accepts more than its memory allows"
        assert [line["ended"] for line in running.ended(running.room)[: running.room]] == [
            "idle"
        ] * running.room
        assert outcome(lambda: first_octet(running.address)) == "b'x'", "the timeout has not freed memory"


def _ignores(process: subprocess.Popen[str], signals: list[signal.Signals]) -> bool:
    """Whether a process still runs a second after these signals, and exits on SIGTERM."""
    for number in signals:
        process.send_signal(number)
    with suppress(subprocess.TimeoutExpired):
        process.wait(1)
        return False
    process.terminate()
    return process.wait(proxied.WAIT_S) == 0


def test_signals_that_are_ignored_at_the_start_stay_ignored() -> None:
    words = [sys.executable, "-m", "umtslab", "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"]
    script = 'trap "" HUP INT; exec "$@"'
    line = ["sh", "-c", script, "sh", *words]
    with subprocess.Popen(line, text=True, stderr=subprocess.PIPE, start_new_session=True) as running:
        try:
            assert running.stderr is not None
            assert running.stderr.readline().startswith("listens at")
            assert _ignores(running, [signal.SIGHUP, signal.SIGINT])
        finally:
            running.kill()


@pytest.fixture
def _default_sighup() -> Iterator[None]:
    """Child processes do not ignore SIGHUP, even if the tests do (nohup)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_default_sighup")
def test_sighup_reopens_the_log_and_keeps_connections(tmp_path: Path) -> None:
    log, old = tmp_path / "log", tmp_path / "log.1"
    with server(all_of) as server_address, proxy("--to", text(server_address), log=log) as running:
        connect(running.address).close()
        running.ended(1)
        log.rename(old)
        running.process.send_signal(signal.SIGHUP)
        _wait_until(log.exists)
        connect(running.address).close()
        (line,) = running.ended(1)
        assert line["connection"] == 1
        assert len(old.read_text().splitlines()) == 2
        running.end()


@pytest.mark.usefixtures("_default_sighup")
def test_the_service_manager_is_notified_while_data_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = os.urandom(4 * MIB)
    received: queue.Queue[bytes] = queue.Queue()
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager,
        server(lambda connection: received.put(all_of(connection))) as server_address,
    ):
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(proxied.WAIT_S)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        words = ("--to", text(server_address), "--drain", "60 s")
        with proxy(*words, log=tmp_path / "log") as running:
            assert manager.recv(4096) == b"READY=1\n"
            with connect(running.address) as client:
                client.sendall(data[: 2 * MIB])
                running.process.send_signal(signal.SIGHUP)
                assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=\d+\n", manager.recv(4096))
                assert manager.recv(4096) == b"READY=1\n"
                client.sendall(data[2 * MIB : 3 * MIB])
                running.process.terminate()
                assert manager.recv(4096) == b"STOPPING=1\n"
                client.sendall(data[3 * MIB :])
            assert received.get(timeout=proxied.WAIT_S) == data
            assert running.process.wait(proxied.WAIT_S) == 0


@pytest.mark.usefixtures("_default_sighup")
def test_sighup_reads_the_limits_again_while_data_flows(tmp_path: Path) -> None:
    """A transfer of 8 MB, half of which waits, continues while the limits change. No byte is lost."""
    limits, log = tmp_path / "limits.toml", tmp_path / "log"
    limits.write_text("connections = 1\n")
    data = os.urandom(8 * MIB)
    received: queue.Queue[bytes] = queue.Queue()
    go_on = threading.Event()

    def serve(connection: socket.socket) -> None:
        begin = connection.recv(1 << 16)
        if begin == data[: len(begin)]:
            assert go_on.wait(proxied.WAIT_S)
        received.put(begin + all_of(connection))

    def reload(content: str, event: str) -> str:
        """Change the file, and return the line of the log that reports it."""
        limits.write_text(content)
        before = log.read_text().count(f'"{event}"')
        running.process.send_signal(signal.SIGHUP)
        _wait_until(lambda: log.read_text().count(f'"{event}"') > before)
        return [line for line in log.read_text().splitlines() if f'"{event}"' in line][-1]

    with (
        server(serve) as server_address,
        proxy("--to", text(server_address), "--limits", str(limits), "--workers", "1", log=log) as running,
    ):
        assert running.room == 1
        with connect(running.address) as client:
            sender = threading.Thread(target=client.sendall, args=(data,))
            sender.start()
            assert outcome(lambda: first_octet(running.address)) == "ConnectionResetError"
            assert '"connections":2' in reload('connections = 2\nidle_timeout = "2 h"\n', "limits")
            with connect(running.address) as second:
                second.sendall(b"second")
            assert received.get(timeout=proxied.WAIT_S) == b"second"
            for content, part in [
                ("connections = 0", "connections takes a whole number, at least 1"),
                ("speed = 1", "there is no limit"),
                ("connections = ", "line 1: "),
            ]:
                assert part in reload(content, "limits_refused")
            with connect(running.address) as third:
                third.sendall(b"third")
            assert received.get(timeout=proxied.WAIT_S) == b"third"
            go_on.set()
            sender.join(proxied.WAIT_S)
            assert not sender.is_alive()
        assert received.get(timeout=proxied.WAIT_S) == data
        summary = running.end()
    assert "the limits stay as they are" in summary
    assert "3 connections (3 in order), 1 refused" in summary


def test_a_file_of_limits_is_checked_at_the_start(tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    words = ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--limits", str(limits)]
    line = [sys.executable, "-m", "umtslab", "proxy", *words]

    def refused() -> str:
        done = subprocess.run(line, capture_output=True, text=True, timeout=proxied.WAIT_S, check=False)
        assert done.returncode == 2
        return done.stderr

    assert "cannot be read" in refused()
    os.mkfifo(limits)
    assert "is not a regular file" in refused()
    limits.unlink()
    limits.write_text("#" * 64_001)
    assert "is larger than 64 kB" in refused()
    limits.write_text("connections = 1000000000\n")
    assert "descriptors suffice for" in refused()


@pytest.mark.parametrize("kind", ["a pipe", "a FIFO"])
def test_a_blocked_log_does_not_delay_the_end(kind: str, tmp_path: Path) -> None:
    """Writing to the log blocks, because its pipe is full and not read."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    log = "-" if kind == "a pipe" else str(fifo)
    words = ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--log", log]
    line = [sys.executable, "-m", "umtslab", "proxy", *words]
    with subprocess.Popen(line, text=True, stdout=writer, stderr=subprocess.PIPE) as running:
        try:
            assert running.stderr is not None
            assert running.stderr.readline().startswith("listens at")
            running.terminate()
            _, summary = running.communicate(timeout=proxied.WAIT_S)
            assert running.returncode == 0
            assert "1 lines of the log were lost" in summary
        finally:
            running.kill()
    os.close(reader)
    os.close(writer)


def test_a_fifo_that_no_process_reads_is_refused_at_the_start(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    words = ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--log", str(fifo)]
    line = [sys.executable, "-m", "umtslab", "proxy", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=proxied.WAIT_S, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        f"umts: --log {fifo}: no process reads this FIFO: start the reader first\n",
    )


def test_silent_clients_of_the_metrics_do_not_block_others() -> None:
    with (
        server(all_of) as server_address,
        proxy("--to", text(server_address), "--metrics", "127.0.0.1:0") as running,
        ExitStack() as silent,
    ):
        assert running.process.stderr is not None
        url = running.process.stderr.readline().split()[-1]
        host, port = url.removeprefix("http://").removesuffix("/metrics").split(":")
        for _ in range(100):
            silent.enter_context(connect((host, int(port))))
        content = urllib.request.urlopen(url, timeout=proxied.WAIT_S).read()
        assert b"umts_proxy_connections 0" in content


@pytest.mark.parametrize(
    ("listen", "to"),
    [
        ("127.0.0.1:PORT", "0.0.0.0:PORT"),
        ("127.0.0.1:PORT", "[::ffff:127.0.0.1]:PORT"),
        ("[::1]:PORT", "[::]:PORT"),
        ("[::]:PORT", "0.0.0.0:PORT"),
    ],
)
def test_a_proxy_to_itself_is_refused(listen: str, to: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    words = ["--listen", listen.replace("PORT", port), "--to", to.replace("PORT", port)]
    line = [sys.executable, "-m", "umtslab", "proxy", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=proxied.WAIT_S, check=False)
    assert done.returncode == 2
    assert "is an address on which this proxy listens" in done.stderr


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + proxied.WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)

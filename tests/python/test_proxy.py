"""``umts proxy`` with a given server: connections behave as without the proxy."""

from __future__ import annotations

import os
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
LARGE = 10_000_000


@contextmanager
def both_ways(
    serve: proxied.Serve, family: socket.AddressFamily, *words: str
) -> Iterator[tuple[Address, Address]]:
    """Start a server and a proxy in front of it. Yields both addresses."""
    listen = "127.0.0.1:0" if family == socket.AF_INET else "[::1]:0"
    with server(serve, family) as there, proxy("--to", text(there), *words, listen=listen) as made:
        yield there, made.address


@pytest.mark.parametrize("family", FAMILIES)
def test_a_half_closed_client_gets_the_answer(family: socket.AddressFamily) -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"%d octets" % len(all_of(connection)))

    def fetch(address: Address) -> bytes:
        with connect(address) as connection:
            connection.sendall(bytes(LARGE))
            connection.shutdown(socket.SHUT_WR)
            return all_of(connection)

    with both_ways(serve, family) as addresses:
        assert [fetch(address) for address in addresses] == [b"10000000 octets"] * 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_slow_client_gets_every_byte(family: socket.AddressFamily) -> None:
    sent = bytes(range(256)) * (LARGE // 256)

    def serve(connection: socket.socket) -> None:
        connection.sendall(sent)

    def read(address: Address) -> bool:
        with connect(address) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20_000)
            # The server closes before the client reads.
            time.sleep(0.5)
            return all_of(connection) == sent

    with both_ways(serve, family) as addresses:
        assert [read(address) for address in addresses] == [True, True]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_slow_server_gets_every_byte(family: socket.AddressFamily) -> None:
    sent = bytes(range(256)) * (LARGE // 256)
    seen: list[bool] = []
    done = threading.Semaphore(0)

    def serve(connection: socket.socket) -> None:
        # The client closes before the server reads.
        time.sleep(0.5)
        seen.append(all_of(connection) == sent)
        done.release()

    with both_ways(serve, family) as addresses:
        for address in addresses:
            with connect(address) as connection:
                connection.sendall(sent)
            assert done.acquire(timeout=proxied.WAIT_S)
    assert seen == [True, True]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_half_closed_server_gets_the_rest(family: socket.AddressFamily) -> None:
    seen: list[int] = []
    done = threading.Semaphore(0)

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"all")
        connection.shutdown(socket.SHUT_WR)
        seen.append(len(all_of(connection)))
        done.release()

    with both_ways(serve, family) as addresses:
        for address in addresses:
            with connect(address) as connection:
                assert all_of(connection) == b"all"
                connection.sendall(bytes(LARGE))
            assert done.acquire(timeout=proxied.WAIT_S)
    assert seen == [LARGE] * 2


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

    with both_ways(serve, family) as addresses:
        for address in addresses:
            # The end that closes first is in TIME-WAIT: the server, or the proxy instead of the
            # server.
            said, port = fetch(address, 0)
            assert [said] + [fetch(address, port)[0] for _ in range(3)] == [b"all"] * 4


def test_urgent_bytes_keep_their_position() -> None:
    heard: list[bytes] = []
    done = threading.Event()

    def serve(connection: socket.socket) -> None:
        heard.append(all_of(connection))
        done.set()

    with server(serve) as there, proxy("--to", text(there)) as made, connect(made.address) as connection:
        connection.sendall(b"ab")
        connection.send(b"c", socket.MSG_OOB)
        connection.sendall(b"d")
        connection.shutdown(socket.SHUT_WR)
        assert done.wait(proxied.WAIT_S)
    assert heard == [b"abcd"]


URGENT_PLACES = (0, 1, 1000, 16_384, 99_999, 200_000, 399_999)
"""Positions of urgent bytes in a stream that is longer than the proxy copies at once."""


def _send_urgent(connection: socket.socket, sent: bytes) -> None:
    """Send a stream with urgent bytes at `URGENT_PLACES`, then close the direction."""
    begun = 0
    for place in URGENT_PLACES:
        connection.sendall(sent[begun:place])
        connection.send(sent[place : place + 1], socket.MSG_OOB)
        begun = place + 1
    connection.sendall(sent[begun:])
    connection.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("pause_s", [0.0, 0.3], ids=["at once", "after a pause"])
@pytest.mark.parametrize("way", ["up", "down"])
def test_streams_with_urgent_bytes_are_complete(way: str, pause_s: float, tmp_path: Path) -> None:
    """The reader begins at once, or when all data wait. Then the proxy splices up to each mark."""
    sent = bytes(range(250)) * 1600
    heard: list[bytes] = []
    done = threading.Event()

    def serve(connection: socket.socket) -> None:
        if way == "up":
            time.sleep(pause_s)
            heard.append(all_of(connection))
        else:
            _send_urgent(connection, sent)
            all_of(connection)
        done.set()

    with (
        server(serve) as there,
        proxy("--to", text(there), log=tmp_path / "log") as made,
        connect(made.address) as connection,
    ):
        if way == "up":
            _send_urgent(connection, sent)
        else:
            time.sleep(pause_s)
            heard.append(all_of(connection))
            connection.shutdown(socket.SHUT_WR)
        assert done.wait(proxied.WAIT_S)
        connection.close()
        (line,) = made.ended(1)
    assert heard == [sent]
    octets = line[f"octets_{way}"]
    assert (line["ended"], octets, line[f"lost_octets_{way}"]) == ("in_order", len(sent), 0)


def test_an_urgent_byte_does_not_delay_later_data() -> None:
    """Data after an urgent mark arrive while the connection stays open."""
    sent = bytes(range(250)) * 1600
    heard: list[bytes] = []
    done = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection.makefile("rb") as reader:
            heard.append(reader.read(len(sent)))
        done.set()
        all_of(connection)

    with server(serve) as there, proxy("--to", text(there)) as made, connect(made.address) as connection:
        connection.sendall(sent[:200_000])
        connection.send(sent[200_000:200_001], socket.MSG_OOB)
        connection.sendall(sent[200_001:])
        assert done.wait(proxied.WAIT_S)
    assert heard == [sent]


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
def test_a_reset_of_the_server_is_a_reset(family: socket.AddressFamily) -> None:
    def fetch(address: Address) -> str:
        with connect(address) as connection:
            connection.sendall(b"x")
            return outcome(lambda: connection.recv(1))

    with both_ways(_server_resets, family) as addresses:
        assert [fetch(address) for address in addresses] == ["ConnectionResetError"] * 2


def test_a_reset_passes_a_full_buffer_at_once() -> None:
    def fetch(address: Address) -> str:
        with connect(address) as connection:
            time.sleep(2.5)
            return outcome(lambda: all_of(connection))

    with both_ways(_server_resets_when_full, socket.AF_INET) as (_, address):
        assert fetch(address) == "ConnectionResetError"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_reset_of_the_client_is_a_reset(family: socket.AddressFamily) -> None:
    seen: list[str] = []
    done = threading.Semaphore(0)

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"x")
        seen.append(outcome(lambda: all_of(connection)))
        done.release()

    with both_ways(serve, family) as addresses:
        for address in addresses:
            connection = connect(address)
            connection.recv(1)
            reset(connection)
            assert done.acquire(timeout=proxied.WAIT_S)
    assert seen == ["ConnectionResetError"] * 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_port_that_is_refused_is_a_reset_at_once(family: socket.AddressFamily, tmp_path: Path) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((host, 0), family=family) as gone:
        nobody = (host, gone.getsockname()[1])
    with proxy("--to", text(nobody), log=tmp_path / "log", listen=text((host, 0))) as made:
        assert outcome(lambda: first_octet(made.address)) == "ConnectionResetError"
        (line,) = made.ended(1)
        assert (line["ended"], line["server"], line["octets_up"]) == ("refused", text(nobody), None)


@pytest.mark.parametrize("family", FAMILIES)
def test_both_may_close_at_once(family: socket.AddressFamily) -> None:
    meet = threading.Barrier(2, timeout=proxied.WAIT_S)
    seen: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"s" * 1000)
        meet.wait()
        connection.shutdown(socket.SHUT_WR)
        seen.append(all_of(connection))
        meet.wait()

    with both_ways(serve, family) as addresses:
        for address in addresses:
            with connect(address) as connection:
                connection.sendall(b"c" * 1000)
                meet.wait()
                connection.shutdown(socket.SHUT_WR)
                assert all_of(connection) == b"s" * 1000
                meet.wait()
    assert seen == [b"c" * 1000] * 2


def test_small_segments_are_not_delayed() -> None:
    def serve(connection: socket.socket) -> None:
        while part := connection.recv(100):
            connection.sendall(part)

    def fifty(address: Address) -> float:
        with connect(address) as connection:
            begun = time.monotonic()
            for _ in range(50):
                connection.sendall(bytes(100))
                assert connection.recv(100, socket.MSG_WAITALL) == bytes(100)
            return time.monotonic() - begun

    with both_ways(serve, socket.AF_INET) as (_, address):
        # If each last segment were delayed by 200 ms each way, it would take twenty seconds.
        assert fifty(address) < 10


def test_an_idle_client_gets_a_reset(tmp_path: Path) -> None:
    log = tmp_path / "log"
    arrived = threading.Event()

    def serve(connection: socket.socket) -> None:
        arrived.set()
        all_of(connection)

    with (
        server(serve) as there,
        proxy("--to", text(there), "--idle-timeout", "300 ms", log=log) as made,
        connect(made.address) as connection,
    ):
        # The kernel completes handshakes before the proxy accepts the connections.
        assert arrived.wait(proxied.WAIT_S)
        for _ in range(5):
            time.sleep(0.1)
            connection.sendall(b"x")
        assert outcome(lambda: connection.recv(1)) == "ConnectionResetError"
        (line,) = made.ended(1)
        assert (line["ended"], line["octets_up"]) == ("idle", 5)
        assert line["duration_s"] >= 0.8


def test_the_log_has_bytes_and_endpoints_of_connections(tmp_path: Path) -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(bytes(3 * len(all_of(connection))))

    with server(serve) as there, proxy("--to", text(there), log=tmp_path / "log") as made:
        with connect(made.address) as connection:
            connection.sendall(bytes(1000))
            connection.shutdown(socket.SHUT_WR)
            client = connection.getsockname()
            assert len(all_of(connection)) == 3000
        (line,) = made.ended(1)
        assert (line["ended"], line["client"], line["server"]) == ("in_order", text(client), text(there))
        assert (line["octets_up"], line["octets_down"], line["lost_octets_down"]) == (1000, 3000, 0)
        assert line["client_rtt_s"] > 0
        assert line["server_retransmissions"] == 0
        assert "1 connection (1 in order), 0 refused; octets: 1,000 up, 3,000 down" in made.end()


def test_metrics_count_during_a_connection() -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(bytes(len(connection.recv(100))))
        all_of(connection)

    with server(serve) as there, proxy("--to", text(there), "--metrics", "127.0.0.1:0") as made:
        assert made.process.stderr is not None
        where = made.process.stderr.readline().split()[-1]
        with connect(made.address) as connection:
            connection.sendall(bytes(100))
            assert connection.recv(100, socket.MSG_WAITALL) == bytes(100)

            def page() -> str:
                content: bytes = urllib.request.urlopen(where, timeout=proxied.WAIT_S).read()
                return content.decode()

            # The client may receive data before the proxy counts them.
            _wait_until(lambda: 'umts_proxy_octets_total{direction="down"} 100\n' in page())
            assert "umts_proxy_connections 1\n" in page()
            assert 'umts_proxy_rtt_seconds{leg="server",quantile="0.5"} ' in page()


def test_connections_above_the_limit_get_a_reset() -> None:
    with (
        server(all_of) as there,
        proxy("--to", text(there), "--connections", "2", "--workers", "1") as made,
        connect(made.address) as first,
        connect(made.address) as second,
    ):
        first.sendall(b"x")
        second.sendall(b"x")
        assert outcome(lambda: first_octet(made.address)) == "ConnectionResetError"
        first.close()
        reply = ""
        for _ in range(100):
            reply = outcome(lambda: first_octet(made.address, 0.2))
            if reply == "TimeoutError":
                break
            time.sleep(0.05)
        assert reply == "TimeoutError", "there is room again"
        assert made.room == 2


def test_draining_loses_nothing(tmp_path: Path) -> None:
    """Draining loses no data that clients receive, and none that they send."""
    go_on = threading.Event()
    count, size = 20, LARGE // 10

    def serve(connection: socket.socket) -> None:
        connection.sendall(bytes(1000))
        go_on.wait(proxied.WAIT_S)
        connection.sendall(bytes(size))
        connection.shutdown(socket.SHUT_WR)
        received.append(len(all_of(connection)))

    received: list[int] = []
    with (
        server(serve) as there,
        proxy("--to", text(there), log=tmp_path / "log") as made,
        ExitStack() as all_,
    ):
        connections = [all_.enter_context(connect(made.address)) for _ in range(count)]
        for connection in connections:
            connection.recv(1000, socket.MSG_WAITALL)
        made.process.terminate()
        _wait_until(lambda: outcome(lambda: connect(made.address).close()) == "ConnectionRefusedError")
        go_on.set()
        clients = set()
        for connection in connections:
            assert len(all_of(connection)) == size
            clients.add(text(connection.getsockname()))
            connection.sendall(bytes(size))
            connection.close()
        assert made.process.wait(proxied.WAIT_S) == 0
        ended = [line["ended"] for line in made.ended(count) if line["client"] in clients]
        _wait_until(lambda: len(received) == count)
    assert (ended, received) == (["in_order"] * count, [size] * count)


def test_a_second_signal_ends_it_with_resets(tmp_path: Path) -> None:
    with (
        server(all_of) as there,
        proxy("--to", text(there), log=tmp_path / "log") as made,
        connect(made.address) as connection,
    ):
        connection.sendall(b"x")
        made.process.terminate()
        _wait_until(lambda: outcome(lambda: connect(made.address).close()) == "ConnectionRefusedError")
        made.process.terminate()
        assert made.process.wait(proxied.WAIT_S) == 0
        assert outcome(lambda: connection.recv(1)) == "ConnectionResetError"
        client = text(connection.getsockname())
        assert [line["ended"] for line in made.ended(1) if line["client"] == client] == ["stopped"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
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
def test_impossible_options_are_refused_with_a_correction(words: list[str], said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        line = [text(taken.getsockname()) if word == "TAKEN" else word for word in words]
        umts = [sys.executable, "-m", "umtslab", "proxy", *line]
        done = subprocess.run(umts, capture_output=True, text=True, timeout=proxied.WAIT_S, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("umts: ")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_undelivered_data_occupy_memory_until_the_idle_timeout(tmp_path: Path) -> None:
    """Clients that close their direction and never read occupy room until the idle timeout."""
    words = ["--memory", "256 kB", "--buffer", "32 kB", "--idle-timeout", "1 s", "--workers", "1"]

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"x" * 20_000)
        all_of(connection)

    with (
        server(serve) as there,
        proxy("--to", text(there), *words, log=tmp_path / "log") as made,
        ExitStack() as all_,
    ):
        assert made.room == 4
        for _ in range(made.room):
            silent = all_.enter_context(socket.socket())
            # The client's kernel buffers as little as possible.
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            silent.connect(made.address)
            silent.sendall(b"x")
            silent.shutdown(socket.SHUT_WR)
        reply = outcome(lambda: first_octet(made.address))
        assert reply == "ConnectionResetError", "there is no room though nothing is left to relay"
        assert [line["ended"] for line in made.ended(made.room)[: made.room]] == ["idle"] * made.room
        assert outcome(lambda: first_octet(made.address)) == "b'x'", "there is room again"


def _ignoring(made: subprocess.Popen[str], signals: list[signal.Signals]) -> bool:
    """Whether a process still runs some time after these signals, and exits on SIGTERM."""
    for number in signals:
        made.send_signal(number)
    with suppress(subprocess.TimeoutExpired):
        made.wait(1)
        return False
    made.terminate()
    return made.wait(proxied.WAIT_S) == 0


def test_signals_that_are_ignored_at_the_start_stay_ignored() -> None:
    words = [sys.executable, "-m", "umtslab", "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"]
    script = 'trap "" HUP INT; exec "$@"'
    line = ["sh", "-c", script, "sh", *words]
    with subprocess.Popen(line, text=True, stderr=subprocess.PIPE, start_new_session=True) as made:
        try:
            assert made.stderr is not None
            assert made.stderr.readline().startswith("listens at")
            assert _ignoring(made, [signal.SIGHUP, signal.SIGINT])
        finally:
            made.kill()


@pytest.fixture
def _default_sighup() -> Iterator[None]:
    """Child processes do not ignore SIGHUP, even if the tests do (nohup)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_default_sighup")
def test_sighup_reopens_the_log_and_keeps_connections(tmp_path: Path) -> None:
    log, old = tmp_path / "log", tmp_path / "log.1"
    with server(all_of) as there, proxy("--to", text(there), log=log) as made:
        connect(made.address).close()
        made.ended(1)
        log.rename(old)
        made.process.send_signal(signal.SIGHUP)
        _wait_until(log.exists)
        connect(made.address).close()
        (line,) = made.ended(1)
        assert line["connection"] == 1
        assert len(old.read_text().splitlines()) == 2
        made.end()


@pytest.mark.parametrize("kind", ["a pipe", "a FIFO"])
def test_a_blocked_log_does_not_delay_the_end(kind: str, tmp_path: Path) -> None:
    """The pipe is full: another process has filled its buffer."""
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
    with subprocess.Popen(line, text=True, stdout=writer, stderr=subprocess.PIPE) as made:
        try:
            assert made.stderr is not None
            assert made.stderr.readline().startswith("listens at")
            made.terminate()
            _, said = made.communicate(timeout=proxied.WAIT_S)
            assert made.returncode == 0
            assert "1 lines of the log were lost" in said
        finally:
            made.kill()
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
        server(all_of) as there,
        proxy("--to", text(there), "--metrics", "127.0.0.1:0") as made,
        ExitStack() as silent,
    ):
        assert made.process.stderr is not None
        where = made.process.stderr.readline().split()[-1]
        host, port = where.removeprefix("http://").removesuffix("/metrics").split(":")
        for _ in range(100):
            silent.enter_context(connect((host, int(port))))
        content = urllib.request.urlopen(where, timeout=proxied.WAIT_S).read()
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

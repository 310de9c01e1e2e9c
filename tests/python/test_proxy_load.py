"""``umts proxy`` with many connections, with slow or hostile peers, and after a kill.

``UMTS_CONNECTIONS`` is the number of concurrent connections, ``UMTS_SHORT`` the number of
successive ones. `make soak` sets 10,000, or as many as the descriptors of this process allow, and a
million.
"""

from __future__ import annotations

import os
import re
import resource
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import proxied
import pytest
from proxied import Address, Proxy, all_of, connect, first_octet, outcome, proxy, reset, text

pytestmark = pytest.mark.slow

CONNECTIONS = int(os.environ.get("UMTS_CONNECTIONS", "1500"))
SHORT = int(os.environ.get("UMTS_SHORT", "1500"))

BUFFER = 64_000
"""Bytes that the proxy may buffer for each direction of each connection."""

ROUNDS = 50
"""Bytes of each slow sender, sent one by one. A short connection follows each round. The proxy may
still hold these connections, so ``--connections`` allows all of them."""

SERVE = """
import os, resource, selectors, socket, sys
sends = sys.argv[1] == "sends"
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
print(listening.getsockname()[1], flush=True)
listening.setblocking(False)
events = selectors.DefaultSelector()
events.register(listening, selectors.EVENT_READ)
content = bytes(65536)
def close(connection):
    events.unregister(connection)
    connection.close()
while True:
    for key, _ in events.select():
        connection = key.fileobj
        try:
            if connection is listening:
                while True:
                    accepted, _ = listening.accept()
                    accepted.setblocking(False)
                    if sends:
                        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
                    events.register(accepted, selectors.EVENT_WRITE if sends else selectors.EVENT_READ)
            elif sends:
                connection.send(content)
            elif part := connection.recv(65536):
                connection.send(part)
            else:
                close(connection)
        except BlockingIOError:
            pass
        except OSError:
            if connection is not listening:
                close(connection)
"""
"""A server that ``echoes``, or ``sends`` without end. It is a separate process with its own
descriptors."""


@contextmanager
def serving(behaviour: str) -> Iterator[Address]:
    """Start the server `SERVE`, and kill it at the end of the block. Yields its address."""
    process = subprocess.Popen([sys.executable, "-c", SERVE, behaviour], text=True, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield ("127.0.0.1", int(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def _descriptors() -> Iterator[None]:
    """Allow this process as many descriptors as possible."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def _own_memory(running: Proxy) -> int:
    """Private dirty memory of the proxy in bytes.

    Clean pages of files do not count: others may share them.
    """
    rollup = Path(f"/proc/{running.process.pid}/smaps_rollup").read_text()
    return sum(int(size) * 1024 for size in re.findall(r"Private_Dirty:\s+(\d+) kB", rollup))


def _kernel_memory(running: Proxy, server_address: Address) -> int:
    """Kernel memory of the proxy's sockets in bytes, on both sides."""
    which = f"( sport = :{running.address[1]} or dport = :{server_address[1]} )"
    listed = subprocess.run(["ss", "-tmnH", which], capture_output=True, text=True, check=True).stdout
    # Received data, forward allocation, data to send, options, backlog.
    sizes = re.findall(r"skmem:\(r(\d+),rb\d+,t\d+,tb\d+,f(\d+),w(\d+),o(\d+),bl(\d+)", listed)
    return sum(int(octets) for of_socket in sizes for octets in of_socket)


def _is_echoed(address: Address) -> bool:
    """Whether a new connection gets back what it sends."""
    with connect(address) as connection:
        connection.sendall(b"honest")
        return connection.recv(6, socket.MSG_WAITALL) == b"honest"


def test_idle_connections_cost_little_and_do_not_affect_others() -> None:
    with (
        serving("echoes") as server_address,
        proxy("--to", text(server_address)) as running,
        ExitStack() as stack,
    ):
        count = min(CONNECTIONS, running.room - 1)
        for _ in range(50):
            assert _is_echoed(running.address)
        before = _own_memory(running)
        connections = [stack.enter_context(connect(running.address)) for _ in range(count)]
        for connection in connections:
            connection.sendall(b"x")
        for connection in connections:
            assert connection.recv(1) == b"x"
        bytes_per_connection = (_own_memory(running) - before) / count
        assert bytes_per_connection <= 4000
        assert _is_echoed(running.address)


def test_stalled_clients_stay_within_the_memory() -> None:
    count = min(CONNECTIONS, 1000) // 5
    memory = count * 2 * BUFFER
    words = ("--memory", f"{memory} B", "--connections", str(count), "--workers", "1")
    with (
        serving("sends") as server_address,
        proxy("--to", text(server_address), *words) as running,
        ExitStack() as stack,
    ):
        before = _own_memory(running)
        for _ in range(count):
            stopped = stack.enter_context(socket.socket())
            stopped.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stopped.connect(running.address)
        last, deadline = -1, time.monotonic() + proxied.WAIT_S
        # Wait until all buffers are full.
        while (buffered := _kernel_memory(running, server_address)) != last:
            assert time.monotonic() < deadline
            last = buffered
            time.sleep(0.5)
        assert buffered > memory / 10, "the buffers are nearly empty"
        assert buffered + _own_memory(running) - before <= 1.1 * memory


def test_stalled_clients_do_not_delay_others() -> None:
    with (
        serving("echoes") as server_address,
        proxy("--to", text(server_address), "--workers", "1") as running,
        ExitStack() as stack,
    ):
        for _ in range(150):
            stopped = stack.enter_context(connect(running.address))
            stopped.setblocking(False)
            with suppress(BlockingIOError):
                while True:
                    stopped.send(bytes(1 << 16))
        assert _is_echoed(running.address)


def test_silent_clients_and_resets_do_not_delay_others() -> None:
    with (
        serving("echoes") as server_address,
        proxy("--to", text(server_address)) as running,
        ExitStack() as stack,
    ):
        silent = [stack.enter_context(connect(running.address)) for _ in range(min(CONNECTIONS, 500))]
        silent[0].sendall(b"x")
        for _ in range(CONNECTIONS):
            reset(connect(running.address))
            with suppress(ConnectionResetError):
                stack.enter_context(connect(running.address)).close()
        assert _is_echoed(running.address)
        for connection in silent[1:]:
            connection.sendall(b"x")
        assert {connection.recv(1) for connection in silent} == {b"x"}


def test_byte_wise_senders_stay_within_memory_and_do_not_delay_others() -> None:
    count = min(CONNECTIONS, 1000) // 5
    memory = count * 2 * BUFFER
    words = ("--memory", f"{memory} B", "--connections", str(count + ROUNDS), "--workers", "1")
    served = threading.Event()

    def serve(connection: socket.socket) -> None:
        # The server reads only the first byte of slow senders, so the other bytes stay in buffers.
        if connection.recv(1) == b"h":
            connection.sendall(b"h")
        else:
            served.wait(proxied.WAIT_S)

    with (
        proxied.server(serve) as server_address,
        proxy("--to", text(server_address), *words) as running,
        ExitStack() as stack,
    ):
        stack.callback(served.set)
        before = _own_memory(running)
        slow = [stack.enter_context(connect(running.address)) for _ in range(count)]
        for connection in slow:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(ROUNDS):
            for connection in slow:
                connection.sendall(b"x")
            with connect(running.address) as honest:
                honest.sendall(b"h")
                assert honest.recv(1) == b"h"
        assert _kernel_memory(running, server_address) + _own_memory(running) - before <= 1.1 * memory


def test_a_server_that_has_reset_all_connections_can_answer_later_ones() -> None:
    answers = threading.Event()

    def serve(connection: socket.socket) -> None:
        if answers.is_set():
            connection.sendall(connection.recv(100))
        else:
            reset(connection)

    with proxied.server(serve) as server_address, proxy("--to", text(server_address)) as running:
        for _ in range(500):
            assert outcome(lambda: first_octet(running.address)) == "ConnectionResetError"
        answers.set()
        assert _is_echoed(running.address)


def test_connections_without_descriptors_are_reset_and_others_continue() -> None:
    limit = ["prlimit", "--nofile=300:300", sys.executable, "-m", "umtslab", "proxy", "--workers", "1"]
    with serving("echoes") as server_address, ExitStack() as stack:
        line = [*limit, "--listen", "127.0.0.1:0", "--to", text(server_address)]
        process = subprocess.Popen(line, text=True, stderr=subprocess.PIPE)
        stack.callback(process.communicate)
        stack.callback(process.kill)
        assert process.stderr is not None
        startup = re.match(r"listens at 127.0.0.1:(\d+), for up to (\d+)", process.stderr.readline())
        assert startup is not None
        address, room = ("127.0.0.1", int(startup[1])), int(startup[2])
        connections = [stack.enter_context(connect(address)) for _ in range(room)]
        for connection in connections:
            connection.sendall(b"x")
            assert connection.recv(1) == b"x"
        for _ in range(200):
            assert outcome(lambda: first_octet(address)) == "ConnectionResetError"
        connections[0].sendall(b"y")
        assert connections[0].recv(1) == b"y"


def test_a_kill_resets_every_connection() -> None:
    """A killed proxy resets 100 downloads at the clients and 100 uploads at the servers."""
    at_servers: list[str] = []

    def serve(connection: socket.socket) -> None:
        kind = connection.recv(1)
        with suppress(OSError):
            while kind == b"d":
                connection.sendall(bytes(1 << 16))
        if kind == b"u":
            connection.sendall(b"k")
            at_servers.append(outcome(lambda: all_of(connection)))

    with (
        proxied.server(serve) as server_address,
        proxy("--to", text(server_address)) as running,
        ExitStack() as stack,
    ):
        receivers = [stack.enter_context(connect(running.address)) for _ in range(100)]
        senders = [stack.enter_context(connect(running.address)) for _ in range(100)]
        for receiver in receivers:
            receiver.sendall(b"d")
            assert receiver.recv(1000)
        for sender in senders:
            sender.sendall(b"u" + bytes(1 << 16))
            # The server has begun to read.
            assert sender.recv(1) == b"k"
        running.process.kill()
        running.process.wait()
        for receiver in receivers:
            assert outcome(lambda connection=receiver: all_of(connection)) == "ConnectionResetError"  # type: ignore[misc]
        deadline = time.monotonic() + proxied.WAIT_S
        while len(at_servers) < len(senders):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    assert set(at_servers) == {"ConnectionResetError"}


@pytest.mark.timeout(300 + SHORT // 100)
def test_many_short_connections_leave_neither_memory_nor_descriptors() -> None:
    with (
        serving("echoes") as server_address,
        proxy("--to", text(server_address), "--workers", "1") as running,
    ):
        sizes = []
        for _ in range(4):
            for _ in range(SHORT // 4):
                assert _is_echoed(running.address)
            sizes.append(_own_memory(running))
        # The first quarter includes memory that the proxy allocates once.
        assert sizes[-1] - sizes[0] < 500_000, sizes
        descriptors = Path(f"/proc/{running.process.pid}/fd")
        deadline = time.monotonic() + proxied.WAIT_S
        while len(list(descriptors.iterdir())) > 40:
            assert time.monotonic() < deadline
            select.select([], [], [], 0.05)

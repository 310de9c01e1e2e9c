"""Server, honest client and hostile client of `floods`, as Python programs for separate hosts."""

PORT = 7013

SERVE = """
import os, resource, select, socket, struct, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
listening = socket.create_server(("192.0.2.10", int(sys.argv[1])), backlog=4096)
listening.setblocking(False)
events = select.epoll()
events.register(listening, select.EPOLLIN)
connections, mebibyte = {}, bytes(1 << 20)  # open connections by descriptor
def accept():
    # Not all at once: a served client waits for a few new clients at most.
    for _ in range(8):
        connection = listening.accept()[0]
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connections[connection.fileno()] = connection
        events.register(connection, select.EPOLLIN)
def serve(descriptor):
    connection = connections[descriptor]
    request = connection.recv(4096, socket.MSG_DONTWAIT)
    kind = request[:1]
    if kind == b"e":
        connection.send(request)
    elif kind == b"d":
        for _ in range(int(request[1:])):
            connection.sendall(mebibyte)
    elif kind == b"r":
        # With a linger time of 0, closing resets the connection.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    has_ended = kind == b""
    if has_ended or kind == b"r":
        del connections[descriptor]
        connection.close()
print("ready", flush=True)
while True:
    for descriptor, _ in events.poll():
        try:
            accept() if descriptor == listening.fileno() else serve(descriptor)
        except BlockingIOError:
            pass
        except OSError:
            if descriptor in connections:
                connections.pop(descriptor).close()
"""
"""A server: it echoes data that begin with e, sends the requested MiB after d, and resets after r.
Other data get no answer."""

MEET = """
import socket, sys
host, port, server = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def connect(destination=None):
    # If a server is named, the peer is a SOCKS5 proxy. It connects to `destination`, by default the server.
    connection = socket.create_connection((host, port), 60)
    # With a timeout, MSG_WAITALL could return a part of the data.
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if server:
        to_host, to_port = destination or (server, 7013)
        address = socket.inet_aton(to_host) + to_port.to_bytes(2, "big")
        # A greeting with one method, no password, and the request to connect to an IPv4 address. The
        # replies have 2 and 10 bytes.
        connection.sendall(bytes([5, 1, 0, 5, 1, 0, 1]) + address)
        connection.recv(12, socket.MSG_WAITALL)
    return connection
"""
"""Common first part of both kinds of clients.

The arguments are the host and port to connect to, and the server behind a SOCKS5 proxy or an empty
text."""

HONEST = (
    MEET
    + """
import json, time
seconds = float(sys.argv[4])
message = b"e" * 100
def exchange(connection):
    connection.sendall(message)
    assert connection.recv(100, socket.MSG_WAITALL) == message
def opening():
    with connect() as connection:
        exchange(connection)
def download():
    open_connection.sendall(b"d4")
    remaining = 4 << 20
    while remaining > 0:
        remaining -= len(open_connection.recv(1 << 20))
def time_of(action):
    # The mean, because rare long waits count too.
    count, start_s = 0, time.monotonic()
    while (elapsed_s := time.monotonic() - start_s) < seconds or count < 3:
        action()
        count += 1
    return elapsed_s / count
open_connection = connect()
exchange(open_connection)
print("ready", flush=True)
for line in sys.stdin:
    actions = {"opening": opening, "exchange": lambda: exchange(open_connection), "download": download}
    print(json.dumps({name: time_of(actions[name]) for name in line.split()}), flush=True)
"""
)
"""Reads lines with names of actions, repeats each action for some seconds, and prints the mean times
as JSON.

The actions are a new connection with an exchange of 100 bytes, such an exchange over an open
connection, and a download of 4 MiB over this connection. The fourth argument is the number of
seconds."""

HOSTILE = (
    MEET
    + """
import os, random, resource, signal, struct, time
kind, rate = sys.argv[4], float(sys.argv[5])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
os.sched_setaffinity(0, {max(os.sched_getaffinity(0) | {1})})
RESET = struct.pack("ii", 1, 0)  # a linger time of 0: closing resets the connection
draw = random.Random(1)
def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    connection.close()
def client_resets():
    reset(connect())
def server_resets():
    with connect() as connection:
        connection.sendall(b"r")
        connection.recv(1)
def to_itself():
    # The proxy is asked to connect to itself.
    with connect((host, port)):
        pass
def garbage():
    # Random bytes after the version of SOCKS.
    with socket.create_connection((host, port), 60) as connection:
        connection.sendall(bytes([5]) + draw.randbytes(draw.randrange(300)))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(12)
def open_connections(count):
    # As many as the peer accepts, at most `count`.
    connections = []
    while len(connections) < count:
        try:
            connections.append(connect())
        except OSError:
            break
    return connections
def send_one_byte():
    # On each of the open connections in turn. The server does not answer it.
    connection = next(turns)
    connection.send(b"x")
def refused():
    # Waits for the end of a connection beyond the limit.
    with connect() as connection:
        connection.recv(1)
def checksum(octets):
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
def syn():
    # From a host that answers nothing.
    source, target = socket.inet_aton("198.51.100.77"), socket.inet_aton(host)
    # Ports, sequence number, acknowledgment, length of the header in words of 4 bytes, flags (SYN),
    # window, checksum, urgent pointer.
    fields = draw.randrange(1024, 65536), port, draw.getrandbits(32), 0, 5 << 4, 2, 64_000, 0, 0
    header = struct.pack("!HHIIBBHHH", *fields)
    # The checksum covers a pseudo-header too: addresses, protocol 6 and length.
    pseudo_header = source + target + struct.pack("!BBH", 0, 6, len(header))
    segment = header[:16] + struct.pack("!H", checksum(pseudo_header + header)) + header[18:]
    ip_header = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + source + target
    raw.sendto(ip_header + segment, (host, 0))
if kind == "syn":
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    raw.setsockopt(socket.IPPROTO_IP, socket.IP_HDRINCL, 1)
held = open_connections(int(sys.argv[6]))
def in_turn():
    while True:
        yield from held
turns = in_turn()
act = {
    "syn": syn, "silent": lambda: None, "octets": send_one_byte, "client resets": client_resets,
    "server resets": server_resets, "itself": to_itself, "garbage": garbage, "refused": refused,
}[kind]
print("ready", len(held), flush=True)
count, failed, start_s = 0, 0, time.monotonic()
def end(*_):
    print(count, failed, time.monotonic() - start_s, flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
while True:
    pause_s = start_s + (count + 1) / rate - time.monotonic() if rate else 0
    if pause_s > 0:
        time.sleep(pause_s)
    try:
        act()
    except OSError:
        failed += 1
    count += 1
"""
)
"""Repeats a hostile action until SIGTERM. Prints the numbers of actions and of failures, and the
seconds.

The further arguments are the kind of action, the rate in 1/s (0: as fast as possible), and the number of
connections to keep open."""

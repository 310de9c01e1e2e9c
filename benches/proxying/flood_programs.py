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
open_, much = {}, bytes(1 << 20)
def accept():
    # Not all at once: a served client waits for a few new clients at most.
    for _ in range(8):
        connection = listening.accept()[0]
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        open_[connection.fileno()] = connection
        events.register(connection, select.EPOLLIN)
def serve(number):
    connection = open_[number]
    part = connection.recv(4096, socket.MSG_DONTWAIT)
    kind = part[:1]
    if kind == b"e":
        connection.send(part)
    elif kind == b"d":
        for _ in range(int(part[1:])):
            connection.sendall(much)
    elif kind == b"r":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if kind in (b"", b"r"):
        del open_[number]
        connection.close()
print("ready", flush=True)
while True:
    for number, _ in events.poll():
        try:
            accept() if number == listening.fileno() else serve(number)
        except BlockingIOError:
            pass
        except OSError:
            if number in open_:
                open_.pop(number).close()
"""
"""A server: it echoes data that begin with e, sends the requested MiB after d, and resets after r.
Other data get no answer."""

MEET = """
import socket, sys
host, port, server = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def connect(to=None):
    # By SOCKS5 if a server is named.
    made = socket.create_connection((host, port), 60)
    # With a timeout, MSG_WAITALL could return a part of the data.
    made.settimeout(None)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if server:
        name, number = to or (server, 7013)
        address = socket.inet_aton(name) + number.to_bytes(2, "big")
        made.sendall(bytes([5, 1, 0, 5, 1, 0, 1]) + address)
        made.recv(12, socket.MSG_WAITALL)
    return made
"""
"""Common first part of both kinds of clients."""

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
    kept.sendall(b"d4")
    left = 4 << 20
    while left > 0:
        left -= len(kept.recv(1 << 20))
def time_of(action):
    # The mean, because rare long waits count too.
    count, begun = 0, time.monotonic()
    while (took := time.monotonic() - begun) < seconds or count < 3:
        action()
        count += 1
    return took / count
kept = connect()
exchange(kept)
print("ready", flush=True)
for line in sys.stdin:
    actions = {"opening": opening, "exchange": lambda: exchange(kept), "download": download}
    print(json.dumps({name: time_of(actions[name]) for name in line.split()}), flush=True)
"""
)
"""Reads lines with names of actions, repeats these for some seconds, and prints their mean
times."""

HOSTILE = (
    MEET
    + """
import os, random, resource, signal, struct, time
kind, rate = sys.argv[4], float(sys.argv[5])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
os.sched_setaffinity(0, {max(os.sched_getaffinity(0) | {1})})
RESET = struct.pack("ii", 1, 0)
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
    with connect((host, port)):
        pass
def garbage():
    with socket.create_connection((host, port), 60) as connection:
        connection.sendall(bytes([5]) + draw.randbytes(draw.randrange(300)))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(12)
def many(count):
    connections = []
    while len(connections) < count:
        try:
            connections.append(connect())
        except OSError:
            break
    return connections
def of_many():
    connection = next(turns)
    connection.send(b"x")
def refused():
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
    numbers = draw.randrange(1024, 65536), port, draw.getrandbits(32), 0, 5 << 4, 2, 64_000, 0, 0
    head = struct.pack("!HHIIBBHHH", *numbers)
    sum_ = checksum(source + target + struct.pack("!BBH", 0, 6, len(head)) + head)
    whole = head[:16] + struct.pack("!H", sum_) + head[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + source + target
    raw.sendto(ip + whole, (host, 0))
if kind == "syn":
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    raw.setsockopt(socket.IPPROTO_IP, socket.IP_HDRINCL, 1)
held = many(int(sys.argv[6]))
def in_turn():
    while True:
        yield from held
turns = in_turn()
act = {
    "syn": syn, "silent": lambda: None, "octets": of_many, "client resets": client_resets,
    "server resets": server_resets, "itself": to_itself, "garbage": garbage, "refused": refused,
}[kind]
print("ready", len(held), flush=True)
count, failed, begun = 0, 0, time.monotonic()
def end(*_):
    print(count, failed, time.monotonic() - begun, flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
while True:
    ahead = begun + (count + 1) / rate - time.monotonic() if rate else 0
    if ahead > 0:
        time.sleep(ahead)
    try:
        act()
    except OSError:
        failed += 1
    count += 1
"""
)
"""Repeats a hostile action at a given rate or as fast as possible, with a number of open
connections."""

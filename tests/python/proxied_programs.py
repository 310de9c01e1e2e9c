"""Python programs that run on the hosts of `proxied_path`, as strings."""

SERVE = """
import socket, struct, sys, threading, time
results = {}
def count_received(connection):
    octets = 0
    try:
        while part := connection.recv(65536):
            octets += len(part)
        return str(octets)
    except OSError as error:
        return type(error).__name__
def record(connection, before_reading=lambda connection: None):
    name = connection.recv(16, socket.MSG_WAITALL)
    before_reading(connection)
    results[name] = count_received(connection)
def report_count_and_client(connection, address):
    received = b""
    while part := connection.recv(65536):
        received += part
    connection.sendall(b"%d from %s %d" % (len(received), address[0].encode(), address[1]))
def reset(connection, address):
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
def send_10_megabytes(connection, address):
    connection.sendall(bytes(range(250)) * 40_000)
def send_result(connection, address):
    name = connection.recv(16, socket.MSG_WAITALL)
    while name not in results:
        time.sleep(0.01)
    connection.sendall(results.pop(name).encode())
def send_then_record(connection, address):
    record(connection, lambda connection: connection.sendall(b"x"))
def record_late(connection, address):
    record(connection, lambda connection: time.sleep(0.5))
def close_then_record(connection, address):
    def close(connection):
        connection.sendall(bytes(1000))
        connection.shutdown(socket.SHUT_WR)
    record(connection, close)
def serve(behaviour, port):
    listening = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    def run(connection, address):
        with connection:
            try:
                behaviour(connection, (address[0].removeprefix("::ffff:"), address[1]))
            except OSError:
                pass
    while True:
        threading.Thread(target=run, args=listening.accept(), daemon=True).start()
behaviours = (
    report_count_and_client,
    reset,
    send_10_megabytes,
    send_result,
    send_then_record,
    record_late,
    close_then_record,
)
for number, behaviour in enumerate(behaviours):
    threading.Thread(target=serve, args=(behaviour, 7001 + number), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""
"""Servers on ports 7001 to 7007, one for each behaviour, in this order.

On ports 7005 to 7007 a client first sends a random name of 16 bytes. The server records under this
name how many bytes it received afterwards, or the exception. A client that sends the name to port
7004 gets the result."""

COMPARING_CLIENT = """
import json, os, socket, struct, sys, time
def read_all(connection):
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)
def outcome(action):
    try:
        return action()
    except OSError as error:
        return type(error).__name__
def half_closed(host, port=0):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as connection:
        connection.settimeout(30)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.bind(("::" if ":" in host else "0.0.0.0", port))
        connection.connect((host, 7001))
        own = connection.getsockname()
        connection.sendall(bytes(1_000_000))
        connection.shutdown(socket.SHUT_WR)
        count, client = read_all(connection).decode().split(" from ")
        return [count, client.split()[0] == own[0], client == f"{own[0]} {own[1]}"]
def reset(host):
    with socket.create_connection((host, 7002), 30) as connection:
        connection.sendall(b"x")
        return len(connection.recv(1))
def slow(host):
    with socket.create_connection((host, 7003), 30) as connection:
        time.sleep(0.5)
        return read_all(connection) == bytes(range(250)) * 40_000
def recorded(host, port, action):
    # The server's result of a connection that ends after this action of the client.
    name = os.urandom(16)
    with socket.create_connection((host, port), 30) as connection:
        connection.sendall(name)
        action(connection)
    with socket.create_connection((host, 7004), 30) as connection:
        connection.sendall(name)
        return read_all(connection).decode()
def reset_by_client(connection):
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
def send_10_megabytes(connection):
    connection.sendall(bytes(10_000_000))
def close_after_the_server(connection):
    assert len(read_all(connection)) == 1000
    connection.sendall(bytes(500_000))
def close_with_the_server(connection):
    connection.sendall(bytes(500))
    connection.shutdown(socket.SHUT_WR)
    assert len(read_all(connection)) == 1000
def refused(host):
    with socket.create_connection((host, 7999), 30) as connection:
        return len(connection.recv(1))
findings = {}
for host in sys.argv[1:]:
    findings[host] = {
        "half-closed": outcome(lambda: half_closed(host)),
        "reset": outcome(lambda: reset(host)),
        "slow": outcome(lambda: slow(host)),
        "refused": outcome(lambda: refused(host)),
        "reset of the client": outcome(lambda: recorded(host, 7005, reset_by_client)),
        "slow server": outcome(lambda: recorded(host, 7006, send_10_megabytes)),
        "server ends first": outcome(lambda: recorded(host, 7007, close_after_the_server)),
        "both end at once": outcome(lambda: recorded(host, 7007, close_with_the_server)),
        "same port": [outcome(lambda: half_closed(host, 40_000)) for _ in range(3)],
    }
print(json.dumps(findings))
"""
"""A client that uses every server of `SERVE` on each host, and port 7999, on which no server
listens. The client prints findings as JSON: a result, or the name of an exception. Findings without
and with a proxy can be compared.

`half_closed` returns the number of bytes that the server received, whether the server saw the
client's address, and whether it saw the client's address and port."""

IDLE_CLIENT = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], 7001), 30)
connection.sendall(b"x")
time.sleep(0.3)
print("open", flush=True)
time.sleep(60)
"""
"""A client that sends a byte and keeps the connection open."""

STALLED_CLIENT = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], 7003), 30)
connection.recv(1000)
print("open", flush=True)
time.sleep(60)
"""
"""A client that reads the first bytes of 10 MB and keeps the connection open."""

SYN_FLOOD = """
import os, random, socket, struct, sys
host, count = sys.argv[1], int(sys.argv[2])
out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
draws = random.Random(1)
def checksum(octets):
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
# The source address belongs to no host, so no kernel answers the SYN+ACKs.
source = socket.inet_aton("198.51.100.77")
out.setsockopt(socket.IPPROTO_IP, socket.IP_HDRINCL, 1)
for number in range(count):
    target = socket.inet_aton(host)
    port, start = 1024 + number % 60_000, draws.getrandbits(32)
    head = struct.pack("!HHIIBBHHH", port, 7001, start, 0, 5 << 4, 2, 64_000, 0, 0)
    whole = source + target + struct.pack("!BBH", 0, 6, len(head)) + head
    head = head[:16] + struct.pack("!H", checksum(whole)) + head[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + source + target
    out.sendto(ip + head, (host, 0))
print("done")
"""
"""Sends SYNs from the address of a host that does not exist. The arguments are the server's address
and the number of SYNs."""

SHORT_CLIENT = """
import socket, sys
host, port = sys.argv[1], int([*sys.argv, "7001"][2])
try:
    with socket.create_connection((host, port), 10) as connection:
        connection.sendall(bytes(100_000) if port == 7001 else b"x")
        connection.shutdown(socket.SHUT_WR)
        print(connection.recv(100).decode().split()[0])
except OSError as error:
    print(type(error).__name__)
"""
"""A client that sends one request to a host and a port, and prints the result."""

READING_CLIENT = """
import socket, sys
connection = socket.create_connection((sys.argv[1], 7003), 30)
reader = connection.makefile("rb")
for line in sys.stdin:
    try:
        print(len(reader.read(100_000)), flush=True)
    except OSError as error:
        print(type(error).__name__, flush=True)
"""
"""A client that reads 100,000 bytes for each line of its standard input."""

ECHO_SERVER = """
import socket, threading
def echo(connection):
    with connection:
        while part := connection.recv(65536):
            connection.sendall(part)
listening = socket.create_server(("::", 7101), family=socket.AF_INET6, dualstack_ipv6=True)
print("ready", flush=True)
while True:
    threading.Thread(target=echo, args=(listening.accept()[0],), daemon=True).start()
"""
"""An echo server on the client's host."""

ECHO_CLIENT = """
import socket, sys, threading
sent = bytes(range(250)) * 4000
connections = [socket.create_connection((host, 7101), 30) for host in sys.argv[1:]]
readers = [connection.makefile("rb") for connection in connections]
for line in sys.stdin:
    results = []
    for connection, reader in zip(connections, readers):
        sending = threading.Thread(target=connection.sendall, args=(sent,), daemon=True)
        sending.start()
        try:
            results.append(str(reader.read(len(sent)) == sent))
        except OSError as error:
            results.append(type(error).__name__)
    print(*results, flush=True)
"""
"""Connections from the server's host to the client's. For each line of standard input a megabyte is
echoed over each connection, and whether all of it came back is printed."""

NAME_HOLDER = """
import socket, time
bound = []
for number in range(64):
    name_socket = socket.socket(socket.AF_UNIX)
    name_socket.bind(chr(0) + f"umtslab-proxy-{number}")
    bound.append(name_socket)
print("bound", flush=True)
time.sleep(600)
"""
"""Binds the abstract socket names that proxies of earlier versions used for identification."""

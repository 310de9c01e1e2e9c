"""Programs on the hosts of `proxied_path`, run by the interpreter."""

SERVE = """
import socket, struct, sys, threading, time
heard = {}
def all_of(connection):
    said = 0
    try:
        while part := connection.recv(65536):
            said += len(part)
        return str(said)
    except OSError as error:
        return type(error).__name__
def hears(connection, address, before=lambda connection: None):
    name = connection.recv(16, socket.MSG_WAITALL)
    before(connection)
    heard[name] = all_of(connection)
def greets(connection, address):
    hears(connection, address, lambda connection: connection.sendall(b"x"))
def waits(connection, address):
    hears(connection, address, lambda connection: time.sleep(0.5))
def ends(connection, address):
    def end(connection):
        connection.sendall(bytes(1000))
        connection.shutdown(socket.SHUT_WR)
    hears(connection, address, end)
def sends_counts(connection, address):
    name = connection.recv(16, socket.MSG_WAITALL)
    while name not in heard:
        time.sleep(0.01)
    connection.sendall(heard.pop(name).encode())
def half_closed(connection, address):
    said = b""
    while part := connection.recv(65536):
        said += part
    connection.sendall(b"%d from %s %d" % (len(said), address[0].encode(), address[1]))
def resets(connection, address):
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
def much(connection, address):
    connection.sendall(bytes(range(250)) * 40_000)
def serve(what, port):
    listening = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    def do(connection, address):
        with connection:
            try:
                what(connection, (address[0].removeprefix("::ffff:"), address[1]))
            except OSError:
                pass
    while True:
        threading.Thread(target=do, args=listening.accept(), daemon=True).start()
for number, what in enumerate((half_closed, resets, much, sends_counts, greets, waits, ends)):
    threading.Thread(target=serve, args=(what, 7001 + number), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""
"""Servers on ports 7001 to 7007. Clients send a name first on ports 7005 to 7007; a client that
sends the same name to port 7004 gets the result of the earlier connection."""

ASK = """
import json, os, socket, struct, sys, time
def all_of(connection):
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
        said = all_of(connection).decode().split(" from ")
        return [said[0], said[1].split()[0] == own[0], said[1] == f"{own[0]} {own[1]}"]
def reset(host):
    with socket.create_connection((host, 7002), 30) as connection:
        connection.sendall(b"x")
        return len(connection.recv(1))
def slow(host):
    with socket.create_connection((host, 7003), 30) as connection:
        time.sleep(0.5)
        return all_of(connection) == bytes(range(250)) * 40_000
def heard(host, port, do):
    # What the server has heard when the client has done this and is gone.
    name = os.urandom(16)
    with socket.create_connection((host, port), 30) as connection:
        connection.sendall(name)
        do(connection)
    with socket.create_connection((host, 7004), 30) as connection:
        connection.sendall(name)
        return all_of(connection).decode()
def reset_of_client(connection):
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
def much(connection):
    connection.sendall(bytes(10_000_000))
def after_the_server(connection):
    assert len(all_of(connection)) == 1000
    connection.sendall(bytes(500_000))
def both_end(connection):
    connection.sendall(bytes(500))
    connection.shutdown(socket.SHUT_WR)
    assert len(all_of(connection)) == 1000
def refused(host):
    with socket.create_connection((host, 7999), 30) as connection:
        return len(connection.recv(1))
found = {}
for host in sys.argv[1:]:
    found[host] = {
        "half-closed": outcome(lambda: half_closed(host)),
        "reset": outcome(lambda: reset(host)),
        "slow": outcome(lambda: slow(host)),
        "refused": outcome(lambda: refused(host)),
        "reset of the client": outcome(lambda: heard(host, 7005, reset_of_client)),
        "slow server": outcome(lambda: heard(host, 7006, much)),
        "server ends first": outcome(lambda: heard(host, 7007, after_the_server)),
        "both end at once": outcome(lambda: heard(host, 7007, both_end)),
        "same port": [outcome(lambda: half_closed(host, 40_000)) for _ in range(3)],
    }
print(json.dumps(found))
"""
"""A client that tests TCP with each host and prints its findings as JSON. A comparison of the
findings without and with a proxy shows what the proxy changes."""

ASK_ONCE = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], 7001), 30)
connection.sendall(b"x")
time.sleep(0.3)
print("open", flush=True)
time.sleep(60)
"""
"""A client that sends a byte and keeps the connection open."""

READ_A_LITTLE = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], 7003), 30)
connection.recv(1000)
print("open", flush=True)
time.sleep(60)
"""
"""A client that reads the first bytes of 10 MB and keeps the connection open."""

FLOOD = """
import os, random, socket, struct, sys
host, count = sys.argv[1], int(sys.argv[2])
out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
draw = random.Random(1)
def checksum(octets):
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
# From the client's own address, with a kernel that answers nothing.
source = socket.inet_aton("198.51.100.77")
out.setsockopt(socket.IPPROTO_IP, socket.IP_HDRINCL, 1)
for number in range(count):
    target = socket.inet_aton(host)
    port, start = 1024 + number % 60_000, draw.getrandbits(32)
    head = struct.pack("!HHIIBBHHH", port, 7001, start, 0, 5 << 4, 2, 64_000, 0, 0)
    whole = source + target + struct.pack("!BBH", 0, 6, len(head)) + head
    head = head[:16] + struct.pack("!H", checksum(whole)) + head[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + source + target
    out.sendto(ip + head, (host, 0))
print("done")
"""
"""Sends SYNs from the address of a host that does not exist."""

ASK_SHORTLY = """
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

STAY = """
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

ECHO = """
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

CALL = """
import socket, sys, threading
sent = bytes(range(250)) * 4000
calls = [socket.create_connection((host, 7101), 30) for host in sys.argv[1:]]
readers = [call.makefile("rb") for call in calls]
for line in sys.stdin:
    found = []
    for call, reader in zip(calls, readers):
        sending = threading.Thread(target=call.sendall, args=(sent,), daemon=True)
        sending.start()
        try:
            found.append(str(reader.read(len(sent)) == sent))
        except OSError as error:
            found.append(type(error).__name__)
    print(*found, flush=True)
"""
"""Connections to the client's host. A megabyte is echoed over each for each line of standard
input."""

SQUAT = """
import socket, time
held = []
for number in range(64):
    one = socket.socket(socket.AF_UNIX)
    one.bind(chr(0) + f"umtslab-proxy-{number}")
    held.append(one)
print("held", flush=True)
time.sleep(600)
"""
"""Binds the abstract socket names that proxies of earlier versions used for identification."""

"""Client and server of the bench, as Python programs for separate hosts."""

SERVE = """
import socket, sys, threading
much = bytes(1 << 20)
def sends(connection):
    while True:
        connection.send(much)
def echoes(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while part := connection.recv(65536):
        connection.sendall(part)
def serve(handler, port):
    listening = socket.create_server(("192.0.2.10", port), backlog=1024)
    def do(connection):
        with connection:
            try:
                handler(connection)
            except OSError:
                pass
    while True:
        threading.Thread(target=do, args=(listening.accept()[0],), daemon=True).start()
for port, handler in ((7011, sends), (7012, echoes)):
    threading.Thread(target=serve, args=(handler, port), daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""
"""A server that sends without end on port 7011, and echoes on port 7012."""

ASK = """
import json, select, socket, statistics, sys, time
host, much, small, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
def download(flows):
    connections = [socket.create_connection((host, much)) for _ in range(flows)]
    room, octets, begun = bytearray(1 << 20), 0, time.monotonic()
    while time.monotonic() - begun < seconds:
        for connection in select.select(connections, [], [])[0]:
            octets += connection.recv_into(room)
    took = time.monotonic() - begun
    for connection in connections:
        connection.close()
    return octets, took
def exchanges():
    with socket.create_connection((host, small)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = []
        while len(times) < 20_000 and (len(times) < 100 or sum(times) < seconds):
            begun = time.perf_counter()
            connection.sendall(bytes(100))
            connection.recv(100, socket.MSG_WAITALL)
            times.append(time.perf_counter() - begun)
    return statistics.quantiles(times, n=100)
def openings():
    count, begun = 0, time.monotonic()
    while time.monotonic() - begun < seconds:
        with socket.create_connection((host, small)) as connection:
            connection.sendall(b"x")
            connection.recv(1)
        count += 1
    return count / (time.monotonic() - begun)
measurement, *numbers = sys.argv[5:]
measurements = {"download": download, "exchanges": exchanges, "openings": openings}
result = measurements[measurement](*map(int, numbers))
print(json.dumps(result))
"""
"""A client that repeats downloads, exchanges of 100 bytes, or new connections for some seconds."""

"""UDP over ``umts emulate``: user-supplied servers answer at any address."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import Umts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("may_emulate")]

SERVER = """
import socket, sys
family = socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET
def server(port):
    listening = socket.socket(family, socket.SOCK_DGRAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("", port))
    return listening
if sys.argv[2] == "connects":
    # As iperf3 does: from then on, the socket receives only from its first client.
    listening = server(7000)
    question, client = listening.recvfrom(100)
    listening.connect(client)
    while True:
        listening.send(question)
        question = listening.recv(100)
listening = server(7000)
while True:
    question, client = listening.recvfrom(65000)
    listening.sendto(question, client)
"""
"""Sends each datagram back, over one socket for all clients or (``connects``) for one."""

CLIENT = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET
def connected(address):
    client = socket.socket(family, socket.SOCK_DGRAM)
    client.settimeout(20)
    client.connect((address, 7000))
    return client
if sys.argv[1] == "one port":
    client = socket.socket(family, socket.SOCK_DGRAM)
    client.settimeout(20)
    for number, address in enumerate(sys.argv[2:]):
        client.sendto(b"%d" % number, (address, 7000))
    answers = dict(reversed(client.recvfrom(100)) for _ in sys.argv[2:])
    print(sorted((address, answer.decode()) for (address, _), answer in answers.items()))
else:
    client = connected(sys.argv[2])
    for size in (1, 100, int(sys.argv[1])):
        client.send(bytes(size))
        print(len(client.recv(65000)), client.getpeername()[0])
"""
"""Sends three datagrams to an address, the last of the given size. With ``one port`` it sends one
datagram to each address from the same port. Prints the answers and where they come from."""


@pytest.mark.parametrize("address", ["10.1.1.1", "10.45.0.1", "2001:db8::9"])
@pytest.mark.parametrize(("behaviour", "largest"), [("answers", 5000), ("connects", 90)])
def test_a_user_supplied_server_answers_from_the_requested_address(
    umts: Umts, tmp_path: Path, address: str, behaviour: str, largest: int
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "client.py").write_text(CLIENT)
    server = f"exec {sys.executable} server.py {'6' if ':' in address else '4'} {behaviour}"
    words = [sys.executable, "client.py", str(largest), address]
    # A datagram of 5,000 bytes needs four fragments each way.
    done = umts("emulate", "-q", "--server", server, "--", *words)
    assert done.stdout.splitlines() == [f"{size} {address}" for size in (1, 100, largest)]


def test_a_port_that_queries_several_addresses_can_distinguish_answers(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "client.py").write_text(CLIENT)
    addresses = ["10.1.1.1", "10.45.0.1", "192.0.2.7"]
    server = f"exec {sys.executable} server.py 4 answers"
    words = [sys.executable, "client.py", "one port", *addresses]
    # The replay uses the same address translation: the captures are equal.
    options = ["-q", "--pcap", "--record", "--server", server]
    done = umts("emulate", *options, "--", *words)
    assert done.stdout.strip() == str([(address, str(number)) for number, address in enumerate(addresses)])
    umts("replay", "results", "--pcap", "again")
    (run,) = (tmp_path / "results" / "runs").iterdir()
    for point in ("server.pcapng", "ue.pcapng"):
        assert (tmp_path / "again" / point).read_bytes() == (run / "captures" / point).read_bytes()

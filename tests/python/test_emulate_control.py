"""Faults of a running emulation, set over the control socket of ``umts emulate --control``."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import Umts, command, short, started
from live_stand_in import FaultOrders
from umtslab.emulate.fault_server import MAX_CLIENTS, MAX_REQUEST, checked_path, served
from umtslab.emulate.faults import ActiveFaults, Order, inline_table, recorded_orders
from umtslab.emulate.report import MAX_FAULT_LINES, fault_lines
from umtslab.faults import CONTROL_VARIABLE, FaultError, Faults

CHANGES = Path(__file__).parents[2] / "docs" / "changes.md"

WAIT_S = 60
"""Timeout for the start and the end of an emulation."""


@pytest.fixture
def active() -> ActiveFaults:
    """The faults of a scenario, with a stand-in for the emulation."""
    faults = ActiveFaults(short().core)
    faults.control = FaultOrders()  # type: ignore[assignment]
    return faults


@pytest.fixture
def address(tmp_path: Path, active: ActiveFaults) -> Iterator[str]:
    """A control socket with the stand-in."""
    path = str(tmp_path / "faults.sock")
    with served(path, active):
        yield path
    assert not Path(path).exists()


def sent(path: str, request: bytes) -> bytes:
    """Send octets and return the whole answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(WAIT_S)
        client.connect(path)
        client.sendall(request)
        answer = b""
        while part := client.recv(65536):
            answer += part
        return answer


def posted(path: str, body: bytes, place: str = "/faults") -> tuple[int, dict[str, object]]:
    """Post a body. Returns the status and the content of the answer."""
    head = f"POST {place} HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    answer = sent(path, head + body)
    content: dict[str, object] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return int(answer.split()[1]), content


def test_faults_are_added_changed_listed_and_removed(address: str, active: ActiveFaults) -> None:
    faults = Faults(address)
    added = faults.add("tunnel", {"radio.cut": True})
    assert (added.name, added.set, added.since_s) == ("tunnel", {"radio.cut": True}, 1.0)
    faults.add("slow", {"link.0.delay": "150 ms", "link.ggsn.loss": 0.5})
    changed = faults.change("tunnel", {"radio.bler": 0.25})
    assert faults.get("tunnel") == changed
    # A changed fault keeps its place.
    assert [fault.name for fault in faults.list()] == ["tunnel", "slow"]
    faults.remove("tunnel")
    faults.reset()
    assert faults.list() == []
    assert [(order.action, order.name, order.at_ns) for order in active.log()] == [
        ("added", "tunnel", 1_000_000_000),
        ("added", "slow", 2_000_000_000),
        ("changed", "tunnel", 3_000_000_000),
        ("removed", "tunnel", 4_000_000_000),
        ("removed", "slow", 5_000_000_000),
    ]


def test_fault_of_a_block_ends_with_it(address: str) -> None:
    faults = Faults(address)
    with suppress(KeyError), faults.cut("radio") as cut, faults.link("sgsn", rate="64 kbit/s"):
        assert dict(cut.set) == {"radio.cut": True}
        assert [dict(fault.set) for fault in faults.list()] == [
            {"radio.cut": True},
            {"link.sgsn.rate": "64 kbit/s"},
        ]
        raise KeyError
    assert faults.list() == []
    with faults.block_errors(0.1, uplink=0.2, name="bad") as bad:
        assert (bad.name, bad.set) == ("bad", {"radio.bler": 0.1, "radio.uplink.bler": 0.2})
        faults.reset()


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"[1]", 400, "not an object"),
        (b"[" * 60000, 400, "not JSON"),
        (b'{"name": "a", "set": {"radio.bler": NaN}}', 400, "NaN is not a number"),
        (b'{"name": "a", "values": {}}', 400, "known: name, set"),
        (b'{"set": {"radio.cut": true}}', 400, "`name` is missing"),
        (b'{"name": "a b", "set": {"radio.cut": true}}', 400, "is not a name"),
        (b'{"name": "a"}', 400, "`set` is missing"),
        (b'{"name": "a", "set": {}}', 400, "`set` is not an object"),
        (b'{"name": "a", "set": {"radio.cut": null}}', 400, "not a truth value, a number or a text"),
        (b'{"name": "a", "set": {"radio.cut\\u0000": true}}', 400, "unprintable"),
        (b'{"name": "a", "set": {"radio.bler": 2}}', 400, "radio.bler"),
        (b'{"name": "a", "set": {"radio.cut": "maybe"}}', 400, "radio.cut"),
        (b'{"name": "a", "set": {"tcp.variant": "reno"}}', 400, "cannot change during a run"),
        (b'{"name": "a", "set": {"link.9.delay": "1 ms"}}', 400, "is not a link"),
        (b'{"name": "old", "set": {"radio.cut": true}}', 409, "a fault `old` already"),
    ],
)
def test_bad_request_is_answered_and_changes_nothing(
    address: str, active: ActiveFaults, body: bytes, status: int, words: str
) -> None:
    Faults(address).add("old", {"radio.cut": True})
    answered, content = posted(address, body)
    assert answered == content["status"] == status
    assert words in json.dumps(content, ensure_ascii=False)
    assert [(fault.name, fault.set) for fault in active.list()] == [("old", {"radio.cut": True})]
    assert len(active.log()) == 1


def test_unknown_faults_and_paths_are_named(address: str) -> None:
    faults = Faults(address)
    for act in (faults.get, faults.remove, lambda name: faults.change(name, {"radio.cut": True})):
        with pytest.raises(FaultError, match="there is no fault `none`; no fault is in force") as raised:
            act("none")
        assert raised.value.status == 404
    assert b"404" in sent(address, b"GET /other HTTP/1.0\r\n\r\n")
    assert b"write DELETE /faults/NAME" in sent(address, b"DELETE /faults HTTP/1.0\r\n\r\n")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"", b"411"),
        (b"Content-Length: -1\r\n", b"411"),
        (b"Transfer-Encoding: chunked\r\n", b"411"),
        (b"Content-Length: %d\r\n" % (MAX_REQUEST + 1), b"413"),
        (b"Content-Length: %s\r\n" % (b"9" * 5000), b"413"),
    ],
)
def test_content_without_a_length_or_too_large_is_not_read(address: str, head: bytes, status: bytes) -> None:
    answer = sent(address, b"POST /faults HTTP/1.0\r\n" + head + b"\r\n")
    assert answer.split()[1] == status


def test_clients_that_hang_leave_room_for_others(address: str) -> None:
    hanging = []
    try:
        for _ in range(MAX_CLIENTS - 1):
            client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            client.connect(address)
            client.sendall(b"POST /faults HTTP/1.0\r\nContent-Length: 100\r\n\r\n{")
            hanging.append(client)
        assert Faults(address).list() == []
    finally:
        for client in hanging:
            client.close()


def test_only_the_user_may_connect(address: str) -> None:
    assert stat.S_IMODE(Path(address).stat().st_mode) == 0o600


def test_a_socket_that_a_killed_emulation_left_is_replaced(tmp_path: Path, active: ActiveFaults) -> None:
    path = tmp_path / "faults.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(path))
    with served(checked_path(path), active):
        assert Faults(path).list() == []
        with pytest.raises(ValueError, match="another program listens there"):
            checked_path(path)


def test_a_path_without_a_socket_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    for path, words in (
        ("file", "is not a socket"),
        ("none/faults.sock", "cannot create files"),
        ("a" * 200, "at most 107 bytes"),
    ):
        with pytest.raises(ValueError, match=words):
            checked_path(tmp_path / path)
    assert (tmp_path / "file").read_text() == "content"


def test_client_without_a_socket_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CONTROL_VARIABLE, raising=False)
    with pytest.raises(ValueError, match="umts emulate --control PATH"):
        Faults()


def test_values_are_written_as_toml() -> None:
    values = {"radio.cut": True, "radio.bler": 0.5, "link.0.delay": '1 "ms" \\ é'}
    assert inline_table(values) == (
        '{ "radio.cut" = true, "radio.bler" = 0.5, "link.0.delay" = "1 \\"ms\\" \\\\ é" }'
    )


def test_summary_and_account_list_the_faults() -> None:
    orders = [
        Order(at_ns=1_500_000_000, action="added", name="a", set={"radio.cut": True}),
        Order(at_ns=2_000_000_000, action="removed", name="a"),
    ]
    assert fault_lines(orders) == [
        "  faults set during the emulation:",
        "    1.500 s  a added: radio.cut = true",
        "    2.000 s  a removed",
    ]
    assert fault_lines([]) == []
    assert fault_lines(orders * MAX_FAULT_LINES)[-1] == f"    and {MAX_FAULT_LINES} more in emulation.json"
    card = {"faults": [order.recorded() for order in orders]}
    assert recorded_orders(json.loads(json.dumps(card))) == [
        (1_500_000_000, "a", '{ "radio.cut" = true }'),
        (2_000_000_000, "a", None),
    ]
    assert recorded_orders({}) == []


def programs_of(control: Path, words: bytes) -> list[int]:
    """Processes of the emulation with this control socket whose command line begins with `words`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            mark = f"{CONTROL_VARIABLE}={control}".encode()
            is_program = mark in (folder / "environ").read_bytes().split(b"\0")
            if is_program and (folder / "cmdline").read_bytes().startswith(words):
                found.append(int(folder.name))
    return found


EXAMPLE = re.search(r"```python\n(import urllib.*?)```", CHANGES.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow
@pytest.mark.usefixtures("may_emulate")
def test_the_example_of_the_page_runs_and_its_replay_is_equal(umts: Umts, tmp_path: Path) -> None:
    assert EXAMPLE is not None
    (tmp_path / "tunnel.py").write_text(EXAMPLE[1], encoding="utf-8")
    options = ("--bearer", "ps-384", "--control", "faults.sock", "--record")
    done = umts("emulate", *options, "--", sys.executable, "tunnel.py")
    assert done.stdout == "no answer in the tunnel\n"
    lines = done.stderr.partition("faults set during the emulation:\n")[2].splitlines()
    assert [line.split()[3].rstrip(":") for line in lines[:6]] == ["added", "removed"] + 2 * ["added"] + 2 * [
        "removed"
    ]
    assert not (tmp_path / "faults.sock").exists()
    (run,) = (tmp_path / "results" / "runs").iterdir()
    card = json.loads((run / "emulation.json").read_text(encoding="utf-8"))
    assert [order["action"] for order in card["faults"]] == [
        line.split()[3].rstrip(":") for line in lines[:6]
    ]
    # Blocks were lost only because of the faults: `ps-384` has no block errors.
    assert card["packets"]["packets_in"] > 0
    assert "every event was the same as in the emulation" in umts("replay", run).stdout


@pytest.mark.slow
@pytest.mark.usefixtures("may_emulate")
def test_socket_ends_with_the_emulation_while_clients_hang(tmp_path: Path) -> None:
    path = tmp_path / "faults.sock"
    words = command("emulate", "-q", "--control", path, "--", "sleep", "1000")
    with started(words, cwd=tmp_path, stderr=subprocess.PIPE) as emulation:
        deadline = time.monotonic() + WAIT_S
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as hanging:
            hanging.connect(str(path))
            hanging.sendall(b"POST /faults HTTP/1.0\r\n")
            # The answer comes when the command runs.
            Faults(path, timeout_s=WAIT_S).add("tunnel", {"radio.cut": True})
            with pytest.raises(FaultError, match="cannot change during a run"):
                Faults(path).add("other", {"tcp.variant": "reno"})
            (sleep,) = programs_of(path, b"sleep\x001000")
            os.kill(sleep, signal.SIGTERM)
            assert emulation.wait(WAIT_S) == 128 + signal.SIGTERM
    assert not path.exists()


def test_bad_paths_end_before_anything_runs(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    done = umts("emulate", "--control", "file", "--", "touch", "ran", status=2)
    assert "--control file: the file exists and is not a socket" in done.stderr
    assert not (tmp_path / "ran").exists()

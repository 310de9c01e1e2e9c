"""``umts emulate --live`` in the page of ``umts serve``: real emulations, and servers that hang."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import plain_user
import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from conftest import Umts, command, started
from serving import PATIENCE_S, Served, serving
from umtslab import live_sockets
from websockets.sync.client import ClientConnection

SCENARIOS = Path(__file__).parents[2] / "scenarios"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("may_emulate"),
    pytest.mark.timeout(4 * PATIENCE_S),
]


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path, "results", "--scenarios", SCENARIOS) as server:
        yield server


def only_name(served: Served) -> str:
    """Wait until the page shows one emulation with a state. Return its name."""
    found: list[str] = []

    def is_shown() -> bool:
        found[:] = [row["id"] for row in served.ask("/api/live").json()["emulations"]]
        if len(found) != 1:
            return False
        answer = served.ask(f"/api/emulations/{found[0]}")
        return answer.status == 200 and answer.json() is not None

    until(is_shown)
    return found[0]


@contextmanager
def watching(served: Served, name: str) -> Iterator[ClientConnection]:
    """Show an emulation in a tab during a block."""
    with served.channel() as channel:
        channel.send(json.dumps({"watch": name}))
        yield channel


WAIT_FOR_FILE = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)\n"
"""Program that waits until the test creates a file."""


def test_controls_act_on_the_programs_and_the_result_is_stored(tmp_path: Path, served: Served) -> None:
    # Two downloads: the first without coverage, which ends when the coverage is back.
    program = WAIT_FOR_FILE + (
        "import urllib.request\n"
        "print(len(urllib.request.urlopen('http://198.51.100.1/bytes/30000', timeout=200).read()))\n"
    )
    (tmp_path / "program.py").write_text(program)
    words = command("emulate", "--live", "--record", "--", sys.executable, "program.py")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(words, cwd=tmp_path, **pipes) as emulation:
        name = only_name(served)
        state = served.ask(f"/api/emulations/{name}").json()
        assert (state["programs"], state["column"]["has_tcp"]) == (1, False)
        assert [control["label"] for control in state["controls"]] == [
            "Rate down",
            "Block errors",
            "Coverage",
        ]
        address = f"/api/emulations/{name}/control"
        for control, choice in (("coverage", 1), ("rate", 2), ("block-errors", 4)):
            assert served.post(address, {"control": control, "choice": choice}).status == 200
        (tmp_path / "go").touch()
        with watching(served, name):
            # Blocks are sent, and all of them are lost.
            until(
                lambda: any(
                    count["label"] == "Block sets with errors" and count["count"] > 0
                    for count in served.ask(f"/api/emulations/{name}").json()["column"]["counts"]
                )
            )
            assert emulation.poll() is None
            assert served.post(address, {"control": "coverage", "choice": 0}).status == 200
            output, errors = emulation.communicate(timeout=PATIENCE_S)
    assert (emulation.returncode, output) == (0, "30000\n"), errors
    assert "live: umts serve shows this emulation in the view Live\n" in errors
    assert "page-coverage added: radio.cut = true" in errors
    until(lambda: served.ask("/api/live").json()["emulations"] == [])
    assert live_sockets.names(tmp_path / "results") == []
    (run,) = (tmp_path / "results" / "runs").iterdir()
    assert served.ask(f"/api/runs/{run.name}").status == 200
    replayed = subprocess.run(
        command("replay", run), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "every event was the same as in the emulation" in replayed.stdout


def test_a_stopped_server_delays_no_emulation_and_changes_no_result(tmp_path: Path, served: Served) -> None:
    program = WAIT_FOR_FILE + (
        "import urllib.request\n"
        "print(len(urllib.request.urlopen('http://198.51.100.1/bytes/60000', timeout=200).read()))\n"
    )
    (tmp_path / "program.py").write_text(program)
    words = command("emulate", "--live", "--record", "--json", "--", sys.executable, "program.py")
    with started(words, cwd=tmp_path, stdout=subprocess.PIPE) as emulation:
        name = only_name(served)
        with watching(served, name) as channel:
            channel.recv(PATIENCE_S)
            # The server stops in the middle of its requests, and another client reads no answer.
            served.process.send_signal(signal.SIGSTOP)
            try:
                with live_sockets.connected(tmp_path / "results", name, PATIENCE_S) as hanging:
                    hanging.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                    hanging.sendall(b"GET /emulation/state HTTP/1.0\r\n\r\n")
                    (tmp_path / "go").touch()
                    output, _ = emulation.communicate(timeout=PATIENCE_S)
            finally:
                served.process.send_signal(signal.SIGCONT)
    assert emulation.returncode == 0
    result = json.loads(output)
    assert result["emulation"]["packets"]["lost_in_core"] == 0
    (run,) = (tmp_path / "results" / "runs").iterdir()
    replayed = subprocess.run(
        command("replay", run), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "every event was the same as in the emulation" in replayed.stdout
    until(lambda: served.ask("/api/live").json()["emulations"] == [])


def test_a_killed_emulation_disappears(tmp_path: Path, served: Served) -> None:
    words = command("emulate", "-q", "--live", "--", "sleep", "1000")
    with started(words, cwd=tmp_path) as emulation:
        name = only_name(served)
        emulation.kill()
        until(lambda: served.ask("/api/live").json()["emulations"] == [])
        assert served.ask(f"/api/emulations/{name}").status == 404
    assert list((tmp_path / "results" / "runs").iterdir()) == []


def test_a_killed_server_does_not_end_the_emulation(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(WAIT_FOR_FILE)
    with serving(tmp_path, "results", "--scenarios", SCENARIOS) as server:
        words = command("emulate", "-q", "--live", "--", sys.executable, "program.py")
        with started(words, cwd=tmp_path) as emulation:
            only_name(server)
            server.process.kill()
            server.process.wait()
            with serving(tmp_path, "results", "--scenarios", SCENARIOS) as second:
                only_name(second)
                (tmp_path / "go").touch()
                assert emulation.wait(PATIENCE_S) == 0


def test_programs_of_other_ues_and_simulated_users_are_told_apart(tmp_path: Path, served: Served) -> None:
    scenario = SCENARIOS / "ftp-on-fach-two-users.toml"
    words = command("emulate", "-q", "--live", "--scenario", scenario, "--", "sleep", "1000")
    with started(words, cwd=tmp_path):
        name = only_name(served)
        column = served.ask(f"/api/emulations/{name}").json()["column"]
        assert (column["ues"][0]["timeouts"], column["has_tcp"]) == (None, True)
        assert column["ues"][1]["timeouts"] is not None


def test_an_unprivileged_user_may_show_an_emulation(tmp_path: Path) -> None:
    if (reason := plain_user.missing(tmp_path)) is not None:
        pytest.skip(reason)
    # The program reads the state at the socket of its own emulation, as the server of this user does.
    (tmp_path / "program.py").write_text(
        "import json, pathlib, socket\n"
        "[path] = pathlib.Path('results/live').glob('*.sock')\n"
        "with socket.socket(socket.AF_UNIX) as client:\n"
        "    client.connect(str(path))\n"
        "    client.sendall(b'GET /emulation/state HTTP/1.0\\r\\n\\r\\n')\n"
        "    answer = b''.join(iter(lambda: client.recv(65536), b''))\n"
        "state = json.loads(answer.partition(b'\\r\\n\\r\\n')[2])\n"
        "print(len(state['now']['state']['ues']), oct(path.stat().st_mode & 0o777))\n"
    )
    done = plain_user.run(command("emulate", "-q", "--live", "--", sys.executable, "program.py"), tmp_path)
    assert (done.returncode, done.stdout) == (0, "1 0o600\n"), done.stderr


def test_the_option_prints_the_server_of_another_results_folder(umts: Umts, tmp_path: Path) -> None:
    done = umts("emulate", "--live", "--out", tmp_path / "my results", "--", "true")
    assert f"live: umts serve '{tmp_path}/my results' shows this emulation" in done.stderr
    assert os.listdir(tmp_path / "my results" / "live") == []

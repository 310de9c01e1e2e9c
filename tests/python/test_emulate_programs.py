"""The programs beside the command of ``umts emulate``: what they write, and what becomes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Umts, command, started
from umtslab.emulate.labels import CHUNK, Labels

WAIT_S = 60
"""For what takes a moment, on any machine."""


needs_privileges = pytest.mark.usefixtures("may_emulate")


@pytest.mark.slow
@needs_privileges
def test_lines_of_programs_have_their_names_in_front(umts: Umts) -> None:
    server = "echo 'from the server'; echo 'an error' >&2; exec sleep 60"
    others = ["--server", server, "--ue", "printf 'two\\nlines'", "--ue", "echo other"]
    done = umts("emulate", "-q", *others, "--", "sh", "-c", "sleep 1; echo mine; echo wrong >&2")
    assert done.stdout == "mine\n"
    assert sorted(done.stderr.splitlines()) == [
        "UE 1: lines",
        "UE 1: two",
        "UE 2: other",
        "server: an error",
        "server: from the server",
        "wrong",
    ]


@pytest.mark.slow
@needs_privileges
@pytest.mark.parametrize(
    ("others", "mine", "status", "told"),
    [
        (["--ue", "nosuch"], "sleep 0.5", 127, "the program of UE 1, nosuch, ended with 127"),
        (["--ue", "true", "--ue", "exit 3"], "sleep 0.5", 3, "the program of UE 2, 'exit 3', ended with 3"),
        (["--ue", "exit 3"], "sleep 0.5; exit 5", 5, "ended with 3"),
        (["--server", "nosuch"], "sleep 0.5", 127, "the program of server, nosuch, ended with 127"),
        (["--server", "exit 3"], "sleep 0.5", 0, "the program of server, 'exit 3', ended with 3"),
    ],
)
def test_a_program_that_fails_is_told_and_gives_a_status(
    umts: Umts, others: list[str], mine: str, status: int, told: str
) -> None:
    done = umts("emulate", "-q", *others, "--", "sh", "-c", mine, status=status)
    assert told in done.stderr


@pytest.mark.slow
@needs_privileges
def test_a_program_that_still_runs_at_the_end_has_not_failed(umts: Umts, tmp_path: Path) -> None:
    done = umts("emulate", "-q", "--ue", "exec sleep 60", "--server", "exec sleep 60", "--", "true")
    assert done.stderr == ""
    (run,) = (tmp_path / "results" / "runs").iterdir()
    statuses = json.loads((run / "emulation.json").read_text())["statuses"]
    assert statuses == {"ues": [None], "servers": [None], "internet": None, "proxy": None}


@pytest.mark.slow
@needs_privileges
def test_built_in_servers_that_end_are_told(tmp_path: Path) -> None:
    words = command("emulate", "-q", "--", "sh", "-c", "echo ready; sleep 2")
    options = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(words, **options) as at_work:
        assert at_work.stdout is not None
        assert at_work.stdout.readline() == "ready\n"
        (servers,) = below(at_work.pid, b"umtslab.emulate.internet")
        os.kill(servers, signal.SIGKILL)
        _, told = at_work.communicate(timeout=WAIT_S)
        assert at_work.returncode == 0
    assert "the built-in servers ended with 137 while the command ran" in told


def below(ancestor: int, word: bytes) -> list[int]:
    """Processes that this one started, or that they did, with a word in their command lines."""
    found = []
    for process in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            line = Path(f"/proc/{process}/cmdline").read_bytes()
            above = process
            while above > 1 and above != ancestor:
                above = int(Path(f"/proc/{above}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if above == ancestor and word in line.split(b"\0"):
            found.append(process)
    return found


RELAY = """
import os, sys
from umtslab.emulate.labels import Labels
labels = Labels()
ends = [labels.writer("a"), labels.writer("b")]
held = [os.dup(end) for end in ends]
labels.start()
for text in sys.argv[1:]:
    os.write(held[0], text.encode().decode("unicode_escape").encode())
os.write(held[1], b"z" * int(os.environ.get("LONG", "1")))
labels.finish()
"""


def relayed(*texts: str, **variables: str) -> list[str]:
    """The lines that come of what two programs write, which are still there at the end."""
    done = subprocess.run(
        [sys.executable, "-c", RELAY, *texts],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=WAIT_S,
    )
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_lines_come_whole_however_they_were_written() -> None:
    assert [line for line in relayed("one\\ntw", "o\\n\\nlast") if line.startswith("a")] == [
        "a: one",
        "a: two",
        "a: ",
        "a: last",
    ]


def test_a_line_without_an_end_is_cut() -> None:
    assert CHUNK == 65536
    lines = [line for line in relayed("x", LONG="65536") if line.startswith("b")]
    assert lines == ["b: " + "z" * CHUNK]


def test_labels_of_nobody_are_no_process() -> None:
    labels = Labels()
    labels.start()
    labels.finish()

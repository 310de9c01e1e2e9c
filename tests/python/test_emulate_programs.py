"""Programs of other UEs and servers beside the command of ``umts emulate``: output, status and end."""

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
"""Timeout for short operations, sufficient on any machine."""


needs_privileges = pytest.mark.usefixtures("may_emulate")


@pytest.mark.slow
@needs_privileges
def test_lines_of_programs_begin_with_their_labels(umts: Umts) -> None:
    server = "echo 'from the server'; echo 'an error' >&2; exec sleep 60"
    options = ["--server", server, "--ue", "printf 'two\\nlines'", "--ue", "echo other"]
    command_line = "sleep 1; echo output; echo error >&2"
    done = umts("emulate", "-q", *options, "--", "sh", "-c", command_line)
    # The command itself, UE 0, writes without a label.
    assert done.stdout == "output\n"
    assert sorted(done.stderr.splitlines()) == [
        "UE 1: lines",
        "UE 1: two",
        "UE 2: other",
        "error",
        "server: an error",
        "server: from the server",
    ]


@pytest.mark.slow
@needs_privileges
@pytest.mark.parametrize(
    ("options", "command_line", "status", "message"),
    [
        # Status 127 is the shell's for a program that does not exist.
        (["--ue", "nosuch"], "sleep 0.5", 127, "the program of UE 1, nosuch, ended with status 127"),
        (
            ["--ue", "true", "--ue", "exit 3"],
            "sleep 0.5",
            3,
            "the program of UE 2, 'exit 3', ended with status 3",
        ),
        (["--ue", "exit 3"], "sleep 0.5; exit 5", 5, "ended with status 3"),
        (["--server", "nosuch"], "sleep 0.5", 127, "the program of server, nosuch, ended with status 127"),
        (["--server", "exit 3"], "sleep 0.5", 3, "the program of server, 'exit 3', ended with status 3"),
        (["--server", "exit 0"], "sleep 0.5", 0, ""),
    ],
)
def test_a_failed_program_is_reported_and_sets_the_status_unless_the_command_failed(
    umts: Umts, options: list[str], command_line: str, status: int, message: str
) -> None:
    done = umts("emulate", "-q", *options, "--", "sh", "-c", command_line, status=status)
    assert message in done.stderr if message else done.stderr == ""


@pytest.mark.slow
@needs_privileges
def test_a_program_that_still_runs_at_the_end_has_not_failed(umts: Umts, tmp_path: Path) -> None:
    done = umts("emulate", "-q", "--ue", "exec sleep 60", "--server", "exec sleep 60", "--", "true")
    assert done.stderr == ""
    (run,) = (tmp_path / "results" / "runs").iterdir()
    statuses = json.loads((run / "emulation.json").read_text())["statuses"]
    assert statuses == {"ues": [None], "servers": [None], "internet": None, "proxy": None}


HTTP_SERVER = f"{sys.executable} -m http.server 80"

FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"


@pytest.mark.slow
@needs_privileges
def test_a_user_supplied_server_replaces_the_built_in_one(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("from the user's server")
    fetch = [sys.executable, "-c", FETCH]
    done = umts("emulate", "--server", HTTP_SERVER, "--", *fetch, "http://some.example/page.txt")
    assert done.stdout == "from the user's server\n"
    assert "port 80 is used by a --server; the built-in HTTP server does not listen" in done.stderr
    # If no program uses the port, the built-in server answers.
    url = "http://some.example/bytes/3"
    built_in = umts("emulate", "-q", "--server", "exec sleep 60", "--", *fetch, url)
    assert built_in.stdout == "\0\0\0\n"


@pytest.mark.slow
@needs_privileges
def test_idle_time_is_emulated_to_the_end_of_the_command_and_replayed(umts: Umts, tmp_path: Path) -> None:
    summary = umts("emulate", "--record", "--", "sleep", "1.5").stderr
    (run,) = (tmp_path / "results" / "runs").iterdir()
    emulation = json.loads((run / "emulation.json").read_text())
    assert emulation["fidelity"]["duration_s"] >= 1.5
    assert emulation["fidelity"]["core_share"] < 1
    assert f"emulated {emulation['fidelity']['duration_s']:.1f} s" in summary
    # Exit status 0 of the replay means that every event was the same.
    umts("replay", str(run))


@pytest.mark.slow
@needs_privileges
def test_a_name_lookup_is_neither_a_stall_nor_a_retransmission(umts: Umts) -> None:
    fetch = ["curl", "-s", "-o", "page.bin", "http://example.com/bytes/30000"]
    umts("emulate", "-q", "--bearer", "fach-dch:att-2010", "--timeline", "--", *fetch)
    explained = json.loads(umts("why", "results", "--json").stdout)
    assert explained["chains"] == []
    # The first segment of data leaves after the handshake, later than 2 s.
    assert all(stall["start_s"] > 2.3 for stall in explained["stalls"])


@pytest.mark.slow
@needs_privileges
def test_short_emulations_have_no_core_share(umts: Umts, tmp_path: Path) -> None:
    summary = umts("emulate", "--", "true").stderr
    (run,) = (tmp_path / "results" / "runs").iterdir()
    fidelity = json.loads((run / "emulation.json").read_text())["fidelity"]
    # On a busy machine even this emulation can take a second.
    if fidelity["duration_s"] < 1:
        assert fidelity["core_share"] is None
        assert "too short to measure CPU time" in summary


TWO_PROGRAMS = ["--ue", "sleep 2; echo END", "--ue", "true", "--", "sleep", "0.5"]
"""UE 1 runs longer than the command, UE 2 does not."""


@pytest.mark.slow
@needs_privileges
def test_programs_that_are_stopped_with_the_command_are_named(umts: Umts) -> None:
    summary = umts("emulate", *TWO_PROGRAMS).stderr
    assert "UE 1: END" not in summary
    assert (
        "UE 1 was still running and was stopped with the command: 'sleep 2; echo END' (--wait waits"
        in summary
    )
    assert "UE 2 was still running" not in summary


@pytest.mark.slow
@needs_privileges
def test_wait_continues_until_all_programs_end(umts: Umts) -> None:
    summary = umts("emulate", "--wait", *TWO_PROGRAMS).stderr
    assert "UE 1: END" in summary
    assert "was still running" not in summary
    # The status of the last program counts, too.
    umts("emulate", "-q", "--wait", "--ue", "sleep 1; exit 4", "--", "true", status=4)


@pytest.mark.slow
@needs_privileges
def test_ctrl_c_after_the_end_of_the_command_ends_the_wait(tmp_path: Path) -> None:
    words = command("emulate", "-q", "--wait", "--ue", "exec sleep 300", "--", "sh", "-c", "echo done")
    options = {"cwd": tmp_path, "stdout": subprocess.PIPE, "start_new_session": True}
    with started(words, **options) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        for _ in range(WAIT_S):
            os.killpg(process.pid, signal.SIGINT)
            try:
                # The first signal may have reached the command itself.
                assert process.wait(1) in (0, 130)
            except subprocess.TimeoutExpired:
                continue
            return
    pytest.fail("the emulation still waits")


@pytest.mark.slow
@needs_privileges
def test_the_end_of_the_built_in_servers_is_reported(tmp_path: Path) -> None:
    words = command("emulate", "-q", "--", "sh", "-c", "echo ready; sleep 2")
    options = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(words, **options) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (servers,) = descendants(process.pid, b"umtslab.emulate.internet")
        os.kill(servers, signal.SIGKILL)
        _, summary = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0
    # 128 + SIGKILL.
    assert "the built-in servers ended with status 137 while the command ran" in summary


def descendants(ancestor: int, word: bytes) -> list[int]:
    """Return the descendants of a process that have `word` in their command line."""
    pids = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            above = pid
            while above > 1 and above != ancestor:
                # The parent is the second field after the name, which is in parentheses.
                above = int(Path(f"/proc/{above}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if above == ancestor and word in line.split(b"\0"):
            pids.append(pid)
    return pids


RELAY = """
import os, sys
from umtslab.emulate.labels import Labels
labels = Labels()
ends = [labels.writer("a"), labels.writer("b")]
duplicates = [os.dup(end) for end in ends]
labels.start()
for text in sys.argv[1:]:
    os.write(duplicates[0], text.encode().decode("unicode_escape").encode())
os.write(duplicates[1], b"z" * int(os.environ.get("LONG", "1")))
labels.finish()
"""
"""Writes as two programs with the labels "a" and "b". Duplicates of the writing ends stay open: the
programs still run when the labelling ends."""


def relayed(*texts: str, **variables: str) -> list[str]:
    """Return the labelled lines: "a" writes `texts` one by one, "b" a line of ``LONG`` letters."""
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


def test_a_line_that_is_written_in_parts_is_printed_as_one() -> None:
    assert [line for line in relayed("one\\ntw", "o\\n\\nlast") if line.startswith("a")] == [
        "a: one",
        "a: two",
        "a: ",
        "a: last",
    ]


def test_overwritten_lines_repeat_the_label() -> None:
    lines = relayed("10 %\\r20 %\\rdone\\r\\n")
    # On a terminal a carriage return goes back to the beginning of the line.
    assert [line for line in lines if not line.startswith("b")] == ["a: 10 %", "a: 20 %", "a: done"]


def test_a_line_without_end_is_written_at_the_maximum_length() -> None:
    lines = [line for line in relayed("x", LONG=str(CHUNK)) if line.startswith("b")]
    assert lines == ["b: " + "z" * CHUNK]


def test_labels_without_programs_start_no_process() -> None:
    labels = Labels()
    labels.start()
    labels.finish()

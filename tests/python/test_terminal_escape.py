"""No verb passes control sequences from files to the terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FTP, Umts, command
from umtslab.terminal_escape import EscapingStream, escape_output, printable, without_escaping
from umtslab.text_table import Table

CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys or that change the direction of text."""

OWN_SEQUENCES = re.compile(r"\x1b\[(0|1|\?25[hl]|K|[0-9;]*[mKA]|2K)|\r")
"""Control sequences of tables, progress bars and the terminal's line discipline."""

HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b2J \u202eback\x7f"
"""Sets the title of the terminal, the colour and the direction of text, and erases the screen."""

IN_TOML = HOSTILE.encode("unicode_escape").decode().replace("\\x", "\\u00")


def test_escaped_text_is_printable_and_equal_in_json() -> None:
    draws = random.Random(1)
    for _ in range(2000):
        # Characters of both ranges in which there are control characters.
        text = "".join(
            chr(draws.choice((draws.randrange(0x300), draws.randrange(0x2000, 0x2100)))) for _ in range(20)
        )
        escaped = printable(text)
        assert CONTROL_CHARACTERS.search(escaped) is None
        assert printable(escaped) == escaped
        # Without an escape, no letter or digit is lost.
        assert "\\u" in escaped or "".join(filter(str.isalnum, text)) == "".join(filter(str.isalnum, escaped))
        quoted = json.dumps(text, ensure_ascii=False)
        assert json.loads(printable(quoted)) == text
    assert printable("é\n\tü – 日本") == "é\n\tü – 日本"


def test_a_guard_changes_only_text_that_passes_through_it() -> None:
    stream = io.StringIO()
    guard = EscapingStream(stream)
    print(HOSTILE, end="", file=guard)
    guard.writelines(["\x1b", "a\n"])
    assert stream.getvalue() == printable(HOSTILE) + "\\u001ba\n"
    assert without_escaping(guard) is stream  # type: ignore[arg-type]
    assert not guard.isatty()
    before = sys.stdout
    with escape_output():
        assert without_escaping(sys.stdout) is before
    assert sys.stdout is before


def test_table_cells_have_the_width_of_the_escaped_text() -> None:
    table = Table("name", ">n")
    table.add_row("\x1b[31m", "1")
    assert list(table.lines()) == ["name        n", "\\u001b[31m  1"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a scenario and a campaign that have control sequences in all their texts."""
    text = FTP.read_text().replace("\r", "")
    text = re.sub(r"(?m)^title = .*$", lambda _: f'title = "{IN_TOML}"', text)
    text = re.sub(r"(?m)^source = .*$", lambda _: f'source = "{IN_TOML}"', text)
    (tmp_path / "scenario.toml").write_text(text)
    (tmp_path / "campaign.toml").write_text(
        f'version = 1\ntitle = "{IN_TOML}"\nscenario = "scenario.toml"\nruns = 2\n'
        '[set]\nduration = "5 s"\n[grid]\ntcp.variant = ["reno", "tahoe"]\n'
    )
    return tmp_path


WRONG = [
    ("run", "no\x1b[31mfile.toml"),
    ("run", "scenario.toml", "--set", "tcp.\x1b[31m=1"),
    ("\x1b[31m",),
    ("run", "--\x1b[31m"),
    ("show", "\x1b[31m"),
    ("analyse", "\x1b[31m.pcap"),
    ("params", "\x1b[31m"),
    ("plot", "\x1b[31m", "cwnd"),
    ("export", "\x1b[31m", "--csv"),
    ("sweep", "scenario.toml"),
    ("reproduce", "\x1b[31m"),
    ("optimise", "campaign.toml"),
    ("sensitivity", "campaign.toml"),
    ("emulate", "--bearer", "\x1b[31m", "--", "true"),
    ("replay", "\x1b[31m"),
    ("query", "select '\x1b[31m"),
]


@pytest.mark.parametrize("words", WRONG, ids=lambda words: words[0].encode("unicode_escape").decode())
def test_messages_escape_quoted_input(folder: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(command(*words), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert CONTROL_CHARACTERS.search(done.stdout + done.stderr) is None
    assert "Traceback" not in done.stderr


def test_titles_of_files_are_escaped(folder: Path, umts: Umts) -> None:
    printed = ""
    for words in (
        ("run", "scenario.toml", "--set", "duration=5 s", "--pcap", "--series", "--out", "one"),
        ("run", "scenario.toml", "--set", "duration=5 s", "--json", "--out", "one", "--seed", "9"),
        ("sweep", "campaign.toml", "--plan"),
        ("sweep", "campaign.toml", "--out", "many"),
        ("compare", "one", "one"),
        ("export", "many", "--csv"),
        ("export", "many", "--latex"),
        ("query", "select * from runs", "--csv", "--out", "many"),
        ("query", f"select '{HOSTILE}' as text", "--out", "many"),
        ("analyse", *map(str, sorted((folder / "one").glob("runs/*/captures/server.pcapng")))),
        ("plot", "one", "cwnd", "--output", "figure.svg"),
        ("report", "many", "--output", "page.html"),
    ):
        done = subprocess.run(command(*words), cwd=folder, capture_output=True, text=True, check=False)
        assert CONTROL_CHARACTERS.search(done.stdout + done.stderr) is None, words
        assert "Traceback" not in done.stderr
        printed += done.stdout + done.stderr
    assert "\\u001b]0;owned\\u0007" in printed


def test_a_terminal_gets_only_own_control_sequences(folder: Path) -> None:
    for words in (
        ("run", "scenario.toml", "--set", "duration=5 s"),
        ("sweep", "campaign.toml"),
        ("query", f"select '{HOSTILE}' as text", "--csv"),
    ):
        own_end, end_of_command = pty.openpty()
        environment = {**os.environ, "TERM": "xterm"}
        process = subprocess.Popen(
            command(*words), cwd=folder, stdout=end_of_command, stderr=end_of_command, env=environment
        )
        os.close(end_of_command)
        written = b""
        while True:
            try:
                part = os.read(own_end, 65536)
            except OSError:  # The other end of the terminal is closed.
                break
            written += part
        os.close(own_end)
        assert process.wait() == 0, written
        text = OWN_SEQUENCES.sub("", written.decode())
        assert "owned" in text
        assert CONTROL_CHARACTERS.search(text) is None, words

"""``tools/same-code``, which shows that a commit changed only comments and names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools/same-code"
SCRIPT = "#!/usr/bin/env python3\n# {comment}\n{first} = 1\n{second} = {value}\n"
BEFORE = {"comment": "old", "first": "one", "second": "two", "value": "2"}


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, with an author for commits."""
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a Python file without a suffix."""
    (tmp_path / "tool").write_text(SCRIPT.format(**BEFORE))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "tool")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


def compared(folder: Path, *words: str, **changes: str) -> tuple[int, str]:
    """Change the file, and compare it with the commit. Returns the status and the output."""
    (folder / "tool").write_text(SCRIPT.format(**{**BEFORE, **changes}))
    done = subprocess.run(
        [sys.executable, TOOL, "HEAD", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_python_files_without_a_suffix_are_compared(folder: Path) -> None:
    assert compared(folder, comment="new") == (0, "")
    status, text = compared(folder, value="3")
    assert (status, text.splitlines()[0]) == (1, "tool: its code differs")


def test_each_renamed_option_counts(folder: Path) -> None:
    renames = ("--renamed", "one=first", "--renamed", "two=second")
    assert compared(folder, *renames, first="first", second="second") == (0, "")

"""Runs the commands of a Markdown page in order, and compares their output with the page."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("scenarios", "campaigns", "traces", "reproductions", "lessons", "examples")
KEY = re.compile(r"(?<=[\s+/])[0-9a-f]{12,}\b")
"""Keys of runs and results, and commits, change with the code. Pages show KEY for them."""

_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
ELLIPSIS = "…"


class Page:
    """A page, and the folder of the reader."""

    def __init__(self, file: Path, folder: Path) -> None:
        self.file = file
        self.folder = folder
        self.text = file.read_text(encoding="utf-8")
        for name in FOLDERS:
            if (ROOT / name).exists():
                (folder / name).symlink_to(ROOT / name)
        umts = folder / "bin" / "umts"
        umts.parent.mkdir()
        umts.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m umtslab "$@"\n')
        umts.chmod(0o755)

    def follow(self) -> tuple[int, str]:
        """Do everything in the order of the page.

        Files with a title are written, commands are run, and each shown output is replaced by the
        printed one. Returns the number of commands, and the new text of the page.
        """
        printed, count, parts, end = "", 0, [], 0
        for found in _BLOCK.finditer(self.text):
            language, title, content = found.groups()
            parts.append(self.text[end : found.start()])
            end = found.end()
            if language == "text" and printed:
                content = shown(content, printed)
            parts.append(f"```{language}{f' title={chr(34)}{title}{chr(34)}' if title else ''}\n{content}```")
            if title:
                (self.folder / title).write_text(content, encoding="utf-8")
            if language == "sh":
                commands = list(lines(content))
                printed = "".join(self.run(line) for line in commands)
                count += len(commands)
            elif language == "text":
                printed = ""
        return count, "".join([*parts, self.text[end:]])

    def run(self, line: str) -> str:
        """Run a command line, which must succeed, and return the output with keys masked."""
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }
        environment.pop("UMTS_OUT", None)
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{self.file.name}: {line}\n{done.stdout}{done.stderr}"
        return KEY.sub("KEY", done.stdout)


def lines(block: str) -> Iterator[str]:
    """Yield the command lines of a block. A backslash at the end continues a line."""
    for line in block.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def shown(old: str, printed: str) -> str:
    """Return the output that a page should show in place of `old`.

    With lines of dots, only the rows that `old` shows are taken, in their order.
    """
    if ELLIPSIS not in old.splitlines():
        return printed
    rest = iter(printed.splitlines())
    new = []
    for line in old.splitlines():
        head = re.split(r"\s\s", line.strip())[0]
        match = (
            line if line == ELLIPSIS else next((one for one in rest if one.strip().startswith(head)), None)
        )
        new.append(f"(not printed) {line}" if match is None else match)
    return "\n".join(new) + "\n"

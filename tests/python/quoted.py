"""The commands of a page with their quoted output, and a shell that runs them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROGRAMS = {
    "umts": f'exec {shlex.quote(sys.executable)} -m umtslab "$@"\n',
    # wireshark is replaced by tshark, and ssh by a local capture file.
    "wireshark": 'for last; do :; done\nexec tshark "${@:1:$#-1}" -r "$last" -c 200\n',
    "ssh": "exec cat trace.pcapng\n",
}

BLOCK = re.compile(r"```sh\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")


@dataclass(frozen=True)
class QuotedBlock:
    """A block of commands, and the output of the last one as the page quotes it."""

    commands: list[str]
    output: str | None


def quoted_blocks(page: str) -> Iterator[QuotedBlock]:
    """Return the blocks of commands of a page, named from the root of the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        yield QuotedBlock(block[1].replace("\\\n", " ").splitlines(), block[2])


class User:
    """A user that types the commands of a page in one folder.

    The folder has the scenarios of the checkout, and results of earlier commands.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("scenarios", "campaigns", "traces", "reproductions"):
            (folder / name).symlink_to(ROOT / name)
        for name, text in PROGRAMS.items():
            program = folder / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/bash\n{text}")
            program.chmod(0o755)

    def run(self, line: str) -> str:
        """Run a command, which must succeed. Returns its output."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1"}
        # Pages write KEY for the key of the run that an earlier command has stored.
        if "KEY" in line:
            [run] = (self.folder / "results/fach/runs").iterdir()
            line = line.replace("KEY", run.name)
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout


def missing(quoted: str, printed: str) -> str | None:
    """Return the first line of `quoted` that `printed` lacks in this order, or None.

    `…` stands for any number of lines, and at the end of a line for its rest.
    """
    printed_lines = iter(printed.splitlines())
    for line in quoted.splitlines():
        # The search continues after the previous match.
        if line.strip() != "…" and not any(is_line(line, other) for other in printed_lines):
            return line
    return None


def is_line(quoted: str, printed: str) -> bool:
    """Whether a printed line is the quoted one. The quoted line may end in `…` instead of the rest."""
    start, cut, _ = quoted.partition("…")
    return printed.startswith(start) if cut else printed == quoted


def without_numbers(text: str) -> str:
    """Return a text with each number replaced by the same sign, and runs of spaces by one."""
    return "\n".join(" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines())


def numbers(text: str) -> list[float]:
    """Return the numbers of a text."""
    return [float(word.replace(",", "").replace("−", "-")) for word in NUMBER.findall(text)]

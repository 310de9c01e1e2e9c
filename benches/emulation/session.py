"""Runs of `umts emulate`, and their results from the run folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

UMTS = str(Path(sys.executable).with_name("umts"))
PROBE = str(Path(__file__).with_name("probe.py"))
SERVER = {4: "10.45.0.1", 6: "fd45::1"}
"""Address of the server side, by IP version."""


WIDE_CORE = """
[[link]]
from = "server"
to = "ggsn"
delay = "20 ms"
[[link]]
from = "ggsn"
to = "sgsn"
[[link]]
from = "sgsn"
to = "rnc"
"""
"""A core network without rate limits. The default one carries 10 Mbit/s."""


@dataclass(frozen=True)
class Emulation:
    """A finished emulation."""

    folder: Path
    output: str
    card: dict[str, Any]
    metrics: dict[str, float | None]

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON object that the command printed."""
        answer: dict[str, Any] = json.loads(self.output)
        return answer

    @property
    def fidelity(self) -> dict[str, float]:
        """Fidelity of the emulation: lateness and CPU time in seconds, and counts."""
        fidelity: dict[str, float] = self.card["fidelity"]
        return fidelity

    def verdict(self) -> str:
        """Format whether the machine was fast enough, and its lateness."""
        p50, p99, maximum = (1000 * self.fidelity[f"lateness_{name}_s"] for name in ("p50", "p99", "max"))
        state = "DEGRADED" if self.card["degraded"] else "ok"
        return f"{state}, late by p50 {p50:.3f}, p99 {p99:.3f}, max {maximum:.3f} ms"


def probe(*arguments: object) -> list[str]:
    """Return the command line of a probe."""
    return [sys.executable, PROBE, *map(str, arguments)]


@contextmanager
def emulations(*options: Sequence[str]) -> Iterator[list[Emulation]]:
    """Run emulations at the same time, each with its options and command.

    The end of the block deletes their folders.
    """
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for number, arguments in enumerate(options):
            out = Path(folder) / str(number)
            command = [UMTS, "emulate", "-q", "--out", str(out), *arguments]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
            started.append((out, process))
        yield [_finished(out, process) for out, process in started]


def _finished(out: Path, process: subprocess.Popen[str]) -> Emulation:
    """Wait for the end of an emulation, and read its results."""
    output, _ = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
    (run,) = (out / "runs").iterdir()
    card, metrics = (json.loads((run / name).read_text()) for name in ("emulation.json", "metrics.json"))
    return Emulation(run, output, card, metrics)


@contextmanager
def scenario(text: str) -> Iterator[str]:
    """Create a scenario file with this text. The end of the block deletes it."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        yield file.name

"""The memory of a long run is bounded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

UMTS = Path(sys.executable).with_name("umts")
SCENARIO = Path(__file__).parents[2] / "scenarios" / "ftp-on-fach-two-users.toml"


def peak_kib(tmp_path: Path, duration_s: int) -> int:
    """Run the scenario in a separate process. Returns its peak memory in KiB."""
    length = ["--duration", f"{duration_s} s"]
    command: list[str | Path] = [UMTS, "run", SCENARIO, *length, "--out", tmp_path, "--json", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


def test_a_run_of_fifty_times_the_length_takes_no_more_memory(tmp_path: Path) -> None:
    short, long = (peak_kib(tmp_path, duration_s) for duration_s in (2_000, 100_000))
    # 100,000 s have 37 million events and 300,000 segments: 16 bytes kept for each segment would
    # exceed the limit. Interpreter and libraries vary by a few hundred KiB between processes.
    assert long - short < 4_096, f"{short} KiB, then {long} KiB"

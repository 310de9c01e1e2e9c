"""Holds of IP forwarding, with files in place of the kernel's setting."""

import subprocess
from pathlib import Path

import pytest
from umtslab.emulate import forwarding


@pytest.mark.parametrize("start_time", ["", "1"])
def test_the_hold_of_a_dead_process_is_removed(start_time: str, tmp_path: Path) -> None:
    """The file is empty if the process was killed before it had written its start time."""
    folder, switch = tmp_path / "holds", tmp_path / "ip_forward"
    switch.write_text("0")
    ended = subprocess.Popen(["true"])
    ended.wait()
    forwarding.hold(ended.pid, folder, switch)
    (folder / str(ended.pid)).write_text(start_time)
    assert switch.read_text() == "1"
    assert len(forwarding.clean(folder, switch)) == 2  # the hold, and the setting
    assert switch.read_text() == "0"

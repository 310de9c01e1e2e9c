"""Failures of ``umts emulate`` before and while its command runs, and how they are reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import Umts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("may_emulate")]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("tcp_rmem=evil", "the kernel rejects this value"),
        ("tcp_none=1", "this kernel has no setting"),
        ("route.congctl=evil", "the kernel rejects such a route"),
    ],
)
def test_a_setting_that_the_kernel_rejects_is_reported_before_any_program_runs(
    umts: Umts, tmp_path: Path, setting: str, message: str
) -> None:
    done = umts("emulate", "--tcp-set", setting, "--", "touch", "ran", status=2)
    assert f"umts: {setting}: {message}" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert list((tmp_path / "results" / "runs").iterdir()) == []


def test_the_removal_of_a_device_by_a_program_is_reported(umts: Umts) -> None:
    if shutil.which("ip") is None:
        pytest.skip("it takes ip")
    done = umts("emulate", "-q", "--", "sh", "-c", "ip link del umts0; sleep 0.3")
    assert done.stderr == "umts: a program has removed the device umts0: its host has no network any more\n"


DOWNLOAD = "curl -s http://a.example/bytes/600000 | wc -c"
"""Downloads 600,000 bytes. The capture does not fit on the small disk of 1 MB beside other files."""


def test_a_full_disk_loses_only_files_that_do_not_fit(umts: Umts, small_disk: Path) -> None:
    out = small_disk / "results"
    options = ("--bearer", "flat:wpt-3g-fast", "--pcap", "--record", "--series", "--json", "--out", out)
    done = umts("emulate", *options, "--", "sh", "-c", DOWNLOAD, status=125)
    assert "600000\n" in done.stderr
    assert "umts: cannot write the capture" in done.stderr
    assert "No space left on device" in done.stderr
    printed = json.loads(done.stdout)
    metrics = printed["runs"][0]["metrics"]
    # TCP metrics come from captures. Without captures only these metrics are unknown.
    assert (metrics["goodput_kbps"], metrics["tcp_retransmissions"]) == (None, None)
    assert metrics["sdu_delay_ms"] > 0
    # 415 segments carry 600,000 bytes, and at least every second one is acknowledged (RFC 5681
    # §4.2). The kernel may send more acknowledgments, but fewer when it is busy.
    assert printed["emulation"]["packets"]["packets_in"] >= 415 + 415 // 2
    assert len(printed["emulation"]["lost"]) == 1
    (run,) = (out / "runs").iterdir()
    assert list(run.rglob("*.tmp")) == [] == list(run.rglob("captures/*"))
    assert json.loads((run / "metrics.json").read_text()) == metrics
    assert umts("export", out, "--csv").stdout.count("\n") == 2  # The heading and the run.
    assert "every event was the same as in the emulation" in umts("replay", out).stdout


def test_results_are_printed_though_they_cannot_be_stored(umts: Umts, small_disk: Path) -> None:
    fill_disk = f"curl -s http://a.example/bytes/1000; cat /dev/zero > {small_disk}/rubbish"
    options = ("--bearer", "flat:wpt-3g-fast", "--json", "--out", small_disk / "results")
    done = umts("emulate", *options, "--", "sh", "-c", fill_disk, status=125)
    assert "umts: cannot store the results: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["emulation"]["packets"]["packets_out"] > 0
    assert list((small_disk / "results" / "runs").iterdir()) == []

"""What goes wrong with ``umts emulate``, before its command runs and meanwhile, and how it is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import Umts
from umtslab.emulate import machine

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _privileges() -> None:
    for what, answer, advice in machine.needs():
        if what in ("namespaces", "TUN devices") and answer != "yes":
            pytest.skip(f"this user may not emulate: {answer}; {advice}")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("tcp_rmem=evil", "the kernel does not take this value"),
        ("tcp_none=1", "this kernel has no variable"),
        ("route.congctl=evil", "the kernel takes no such route"),
    ],
)
def test_a_setting_that_the_kernel_does_not_take_is_told_before_anything_runs(
    umts: Umts, tmp_path: Path, setting: str, said: str
) -> None:
    done = umts("emulate", "--tcp-set", setting, "--", "touch", "ran", status=2)
    assert f"umts: {setting}: {said}" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert list((tmp_path / "results" / "runs").iterdir()) == []


def test_what_goes_wrong_meanwhile_is_told(umts: Umts) -> None:
    if shutil.which("ip") is None:
        pytest.skip("it takes ip")
    done = umts("emulate", "-q", "--", "sh", "-c", "ip link del umts0; sleep 0.3")
    assert done.stderr == "umts: a program has taken umts0 away: its host has no network any more\n"

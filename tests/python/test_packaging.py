"""Manual pages, completions, the Wireshark profile, the systemd unit and the container file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Umts
from umtslab.cli.parser import parser_of
from umtslab.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
RLC = PACKAGING / "wireshark" / "RLC"


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man") / "man1"
    subprocess.run([sys.executable, ROOT / "tools/man_pages.py", folder], check=True)
    return folder


def test_every_verb_has_a_manual_page(manual: Path) -> None:
    names = {file.name for file in manual.iterdir()}
    assert names == {"umts.1", *(f"umts-{verb}.1" for verb in VERBS)}


@pytest.mark.parametrize("verb", VERBS)
def test_a_manual_page_has_all_options(manual: Path, verb: str) -> None:
    text = (manual / f"umts-{verb}.1").read_text(encoding="utf-8").replace(r"\-", "-")
    for option in parser_of(verb)._option_string_actions:
        assert rf"\fB{option}\fR" in text


def test_manual_pages_are_valid(manual: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    for file in manual.iterdir():
        command = ["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), file.name


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_shells_accept_the_completions(umts: Umts, tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "completions"
    script.write_text(umts("completions", shell).stdout)
    subprocess.run([shell, "-n", script], check=True)


def test_the_profile_shows_the_columns_of_rlc(umts: Umts, tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    shutil.copytree(RLC, tmp_path / "wireshark" / "profiles" / "RLC")
    umts("run", ROOT / "scenarios/three-losses.toml", "--set", "radio.bler=0.1", "--pcap", "--out", "lossy")
    [capture] = tmp_path.glob("lossy/runs/*/captures/rlc-downlink-air.pcapng")
    environment = {**os.environ, "WIRESHARK_CONFIG_DIR": str(tmp_path / "wireshark")}

    def tshark(*words: str) -> list[str]:
        command = ["tshark", "-C", "RLC", "-r", str(capture), *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    first = next(line.split(maxsplit=4) for line in tshark("-c", "1"))
    assert first[2:4] == ["ue0", "0,1"]
    assert "AMD PDU 0, transmission 1" in first[4]
    assert any("Acknowledgement" in line for line in tshark("-c", "40"))
    rules = re.findall(r"^@([^@]+)@([^@]+)@", (RLC / "colorfilters").read_text(), re.MULTILINE)
    assert [name for name, _ in rules] == ["Lost block", "RESET", "STATUS", "Poll"]
    for name, expression in rules:
        matching = tshark("-Y", expression)
        assert matching or name == "RESET"


def test_the_systemd_unit_is_valid(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    text = (PACKAGING / "umts-proxy.service").read_text().replace("/usr/local/bin/umts", "/bin/true")
    unit = tmp_path / "umts-proxy.service"
    unit.write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_container_has_an_unprivileged_user_and_existing_files() -> None:
    lines = (PACKAGING / "Containerfile").read_text().splitlines()
    assert lines.index("USER umts") < lines.index('ENTRYPOINT ["umts"]')
    copied = [line.split()[1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    assert all((ROOT / name).exists() for name in copied)

"""The commands of docs/guide.md, run in order, print the output on the page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from quoted import ROOT, User, missing, quoted_blocks
from umtslab import Scenario

DOCS = ROOT / "docs"
GUIDE = (DOCS / "guide.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    """A user with a capture of sixteen connections, the file ``trace.pcapng`` of the page."""
    user = User(tmp_path_factory.mktemp("guide"))
    user.run('umts run scenarios/ftp-fach-dch.toml --duration "40 s" --pcap --out mine')
    [capture] = user.folder.glob("mine/runs/*/captures/server.pcapng")
    shutil.copy(capture, user.folder / "trace.pcapng")
    return user


def test_the_commands_work_and_print_the_output_on_the_page(user: User) -> None:
    run_count = 0
    for block in quoted_blocks("docs/guide.md"):
        for line in block.commands:
            if not line.startswith("wireshark") or shutil.which("tshark"):
                printed = user.run(line)
                run_count += 1
        assert block.output is None or missing(block.output, printed) is None, f"{block.commands}\n{printed}"
    # The page has 20 commands, two of them with wireshark, for which tshark stands.
    assert run_count == (20 if shutil.which("tshark") else 18)


@pytest.mark.parametrize(
    "line", sorted(set(re.findall(r"`(umts (?:run|params|profiles|bearers|rrc|schema)[^`…]*)`", GUIDE)))
)
def test_commands_in_a_sentence_work(user: User, line: str) -> None:
    if line != "umts run":
        assert user.run(line)


@pytest.mark.parametrize("setting", re.findall(r"`--set (\S+)`", GUIDE))
def test_settings_in_a_sentence_are_accepted(setting: str) -> None:
    key, _, value = setting.partition("=")
    Scenario.load(ROOT / "scenarios/ftp-fach-dch.toml", {key: value})


def test_the_table_lists_exactly_the_existing_scenarios() -> None:
    listed = set(re.findall(r"^\| `([\w.-]+\.toml)`", GUIDE, re.MULTILINE))
    files = {file.name for file in (ROOT / "scenarios").glob("*.toml")}
    assert listed == {name for name in files if not name.endswith("-3gpp.toml")}
    assert {name.replace("-3gpp", "") for name in files} == listed


def test_the_scenarios_of_the_page_load(tmp_path: Path) -> None:
    for name in ("ftp-on-fach.toml", "ftp-on-fach-3gpp.toml"):
        shutil.copy(ROOT / "scenarios" / name, tmp_path)
    (tmp_path / "voice.txt").write_text("0.125 160 down\n")
    (tmp_path / "my_control.py").write_text(re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[0])
    extended, flows, control = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
    names = []
    for number, text in enumerate((extended, flows, f"{extended}\n{control}")):
        file = tmp_path / f"scenario-{number}.toml"
        file.write_text(text)
        names.append(Scenario.load(file).name)
    assert names == ["ftp-on-bad-fach", "pages-and-talk", "ftp-on-bad-fach"]


def test_the_congestion_control_of_the_page_runs(tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    class_code, usage_code = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    script = tmp_path / "mine.py"
    script.write_text(
        f"import umtslab\n{class_code}\nif __name__ == '__main__':\n"
        + "".join(f"    {line}\n" for line in usage_code.splitlines())
        + "    print(run.metrics['goodput_kbps'], scenario.name)\n"
    )
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("ftp-on-fach\n")


def test_the_script_draws_every_picture_of_the_pages(tmp_path: Path) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    used = set(re.findall(r"\]\(pictures/([\w.-]+)\)", pages))
    existing = {file.name for file in (DOCS / "pictures").glob("*.png")}
    assert used == existing
    script = (DOCS / "pictures" / "draw.py").read_text()
    assert set(re.findall(r'"([\w-]+\.png)"', script)) == existing
    done = subprocess.run(
        [sys.executable, DOCS / "pictures" / "draw.py", "--into", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert {file.name for file in tmp_path.glob("*.png")} == existing

"""Scenarios that name Python files run code, so the command refuses them without `--allow-code`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Umts
from umtslab import Scenario, simulate
from umtslab.cli import main
from umtslab.scenario import CodeNotAllowed, refuse_code

SCENARIO = """
version = 1
duration = "5 s"
[[ue]]
name = "user"
[[flow]]
ue = "user"
[tcp]
variant = "python"
python = "evil.py:Evil"
"""

EVIL = """
from pathlib import Path

Path("FOLDER/was here").touch()

from umtslab import CongestionControl

class Evil(CongestionControl):
    pass
"""

OPTIMISATION = """
version = 1
scenario = "evil.toml"
runs = 2
trials = 2
[parameters]
rlc.max_dat = { from = 2, to = 6 }
tcp.variant = { choices = ["python", "reno"] }
[objective]
metric = "goodput_kbps"
"""


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    """A folder with files of unknown origin: a scenario that names a Python file, campaigns, an optimisation.

    The Python file creates the file "was here" when it runs. "plain.toml" names it only in a comment,
    "named.toml" is a campaign that names it for "plain.toml".
    """
    (tmp_path / "evil.py").write_text(EVIL.replace("FOLDER", str(tmp_path)))
    (tmp_path / "evil.toml").write_text(SCENARIO)
    campaign_head = 'version = 1\nscenario = "evil.toml"\n'
    (tmp_path / "campaign.toml").write_text(f"{campaign_head}[grid]\nrlc.max_dat = [2, 3]\n")
    (tmp_path / "plain.toml").write_text(SCENARIO.replace('variant = "python"\npython', "# python"))
    names_code = '[set]\ntcp.variant = "python"\ntcp.python = "evil.py:Evil"\n[grid]\nrlc.max_dat = [2, 3]\n'
    (tmp_path / "named.toml").write_text(campaign_head.replace("evil.toml", "plain.toml") + names_code)
    (tmp_path / "best.toml").write_text(OPTIMISATION)
    return tmp_path


# Each command names the Python file, so it would run it.
COMMANDS = {
    "run": ("run", "evil.toml"),
    "run with a set": ("run", "evil.toml", "--set", "rlc.max_dat=3"),
    "run with the variant set": ("run", "evil.toml", "--set", "tcp.variant=python"),
    "sweep of a scenario": ("sweep", "evil.toml", "-P", "rlc.max_dat=2,3"),
    "sweep of a campaign": ("sweep", "campaign.toml"),
    "campaign that names it": ("sweep", "named.toml"),
    "campaign that names it, with a set": ("sweep", "named.toml", "--set", "duration=4 s"),
    "optimise": ("optimise", "best.toml"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_code_of_a_file_runs_only_if_allowed(
    case: str, evil: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(evil)
    assert main([*COMMANDS[case], "--quiet"]) == 2
    errors = capsys.readouterr().err
    assert "evil.py:Evil" in errors
    assert "--allow-code" in errors
    assert not (evil / "was here").exists()
    assert list((evil / "results" / "runs").glob("*")) == []


@pytest.mark.slow
def test_allowed_code_runs_and_the_stored_command_allows_it(umts: Umts, evil: Path) -> None:
    umts("run", evil / "evil.toml", "--allow-code", "--quiet")
    assert (evil / "was here").exists()
    command = umts("query", "select command from runs", "--json").stdout
    assert "--allow-code" in json.loads(command)[0]["command"]
    umts("sweep", evil / "campaign.toml", "--allow-code", "--quiet")


@pytest.mark.slow
def test_code_named_on_the_command_line_needs_no_permission(umts: Umts, evil: Path) -> None:
    options = ("--set", "tcp.variant=python", "--set", f"tcp.python={evil}/evil.py:Evil")
    umts("run", evil / "plain.toml", *options, "--quiet")
    umts("sweep", evil / "plain.toml", *options, "-P", "rlc.max_dat=2,3", "--quiet")
    command = json.loads(umts("query", "select command from runs", "--json").stdout)[0]["command"]
    assert "--allow-code" not in command


def test_a_python_program_may_simulate_a_scenario_that_names_code(evil: Path) -> None:
    """The check `refuse_code` is for the command. It allows code that an override names."""
    scenario = Scenario.load(evil / "evil.toml")
    simulate(scenario)
    with pytest.raises(CodeNotAllowed, match=r"evil\.py:Evil"):
        refuse_code(scenario)
    named_by_overrides = Scenario.load(
        evil / "plain.toml", {"tcp.variant": "python", "tcp.python": f"{evil}/evil.py:Evil"}
    )
    refuse_code(named_by_overrides)
    with pytest.raises(CodeNotAllowed):
        refuse_code(named_by_overrides, allow_in_overrides=False)

"""Shipped scenarios by their names."""

from pathlib import Path

import pytest
from quoted import ROOT
from umtslab import Scenario
from umtslab.shipped import scenario_path


def test_a_shipped_scenario_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Path(scenario_path("ftp-on-fach")) == ROOT / "scenarios/ftp-on-fach.toml"
    named, read = Scenario.load("ftp-on-fach"), Scenario.load(ROOT / "scenarios/ftp-on-fach.toml")
    assert named.to_json() == read.to_json()


def test_a_file_with_the_name_has_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ftp-on-fach").write_text("version = 1\n")
    assert scenario_path("ftp-on-fach") == "ftp-on-fach"


@pytest.mark.parametrize("path", ["ftp-on-fach.toml", "./ftp-on-fach", "no-such-scenario", "", "..", "a\0b"])
def test_other_paths_stay_as_they_are(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert scenario_path(path) == path

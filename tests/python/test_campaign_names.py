"""A campaign's name stands for one plan; nothing is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import FTP, Umts
from umtslab import Store, run_campaign
from umtslab.campaign import CampaignError, load_campaign
from umtslab.campaign.record import Record, load_record

SHORT = {"duration": "5 s"}


def swept(store: Store, **axes: list[str]) -> Record:
    """Two runs at each point of a grid."""
    keys = {key.replace("__", "."): values for key, values in axes.items()}
    plan = load_campaign(FTP).with_settings(SHORT.items()).with_parameters(keys)
    run_campaign(plan, store=store)
    return kept(store)


def kept(store: Store) -> Record:
    record = load_record(store, "ftp-on-fach-sweep")
    assert record is not None
    return record


def test_more_values_are_added_and_fewer_take_nothing_away(store: Store) -> None:
    assert len(swept(store, radio__bler=["0.1", "0.2"]).cells) == 2
    assert [cell.parameters["radio.bler"] for cell in swept(store, radio__bler=["0.3", "0.1"]).cells] == [
        "0.3",
        "0.1",
        "0.2",
    ]
    assert len(swept(store, radio__bler=["0.2"]).cells) == 3


def test_another_plan_is_refused_before_anything_is_run(store: Store) -> None:
    before = swept(store, radio__bler=["0.1"])
    count = len(store.runs())
    with pytest.raises(CampaignError, match=r"it varies radio\.bler, and this one rlc\.max_dat; .*--name"):
        swept(store, rlc__max_dat=["2"])
    longer = load_campaign(FTP).with_settings([("duration", "6 s")]).with_parameters({"radio.bler": ["0.1"]})
    with pytest.raises(CampaignError, match=r"what is set in it is another \(duration = 5 s\)"):
        run_campaign(longer, store=store)
    assert len(store.runs()) == count
    assert kept(store) == before


def test_a_file_and_the_command_line_name_the_same_points(store: Store, tmp_path: Path) -> None:
    swept(store, radio__bler=["0.1"])
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""version = 1
name = "ftp-on-fach-sweep"
scenario = "{FTP}"
set = {{ duration = "5 s" }}
grid.radio.bler = [0.10, 0.4]
"""
    )
    run_campaign(plan, store=store)
    assert [cell.parameters["radio.bler"] for cell in kept(store).cells] == [0.1, 0.4]


@pytest.mark.slow
def test_the_command_keeps_another_plan_under_another_name(umts: Umts) -> None:
    words = ("sweep", FTP, "--set", "duration=5 s", "-P")
    umts(*words, "radio.bler=0.1,0.2", "--runs", 2)
    told = umts(*words, "rlc.max_dat=2", status=2).stderr
    assert "has a campaign 'ftp-on-fach-sweep' of another plan" in told
    assert "of another plan" in umts(*words, "rlc.max_dat=2", "--plan", status=2).stderr
    umts(*words, "rlc.max_dat=2", "--name", "dats")
    assert "rlc.max_dat" in umts("export", "dats", "--csv").stdout
    fewer = umts(*words, "radio.bler=0.1", "--runs", 1)
    assert "ftp-on-fach-sweep has 4 runs at 2 points by now, these among them" in fewer.stderr
    assert len(umts("export", "ftp-on-fach-sweep", "--csv").stdout.splitlines()) == 5
    assert "without / and @" in umts(*words, "radio.bler=0.1", "--name", "a/b", status=2).stderr

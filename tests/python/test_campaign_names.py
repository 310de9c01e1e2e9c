"""A campaign's name belongs to one plan. A different plan does not replace it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import FTP, Umts
from umtslab import Store, run_campaign
from umtslab.campaign import CampaignError, load_campaign
from umtslab.campaign.file import name_of_keys
from umtslab.campaign.record import Record, load_record

SHORT = {"duration": "5 s"}


def swept(store: Store, **axes: list[str]) -> Record:
    """Run a sweep over a grid, without a name. Returns its record.

    ``radio__bler`` stands for the key ``radio.bler``.
    """
    keys = {key.replace("__", "."): values for key, values in axes.items()}
    plan = load_campaign(FTP).with_settings(SHORT.items()).with_parameters(keys)
    run_campaign(plan, store=store)
    return stored_record(store, plan.name)


def stored_record(store: Store, name: str = "ftp-on-fach-by-radio.bler") -> Record:
    """Return the record of a campaign."""
    record = load_record(store, name)
    assert record is not None
    return record


def test_more_values_add_points_and_fewer_remove_none(store: Store) -> None:
    assert len(swept(store, radio__bler=["0.1", "0.2"]).cells) == 2
    assert [cell.parameters["radio.bler"] for cell in swept(store, radio__bler=["0.3", "0.1"]).cells] == [
        "0.3",
        "0.1",
        "0.2",
    ]
    assert len(swept(store, radio__bler=["0.2"]).cells) == 3


def test_another_plan_is_refused_before_any_run(store: Store) -> None:
    before = swept(store, radio__bler=["0.1"])
    count = len(store.runs())
    named = replace(load_campaign(FTP), name=before.name, named=True)
    other = named.with_settings(SHORT.items()).with_parameters({"rlc.max_dat": ["2"]})
    with pytest.raises(
        CampaignError, match=r"it varies radio\.bler, and the new campaign varies rlc\.max_dat; .*--name"
    ):
        run_campaign(other, store=store)
    longer = named.with_settings([("duration", "6 s")]).with_parameters({"radio.bler": ["0.1"]})
    with pytest.raises(CampaignError, match=r"its constant settings differ \(duration = 5 s\)"):
        run_campaign(longer, store=store)
    assert len(store.runs()) == count
    assert stored_record(store) == before


def test_sweeps_without_a_name_do_not_collide(store: Store) -> None:
    first = swept(store, radio__bler=["0.1"])
    assert swept(store, rlc__max_dat=["2"]).name == "ftp-on-fach-by-rlc.max_dat"
    longer = load_campaign(FTP).with_settings([("duration", "6 s")]).with_parameters({"radio.bler": ["0.1"]})
    # A different plan gets a number, and the same plan gets its own name again.
    names = [run_campaign(longer, store=store).name for _ in range(2)]
    assert names == ["ftp-on-fach-by-radio.bler-2"] * 2
    another = load_campaign(FTP).with_settings([("duration", "7 s")]).with_parameters({"radio.bler": ["0.1"]})
    assert run_campaign(another, store=store).name == "ftp-on-fach-by-radio.bler-3"
    assert stored_record(store) == first


def test_names_of_many_keys_are_short_and_unique() -> None:
    names = {name_of_keys("s", [f"a.key.with.a.long.name.{n}" for n in range(count)]) for count in (30, 31)}
    assert len(names) == 2
    assert all(len(name) < 150 for name in names)
    assert name_of_keys("s", ["ue.a user/x@y.bearer"]) == "s-by-ue.a_user_x_y.bearer"


def test_a_file_and_the_command_line_name_the_same_points(store: Store, tmp_path: Path) -> None:
    swept(store, radio__bler=["0.1"])
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""version = 1
name = "ftp-on-fach-by-radio.bler"
scenario = "{FTP}"
set = {{ duration = "5 s" }}
grid.radio.bler = [0.10, 0.4]
"""
    )
    run_campaign(plan, store=store)
    assert [cell.parameters["radio.bler"] for cell in stored_record(store).cells] == [0.1, 0.4]


@pytest.mark.slow
def test_the_command_stores_each_plan_under_a_name_of_its_own(umts: Umts) -> None:
    words = ("sweep", FTP, "--set", "duration=5 s", "-P")
    umts(*words, "radio.bler=0.1,0.2", "--runs", 2)
    umts(*words, "rlc.max_dat=2", "--plan")
    umts(*words, "rlc.max_dat=2", "--name", "dats")
    refused = umts(*words, "rlc.max_dat=2", "--name", "ftp-on-fach-by-radio.bler", status=2)
    assert "has a campaign 'ftp-on-fach-by-radio.bler' with another plan" in refused.stderr
    assert "rlc.max_dat" in umts("export", "dats", "--csv").stdout
    fewer = umts(*words, "radio.bler=0.1", "--runs", 1)
    assert "ftp-on-fach-by-radio.bler now has 4 runs at 2 points, including these" in fewer.stderr
    assert len(umts("export", "ftp-on-fach-by-radio.bler", "--csv").stdout.splitlines()) == 5
    assert "without / and @" in umts(*words, "radio.bler=0.1", "--name", "a/b", status=2).stderr

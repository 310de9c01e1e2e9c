"""Limits on the size of campaigns and studies.

Points and runs are counted without listing them, so that a command with too many of them fails at
once, and `--plan` prints only the first points.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import FTP, Umts
from umtslab import Store, simulate
from umtslab.campaign import CampaignError, load_campaign
from umtslab.campaign.plan import plan
from umtslab.studies.sensitivity import load_sensitivity

CAMPAIGN = f"""
version = 1
scenario = "{FTP}"
runs = RUNS
[set]
duration = "10 s"
[grid]
radio.bler = [0.1, 0.3]
"""


def campaign(folder: Path, text: str) -> Path:
    """Write a campaign to ``large.toml``. Returns the file."""
    file = folder / "large.toml"
    file.write_text(text)
    return file


def test_a_plan_with_too_many_runs_is_counted_and_refused(umts: Umts, tmp_path: Path) -> None:
    # Four runs are stored: two at each of two points.
    campaign(tmp_path, CAMPAIGN.replace("RUNS", "2"))
    umts("sweep", "large.toml")
    campaign(tmp_path, CAMPAIGN.replace("RUNS", str(10**12)))
    done = umts("sweep", "large.toml", "--plan")
    assert "2 points, 1999999999996 runs missing" in done.stdout
    answer = json.loads(umts("sweep", "large.toml", "--plan", "--json").stdout)
    assert (answer["point_count"], answer["runs"]) == (2, 2 * 10**12)
    assert [point["missing"] for point in answer["points"]] == [10**12 - 2] * 2
    refused = umts("sweep", "large.toml", status=2)
    assert "2,000,000,000,000 runs exceed the limit of 10,000,000" in refused.stderr


def grid(folder: Path, where: str = "") -> Path:
    """Write a campaign of 250 * 400 * 40 * 3 = 12,000,000 points with 100,000 runs each."""
    axes = {
        "duration": [f"{number} s" for number in range(1, 251)],
        "radio.bler": [number / 1000 for number in range(1, 401)],
        "rlc.max_dat": list(range(1, 41)),
        "tcp.variant": ["reno", "tahoe", "newreno"],
    }
    listed = "\n".join(f"{key} = {json.dumps(values)}" for key, values in axes.items())
    return campaign(folder, f'version = 1\nscenario = "{FTP}"\nruns = 100000\n{where}\n[grid]\n{listed}\n')


def test_a_plan_of_many_points_shows_the_first(umts: Umts, tmp_path: Path) -> None:
    grid(tmp_path)
    done = umts("sweep", "large.toml", "--plan")
    # The heading, 100 points and the sum.
    assert len(done.stdout.splitlines()) == 1 + 100 + 1
    assert "the first 100 of 12000000 points, 1200000000000 runs missing" in done.stdout
    assert "12,000,000 points exceed the limit of 1,000,000" in umts("sweep", "large.toml", status=2).stderr


def test_a_plan_of_many_points_does_not_estimate_stored_runs(tmp_path: Path, store: Store) -> None:
    whole = plan(load_campaign(grid(tmp_path)), store)
    assert (whole.point_count, whole.runs, whole.missing) == (12_000_000, 12 * 10**11, None)
    assert {point.missing for point in whole.points} == {100_000}


def test_points_of_a_condition_are_not_counted_in_a_plan_of_many_points(tmp_path: Path, store: Store) -> None:
    part = plan(load_campaign(grid(tmp_path, 'where = "rlc.max_dat > 39"')), store)
    assert (part.point_count, part.runs, part.missing) == (None, None, None)
    assert {point.parameters["rlc.max_dat"] for point in part.points} == {40}
    with pytest.raises(CampaignError, match="excludes the first 100,000 of 12,000,000 points"):
        plan(load_campaign(grid(tmp_path, 'where = "rlc.max_dat > 40"')), store)


def test_a_condition_that_is_nested_too_deeply_is_refused(umts: Umts, tmp_path: Path) -> None:
    text = CAMPAIGN.replace("RUNS", "2")
    for count in (50_000, 2_000):
        campaign(tmp_path, text.replace("[set]", f'where = "{"not " * count}radio.bler > 0.2"\n[set]'))
        done = umts("sweep", "large.toml", "--plan", status=2)
        assert "large.toml:5: where = 'not not" in done.stderr
        assert len(done.stderr) < 500


def test_deeply_nested_lists_are_refused(umts: Umts, tmp_path: Path) -> None:
    campaign(tmp_path, "x = " + "[" * 100_000)
    assert "not valid TOML" in umts("sweep", "large.toml", status=2).stderr


@pytest.mark.parametrize("method", ["morris", "sobol"])
def test_a_study_of_too_many_points_is_refused_before_it_is_sampled(method: str, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f'version = 1\nscenario = "{FTP}"\nmethod = "{method}"\nsamples = {2**21}\n'
        'metrics = ["goodput_kbps"]\n'
        "[parameters]\nradio.bler = { from = 0.01, to = 0.3 }\nrlc.max_dat = { from = 1, to = 10 }\n"
    )
    with pytest.raises(CampaignError, match=r"study.toml:4: samples: 2,097,152 samples give"):
        load_sensitivity(study)


def test_runs_have_numbers_that_a_database_can_hold() -> None:
    with pytest.raises(ValueError, match=r"the run number 9223372036854775808 must be from 0 to 2\^63 - 1"):
        simulate(FTP, first_run=2**63)

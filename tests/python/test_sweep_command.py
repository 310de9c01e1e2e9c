"""``umts sweep``: equal results with any number of jobs, and use of the results."""

from __future__ import annotations

import csv
import io
import json
import shlex
from pathlib import Path

import pytest
from conftest import CAMPAIGN, DSCH, FTP, Umts, tree
from umtslab import open_store

pytestmark = pytest.mark.slow


@pytest.fixture
def campaign(tmp_path: Path) -> str:
    """The file name of a campaign with four points and three runs at each."""
    (tmp_path / "pair.toml").write_text(CAMPAIGN)
    return "pair.toml"


def test_one_and_two_jobs_give_the_same_bytes(campaign: str, umts: Umts, tmp_path: Path) -> None:
    with_one_job = umts("sweep", campaign, "--jobs", "1", "--out", "one", "--json")
    with_two_jobs = umts("sweep", campaign, "--jobs", "2", "--out", "two", "--json")
    assert json.loads(with_one_job.stdout)["points"] == json.loads(with_two_jobs.stdout)["points"]
    assert tree(tmp_path / "one/runs") == tree(tmp_path / "two/runs")
    assert tree(tmp_path / "one/campaigns") == tree(tmp_path / "two/campaigns")


def test_points_have_the_same_block_errors(campaign: str, umts: Umts) -> None:
    points = json.loads(umts("sweep", campaign, "--json").stdout)["points"]
    assert [[(run["seed"], run["run"]) for run in point["runs"]] for point in points] == [
        [(1, 0), (1, 1), (1, 2)]
    ] * 4
    # Points 1 and 3 have Reno and Tahoe with an error rate of 0.3. The same TTIs are lost for both if
    # both use them, so the shares of lost blocks are nearly equal.
    bler_pct = [[run["metrics"]["bler_pct"] for run in point["runs"]] for point in points]
    for reno, tahoe in zip(bler_pct[1], bler_pct[3], strict=True):
        assert reno == pytest.approx(tahoe, rel=0.02)


def test_only_missing_runs_are_simulated(campaign: str, umts: Umts) -> None:
    assert "4 points, 12 runs missing" in umts("sweep", campaign, "--plan").stdout
    umts("sweep", campaign, "-P", "radio.bler=0.1", "--jobs", "1")
    assert "4 points, 6 runs missing" in umts("sweep", campaign, "--plan").stdout
    assert "6 of these runs were already stored" in umts("sweep", campaign, "--jobs", "1").stderr
    assert "12 of these runs were already stored" in umts("sweep", campaign).stderr


def test_where_selects_points_of_a_campaign(campaign: str, umts: Umts) -> None:
    words = ("--where", "radio.bler < 0.2 and tcp.variant == 'reno'")
    assert " 3 runs missing" in umts("sweep", campaign, *words, "--plan").stdout
    umts("sweep", campaign, *words)
    assert "4 points, 9 runs missing" in umts("sweep", campaign, "--plan").stdout
    refused = umts("sweep", campaign, "--where", "rlc.max_dat == 2", "--plan", status=2)
    assert "rlc.max_dat is not varied: the campaign varies radio.bler, tcp.variant" in refused.stderr


def test_every_row_names_the_command_that_repeats_it(campaign: str, umts: Umts, tmp_path: Path) -> None:
    umts("sweep", campaign)
    rows = list(csv.DictReader(io.StringIO(umts("export", "pair", "--csv").stdout)))
    assert [(row["tcp.variant"], row["radio.bler"], row["run"]) for row in rows[2:5]] == [
        ("reno", "0.1", "2"),
        ("reno", "0.3", "0"),
        ("reno", "0.3", "1"),
    ]
    _, *words = shlex.split(rows[4]["command"])
    words[words.index("--out") + 1] = str(tmp_path / "repeated")
    umts(*words)
    with open_store(tmp_path / "repeated") as store:
        [run] = store.runs()
    assert run.key == rows[4]["key"]
    assert run.metrics["goodput_kbps"] == float(rows[4]["goodput_kbps"])


def test_a_campaign_is_exported_drawn_and_compared_by_name(campaign: str, umts: Umts, tmp_path: Path) -> None:
    umts("sweep", campaign)
    summary = umts("export", "pair", "--csv", "--table", "summary", "--metric", "goodput_kbps").stdout
    rows = list(csv.DictReader(io.StringIO(summary)))
    assert [(row["tcp.variant"], row["radio.bler"], row["n"]) for row in rows] == [
        ("reno", "0.1", "3"),
        ("reno", "0.3", "3"),
        ("tahoe", "0.1", "3"),
        ("tahoe", "0.3", "3"),
    ]
    umts("plot", "pair", "goodput_kbps", "-o", "figure.svg")
    svg = (tmp_path / "figure.svg").read_text()
    assert svg.startswith("<?xml")
    umts("plot", "pair", "goodput_kbps", "--over", "tcp.variant", "-o", "variants.png")
    words = ("compare", "pair@tcp.variant=reno", "pair@tcp.variant=tahoe", "--json")
    points = json.loads(umts(*words).stdout)["points"]
    assert [point["parameters"] for point in points] == [{"radio.bler": 0.1}, {"radio.bler": 0.3}]
    assert points[0]["pairs"] == 3
    means = {(row["tcp.variant"], row["radio.bler"]): float(row["mean"]) for row in rows}
    difference = means["tahoe", "0.1"] - means["reno", "0.1"]
    assert points[0]["goodput_kbps"]["difference"] == pytest.approx(difference)


def test_precision_stops_each_point_by_its_own_results(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "precise.toml").write_text(
        CAMPAIGN.replace("runs = 3", "[precision]\nrelative = '20%'\nleast = 3\nmost = 12")
    )
    with_one_job = umts("sweep", "precise.toml", "--jobs", "1", "--json", "--out", "one")
    with_two_jobs = umts("sweep", "precise.toml", "--jobs", "2", "--json", "--out", "two")
    plan = umts("sweep", "precise.toml", "--plan", "--out", "one").stdout
    assert "0 runs missing, and more until the precision is reached" in plan
    points = json.loads(with_one_job.stdout)["points"]
    assert points == json.loads(with_two_jobs.stdout)["points"]
    for point in points:
        summary = point["summary"]["goodput_kbps"]
        assert 3 <= len(point["runs"]) <= 12
        assert summary["ci95"] <= 0.2 * summary["mean"]


def test_a_missed_precision_is_reported(campaign: str, umts: Umts) -> None:
    words = ("sweep", campaign, "--precision", "0.01%", "-P", "radio.bler=0.3", "-P", "tcp.variant=reno")
    done = umts(*words, "--quiet", "--set", "duration=2 s", status=1)
    # 200 is the default maximum number of runs.
    assert "precision not reached after 200 runs at tcp.variant = reno, radio.bler = 0.3" in done.stderr


def test_a_scenario_file_is_varied_from_the_command_line(umts: Umts) -> None:
    done = umts("sweep", FTP, "-P", "radio.bler=0.1,0.2", "--set", "duration=5 s", "--json")
    printed = json.loads(done.stdout)
    assert printed["campaign"] == "ftp-on-fach-by-radio.bler"
    assert [point["parameters"] for point in printed["points"]] == [
        {"radio.bler": "0.1"},
        {"radio.bler": "0.2"},
    ]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [FTP, DSCH])
def test_dask_local_gives_the_same_runs(scenario: Path, umts: Umts, tmp_path: Path) -> None:
    one_second = ("--set", "duration=1 s", "--set", "measure.from=0 s")
    words = ("sweep", scenario, "-P", "rlc.max_dat=2,5", *one_second, "--json")
    local = umts(*words, "--dask", "local", "--out", "local").stdout
    assert json.loads(local) == json.loads(umts(*words, "--jobs", "1", "--out", "here").stdout)
    assert tree(tmp_path / "local" / "runs").keys() == tree(tmp_path / "here" / "runs").keys()

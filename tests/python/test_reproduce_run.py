"""A small document reproduced with real runs: scenario files, core, store, command."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from umtslab import ScenarioError
from umtslab.campaign.file import load_campaign
from umtslab.reproduce import reproduce, select
from umtslab.reproduce.as_campaign import as_campaign
from umtslab.reproduce.claims import papers
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.errors import UnknownSelection
from umtslab.reproduce.plan import Draw
from umtslab.reproduce.plan_file import plans
from umtslab.reproduce.report import to_json
from umtslab.reproduce.study import check_changes, run_plan, wanted_points
from umtslab.scenario import Scenario
from umtslab.store import open_store

ROOT = Path(__file__).parents[2]

PLAN = """
version = 1
title = "A minute of FTP over FACH"
claims = "small.ch1"
scenario = "ftp-on-fach.toml"
runs = 3
quick_runs = 2

[fixed]
scenario = "minute"

[defaults]
bler = 0.01
length = "minute"

[dimension.bler]
label = "Block error rate"
set = { "radio.bler" = "{}" }

[dimension.length.values]
minute = { set = { duration = "60 s" } }

[dimension.user]

[[metric]]
name = "window_vs_time"
series = "outstanding"

[[metric]]
name = "first_window"
expr = "first(mean_outstanding_segments)"

[[sweep]]
name = "errors"
feeds = ["fig1"]
grid = { bler = [0.01, 0.3] }
series = true

[[figure]]
id = "fig1"
kind = "time"
title = "Window"
y = ["window_vs_time"]
label = "Window (segments)"
curves = { bler = [0.01] }
at = { user = 1 }
window_s = 10
"""

LEDGER = """
[[claim]]
id = "small.ch1.fig1.falls"
where = "1"
statement = "Errors cost goodput."
kind = "trend"
metric = "goodput_kbps"
conditions = { scenario = "minute", vary = "bler" }
expected = "decreasing(bler)"
confidence = "stated"

[[claim]]
id = "small.ch1.fig1.rises"
where = "1"
statement = "Errors bring goodput."
kind = "trend"
metric = "goodput_kbps"
conditions = { scenario = "minute", vary = "bler" }
expected = "increasing(bler)"
confidence = "stated"

[[claim]]
id = "small.ch1.fig1.window"
where = "1"
statement = "The window is full at most."
kind = "bound"
metric = "first_window"
conditions = { scenario = "minute" }
expected = "first_window <= 20"
confidence = "stated"
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "reproductions" / "small").mkdir(parents=True)
    (tmp_path / "reproductions" / "small" / "ch1.toml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "reproductions" / "small" / "claims.toml").write_text(LEDGER, encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    shutil.copy(ROOT / "scenarios" / "ftp-on-fach.toml", tmp_path / "scenarios")
    return tmp_path


def test_scores_come_from_real_runs_and_do_not_depend_on_workers(data: Path, tmp_path: Path) -> None:
    parts = select(data / "reproductions", ["small"])
    found = []
    for jobs in (1, 2):
        with open_store(tmp_path / f"store{jobs}") as store:
            found.append(reproduce(parts, store=store, data=data, jobs=jobs))
    verdicts = {scored.claim.id.split(".")[-1]: scored.verdict for scored in found[0][0].scored}
    assert verdicts == {"falls": Verdict.PASS, "rises": Verdict.FAIL, "window": Verdict.PASS}
    first, second = (to_json(chapters, [], version="") for chapters in found)
    assert first == second
    assert len(found[0][0].figures[0].lines[0].dots) == 6


def test_only_missing_runs_are_simulated(data: Path, tmp_path: Path) -> None:
    (plan,) = plans(data / "reproductions", "small")
    counted = []
    with open_store(tmp_path / "store") as store:
        for quick in (True, False, False):
            wanted = wanted_points(plan, plan.sweeps, quick=quick)
            run_plan(plan, wanted, data / "scenarios", store=store, jobs=1)
            counted.append(len(store.runs()))
            stamps = {run.key: (store.path / "runs" / run.key).stat().st_mtime_ns for run in store.runs()}
    assert counted == [4, 6, 6]
    with open_store(tmp_path / "store") as store:
        again = {run.key: (store.path / "runs" / run.key).stat().st_mtime_ns for run in store.runs()}
    assert again == stamps


def test_settings_of_a_plan_apply_to_checks_and_draws(data: Path, tmp_path: Path) -> None:
    (plan,) = plans(data / "reproductions", "small")
    entry = wanted_points(plan, plan.sweeps, quick=True)[0]
    late = [("measure.from", "50 s"), ("duration", "55 s")]
    check_changes(plan, [entry], data / "scenarios", late)
    with pytest.raises(ScenarioError, match="end at 20 s"):
        check_changes(plan, [replace(entry, settings=(("measure.to", "20 s"),))], data / "scenarios", late)
    drawn = replace(entry, draw=Draw("errors", 100), settings=(("seed", "77"),))
    with open_store(tmp_path / "store") as store:
        results = run_plan(plan, [drawn], data / "scenarios", store=store, jobs=1)
        assert results._runs_at(entry.point)[0].seed == 77


@pytest.mark.parametrize("paper", ["baiocchi2002", "dubois2005"])
def test_every_point_of_the_project_s_plans_is_a_scenario(paper: str) -> None:
    for plan in plans(ROOT / "reproductions", paper):
        for wanted in wanted_points(plan, plan.sweeps, quick=False):
            name, overrides = plan.scenario_of(wanted.point)
            Scenario.load(ROOT / "scenarios" / name, overrides)


def test_the_model_refuses_everything_that_plans_call_missing() -> None:
    """A version that the model supports must not be listed as missing, or its claims stay open."""

    data = ROOT / "reproductions"
    for plan in (plan for paper in papers(data) for plan in plans(data, paper)):
        for dimension in plan.dimensions.values():
            for value in dimension.missing:
                point = {**plan.point({}), dimension.name: value}
                name, overrides = plan.scenario_of(point)
                with pytest.raises(ScenarioError):
                    Scenario.load(ROOT / "scenarios" / name, overrides)


def _command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import sys; from umtslab.cli import main; sys.exit(main())", *words]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "120"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_the_command_writes_pages_and_fails_with_a_failing_claim(data: Path) -> None:
    done = _command("reproduce", "small", "--quick", "--out", "made", cwd=data)
    assert done.returncode == 1, done.stderr
    assert "2 pass, 0 calibrated, 0 by construction, 1 fail" in done.stdout
    made = {path.name for path in (data / "made" / "small" / "ch1").iterdir()}
    assert made == {"README.md", "fig1.csv", "fig1.png"}


def test_a_change_is_drawn_beside_the_scored_result_and_changes_no_verdict(data: Path) -> None:
    plain = json.loads(_command("reproduce", "small", "--quick", "--json", "--out", "made", cwd=data).stdout)
    words = ("small", "--quick", "--out", "made", "--set", "tcp.variant=tahoe", "--set", "rlc.max_dat=1")
    changed = json.loads(_command("reproduce", *words, "--json", cwd=data).stdout)
    assert changed["chapters"][0]["change"] == "tcp.variant=tahoe, rlc.max_dat=1"
    assert changed["chapters"][0]["claims"] == plain["chapters"][0]["claims"]
    rows = list(csv.DictReader((data / "made/small/ch1/fig1.csv").read_text().splitlines()))
    by_change: dict[str, list[float]] = {}
    for row in rows:
        by_change.setdefault(row["change"], []).append(float(row["mean"]))
    assert list(map(len, by_change.values())) == [6, 6]
    assert by_change[""] != by_change["tcp.variant=tahoe, rlc.max_dat=1"]
    assert (
        "The figures also show the chapter with tcp.variant"
        in (data / "made/small/ch1/README.md").read_text()
    )


def test_verdicts_under_a_change_are_shown_beside_the_scored_ones(data: Path) -> None:
    words = ("reproduce", "small", "--quick", "--out", "made", "--set", "radio.bler=0.05")
    [chapter] = json.loads(_command(*words, "--json", cwd=data).stdout)["chapters"]
    assert {entry["id"]: entry["verdict"] for entry in chapter["changed"]} == {
        "small.ch1.fig1.falls": "fail",
        "small.ch1.fig1.rises": "fail",
        "small.ch1.fig1.window": "pass",
    }
    told = _command(*words, cwd=data).stdout
    assert "With radio.bler=0.05 1 of 3 verdicts would differ.\n  fig1.falls  pass -> fail\n" in told
    page = (data / "made/small/ch1/README.md").read_text()
    assert "1 of 3 verdicts would differ" in page
    assert "| `ch1.fig1.falls` | pass | fail |" in page
    report = (data / "made/report.html").read_text()
    assert "1 of 3 verdicts would differ" in report


def test_a_change_of_an_unknown_key_is_refused(data: Path) -> None:
    done = _command("reproduce", "small", "--set", "tcp.varient=tahoe", "--out", "made", cwd=data)
    assert (done.returncode, done.stdout) == (2, "")
    assert "variant" in done.stderr
    assert not list((data / "made").glob("store/runs/*"))


def test_a_figure_is_printed_as_a_campaign_for_sweep(data: Path) -> None:
    done = _command("reproduce", "small/fig1", "--campaign", "--quick", cwd=data)
    assert done.returncode == 0, done.stderr
    (data / "mine.toml").write_text(done.stdout, encoding="utf-8")
    campaign = load_campaign(data / "mine.toml")
    assert (campaign.runs, campaign.series, campaign.axes) == (2, True, ())
    assert campaign.settings == {"radio.bler": 0.01, "duration": "60 s"}
    planned = _command("sweep", "mine.toml", "-P", "tcp.variant=reno,tahoe", "--plan", cwd=data)
    assert planned.returncode == 0, planned.stderr
    assert not (data / "made").exists()


@pytest.mark.parametrize(
    ("figure", "points", "runs"),
    [("fig6_5", 22, 5), ("fig7_7", 300, 20), ("fig8_2", 400, 20), ("fig6_6", 33, 5)],
)
def test_campaigns_have_the_points_of_their_figure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, figure: str, points: int, runs: int
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [f"dubois2005/{figure}"]
    text = as_campaign(select(ROOT / "reproductions", words), words, ROOT, quick=False)
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    campaign = load_campaign(tmp_path / "mine.toml")
    assert (len(campaign.combinations()), campaign.runs) == (points, runs)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["dubois2005"], "one chapter or figure, not dubois2005/ch1"),
        (["dubois2005/tab5_1"], "it contains no run of a network"),
    ],
)
def test_figures_that_are_not_campaigns_are_refused(words: list[str], told: str) -> None:
    with pytest.raises(UnknownSelection, match=told):
        as_campaign(select(ROOT / "reproductions", words), words, ROOT, quick=False)


def test_json_is_one_object_and_nothing_else(data: Path) -> None:
    done = _command("reproduce", "small/fig1", "--quick", "--json", "--out", "made", cwd=data)
    found = json.loads(done.stdout)
    assert {verdict: count for verdict, count in found["summary"].items() if count} == {"pass": 2, "fail": 1}
    files = ["README.md", "fig1.csv", "fig1.png", "report.html"]
    assert [Path(name).name for name in found["files"]] == files


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["medium"], "small"),
        (["small/fig9"], "fig1"),
        (["small", "--jobs", "0"], "jobs"),
        (["small", "--font", "Nix"], "--font Nix: there is no font 'Nix' on this machine"),
        (["small", "--width", "3.5ft"], "--width takes a size with in, cm or mm"),
        (["small", "--campaign", "--set", "tcp.variant=reno"], "umts sweep FILE --set"),
    ],
)
def test_wrong_usage_is_status_2_and_runs_nothing(data: Path, words: list[str], told: str) -> None:
    done = _command("reproduce", *words, "--out", "made", cwd=data)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert not (data / "made").exists()

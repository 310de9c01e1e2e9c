"""``umts reproduce`` with real runs of a small document, and the plans of the project as scenarios.

The small document has one chapter with three claims about a minute of FTP over FACH, at two block
error rates. A quick reproduction makes four runs.
"""

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

CLAIMS = """
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
    """A folder with the small document and its scenario, in which the command runs."""
    (tmp_path / "reproductions" / "small").mkdir(parents=True)
    (tmp_path / "reproductions" / "small" / "ch1.toml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "reproductions" / "small" / "claims.toml").write_text(CLAIMS, encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    shutil.copy(ROOT / "scenarios" / "ftp-on-fach.toml", tmp_path / "scenarios")
    return tmp_path


def test_scores_come_from_real_runs_and_do_not_depend_on_workers(data: Path, tmp_path: Path) -> None:
    parts = select(data / "reproductions", ["small"])
    by_jobs = []
    for jobs in (1, 2):
        with open_store(tmp_path / f"store{jobs}") as store:
            by_jobs.append(reproduce(parts, store=store, data=data, jobs=jobs))
    (chapter,) = by_jobs[0]
    verdicts = {scored.claim.id.split(".")[-1]: scored.verdict for scored in chapter.scored}
    assert verdicts == {"falls": Verdict.PASS, "rises": Verdict.FAIL, "window": Verdict.PASS}
    one_worker, two_workers = (to_json(chapters, [], version="") for chapters in by_jobs)
    assert one_worker == two_workers
    # A minute in windows of 10 s.
    assert len(chapter.figures[0].lines[0].dots) == 6


def test_only_missing_runs_are_simulated(data: Path, tmp_path: Path) -> None:
    (plan,) = plans(data / "reproductions", "small")
    stamps_ns = []
    with open_store(tmp_path / "store") as store:
        for quick in (True, False, False):
            planned = wanted_points(plan, plan.sweeps, quick=quick)
            run_plan(plan, planned, data / "scenarios", store=store, jobs=1)
            stamps_ns.append(
                {run.key: (store.path / "runs" / run.key).stat().st_mtime_ns for run in store.runs()}
            )
    # Two points: two runs of each when quick, otherwise three. Stored runs are not written again.
    after_quick, after_full, after_second_full = stamps_ns
    assert (len(after_quick), len(after_full)) == (4, 6)
    assert after_quick.items() < after_full.items()
    assert after_second_full == after_full


def test_settings_of_a_plan_apply_to_checks_of_changes(data: Path) -> None:
    (plan,) = plans(data / "reproductions", "small")
    entry = wanted_points(plan, plan.sweeps, quick=True)[0]
    late = [("measure.from", "50 s"), ("duration", "55 s")]
    check_changes(plan, [entry], data / "scenarios", late)
    with pytest.raises(ScenarioError, match="end at 20 s"):
        check_changes(plan, [replace(entry, settings=(("measure.to", "20 s"),))], data / "scenarios", late)


def test_settings_of_a_plan_apply_to_draws_unless_the_point_sets_the_key(data: Path, tmp_path: Path) -> None:
    (plan,) = plans(data / "reproductions", "small")
    entry = wanted_points(plan, plan.sweeps, quick=True)[0]
    assert entry.point["bler"] == 0.01
    settings = (("seed", "77"), ("radio.bler", "0.9"))
    drawn = replace(entry, draw=Draw("errors", 10_000), settings=settings)
    with open_store(tmp_path / "store") as store:
        results = run_plan(plan, [drawn], data / "scenarios", store=store, jobs=1)
        run = results._runs_at(entry.point)[0]
    assert run.seed == 77
    assert run.metrics["bler_pct"] == pytest.approx(1, abs=0.5)


@pytest.mark.parametrize("paper", ["baiocchi2002", "dubois2005"])
def test_every_point_of_the_project_s_plans_is_a_scenario(paper: str) -> None:
    for plan in plans(ROOT / "reproductions", paper):
        for entry in wanted_points(plan, plan.sweeps, quick=False):
            name, overrides = plan.scenario_of(entry.point)
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
    """Run ``umts`` in a folder without a checkout, and return the finished process."""
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


def test_a_change_adds_curves_to_the_figures_and_changes_no_verdict(data: Path) -> None:
    plain = json.loads(_command("reproduce", "small", "--quick", "--json", "--out", "made", cwd=data).stdout)
    words = ("small", "--quick", "--out", "made", "--set", "tcp.variant=tahoe", "--set", "rlc.max_dat=1")
    changed = json.loads(_command("reproduce", *words, "--json", cwd=data).stdout)
    assert changed["chapters"][0]["change"] == "tcp.variant=tahoe, rlc.max_dat=1"
    assert changed["chapters"][0]["claims"] == plain["chapters"][0]["claims"]
    rows = list(csv.DictReader((data / "made/small/ch1/fig1.csv").read_text().splitlines()))
    by_change: dict[str, list[float]] = {}
    for row in rows:
        by_change.setdefault(row["change"], []).append(float(row["mean"]))
    # A minute in windows of 10 s, without and with the change.
    assert list(map(len, by_change.values())) == [6, 6]
    assert by_change[""] != by_change["tcp.variant=tahoe, rlc.max_dat=1"]
    assert (
        "The figures also show the chapter with tcp.variant"
        in (data / "made/small/ch1/README.md").read_text()
    )


def test_verdicts_that_a_change_would_alter_are_listed(data: Path) -> None:
    # With one block error rate for both points, goodput neither falls nor rises.
    words = ("reproduce", "small", "--quick", "--out", "made", "--set", "radio.bler=0.05")
    [chapter] = json.loads(_command(*words, "--json", cwd=data).stdout)["chapters"]
    assert {entry["id"]: entry["verdict"] for entry in chapter["changed"]} == {
        "small.ch1.fig1.falls": "fail",
        "small.ch1.fig1.rises": "fail",
        "small.ch1.fig1.window": "pass",
    }
    printed = _command(*words, cwd=data).stdout
    assert "With radio.bler=0.05 1 of 3 verdicts would differ.\n  fig1.falls  pass -> fail\n" in printed
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
    [
        ("fig6_5", 2 * 11, 5),  # TCP versions, error rates
        ("fig6_6", 3 * 11, 5),  # parts of the run, error rates
        ("fig7_7", 300, 20),  # all sets of parameters of chapter 7
        ("fig8_2", 400, 20),  # all sets of parameters of chapter 8
    ],
)
def test_campaigns_have_the_points_of_their_figure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, figure: str, points: int, runs: int
) -> None:
    monkeypatch.chdir(tmp_path)
    selection = [f"dubois2005/{figure}"]
    text = as_campaign(select(ROOT / "reproductions", selection), selection, ROOT, quick=False)
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    campaign = load_campaign(tmp_path / "mine.toml")
    assert (len(campaign.combinations()), campaign.runs) == (points, runs)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (["dubois2005"], "one chapter or figure, not dubois2005/ch1"),
        (["dubois2005/tab5_1"], "it contains no run of a network"),
    ],
)
def test_a_selection_that_is_not_one_campaign_is_refused(selection: list[str], message: str) -> None:
    with pytest.raises(UnknownSelection, match=message):
        as_campaign(select(ROOT / "reproductions", selection), selection, ROOT, quick=False)


def test_standard_output_with_json_is_one_object(data: Path) -> None:
    done = _command("reproduce", "small/fig1", "--quick", "--json", "--out", "made", cwd=data)
    report = json.loads(done.stdout)
    assert {verdict: count for verdict, count in report["summary"].items() if count} == {"pass": 2, "fail": 1}
    files = ["README.md", "fig1.csv", "fig1.png", "report.html"]
    assert [Path(name).name for name in report["files"]] == files


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["medium"], "small"),
        (["small/fig9"], "fig1"),
        (["small", "--jobs", "0"], "jobs"),
        (["small", "--font", "Nix"], "--font Nix: there is no font 'Nix' on this machine"),
        (["small", "--width", "3.5ft"], "--width takes a size with in, cm or mm"),
        (["small", "--campaign", "--set", "tcp.variant=reno"], "umts sweep FILE --set"),
    ],
)
def test_wrong_usage_exits_with_status_2_and_runs_nothing(data: Path, words: list[str], message: str) -> None:
    done = _command("reproduce", *words, "--out", "made", cwd=data)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (data / "made").exists()

"""Contents of the views of ``umts serve``: forms, lanes, trials, jobs, pages of runs."""

from __future__ import annotations

import html
import os
import shlex
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import FTP, Umts
from umtslab import Run, Scenario, open_store, simulate

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from umtslab.lanes import hues
from umtslab.page import run as run_page
from umtslab.page.causes import looks
from umtslab.page.stalls import stalls_of
from umtslab.serve import lanes as lane_rows
from umtslab.serve.form import FIRST_KEYS, form
from umtslab.serve.home import home
from umtslab.serve.jobs import _MAX_WAITING, Busy, Jobs, Report
from umtslab.serve.lanes import MAX_SHAPES, lanes
from umtslab.serve.models.lanes import Lanes
from umtslab.serve.models.scenarios import TryResult
from umtslab.serve.models.stalls import Chain
from umtslab.serve.reproductions import reproduction
from umtslab.serve.scenarios import Request, names
from umtslab.serve.settings import Settings
from umtslab.serve.try_it import tried
from umtslab.why import explain

SCENARIOS = FTP.parent
SHORT = ("duration", "20 s")


def attempt(
    *overrides: tuple[str, str], name: str = "ftp-on-fach", text: str | None = None
) -> dict[str, Any]:
    """Simulate a scenario once as the page "Try" does, and return the answer."""
    answer = tried(SCENARIOS, Request(name, text, overrides), allow_code=False)
    TryResult.model_validate(answer)
    return answer


@pytest.fixture(scope="module")
def switched_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Two runs whose users change between FACH and DCH, with series and budget."""
    folder = tmp_path_factory.mktemp("switched")
    scenario = Scenario.load(FTP.with_name("ftp-fach-dch.toml"), {"duration": "80 s", "measure.budget": True})
    with open_store(folder) as store:
        return list(simulate(scenario, runs=2, store=store, series=True))


# ── Home ────────────────────────────────────────────────────────────────────────────────────────────


def test_home_has_the_current_titles_of_the_scenarios(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "results", tmp_path, port=0)
    file = tmp_path / "mine.toml"
    for changed_s, text, title in (
        (1, 'title = "First"', "First"),
        (2, 'title = "Second"', "Second"),
        (3, "title =", ""),
    ):
        file.write_text(text)
        os.utime(file, (changed_s, changed_s))
        assert home(settings)["scenarios"] == [{"name": "mine", "title": title}]


# ── Forms ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", names(SCENARIOS))
def test_every_shipped_scenario_is_a_form_whose_keys_it_takes(name: str) -> None:
    scenario = Scenario.load(SCENARIOS / f"{name}.toml")
    keys = form(scenario)
    assert len(keys) > 50
    first = [key.key for key in keys if key.is_first]
    assert first == [name for name in FIRST_KEYS if name in first]
    for key in keys:
        # The value is one of the stops of the slider, if the key has a slider.
        assert key.value is None or not key.stops or key.value in key.stops
        assert key.help.endswith(".")


@pytest.mark.parametrize("name", ["ftp-on-fach", "ftp-fach-dch", "web-cell"])
def test_the_core_takes_every_stop_and_choice_of_the_first_keys(name: str) -> None:
    scenario = Scenario.load(SCENARIOS / f"{name}.toml")
    for key in (key for key in form(scenario) if key.is_first):
        for value in (*key.stops, *(choice.value for choice in key.choices), *key.words):
            scenario.with_overrides({key.key: value})


# ── Try it ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_trial_has_the_metrics_of_the_run() -> None:
    result = attempt(SHORT, ("radio.bler", "0.1"))["result"]
    overrides = {"duration": "20 s", "radio.bler": "0.1", "measure.budget": True}
    [run] = simulate(Scenario.load(FTP, overrides))
    for metric in result["metrics"]:
        assert metric["value"] == run.metrics[metric["name"]]
    acknowledged = result["acknowledged"]["kilobytes"]
    assert acknowledged == sorted(acknowledged)
    # Kilobytes in 20 s as kbit/s
    assert acknowledged[-1] * 8 / 20 == pytest.approx(run.metrics["goodput_kbps"], rel=0.02)
    assert len(result["timeouts_s"]) == run.metrics["rto_count"]
    assert sum(part["share_pct"] for part in result["budget"]) == pytest.approx(100)


def test_the_command_of_a_trial_names_the_file() -> None:
    words = shlex.split(attempt(SHORT)["result"]["command"])
    assert words[:2] == ["umts", "run"]
    assert Path(words[2]).samefile(FTP)
    assert words[3:] == ["--set", "duration=20 s", "--budget", "--series"]


def test_mistakes_have_keys_lines_and_repairs() -> None:
    [mistake] = attempt(SHORT, ("rlc.timer_poll", "170"))["mistakes"]
    assert (mistake["key"], mistake["line"], mistake["repair"]) == ("rlc.timer_poll", None, "170 ms")
    [mistake] = attempt(SHORT, ("tcp.variant", "newrenno"))["mistakes"]
    assert (mistake["key"], mistake["repair"]) == ("tcp.variant", "newreno")
    text = FTP.read_text().replace('duration = "1500 s"', 'duration = "1500"')
    [mistake] = attempt(text=text)["mistakes"]
    assert mistake["line"] == text.splitlines().index('duration = "1500"') + 1
    [mistake] = attempt(text="version = \n")["mistakes"]
    assert (mistake["key"], mistake["line"]) == (None, 1)
    [mistake] = attempt(name="no-such")["mistakes"]
    assert "no scenario of this name" in mistake["message"]


# ── Lanes ───────────────────────────────────────────────────────────────────────────────────────────


def seconds(pieces: list[dict[str, Any]]) -> dict[str, float]:
    """Return the time of each cause or state."""
    sums: dict[str, float] = {}
    for piece in pieces:
        time_s = (piece["to_s"] - piece["from_s"]) * piece["share"]
        sums[piece["what"]] = sums.get(piece["what"], 0.0) + time_s
    return sums


def test_lanes_have_the_time_of_the_budget(switched_runs: list[Run]) -> None:
    run = switched_runs[0]
    drawn = lanes(run)
    assert drawn is not None
    Lanes.model_validate(drawn)
    sums: dict[str, float] = {}
    for row in drawn["rows"]:
        for cause, time_s in seconds(row["causes"]).items():
            sums[cause] = sums.get(cause, 0.0) + time_s
    for cause, time_s in sums.items():
        assert time_s == pytest.approx(run.metrics[f"budget_{cause}_s"], rel=1e-6)
    assert sum(len(row["timeouts"]) for row in drawn["rows"]) == len(run.series("budget_rtos"))


def test_cells_have_the_same_time_as_the_intervals(
    switched_runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = switched_runs
    with_intervals = lanes(run)
    monkeypatch.setattr(lane_rows, "MAX_SHAPES", 200)
    with_cells = lanes(run)
    assert with_intervals is not None
    assert with_cells is not None
    cell_s = with_cells["cells_s"]
    assert cell_s is not None
    for exact, row in zip(with_intervals["rows"], with_cells["rows"], strict=True):
        for cause, time_s in seconds(exact["causes"]).items():
            # A cell can end beyond the drawn time, so its share counts, not its drawn length.
            in_cells = sum(piece["share"] * cell_s for piece in row["causes"] if piece["what"] == cause)
            assert in_cells == pytest.approx(time_s, rel=1e-6)
        assert all(piece["base"] + piece["share"] <= 1 + 1e-9 for piece in row["causes"])


def test_lanes_of_a_crowd_stay_drawable(tmp_path: Path) -> None:
    overrides = {"duration": "200 s", "measure.budget": True}
    scenario = Scenario.load(FTP.with_name("twenty-on-dch-64.toml"), overrides)
    with open_store(tmp_path) as store:
        [run] = simulate(scenario, store=store, series=True)
    drawn = lanes(run)
    assert drawn is not None
    shapes = sum(len(row["causes"]) + len(row["states"]) + len(row["timeouts"]) for row in drawn["rows"])
    # `MAX_SHAPES` is a limit for the upper halves of the rows, where each cell has about four
    # causes. The states and timeouts, and cells with more causes, get another quarter.
    assert shapes <= MAX_SHAPES * 1.25, "at most 10,000 in a frame"


def test_idle_time_is_folded_and_nothing_else(switched_runs: list[Run]) -> None:
    run = switched_runs[0]
    drawn = lanes(run)
    assert drawn is not None
    spans = [(span["from_s"], span["to_s"]) for span in drawn["spans"]]
    assert spans == sorted(spans)
    assert any("s idle" in fold["text"] for fold in drawn["folds"])
    for row in drawn["rows"]:
        for piece in row["causes"]:
            assert any(start <= piece["from_s"] and piece["to_s"] <= end for start, end in spans)


def test_a_run_without_intervals_has_no_lanes(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        [run] = simulate(Scenario.load(FTP, {"duration": "5 s"}), store=store)
    assert lanes(run) is None


# ── Stalls ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with a timeline."""
    overrides = {"duration": "80 s", "measure.budget": True, "measure.timeline": True}
    with open_store(tmp_path_factory.mktemp("recorded")) as store:
        scenario = Scenario.load(FTP.with_name("ftp-fach-dch.toml"), overrides)
        [run] = simulate(scenario, store=store, series=True)
        return run


def common(row: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a row that `other` has, too."""
    return {name: row[name] for name in other}


def test_stalls_and_chains_equal_the_output_of_umts_why(recorded: Run) -> None:
    page, output = stalls_of(recorded), explain(recorded).as_dict()
    assert page is not None
    assert page["limit_s"] == output["stall_limit_s"]
    assert page["stall_count"] == len(output["stalls"]) == len(page["stalls"])
    assert page["event_count"] == len(output["chains"]) == len(page["events"])
    assert page["timeouts"] == sum(chain["kind"] == "rto" for chain in output["chains"])
    for row, stall in zip(page["stalls"], output["stalls"], strict=True):
        chain = stall.pop("chain")
        assert common(row, stall) == stall
        check_chain(row["chain"], chain)
        assert sum(part["seconds"] for part in row["parts"]) == pytest.approx(stall["length_s"])
        assert sum(part["share_pct"] for part in row["parts"]) == pytest.approx(100)
    for row, chain in zip(page["events"], output["chains"], strict=True):
        check_chain(row, chain)


def check_chain(row: dict[str, Any], chain: dict[str, Any]) -> None:
    """Check that a row of the page has the chain of the command's output."""
    Chain.model_validate(row)
    links = chain.pop("links")
    assert common(row, chain) == chain
    for row_link, link in zip(row["links"], links, strict=True):
        assert common(row_link, link) == link
        assert row_link["instant"] == f"{link['time_s']:.4f} s"
    assert [link["is_first_cause"] for link in row["links"]].index(True) == len(links) - 1


def test_the_file_of_a_run_has_its_stalls_or_the_command_that_records_them(
    recorded: Run, switched_runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_page, "figures", lambda run: iter([]))
    text = run_page.html(recorded, [recorded])
    for chain in explain(recorded).stall_chains:
        for link in chain.links:
            assert html.escape(link.text) in text
            assert html.escape(link.clause) in text
    assert "<script" not in text
    [plain, _] = switched_runs
    assert "timeline_segments" not in plain.series_kinds()
    text = run_page.html(plain, [plain])
    assert "This run recorded no timeline" in text
    assert html.escape(plain.command, quote=True).replace("&#x27;", "&#39;") + " --timeline" in text


# ── Runs as pages ───────────────────────────────────────────────────────────────────────────────────


def test_headlines_are_the_metrics_that_vary_with_their_interval(switched_runs: list[Run]) -> None:
    headlines = list(run_page.headlines(switched_runs[0], switched_runs))
    assert 0 < len(headlines) <= 8
    for headline in headlines:
        values = [run.metrics[headline["name"]] for run in switched_runs]
        assert values[0] != values[1]
        assert headline["value"] == values[0]
        # Of two runs, one is at the low end of the range and the other at the high end.
        assert headline["place"]["run"] in (0.0, 1.0)
        assert "±" in headline["interval"]


def test_a_page_beyond_its_limit_names_the_figures_it_left_out(
    switched_runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = switched_runs
    monkeypatch.setattr(run_page, "figures", lambda run: iter([{"name": "goodput", "shows": "x"}]))
    whole = run_page.html(run, switched_runs)
    assert "data:image/svg+xml" in whole
    monkeypatch.setattr(run_page, "_MAX_PAGE_BYTES", len(whole.encode()) - 10_000)
    small = run_page.html(run, switched_runs)
    assert "Left out, because the page would exceed 5 MB: goodput." in small
    assert len(small.encode()) <= len(whole.encode()) - 10_000


def test_umts_report_writes_the_page_of_a_run(umts: Umts) -> None:
    umts("run", FTP, "--duration", "5 s", "--out", "results")
    done = umts("report", "ftp-on-fach", "--out", "results")
    assert done.stdout.strip().startswith("results/reports/ftp-on-fach-")
    wrong = umts("report", "nothing", "--out", "results", status=2)
    assert "has no campaign 'nothing', nor a study or run" in wrong.stderr
    wrong = umts("report", "ftp-on-fach", "--out", "results", "--log", status=2)
    assert "ftp-on-fach is a run" in wrong.stderr


def test_every_cause_has_a_look_in_both_themes() -> None:
    for look in looks():
        assert look["hue"] in hues()
        assert "Time budget" not in look["label"]
    visible = [(look["hue"], look["hatch"]) for look in looks()]
    assert len(set(visible)) == len(visible), "no two causes look the same"


@pytest.mark.slow
def test_claims_have_their_verdicts_once_the_document_was_reproduced(umts: Umts, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "results", SCENARIOS, port=0)
    before = reproduction(settings, "dubois2005")
    assert before["has_verdicts"] is False
    assert {claim["verdict"] for claim in before["claims"]} == {"not scored"}
    umts("reproduce", "dubois2005/tab5_1", "--quick", "--out", tmp_path / "results/reproductions")
    after = reproduction(settings, "dubois2005")
    assert after["has_verdicts"]
    assert any(claim["verdict"] == "pass" and claim["ours"] for claim in after["claims"])


# ── Jobs ────────────────────────────────────────────────────────────────────────────────────────────


def finish(name: str, report: Report) -> str:
    report(0.5)
    return name


def hang(report: Report) -> str:
    time.sleep(3600)
    return "never"


def test_jobs_tell_of_each_change_and_can_be_stopped() -> None:
    changed = threading.Event()
    jobs = Jobs(changed.set)

    def state_of(number: int) -> str:
        while True:
            changed.wait(60)
            changed.clear()
            [job] = [job for job in jobs.states() if job.id == number]
            if job.state not in ("waiting", "running"):
                return job.state

    try:
        done = jobs.start("first", finish, "made")
        assert state_of(done.id) == "done"
        assert jobs.states()[0].result == "made"
        long = jobs.start("second", hang)
        jobs.stop(long.id)
        assert state_of(long.id) == "stopped"
        with pytest.raises(KeyError):
            jobs.stop(99)
        for _ in range(_MAX_WAITING):
            jobs.start("more", hang)
        with pytest.raises(Busy):
            jobs.start("too many", hang)
    finally:
        jobs.close()
    assert {job.state for job in jobs.states()[2:]} <= {"stopped", "waiting"}


def test_a_wrong_scenario_of_another_file_names_no_line_of_the_editor(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(FTP.read_text().replace('"1500 s"', '"1500"'))
    (tmp_path / "own.toml").write_text('version = 1\nextends = "base.toml"\n')
    answer = tried(tmp_path, Request("own", text=None, overrides=()), allow_code=False)
    assert answer["mistakes"]
    assert all(mistake["line"] is None for mistake in answer["mistakes"])

"""Claims about recorded series: counts, phases, DCH requests; and traffic drawn without a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from reproduce_synthetic import Synthetic, claim, plan_in
from umtslab import Scenario, simulate
from umtslab.reproduce import reproduce, select
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.counts import Count, SeriesRows
from umtslab.reproduce.errors import BadData, Missing
from umtslab.reproduce.phases import Phase, phases
from umtslab.reproduce.plan import Plan, key
from umtslab.reproduce.plan_file import load_plan, plans
from umtslab.reproduce.requests import Requests
from umtslab.reproduce.study import wanted_points
from umtslab.reproduce.verdict import score
from umtslab.run import Run
from umtslab.store import open_store

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "reproductions/dubois2005/examples"


def _table(columns: str, *rows: tuple[object, ...]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=columns.split(), orient="row")


STATES = _table(
    "time_s ue state towards",
    (0.0, 0, "CELL_FACH", ""), (0.0, 1, "CELL_FACH", ""),
    (1.0, 0, "CELL_FACH", "CELL_DCH"), (1.5, 0, "CELL_DCH", ""),
    (9.0, 0, "CELL_DCH", "CELL_FACH"), (9.0, 1, "CELL_FACH", "CELL_DCH"), (10.0, 1, "CELL_DCH", ""),
)  # fmt: skip
BUFFER = _table(
    "time_s ue direction octets",
    (0.9, 0, "downlink", 600.0), (1.2, 0, "downlink", 1600.0), (2.0, 0, "downlink", 0.0),
    (2.5, 0, "downlink", 1000.0), (3.0, 0, "downlink", 0.0), (8.0, 0, "uplink", 40.0),
)  # fmt: skip
PDUS = _table(
    "time_s ue kind",
    (0.95, 0, "amd"), (1.4, 1, "amd"), (1.6, 0, "amd"), (3.0, 0, "amd"), (3.01, 0, "status"),
)  # fmt: skip
REQUESTS = _table(
    "time_s ue again answer",
    (1.0, 0, False, "granted"), (4.0, 1, False, "refused"), (4.9, 1, True, "refused"),
    (9.0, 1, True, "granted after a release"),
)  # fmt: skip
TABLES = {"rrc_state": STATES, "rlc_buffer": BUFFER, "rlc_pdus": PDUS, "dch_requests": REQUESTS}


@pytest.fixture(scope="module")
def made() -> Run:
    return simulate(Scenario.load(EXAMPLES / "single-loss.toml", {"duration": "10 ms"}))[0]


def _run(made: Run, **tables: pl.DataFrame) -> Run:
    return Run(made.scenario, made.identity, {}, 0, 20.0, tables={**TABLES, **tables})


SWITCHING = SeriesRows("rrc_state", {"towards": "CELL_DCH"})


@pytest.mark.parametrize(
    ("count", "number"),
    [
        (Count("rlc_pdus", {}, "number"), 5),
        (Count("rlc_pdus", {"kind": "amd"}, "number"), 4),
        (Count("rlc_buffer", {"direction": "downlink"}, "least", "time_s", at_least={"octets": 1000}), 1.2),
        (Count("rlc_buffer", {"direction": "downlink"}, "least", "time_s", at_least={"octets": 9000}), None),
        (Count("rlc_pdus", {}, "number", during=SWITCHING), 0),
        (Count("rlc_pdus", {}, "number", during=SeriesRows("rrc_state", {"state": "CELL_DCH"})), 3),
        (Count("rlc_pdus", {}, "number", during=SeriesRows("rrc_state", {"state": "CELL_PCH"})), 0),
        (Count("rlc_pdus", {}, "least_gap", "time_s"), 0.01),
        (Count("rrc_state", {}, "most_with_equal", columns=("time_s",)), 2),
        (Count("rrc_state", {}, "most_with_equal", columns=("time_s", "ue")), 1),
        (Count("rlc_pdus", {"kind": "poll"}, "most_with_equal", columns=("ue",)), 0),
        (Count("rlc_pdus", {"kind": "status"}, "least_gap", "time_s"), None),
        (Count("rlc_buffer", {"direction": "downlink"}, "most", "octets"), 1600),
        (Count("rlc_buffer", {"direction": "downlink"}, "least", "octets"), 0),
        (
            Count("rlc_buffer", {}, "most", "octets", since=SeriesRows("rrc_state", {"state": "CELL_DCH"})),
            1000,
        ),
        (Count("rlc_buffer", {}, "at", "octets", since=SeriesRows("rrc_state", {"state": "CELL_DCH"})), 1600),
        (Count("rlc_buffer", {}, "at", "octets", since=SeriesRows("rrc_state", {"state": "CELL_PCH"})), None),
    ],
)
def test_counts_use_the_selected_rows(made: Run, count: Count, number: float) -> None:
    assert count.value(_run(made)) == number


def test_missing_columns_and_series_are_named(made: Run) -> None:
    with pytest.raises(BadData, match="rlc_buffer has no column 'colour'; it has time_s"):
        Count("rlc_buffer", {"colour": "red"}, "number").value(_run(made))
    with pytest.raises(Missing, match="no cwnd: series = true"):
        Count("cwnd", {}, "number").value(_run(made))


def test_a_count_needs_exactly_one_method(tmp_path: Path) -> None:
    path = tmp_path / "paper" / "ch1.toml"
    path.parent.mkdir()
    text = plan_text() + '\n[count.both]\nnumber = true\nmost = "sn"\n'
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadData, match="needs one of most, least, least_gap, most_with_equal, number and at"):
        load_plan(path)


def test_a_quick_run_has_other_scenario_keys_where_a_point_sets_none(tmp_path: Path) -> None:
    path = tmp_path / "paper" / "ch1.toml"
    path.parent.mkdir()
    shorter = 'set = { "radio.bler" = "0.9", duration = "90 s" }\nquick_set = { duration = "20 s" }\nhonest ='
    path.write_text(plan_text().replace("honest =", shorter, 1), encoding="utf-8")
    plan = load_plan(path)
    full = {entry.settings for entry in wanted_points(plan, plan.sweeps, quick=False)}
    assert full == {(("radio.bler", "0.9"), ("duration", "90 s"))}
    quick = {entry.settings for entry in wanted_points(plan, plan.sweeps, quick=True)}
    assert quick == {(("radio.bler", "0.9"), ("duration", "20 s"))}
    # Each point of the test plan sets its own BLER. The later setting takes precedence.
    assert dict([*quick.pop(), *plan.scenario_of(plan.point({}))[1]])["radio.bler"] == "0.01"


def plan_text() -> str:
    from reproduce_synthetic import PLAN

    return PLAN


def test_a_transfer_has_its_phases(made: Run) -> None:
    words = [Phase("fach", 0.0, 1.0), Phase("switching", 1.0, 1.5), Phase("dch_active", 1.5, 3.0)]
    assert phases(_run(made)) == [*words, Phase("dch_idle", 3.0, 9.0)]


def test_data_during_the_switch_and_a_busy_dch_are_phases(made: Run) -> None:
    falls = BUFFER.with_columns(octets=pl.when(pl.col("time_s") == 1.2).then(0.0).otherwise("octets"))
    assert phases(_run(made, rlc_buffer=falls))[1].name == "switching with data"
    busy = BUFFER.filter(pl.col("time_s") != 3.0)
    assert [phase.name for phase in phases(_run(made, rlc_buffer=busy))][2:] == ["dch_active"]
    with pytest.raises(Missing, match="no DCH was released"):
        phases(_run(made, rrc_state=STATES.head(4)))


@pytest.mark.parametrize(
    ("after", "until", "words"),
    [(0, 2, "false"), (2, 8, "true"), (6.5, 9, ""), (0, 8, "1 granted after a release, 2 refused")],
)
def test_requests_are_selected_by_the_idle_time_of_the_holder(
    made: Run, after: float, until: float, words: str
) -> None:
    # The holder's last PDU left at 3.01 s: 0.99, 1.89 and 5.99 s before the requests.
    assert Requests(after, until).summary(_run(made)) == words


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_in(tmp_path)


def test_phases_and_answers_are_scored_run_by_run(plan: Plan) -> None:
    results = Synthetic(plan, {})
    metric = replace(plan.metric("buffer", {}), phases=True)
    asked = replace(plan.metric("granted", {}), requests=Requests(0, 1))
    plan = replace(plan, metrics=(metric, asked))
    stated = claim("trend", "phases(fach, switching)", "buffer")
    results.transfers = [[Phase("fach", 0, 1), Phase("switching", 1, 2)]] * 2
    found = score(stated, plan, results)
    assert (found.verdict, [str(reading) for reading in found.ours][1]) == (
        Verdict.PASS,
        "switching (s): 1 ± 0",
    )
    results.transfers[1] = [Phase("fach", 0, 1)]
    found = score(stated, plan, results)
    assert (found.verdict, found.detail) == (Verdict.FAIL, "1 of 2 runs have fach")
    results.said = ["true", "true"]
    assert score(claim("value", "true", "granted"), plan, results).verdict is Verdict.PASS
    results.said = ["true", ""]
    found = score(claim("value", "true", "granted"), plan, results)
    assert (found.verdict, found.detail) == (Verdict.FAIL, "1 of 2 runs say 'nothing'")


def test_traffic_and_errors_can_be_drawn_without_a_network() -> None:
    web = Scenario.load(EXAMPLES / "web-generator.toml")
    drawn = web.draw_traffic(0, 5000)
    assert drawn["main_object_bytes_draws"] == 5000
    assert drawn["embedded_objects_per_page_max"] == 53
    assert drawn == web.draw_traffic(0, 5000, seed=web.seed)
    assert drawn != web.draw_traffic(0, 5000, run=1)
    lost = Scenario.load(EXAMPLES / "gilbert-channel.toml").draw_errors(200_000)
    assert lost["bler_pct"] == pytest.approx(5.5, abs=1)
    calls = Scenario.load(ROOT / "scenarios/dsch-5km.toml").draw_traffic(1, 5000)
    assert calls["packets_per_call_draws"] == 5000
    assert calls["call_rate_kbps"] == pytest.approx(24, rel=0.02)
    with pytest.raises(ValueError, match="flow 0 draws no traffic"):
        Scenario.load(EXAMPLES / "single-loss.toml").draw_traffic(0, 10)


def test_chapters_without_simulations_are_scored(tmp_path: Path) -> None:
    """The statements of the thesis about TCP and its Figures 5.1 and 5.2 hold in every run."""
    sure = ["ch3", "ch5/fig5_1", "ch5/fig5_2"]
    parts = select(ROOT / "reproductions", [f"dubois2005/{place}" for place in sure])
    with open_store(tmp_path / "store") as store:
        chapters = reproduce(parts, store=store, data=ROOT, quick=True, jobs=2)
    verdicts = {entry.claim.id: entry.verdict for chapter in chapters for entry in chapter.scored}
    assert len(verdicts) == 10
    assert set(verdicts.values()) == {Verdict.PASS}
    assert {data.figure.id for chapter in chapters for data in chapter.figures if data.is_drawn} == {
        "fig5_1", "fig5_2",
    }  # fmt: skip


def test_no_claim_of_the_thesis_is_without_a_plan() -> None:
    (part,) = select(ROOT / "reproductions", ["dubois2005"])
    assert (len(part.claims), part.open_claims()) == (260, [])


@pytest.mark.parametrize("quick", [True, False])
def test_chapter_9_takes_the_runs_of_chapters_7_and_8(quick: bool) -> None:
    found = {plan.name: plan for plan in plans(ROOT / "reproductions", "dubois2005")}

    def hashes(*names: str) -> set[str]:
        return {
            Scenario.load(ROOT / "scenarios" / name, overrides).content_hash
            for plan in (found[name] for name in names)
            for entry in wanted_points(plan, plan.sweeps, quick=quick)
            for name, overrides in [plan.scenario_of(entry.point)]
        }

    assert hashes("ch9") <= hashes("ch7", "ch8")
    assert len(hashes("ch9")) == (52 if quick else 700)


def test_a_missing_secondary_reading_does_not_open_a_claim(plan: Plan) -> None:
    stated = claim("value", 1.01, tolerance=0.1, part=2)
    assert [reading.label for reading in score(stated, plan, Synthetic.anything(plan)).alternatives] == [
        "phase alone"
    ]
    whole = Synthetic.anything(plan, only={key(plan.point({"part": "whole"}))})
    found = score(stated, plan, whole)
    assert (found.verdict, found.alternatives) == (Verdict.PASS, ())

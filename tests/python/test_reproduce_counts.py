"""Claims of ``umts reproduce`` about recorded series, and random traffic that is drawn without a run.

A claim may count rows of a series, name the phases of a transfer, or name the answers to requests
for a DCH. The tables below are the series of one run of 20 s with two users. User 0 gets a DCH at 1.5 s and
keeps it until 9.0 s, though it sends nothing after 3.01 s. User 1 requests that DCH three times and
gets it at 9.0 s.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from reproduce_synthetic import PLAN, Synthetic, claim, plan_in, write_plan
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
def base_run() -> Run:
    """A run of 10 ms. The tests use only its scenario and identity."""
    return simulate(Scenario.load(EXAMPLES / "single-loss.toml", {"duration": "10 ms"}))[0]


def run_with(base_run: Run, **tables: pl.DataFrame) -> Run:
    """Return a run with the series `TABLES`, some of them replaced by `tables`."""
    return Run(
        base_run.scenario, base_run.identity, {}, events=0, duration_s=20.0, tables={**TABLES, **tables}
    )


SWITCHING = SeriesRows("rrc_state", {"towards": "CELL_DCH"})
ON_DCH = SeriesRows("rrc_state", {"state": "CELL_DCH"})
ON_PCH = SeriesRows("rrc_state", {"state": "CELL_PCH"})
"""Times at which a user is in a state. No user is ever in CELL_PCH."""

DOWNLINK = {"direction": "downlink"}


@pytest.mark.parametrize(
    ("count", "number"),
    [
        pytest.param(Count("rlc_pdus", {}, "number"), 5, id="all PDUs"),
        pytest.param(Count("rlc_pdus", {"kind": "amd"}, "number"), 4, id="all AMD PDUs"),
        pytest.param(Count("rlc_pdus", {}, "number", during=SWITCHING), 0, id="PDUs during a switch"),
        pytest.param(Count("rlc_pdus", {}, "number", during=ON_DCH), 3, id="PDUs on a DCH"),
        pytest.param(Count("rlc_pdus", {}, "number", during=ON_PCH), 0, id="PDUs in a state without users"),
        pytest.param(
            Count("rlc_buffer", DOWNLINK, "least", "time_s", at_least={"octets": 1000}),
            1.2,
            id="first time with 1,000 octets in the buffer",
        ),
        pytest.param(
            Count("rlc_buffer", DOWNLINK, "least", "time_s", at_least={"octets": 9000}),
            None,
            id="first time with more than was ever in the buffer",
        ),
        pytest.param(Count("rlc_buffer", DOWNLINK, "most", "octets"), 1600, id="fullest buffer"),
        pytest.param(Count("rlc_buffer", DOWNLINK, "least", "octets"), 0, id="emptiest buffer"),
        pytest.param(
            Count("rlc_buffer", {}, "most", "octets", since=ON_DCH),
            1000,
            id="fullest buffer since the first DCH",
        ),
        pytest.param(
            Count("rlc_buffer", {}, "at", "octets", since=ON_DCH),
            1600,
            id="buffer at the start of the first DCH",
        ),
        pytest.param(
            Count("rlc_buffer", {}, "at", "octets", since=ON_PCH),
            None,
            id="buffer at a start that never comes",
        ),
        pytest.param(Count("rlc_pdus", {}, "least_gap", "time_s"), 0.01, id="smallest gap between PDUs"),
        pytest.param(
            Count("rlc_pdus", {"kind": "status"}, "least_gap", "time_s"),
            None,
            id="smallest gap of a single PDU",
        ),
        pytest.param(
            Count("rrc_state", {}, "most_with_equal", columns=("time_s",)),
            2,
            id="most state changes at one time",
        ),
        pytest.param(
            Count("rrc_state", {}, "most_with_equal", columns=("time_s", "ue")),
            1,
            id="most state changes of one user at one time",
        ),
        pytest.param(
            Count("rlc_pdus", {"kind": "poll"}, "most_with_equal", columns=("ue",)), 0, id="most of no PDUs"
        ),
    ],
)
def test_counts_use_the_selected_rows(base_run: Run, count: Count, number: float | None) -> None:
    assert count.value(run_with(base_run)) == number


def test_missing_columns_and_series_are_named(base_run: Run) -> None:
    with pytest.raises(BadData, match="rlc_buffer has no column 'colour'; it has time_s"):
        Count("rlc_buffer", {"colour": "red"}, "number").value(run_with(base_run))
    with pytest.raises(Missing, match="no cwnd: series = true"):
        Count("cwnd", {}, "number").value(run_with(base_run))


def test_a_count_needs_exactly_one_method(tmp_path: Path) -> None:
    two_methods = '\n[count.both]\nnumber = true\nmost = "sn"\n'
    path = write_plan(tmp_path, PLAN + two_methods)
    with pytest.raises(BadData, match="needs one of most, least, least_gap, most_with_equal, number and at"):
        load_plan(path)


def test_quick_set_overrides_set(tmp_path: Path) -> None:
    """Both are scenario keys for all points of a plan. `quick_set` counts only with ``--quick``."""
    keys = 'set = { "radio.bler" = "0.9", duration = "90 s" }\nquick_set = { duration = "20 s" }\n'
    plan = load_plan(write_plan(tmp_path, PLAN.replace("runs = 5\n", "runs = 5\n" + keys, 1)))
    full = {entry.settings for entry in wanted_points(plan, plan.sweeps, quick=False)}
    assert full == {(("radio.bler", "0.9"), ("duration", "90 s"))}
    quick = {entry.settings for entry in wanted_points(plan, plan.sweeps, quick=True)}
    assert quick == {(("radio.bler", "0.9"), ("duration", "20 s"))}


def test_phases_follow_states_and_buffer(base_run: Run) -> None:
    assert phases(run_with(base_run)) == [
        Phase("fach", start_s=0.0, end_s=1.0),
        Phase("switching", start_s=1.0, end_s=1.5),
        Phase("dch_active", start_s=1.5, end_s=3.0),
        Phase("dch_idle", start_s=3.0, end_s=9.0),
    ]


def test_a_buffer_that_shrinks_during_the_switch_is_a_phase_with_data(base_run: Run) -> None:
    shrinking = BUFFER.with_columns(octets=pl.when(pl.col("time_s") == 1.2).then(0.0).otherwise("octets"))
    assert phases(run_with(base_run, rlc_buffer=shrinking))[1].name == "switching with data"


def test_a_dch_whose_buffer_never_empties_has_no_idle_phase(base_run: Run) -> None:
    busy = BUFFER.filter(pl.col("time_s") != 3.0)
    names = [phase.name for phase in phases(run_with(base_run, rlc_buffer=busy))]
    assert names == ["fach", "switching", "dch_active"]


def test_phases_need_the_release_of_a_dch(base_run: Run) -> None:
    until_the_dch = STATES.filter(pl.col("time_s") < 9.0)
    with pytest.raises(Missing, match="no DCH was released"):
        phases(run_with(base_run, rrc_state=until_the_dch))


@pytest.mark.parametrize(
    ("after_s", "until_s", "answer"),
    [
        pytest.param(0, 2, "false", id="two requests, both refused"),
        pytest.param(2, 8, "true", id="one request, granted"),
        pytest.param(6.5, 9, "", id="no request"),
        pytest.param(0, 8, "1 granted after a release, 2 refused", id="requests with different answers"),
    ],
)
def test_requests_are_selected_by_the_idle_time_of_the_holder(
    base_run: Run, after_s: float, until_s: float, answer: str
) -> None:
    # User 0, the holder, sent its last PDU at 3.01 s: 0.99, 1.89 and 5.99 s before the requests of
    # user 1.
    assert Requests(after_s, until_s).summary(run_with(base_run)) == answer


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_in(tmp_path)


def test_phases_must_be_equal_in_every_run(plan: Plan) -> None:
    plan = replace(plan, metrics=(replace(plan.metric("transfer", {}), phases=True),))
    stated = claim("trend", "phases(fach, switching)", "transfer")
    results = Synthetic(plan, {})
    results.transfers = [[Phase("fach", start_s=0, end_s=1), Phase("switching", start_s=1, end_s=2)]] * 2
    scored = score(stated, plan, results)
    assert scored.verdict is Verdict.PASS
    assert [str(reading) for reading in scored.ours] == ["fach (s): 1 ± 0", "switching (s): 1 ± 0"]
    results.transfers[1] = [Phase("fach", start_s=0, end_s=1)]
    scored = score(stated, plan, results)
    assert (scored.verdict, scored.detail) == (Verdict.FAIL, "1 of 2 runs have fach")


def test_answers_to_requests_must_be_equal_in_every_run(plan: Plan) -> None:
    plan = replace(
        plan, metrics=(replace(plan.metric("granted", {}), requests=Requests(after_s=0, until_s=1)),)
    )
    stated = claim("value", "true", "granted")
    results = Synthetic(plan, {})
    results.request_answers = ["true", "true"]
    assert score(stated, plan, results).verdict is Verdict.PASS
    # The second run has no request.
    results.request_answers = ["true", ""]
    scored = score(stated, plan, results)
    assert (scored.verdict, scored.detail) == (Verdict.FAIL, "1 of 2 runs say 'nothing'")


def test_traffic_is_drawn_without_a_network() -> None:
    web = Scenario.load(EXAMPLES / "web-generator.toml")
    pages = 5000
    drawn = web.draw_traffic(0, pages)
    # A page has one main object.
    assert drawn["main_object_bytes_draws"] == pages
    # Table 5.1 truncates the number of embedded objects at 53.
    assert drawn["embedded_objects_per_page_max"] == 53


def test_drawn_traffic_depends_on_seed_and_run_alone() -> None:
    web = Scenario.load(EXAMPLES / "web-generator.toml")
    drawn = web.draw_traffic(0, 100)
    assert drawn == web.draw_traffic(0, 100, seed=web.seed)
    assert drawn != web.draw_traffic(0, 100, run=1)


def test_drawn_packet_calls_have_the_rate_of_the_scenario() -> None:
    # The scenario's mean interval of 75.2 ms between packets of a call gives 24 kbit/s.
    calls = Scenario.load(ROOT / "scenarios/dsch-5km.toml").draw_traffic(1, 5000)
    assert calls["packets_per_call_draws"] == 5000
    assert calls["call_rate_kbps"] == pytest.approx(24, rel=0.02)


def test_block_errors_are_drawn_without_a_network() -> None:
    channel = Scenario.load(EXAMPLES / "gilbert-channel.toml")
    # Share of time in the bad state, in which all blocks are lost.
    bler = 0.0087 / (0.0087 + 0.1491)
    assert channel.draw_errors(200_000)["bler_pct"] == pytest.approx(100 * bler, abs=1)


def test_a_flow_without_random_traffic_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="flow 0 draws no traffic"):
        Scenario.load(EXAMPLES / "single-loss.toml").draw_traffic(0, 10)


def test_statements_and_worked_examples_of_the_thesis_about_tcp_hold(tmp_path: Path) -> None:
    """Chapter 3 is about TCP alone. Figures 5.1 and 5.2 show one transfer each."""
    places = ["ch3", "ch5/fig5_1", "ch5/fig5_2"]
    parts = select(ROOT / "reproductions", [f"dubois2005/{place}" for place in places])
    with open_store(tmp_path / "store") as store:
        chapters = reproduce(parts, store=store, data=ROOT, quick=True, jobs=2)
    verdicts = {entry.claim.id: entry.verdict for chapter in chapters for entry in chapter.scored}
    # Six claims of chapter 3, two of each figure.
    assert len(verdicts) == 10
    assert set(verdicts.values()) == {Verdict.PASS}
    assert {data.figure.id for chapter in chapters for data in chapter.figures if data.is_drawn} == {
        "fig5_1", "fig5_2",
    }  # fmt: skip


def test_no_claim_of_the_thesis_is_without_a_plan() -> None:
    (part,) = select(ROOT / "reproductions", ["dubois2005"])
    assert (len(part.claims), part.open_claims()) == (260, [])


@pytest.mark.parametrize("quick", [True, False])
def test_chapter_9_uses_the_runs_of_chapters_7_and_8(quick: bool) -> None:
    chapters = {plan.name: plan for plan in plans(ROOT / "reproductions", "dubois2005")}

    def hashes(*names: str) -> set[str]:
        """Return the content hashes of all scenarios of these chapters."""
        return {
            Scenario.load(ROOT / "scenarios" / file, overrides).content_hash
            for plan in (chapters[name] for name in names)
            for entry in wanted_points(plan, plan.sweeps, quick=quick)
            for file, overrides in [plan.scenario_of(entry.point)]
        }

    assert hashes("ch9") <= hashes("ch7", "ch8")
    # Points of the two sweeps "all sets of parameters", of chapters 7 and 8.
    assert len(hashes("ch9")) == (36 + 16 if quick else 300 + 400)


def test_a_claim_is_decided_although_its_second_interpretation_was_not_run(plan: Plan) -> None:
    """`PLAN` measures goodput of part 2 at the point "whole", and beside it at part 2 itself."""
    stated = claim("value", 1.01, tolerance=0.1, part=2)
    scored = score(stated, plan, Synthetic.anything(plan))
    assert [reading.label for reading in scored.alternatives] == ["phase alone"]
    only_whole = Synthetic.anything(plan, only={key(plan.point({"part": "whole"}))})
    scored = score(stated, plan, only_whole)
    assert (scored.verdict, scored.alternatives) == (Verdict.PASS, ())

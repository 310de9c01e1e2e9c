"""The claims and plans of the project: complete, valid, and consistent with each other.

A document has its claims in ``claims.toml``, and plans that say which runs decide them. Most tests
score all claims with synthetic results (`Synthetic.anything`): the verdict *not yet* then shows
that a plan lacks a rule or a point for a claim, and all other verdicts mean nothing.
"""

from __future__ import annotations

import fnmatch
import tomllib
from collections import Counter
from functools import cache, partial
from pathlib import Path

import pytest
from reproduce_synthetic import PLAN, Synthetic, plan_in, write_plan
from umtslab.quantity import quantity
from umtslab.reproduce.claims import Claim, load_claims, papers
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.errors import BadData, UnknownSelection
from umtslab.reproduce.plan import Plan, key
from umtslab.reproduce.plan_file import load_plan, plans
from umtslab.reproduce.reasons import Number
from umtslab.reproduce.selection import select
from umtslab.reproduce.study import check_changes, wanted_points
from umtslab.reproduce.verdict import score
from umtslab.scenario import Scenario

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2] / "reproductions"
SCENARIOS = ROOT.parent / "scenarios"
DOCUMENTS = [paper for paper in papers(ROOT) if paper != "cross-check"]
"""Published documents. The cross-check is not one: its claims compare the kernel's TCP with the
model's."""


@pytest.fixture(scope="module")
def ch6() -> Plan:
    return load_plan(ROOT / "dubois2005" / "ch6.toml")


@pytest.fixture(scope="module")
def claims() -> list[Claim]:
    """All claims of the thesis, in order."""
    return load_claims(ROOT, "dubois2005")


def test_every_claim_of_each_document_exists() -> None:
    # As many as were read from the documents: a claim that is lost fails this test.
    counts = {paper: len(load_claims(ROOT, paper)) for paper in DOCUMENTS}
    assert counts == {
        "baiocchi2002": 42,
        "dubois2005": 260,
        "hu-split": 30,
        "rendon2004": 118,
        "teyeb2005": 41,
    }
    assert len(load_claims(ROOT, "cross-check")) == 12
    kinds = Counter(claim.kind for paper in DOCUMENTS for claim in load_claims(ROOT, paper))
    assert kinds == {"value": 178, "trend": 131, "order": 113, "bound": 50, "ratio": 19}


def test_a_claim_has_the_values_of_the_document(claims: list[Claim]) -> None:
    claim = next(claim for claim in claims if claim.id == "dubois2005.ch6.fig6_4.reno-goodput-2users")
    assert (claim.expected, claim.tolerance, claim.confidence) == (25.76, 0.08, "stated")
    assert claim.places == ("ch6", "fig6_4")


def test_the_plan_covers_chapter_6(ch6: Plan, claims: list[Claim]) -> None:
    assert sum(ch6.covers(claim) for claim in claims) == 92


def test_every_claim_of_chapter_6_is_scored(ch6: Plan, claims: list[Claim]) -> None:
    results = Synthetic.anything(ch6)
    open_claims = {
        scored.claim.id: scored.detail
        for scored in (score(claim, ch6, results) for claim in claims if ch6.covers(claim))
        if scored.verdict is Verdict.NOT_YET
    }
    assert open_claims == {}


def results_at(plan: Plan, place: str, *, quick: bool) -> Synthetic:
    """Return synthetic results of the sweeps that feed a place of the document dubois2005."""
    (part,) = select(ROOT, [f"dubois2005/{place}"])
    return Synthetic.anything(
        plan, {key(entry.point) for entry in wanted_points(plan, part.sweeps(plan), quick=quick)}
    )


def test_every_place_has_the_sweeps_that_its_claims_need(ch6: Plan, claims: list[Claim]) -> None:
    """A claim that is scored with the points of all sweeps needs only sweeps that feed its place.

    A place is the figure, table or section in the claim's id.
    """
    everything = Synthetic.anything(ch6)
    all_quick = {key(entry.point) for entry in wanted_points(ch6, ch6.sweeps, quick=True)}
    everything_quick = Synthetic.anything(ch6, all_quick)

    fed = cache(partial(results_at, ch6))
    for claim in (claim for claim in claims if ch6.covers(claim)):
        place = claim.places[-1]
        is_open = score(claim, ch6, everything).verdict is Verdict.NOT_YET
        for results in (fed(place, quick=False), fed(place, quick=True), everything_quick):
            narrow = score(claim, ch6, results)
            assert (narrow.verdict is Verdict.NOT_YET) == is_open, f"{claim.id}: {narrow.detail}"


def test_every_download_of_teyeb_is_scored() -> None:
    plan = load_plan(ROOT / "teyeb2005" / "downloads.toml")
    results = Synthetic.anything(plan)
    covered = [claim for claim in load_claims(ROOT, "teyeb2005") if plan.covers(claim)]
    scores = [score(claim, plan, results) for claim in covered]
    assert len(scores) == 29
    assert [entry.detail for entry in scores if entry.verdict is Verdict.NOT_YET] == []
    name, _ = plan.scenario_of(plan.point({}))
    base = tomllib.loads((SCENARIOS / name).read_text(encoding="utf-8"))
    assert (base["rlc"]["max_dat"], base["flow"][0]["size"]) == (10, "100 KiB")


def test_each_claim_of_teyeb_is_covered_by_one_plan() -> None:
    claims = load_claims(ROOT, "teyeb2005")
    covering_plans = [sum(plan.covers(claim) for plan in plans(ROOT, "teyeb2005")) for claim in claims]
    assert covering_plans == [1] * len(claims)


WEB = {
    "ch7": (81, 2, ("Holma and Toskala",)),
    "ch8": (54, 1, ("Appendix A",)),
}
"""Chapters about web users: number of claims, number of claims without sufficient data in the
document, and words of the reasons for these."""


@pytest.mark.parametrize("name", WEB)
def test_claims_of_the_web_chapters_are_scored_or_name_the_missing_part(
    name: str, claims: list[Claim]
) -> None:
    plan = load_plan(ROOT / "dubois2005" / f"{name}.toml")
    covered = [claim for claim in claims if plan.covers(claim)]
    everything = Synthetic.anything(plan)
    open_claims = {
        claim.id: scored.detail
        for claim in covered
        if (scored := score(claim, plan, everything)).verdict is Verdict.NOT_YET
    }
    covered_count, open_count, reasons = WEB[name]
    assert (len(covered), len(open_claims)) == (covered_count, open_count)
    assert all(any(reason in detail for detail in open_claims.values()) for reason in reasons)
    fed = cache(partial(results_at, plan, quick=False))
    for claim in covered:
        narrow = score(claim, plan, fed(claim.places[-1]))
        assert (narrow.verdict is Verdict.NOT_YET) == (claim.id in open_claims), (
            f"{claim.id}: {narrow.detail}"
        )


@pytest.mark.parametrize("name", WEB)
def test_the_scenario_of_a_point_has_the_values_of_the_point(name: str) -> None:
    plan = load_plan(ROOT / "dubois2005" / f"{name}.toml")
    for entry in wanted_points(plan, plan.sweeps, quick=True):
        file, overrides = plan.scenario_of(entry.point)
        scenario = Scenario.load(SCENARIOS / file, overrides)
        assert scenario.duration_s == 4000.0
        written = tomllib.loads(scenario.to_toml())
        assert written["tcp"]["variant"] == entry.point["tcp"]
        if entry.point.get("channel") == "fach_only":
            assert written["rrc"]["upswitch_threshold"] == "off"
            continue
        threshold = quantity(written["rrc"]["upswitch_threshold"])
        assert threshold is not None
        assert threshold.base == float(entry.point["upswitch_bytes"])


def test_the_base_scenario_exists_and_has_the_defaults(ch6: Plan) -> None:
    name, overrides = ch6.scenario_of(ch6.point({}))
    assert name == "ftp-on-fach.toml"
    base = tomllib.loads((SCENARIOS / name).read_text(encoding="utf-8"))
    for dotted_key, value in overrides:
        table, name_in_table = dotted_key.split(".")
        assert str(base[table][name_in_table]) == value
    assert (base["duration"], base["cell"][0]["fach"]["rate"]) == ("1500 s", "32 kbit/s")


def test_conditions_become_overrides(ch6: Plan) -> None:
    point = ch6.point({"bler": 0.1, "maxdat": 2, "part": 2, "tcp": "tahoe", "accounting": "3gpp"})
    name, overrides = ch6.scenario_of(point)
    assert name == "ftp-on-fach-two-users-3gpp.toml"
    assert dict(overrides) == {
        "tcp.variant": "tahoe",
        "radio.bler": "0.1",
        "rlc.max_dat": "2",
        "measure.from": "1500 s",
        "tcp.advertised_window": "20 segments",
        "tcp.segment_payload": "1000 B",
    }


# ── Rules of the data ───────────────────────────────────────────────────────────────────────────────────────

ROW = """
[[claim]]
id = "paper.ch1.sec1.it"
where = "1"
statement = "It is so."
kind = "value"
metric = "goodput_kbps"
conditions = { scenario = "small" }
expected = 1
confidence = "stated"
"""


def with_claims(folder: Path, text: str) -> Path:
    """Write the claims of the document ``paper``. Returns the folder of the documents."""
    (folder / "paper").mkdir(exist_ok=True)
    (folder / "paper" / "claims.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW + ROW, "twice"),
        (ROW.replace("expected = 1", ""), "lacks the field expected"),
        (ROW + "wished = 2\n", "wished"),
        (ROW.replace('"value"', '"feeling"'), "feeling"),
        (ROW.replace('"stated"', '"sure"'), "sure"),
    ],
)
def test_invalid_claims_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadData, match=message):
        load_claims(with_claims(tmp_path, text), "paper")


def test_a_reason_needs_an_existing_claim_and_a_text(tmp_path: Path) -> None:
    root = with_claims(tmp_path, ROW)
    reasons = root / "paper" / "reasons.toml"
    reasons.write_text('[[reason]]\nclaims = ["paper.ch1.sec1.it"]\ntext = "Because."\n', encoding="utf-8")
    assert [str(reason) for reason in load_claims(root, "paper")[0].reasons] == ["Because."]
    reasons.write_text('[[reason]]\nclaims = ["paper.ch1.sec1.other"]\ntext = "Because."\n', encoding="utf-8")
    with pytest.raises(BadData, match="other"):
        load_claims(root, "paper")
    reasons.write_text('[[reason]]\nclaims = ["paper.ch1.sec1.it"]\n', encoding="utf-8")
    with pytest.raises(BadData, match="a reason lacks the field text"):
        load_claims(root, "paper")


def test_a_reason_names_its_commands_once(tmp_path: Path) -> None:
    root = with_claims(tmp_path, ROW)
    shown = '[[reason.shown]]\ncommand = "umts run a.toml"\nnumbers = [{ row = "goodput_kbps", is = 1 }]\n'
    text = '[[reason]]\nclaims = ["paper.ch1.sec1.it"]\ntext = "Because."\n' + shown + shown
    (root / "paper" / "reasons.toml").write_text(text, encoding="utf-8")
    (reason,) = load_claims(root, "paper")[0].reasons
    assert str(reason) == "Because. Shown by: umts run a.toml"
    # Row, no column, number, and the default tolerance.
    assert reason.shown[0].numbers == (Number(("goodput_kbps",), column="", stated=1.0, within=0.05),)


LABEL = '[[label]]\nis = "by construction"\nclaims = ["paper.ch1.sec1.it"]\nreason = "It is an input."\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            LABEL.replace("paper.ch1.sec1.it", "paper.ch1.sec1.other"),
            "no claim has the id paper.ch1.sec1.other",
        ),
        (LABEL + LABEL, "two labels"),
        (LABEL.replace("by construction", "obvious"), "there are calibrated, by construction"),
        (LABEL.replace('reason = "It is an input."', ""), "lacks the field reason"),
        (LABEL + "wished = 1\n", "unknown field wished"),
    ],
)
def test_an_invalid_label_is_refused(tmp_path: Path, text: str, message: str) -> None:
    root = with_claims(tmp_path, ROW)
    (root / "paper" / "labels.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadData, match=message):
        load_claims(root, "paper")


@pytest.mark.parametrize(("content", "message"), [(b"\xff", "'utf-8' codec"), (b"[[claim]", "Expected ']]'")])
def test_a_file_of_claims_that_is_not_toml_is_refused_by_name(
    tmp_path: Path, content: bytes, message: str
) -> None:
    root = with_claims(tmp_path, ROW)
    (root / "paper" / "claims.toml").write_bytes(content)
    with pytest.raises(BadData, match=rf"claims\.toml: {message}"):
        load_claims(root, "paper")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version = 1", "version = 2", "version"),
        ('claims = "paper.ch1"', "", "claims"),
        ("runs = 5", "runs = 5\nrepeats = 7", "repeats"),
        ("grid = { maxdat", 'grid = { colour = ["red"], maxdat', "colour"),
        ('kind = "table"', 'kind = "poem"', "poem"),
        ("maxdat = 9000\n", "", "default"),
        ('expr = "alone - both"', "expr = \"open('x')\"", "no rule"),
        ('title = "A plan for tests"', "", "lacks the key 'title'"),
        ('title = "A plan for tests"', "title = A plan", "ch1.toml: Invalid value"),
        ("[fixed]", "[count.sent]\nrows = {}\n\n[fixed]", "count sent needs one of most, least, least_gap"),
    ],
)
def test_an_invalid_plan_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in PLAN
    with pytest.raises(BadData, match=message):
        load_plan(write_plan(tmp_path, PLAN.replace(old, new, 1)))


def test_quick_points_are_a_subset_of_all_points(tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    whole = {key(entry.point) for entry in wanted_points(plan, plan.sweeps, quick=False)}
    quick = wanted_points(plan, plan.sweeps, quick=True)
    assert {key(entry.point) for entry in quick} < whole
    assert {entry.runs for entry in quick} == {plan.quick_runs} == {3}


def test_each_point_is_run_once_with_series_if_one_sweep_needs_them(ch6: Plan) -> None:
    planned = wanted_points(ch6, ch6.sweeps, quick=False)
    assert len({key(entry.point) for entry in planned}) == len(planned)
    recorded = [entry.point for entry in planned if entry.series]
    assert {(point["tcp"], point["part"]) for point in recorded} == {("reno", "whole"), ("vegas", "whole")}


# ── Selections ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("selection", "claims", "figures"),
    [
        ("dubois2005/ch6", 92, 11),
        ("dubois2005/ch6/fig6_2", 3, 1),
        ("dubois2005/fig6.2", 3, 1),
        ("dubois2005/tab6_2", 30, 1),
        ("dubois2005/sec6_3_5", 3, 0),
    ],
)
def test_a_selection_has_its_claims_and_figures(ch6: Plan, selection: str, claims: int, figures: int) -> None:
    (part,) = select(ROOT, [selection])
    assert (len(part.claims), len(part.figures(ch6))) == (claims, figures)
    assert part.open_claims() == []


def test_all_claims_of_a_document_without_a_plan_are_open(tmp_path: Path) -> None:
    with_claims(tmp_path, ROW + ROW.replace("sec1.it", "sec1.other"))
    (part,) = select(tmp_path, ["paper"])
    assert part.plans == ()
    assert len(part.open_claims()) == 2


def test_plans_cover_every_claim_of_every_document() -> None:
    assert {part.paper: part.open_claims() for part in select(ROOT, []) if part.open_claims()} == {}


def test_no_selection_means_everything() -> None:
    selected = {part.paper: len(part.claims) for part in select(ROOT, [])}
    assert selected == {paper: len(load_claims(ROOT, paper)) for paper in papers(ROOT)}
    assert selected.keys() == {*DOCUMENTS, "cross-check"}


@pytest.mark.parametrize(
    ("selection", "listed"),
    [("dubois2006", "dubois2005"), ("dubois2005/fig9_9", "fig6_2"), ("../dubois2005/x", "dubois2005")],
)
def test_an_unknown_selection_lists_the_existing_ones(selection: str, listed: str) -> None:
    with pytest.raises(UnknownSelection, match=listed):
        select(ROOT, [selection])


@pytest.mark.parametrize(("paper", "readings"), [("baiocchi2002", 30), ("rendon2004", 35)])
def test_each_interpretation_applies_to_its_scenarios(paper: str, readings: int) -> None:
    """A reading is another interpretation of the document, as changed keys or another quantity."""
    listed = tomllib.loads((ROOT / paper / "readings.toml").read_text(encoding="utf-8"))["reading"]
    assert len(listed) == readings
    for reading in listed:
        assert reading.keys() <= {"of", "is", "only", "set", "measured"}
        assert ("set" in reading) != ("measured" in reading), reading
        changes = list(reading.get("set", {}).items())
        places = [f"{paper}/{place}" for place in reading.get("only", [])]
        for part in select(ROOT, places or [paper]):
            for plan in part.plans:
                assert reading.get("measured", {}).keys() <= {metric.name for metric in plan.metrics}
                planned = wanted_points(plan, part.sweeps(plan), quick=True)
                files = {plan.scenario_of(entry.point)[0]: entry for entry in planned}
                check_changes(plan, list(files.values()), SCENARIOS, changes)


def test_each_pattern_of_a_group_of_claims_matches_a_claim() -> None:
    listed = tomllib.loads((ROOT / "rendon2004" / "readings.toml").read_text(encoding="utf-8"))
    claims = [claim.id.removeprefix("rendon2004.") for claim in load_claims(ROOT, "rendon2004")]
    for group in listed["group"]:
        for pattern in group["claims"]:
            assert fnmatch.filter(claims, pattern), pattern


@pytest.mark.parametrize("quick", [True, False])
def test_no_claim_of_baiocchi_is_left_open(quick: bool) -> None:
    claims = load_claims(ROOT, "baiocchi2002")
    for plan in plans(ROOT, "baiocchi2002"):
        points = {key(entry.point) for entry in wanted_points(plan, plan.sweeps, quick=quick)}
        results = Synthetic.anything(plan, points)
        scores = [score(claim, plan, results) for claim in claims if plan.covers(claim)]
        reasons = {entry.detail for entry in scores if entry.verdict is Verdict.NOT_YET}
        # Section 2 has claims about frames. They need RLC PDUs, which synthetic runs lack.
        assert reasons == ({"made-up runs have no RLC PDUs"} if plan.name == "sec2" else set())


def test_every_reason_names_a_command() -> None:
    lacking = [
        claim.id
        for paper in papers(ROOT)
        for claim in load_claims(ROOT, paper)
        for reason in claim.reasons
        if not reason.shown and "umts " not in reason.text
    ]
    assert lacking == []

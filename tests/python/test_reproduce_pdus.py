"""Claims about RLC PDUs: synthetic tables, and the worked examples of Teyeb et al."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from umtslab import Scenario, simulate
from umtslab.plot.pdus import figure
from umtslab.reproduce import reproduce, select
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.errors import BadData, Missing
from umtslab.reproduce.pdus import PduTemplate, describe
from umtslab.reproduce.reproduction import Chapter
from umtslab.run import Run
from umtslab.store import open_store

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "reproductions/teyeb2005/examples"

COLUMNS = (
    "time_s",
    "end_s",
    "ue",
    "direction",
    "kind",
    "sn",
    "transmission",
    "polls",
    "lsn",
    "missing",
    "lost",
)
"""Columns of the series ``rlc_pdus``: when a PDU was sent and received, its sequence number `sn`, the
number of the transmission from 1, and the poll bit `polls`. A status report acknowledges the PDUs below
`lsn`, except the ones that `missing` lists."""

PDUS = pl.DataFrame(
    [
        (0.01, 0.02, 0, "downlink", "amd", 0, 1, False, None, "", False),
        (0.02, 0.03, 0, "downlink", "amd", 1, 1, False, None, "", True),
        (0.03, 0.04, 0, "downlink", "amd", 2, 1, True, None, "", False),
        (0.05, 0.06, 0, "uplink", "status", None, None, False, 3, "1", False),
        (0.06, 0.07, 0, "downlink", "amd", 1, 2, True, None, "", False),
        (0.08, 0.09, 0, "uplink", "status", None, None, False, 3, "", False),
    ],
    schema=COLUMNS,
    orient="row",
)
"""Three PDUs in TTIs of 10 ms. PDU 1 is lost and sent again; two status reports answer the polls."""

REPORTS = {"kind": "status"}


@pytest.mark.parametrize(
    ("part", "description"),
    [
        # Documents number PDUs from 1, so "3" is the PDU with sequence number 2.
        (PduTemplate({"polls": True}, {}, ("{number}",), is_list=True), "[3, 2]"),
        (PduTemplate({"polls": True}, {}, ("{number}",), is_list=True, first=1), "[3]"),
        (PduTemplate({"polls": True, "transmission": 2}, {}, ("again #{number}",)), "again #2"),
        (PduTemplate(REPORTS, {}, ("ack={ack} {bitmap}",)), "ack=1 [0,1]; ack=3 []"),
        (PduTemplate(REPORTS, {}, ("first {ack}", "then {ack}")), "first 1; then 3"),
        # TTIs from the first poll to each report: since the poll was sent, then since it was received.
        (PduTemplate(REPORTS, {"polls": True}, ("i+{later}",), tti_s=0.01), "i+2; i+5"),
        (PduTemplate(REPORTS, {"polls": True}, ("i+{later}",), tti_s=0.01, since_end=True), "i+1; i+4"),
        (PduTemplate({"kind": "reset"}, {}, ("{kind}",)), ""),
    ],
)
def test_the_selected_rows_are_described(part: PduTemplate, description: str) -> None:
    assert part.describe(PDUS) == description


def run_with(tables: dict[str, pl.DataFrame]) -> Run:
    """Return a run that recorded these series."""
    base_run = simulate(Scenario.load(EXAMPLES / "fig2a.toml", {"duration": "10 ms"}))[0]
    return Run(base_run.scenario, base_run.identity, {}, events=0, duration_s=0.01, tables=tables)


def test_missing_fields_columns_and_series_are_named() -> None:
    run = run_with({"rlc_pdus": PDUS})
    with pytest.raises(BadData, match="the field 'seq'"):
        describe([PduTemplate(REPORTS, {}, ("{seq}",))], run)
    with pytest.raises(BadData, match="rlc_pdus has no column 'colour'; it has time_s"):
        describe([PduTemplate({"colour": "red"}, {}, ("{sn}",))], run)
    with pytest.raises(Missing, match=r"measure\.rlc_pdus"):
        describe([PduTemplate(REPORTS, {}, ("{ack}",))], run_with({}))


def test_the_message_sequence_shows_every_pdu() -> None:
    drawn = figure(PDUS, title="Three PDUs")
    (axes,) = drawn.axes
    labels = [text.get_text() for text in axes.texts if text.get_text()]
    assert labels == ["SN 0", "SN 1", "SN 2 poll", "up to 3\nnot 1", "SN 1 poll", "up to 3"]
    # A cross for the lost PDU, a dot for each poll.
    markers = [line.get_marker() for line in axes.lines]
    assert (markers.count("x"), markers.count("o")) == (1, 2)
    left, right = axes.get_xlim()
    assert left <= 0.01
    assert right >= 0.09


def test_the_message_sequence_ends_at_the_given_time() -> None:
    # The labels of PDUs 0 and 1, and the arrow of PDU 0, which is a text without characters.
    assert len(figure(PDUS, until_s=0.025).axes[0].texts) == 3


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Chapter:
    """The worked examples of the checkout, run and scored."""
    return reproduced(ROOT, tmp_path_factory.mktemp("examples"))


def reproduced(data: Path, folder: Path) -> Chapter:
    """Run the worked examples of `data`, with a store in `folder`. Returns them as one chapter."""
    places = ["fig1a", "fig1b", "fig1c", "fig1d", "fig1e", "fig1f", "fig2a", "fig2b", "fig2c"]
    parts = select(data / "reproductions", [f"teyeb2005/{place}" for place in places])
    with open_store(folder / "store") as store:
        chapters = reproduce(parts, store=store, data=data, quick=True, jobs=2)
    scored = tuple(entry for chapter in chapters for entry in chapter.scored)
    figures = tuple(data for chapter in chapters for data in chapter.figures)
    return Chapter("teyeb2005", chapters[0].plan, quick=True, runs=0, scored=scored, figures=figures)


def test_the_worked_examples_of_teyeb_are_run_and_scored(examples: Chapter) -> None:
    by_figure = {entry.claim.places[0]: (entry.verdict, entry.ours[0].text) for entry in examples.scored}
    assert {verdict for verdict, _ in by_figure.values()} == {Verdict.PASS}
    assert by_figure["fig1b"] == (Verdict.PASS, "[4, 7]")
    assert by_figure["fig2c"] == (Verdict.PASS, "ack=2 bitmap=[0,0,1,1]")
    assert [data.figure.id for data in examples.figures if data.is_drawn] == list(by_figure)


def test_a_worked_example_with_other_losses_fails_with_the_sent_pdus(tmp_path: Path) -> None:
    for folder in ("reproductions", "scenarios"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    changed = tmp_path / EXAMPLES.relative_to(ROOT) / "fig2c.toml"
    changed.write_text(changed.read_text().replace("lose-third-and-fourth", "lose-second"))
    by_figure = {entry.claim.places[0]: entry for entry in reproduced(tmp_path, tmp_path).scored}
    assert by_figure["fig2c"].verdict is Verdict.FAIL
    # #2 is missing when #3 arrives, and #4 arrives in the same TTI as #3.
    assert by_figure["fig2c"].detail == "3 of 3 runs say 'ack=1 bitmap=[0,1,1]'"
    assert by_figure["fig2a"].verdict is Verdict.PASS

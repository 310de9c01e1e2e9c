"""The output of ``umts reproduce``: pages, tables, pictures, JSON.

The fixture ``chapter`` is a scored chapter with synthetic results. Its figures and claims come from
`reproduce_synthetic.PLAN`.
"""

from __future__ import annotations

import base64
import csv
import json
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.colors import to_rgba
from PIL import Image
from reproduce_synthetic import NOISE, Synthetic, claim, plan_in
from umtslab.plot import Look
from umtslab.reproduce.drawer import Drawer
from umtslab.reproduce.expression import parse
from umtslab.reproduce.figure_content import figure_data
from umtslab.reproduce.figuredata import with_change
from umtslab.reproduce.figures import draw, picture_of
from umtslab.reproduce.html import html
from umtslab.reproduce.labels import Label
from umtslab.reproduce.pictures import pictures
from umtslab.reproduce.plan import Plan, Point, Samples
from umtslab.reproduce.reasons import Reason, Shown
from umtslab.reproduce.report import (
    lines,
    markdown,
    open_reasons,
    summary_line,
    table_of,
    to_json,
    totals,
    write_chapter,
)
from umtslab.reproduce.reproduction import Chapter
from umtslab.reproduce.results import Series
from umtslab.reproduce.verdict import not_yet, score
from umtslab.reproduce.verdict_kind import Verdict
from umtslab.run import Run

STATED_GOODPUT = claim("value", 30.0, tolerance=0.05, tcp="newreno", bler=0.5)
"""A claim that fails: the synthetic goodput there is 32 * (1 - 0.5) + 1 = 17 kbit/s."""

STATED_WINDOW = claim("value", 20.0, "window", tolerance=0.05, place="fig3.window", tcp="reno")
"""A claim that passes. Figure 3 of the plan marks its number."""

NO_CLAIMS = {str(verdict): 0 for verdict in Verdict}
SHOWN = Shown("umts run a.toml", "--duration 1s", ())


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_in(tmp_path)


@pytest.fixture
def chapter(plan: Plan) -> Chapter:
    """A chapter with four claims: one fails, two pass, and one is open."""

    def goodput(point: Point) -> float:
        return 32.0 * (1 - float(point["bler"])) + (1 if point["tcp"] == "newreno" else 0)

    # The runs have a window of 10 to 14 segments until 500 s, then of 20 segments until 1,000 s.
    windows = [Series([0.0, 500.0], [10.0 + number, 20.0], end_s=1000.0) for number in range(5)]
    results = Synthetic(
        plan, {"sent_kbps": goodput}, noise=NOISE, connections={"window": [20.0]}, series={"window": windows}
    )
    claims = [
        STATED_GOODPUT,
        STATED_WINDOW,
        claim("trend", "decreasing(bler)", vary="bler", place="fig1.falls"),
    ]
    scored = [score(entry, plan, results) for entry in claims]
    scored.append(not_yet(claim("value", 1, place="fig1.later"), "TCP Vegas is missing | today"))
    figures = tuple(figure_data(plan, figure, results, claims) for figure in plan.figures)
    return Chapter("paper", plan, quick=True, runs=15, scored=tuple(scored), figures=figures)


def test_a_figure_has_our_points_with_intervals_and_the_stated_number(chapter: Chapter) -> None:
    data = chapter.figures[0]
    assert {(line.label, line.honest) for line in data.lines} == {
        ("reno", False), ("newreno", False), ("reno", True), ("newreno", True),
    }  # fmt: skip
    reno = data.lines[0]
    assert [(dot.x, dot.y.n) for dot in reno.dots] == [(0.01, 5), (0.1, 5), (0.5, 5)]
    assert reno.dots[1].y.mean == pytest.approx(32.0 * (1 - 0.1))
    assert [(mark.label, mark.x, mark.y) for mark in data.stated] == [("newreno", 0.5, 30.0)]
    assert data.gaps == ("TCP Vegas is missing",)


def test_a_figure_over_time_has_the_mean_of_runs_one_run_and_the_stated_level(chapter: Chapter) -> None:
    data = chapter.figures[1]
    line = data.lines[0]
    # Windows of 100 s. The five runs begin with 10 to 14 segments.
    assert (len(line.dots), line.dots[0].y.mean, line.dots[9].y.mean) == (10, 12.0, 20.0)
    assert line.one_run[0] == (0.0, 10.0)
    assert [(mark.y, mark.x, mark.x_end) for mark in data.stated] == [(20.0, 0.0, 1000.0)]


def test_drawing_names_axes_with_units(chapter: Chapter) -> None:
    axes = draw(chapter.figures[0]).axes[0]
    assert axes.get_ylabel() == "Goodput (kbit/s)"
    assert axes.get_xlabel() == "Block error rate"
    legend = {label.partition(" (equal to ")[0] for label in axes.get_legend_handles_labels()[1]}
    assert {"reno", "newreno, 3GPP accounting", "newreno: stated in the document"} <= legend


def test_figures_have_the_style_of_plot(chapter: Chapter, tmp_path: Path) -> None:
    figure = draw(chapter.figures[0], Look(width_in=3.5, grey=True))
    assert figure.get_figwidth() == 3.5
    axes = figure.axes[0]
    # Red, green and blue are equal in grey.
    assert {len(set(to_rgba(line.get_color())[:3])) for line in axes.lines} == {1}
    values = {float(dot.x) for line in chapter.figures[0].lines for dot in line.dots}
    # The axis has a tick at each value of a run, and at each stated value.
    ticks = {*axes.get_xticks(), *axes.get_xticks(minor=True)}
    assert {round(float(tick), 9) for tick in ticks} == values
    [legend] = figure.legends
    assert legend.get_title().get_text().replace("\n", " ") == "tcp; mean and 95 % interval, n = 5 runs"
    folder = write_chapter(chapter, tmp_path, Look(width_in=3.5))[0].parent
    dots_per_inch = 300
    with Image.open(folder / "fig1.png") as picture:
        assert picture.width == round(3.5 * dots_per_inch)


def test_the_legend_names_curves_that_an_equal_curve_hides(chapter: Chapter) -> None:
    data = chapter.figures[0]
    first, *others = (line for line in data.lines if not line.honest)
    equal = replace(data, lines=(first, *(replace(line, dots=first.dots) for line in others)))
    axes = draw(equal).axes[0]
    _, labels = axes.get_legend_handles_labels()
    labels_of_curves = labels[: 1 + len(others)]
    assert labels_of_curves[1:] == [f"{line.label} (equal to {first.label})" for line in others]
    widths = {line.get_linewidth() for line in axes.lines if line.get_label() in labels_of_curves}
    assert len(widths) == 1


def test_runs_with_a_change_are_in_colour_and_scored_runs_are_grey(chapter: Chapter) -> None:
    data = chapter.figures[0]
    other = replace(data, lines=tuple(replace(line, dots=data.lines[1].dots) for line in data.lines))
    both = with_change(data, other, "tcp.variant=newreno")
    new = [line for line in both.lines if line.change]
    # Curves that the change makes equal are drawn once for each accounting.
    assert [(line.label, line.honest) for line in new] == [
        ("tcp.variant=newreno", False),
        ("tcp.variant=newreno", True),
    ]
    assert both.stated == data.stated
    curves = draw(both).axes[0].lines
    colours = {str(curve.get_label()).partition(" (equal to ")[0]: curve.get_color() for curve in curves}
    assert colours["reno"] == "0.6"
    assert colours["tcp.variant=newreno"] != "0.6"
    rows = [row for row in both.rows() if row["change"]]
    assert {row["stated"] for row in rows} == {None}


def test_a_mean_of_too_few_samples_is_not_shown(plan: Plan) -> None:
    def acks(point: Point) -> float:
        """Return 99, 90 and 50 at the error rates of the plan."""
        return 100 * (1 - float(point["bler"]))

    results = Synthetic(plan, {"sent_kbps": lambda _: 30.0, "acks": acks})
    goodput = plan.metric("goodput_kbps", {"part": 1})
    with_minimum = replace(goodput, samples=Samples(parse("acks"), 60))
    metrics = tuple(with_minimum if metric is goodput else metric for metric in plan.metrics)
    plan = replace(plan, metrics=metrics)
    data = figure_data(plan, plan.figures[0], results, [])
    assert {dot.x for line in data.lines for dot in line.dots} == {0.01, 0.1}
    assert "goodput_kbps at bler 0.5 (newreno): 50 samples a run, fewer than 60" in data.gaps


@pytest.mark.parametrize("is_killed", [False, True])
def test_the_drawing_process_gives_the_same_bytes_even_if_it_is_killed(
    chapter: Chapter, is_killed: bool
) -> None:
    """If the process has ended, its caller draws the figures."""
    drawn_here = [replace(data, drawn=[]) for data in chapter.figures if data.is_drawn]
    drawn_there = [replace(data, drawn=[]) for data in drawn_here]
    with closing(Drawer()) as drawer:
        if is_killed:
            drawer._process.kill()
        drawer.submit(drawn_there)
        drawer.finish()
    assert [data.drawn for data in drawn_there] == [[picture_of(data)] for data in drawn_here]
    assert drawer._process.poll() is not None


def test_all_files_of_a_chapter_are_written(chapter: Chapter, tmp_path: Path) -> None:
    files = {
        path.relative_to(tmp_path / "out").as_posix(): path
        for path in write_chapter(chapter, tmp_path / "out")
    }
    assert set(files) == {
        "paper/ch1/README.md", "paper/ch1/fig1.csv", "paper/ch1/fig1.png", "paper/ch1/fig3.csv",
        "paper/ch1/fig3.png", "paper/ch1/tab1.csv",
    }  # fmt: skip
    assert files["paper/ch1/fig1.png"].read_bytes().startswith(b"\x89PNG")
    with files["paper/ch1/tab1.csv"].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    stated = [row for row in rows if row["stated"]]
    assert {(row["curve"], row["bler"], row["stated"]) for row in stated} == {("newreno", "0.5", "30.0")}
    assert not list((tmp_path / "out").rglob("*.part"))


def test_the_page_has_verdict_both_numbers_and_reason_of_each_claim(chapter: Chapter) -> None:
    page = markdown(chapter)
    assert "2 pass, 0 calibrated, 0 by construction, 1 fail, 0 inconclusive, 1 not yet" in page
    failed = next(line for line in page.splitlines() if "`ch1.sec1.it`" in line)
    assert "goodput_kbps: 30.0" in failed
    assert "17.0 ± 2.0" in failed
    assert "is outside 28.5 to 31.5" in failed
    assert "TCP Vegas is missing \\| today" in page


def test_page_and_report_describe_each_figure(chapter: Chapter) -> None:
    assert "## tab1: A table\n\nContent of the table.\n" in markdown(chapter)
    assert "<p>Content of the table.</p>" in html([chapter], version="1")


def test_the_totals_and_the_json_report_count_verdicts(chapter: Chapter) -> None:
    assert totals([chapter]) == {**NO_CLAIMS, "pass": 2, "fail": 1, "not yet": 1}
    assert summary_line([chapter]).startswith("4 claims: 2 pass, 0 calibrated, 0 by construction, 1 fail")
    report = json.loads(json.dumps(to_json([chapter], [Path("a")], version="1"), allow_nan=False))
    assert report["summary"] == totals([chapter])
    first = report["chapters"][0]["claims"][0]
    assert (first["id"], first["verdict"], first["expected"]) == ("paper.ch1.sec1.it", "fail", 30.0)
    assert first["ours"][0]["mean"] == pytest.approx(17.0)
    assert first["honest"]["verdict"] == "fail"


def test_each_decided_claim_is_a_line_and_open_claims_are_counted_by_reason(chapter: Chapter) -> None:
    fail, *passes = lines(chapter)
    assert fail.split("  ")[0] == "fail"
    assert "sec1.it" in fail
    assert "30.0 (±5 %); ours 17.0 ± 2.0" in fail
    assert [line.split()[:2] for line in passes] == [["pass", "fig3.window"], ["pass", "fig1.falls"]]
    assert open_reasons(chapter) == [("TCP Vegas is missing | today", 1)]


def test_reasons_are_given_with_mismatches_only(plan: Plan) -> None:
    results = Synthetic(plan, {"sent_kbps": lambda _: 30.0})
    reasons = (Reason("The header is missing.", (SHOWN,)),)
    mismatch = replace(claim("value", 31.0), reasons=reasons)
    match = replace(claim("value", 30.0), reasons=reasons)
    for entry, is_given in [(mismatch, True), (match, False)]:
        chapter = Chapter("paper", plan, quick=False, runs=5, scored=(score(entry, plan, results),))
        assert ("The header is missing. Shown by: umts run a.toml" in markdown(chapter)) is is_given


@pytest.mark.parametrize("kind", [Verdict.CALIBRATED, Verdict.BY_CONSTRUCTION])
def test_a_labelled_claim_is_counted_apart_from_passes_everywhere(plan: Plan, kind: Verdict) -> None:
    labelled = replace(claim("value", 30.0), label=Label(kind, "The load was an input."))
    scored = score(labelled, plan, Synthetic(plan, {"sent_kbps": lambda _: 30.0}))
    chapter = Chapter("paper", plan, quick=False, runs=5, scored=(scored,))
    assert totals([chapter]) == {**NO_CLAIMS, str(kind): 1}
    assert f"0 pass, {'1' if kind is Verdict.CALIBRATED else '0'} calibrated" in summary_line([chapter])
    assert next(lines(chapter)).startswith(str(kind))
    page = html([chapter], version="1")
    assert f'data-verdict="{kind}"' in page
    for text in (markdown(chapter), page):
        assert "The load was an input." in text
    entry = to_json([chapter], [], version="1")["chapters"][0]["claims"][0]
    assert (entry["verdict"], entry["label"]["reason"]) == (str(kind), "The load was an input.")


class Page(HTMLParser):
    """Parsed HTML page: tags that are still open, link targets, ids, texts.

    A closing tag that does not match the last open one fails the test.
    """

    VOID = frozenset({"meta", "input", "img", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.addresses += [value for name in ("src", "href", "action") if (value := values.get(name))]
        self.ids += [value for value in [values.get("id")] if value]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_report_is_self_contained(chapter: Chapter) -> None:
    text = html([chapter], version="1.2.3")
    page = Page(text)
    assert page.open == []
    assert "http" not in text.replace("http-equiv", "")
    inside = ("#", "data:image/svg+xml;base64,", "data:text/csv;base64,")
    assert all(address.startswith(inside) for address in page.addresses)
    tables = [address for address in page.addresses if address.startswith("data:text/csv")]
    assert [base64.b64decode(table.split(",", 1)[1]).decode() for table in tables] == [
        table_of(data) for data in chapter.figures
    ]
    pictures = [address for address in page.addresses if address.startswith("data:image")]
    assert len(pictures) == sum(data.figure.kind != "table" for data in chapter.figures)
    for picture in pictures:
        assert b"<svg" in base64.b64decode(picture.split(",", 1)[1])
    assert {address[1:] for address in page.addresses if address.startswith("#")} <= set(page.ids)


def test_the_report_shows_every_claim_once_with_its_verdict(chapter: Chapter) -> None:
    text = html([chapter], version="1.2.3")
    page = Page(text)
    for scored in chapter.scored:
        assert page.ids.count(scored.claim.id) == 1
        assert f'data-verdict="{scored.verdict}"' in text
    shown = " ".join(" ".join(page.texts).split())
    assert "4 claims, 15 runs." in shown
    assert "30.0 (tolerance ± 5 %)" in shown
    assert "TCP Vegas is missing | today" in shown
    assert "3 runs of each point instead of 5" in shown


def test_the_report_of_several_documents_has_a_row_for_each_and_for_all(chapter: Chapter) -> None:
    other = Chapter(
        "other",
        plan=None,
        quick=False,
        runs=0,
        scored=(not_yet(claim("value", 1, paper="other"), "<no> plan"),),
    )
    text = html([chapter, other], version="1")
    shown = " ".join(" ".join(Page(text).texts).split())
    # Name of the document, claims, runs.
    assert "paper 4 15" in shown
    assert "other 1 0" in shown
    assert "all 5 15" in shown
    assert "&lt;no&gt; plan" in text


def test_the_same_results_give_the_same_report(chapter: Chapter) -> None:
    assert html([chapter], version="1") == html([chapter], version="1")


def test_the_report_shows_channels_and_cell_of_a_run_that_recorded_them(
    plan: Plan, chapter: Chapter, switched: Run
) -> None:
    points = list(plan.points(plan.sweeps[0], quick=True))
    drawn = pictures(plan, points, lambda _: [switched])
    assert [picture.title for picture in drawn] == ["RRC states of the UEs", "DCHs of the cell"]
    text = html([replace(chapter, pictures=tuple(drawn))], version="1")
    for picture in drawn:
        assert picture.title in text
        # A PNG file begins with iVBOR in base64.
        assert picture.address.startswith("data:image/png;base64,iVBOR")
        assert picture.address in text


def test_runs_without_series_of_channels_have_no_pictures(plan: Plan, recorded: Run) -> None:
    points = list(plan.points(plan.sweeps[0], quick=True))
    assert pictures(plan, points, lambda _: [recorded]) == []

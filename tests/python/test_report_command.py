"""``umts report``: a campaign as an HTML page."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import CAMPAIGN, Umts
from umtslab import open_store
from umtslab.campaign.record import Cell, load_record
from umtslab.cli.report import write_report
from umtslab.labels import value_label
from umtslab.page.campaign import commands
from umtslab.store import read_store

pytestmark = pytest.mark.slow


@pytest.fixture
def page(umts: Umts, tmp_path: Path) -> Path:
    """The page of a campaign with four points and three runs at each."""
    (tmp_path / "pair.toml").write_text(CAMPAIGN)
    umts("sweep", "pair.toml", "--report", "--quiet", "--json")
    return tmp_path / "results/reports/pair.html"


def _rows(text: str, anchor: str) -> list[list[str]]:
    """Return the cells of each row of the table with this anchor, which is a metric."""
    section = text.split(f'id="{anchor}"')[1].split("</table>")[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in section.split("<tr>")]
    return [row for row in rows if row]


def test_a_sweep_and_report_write_the_same_page(page: Path, umts: Umts) -> None:
    first = page.read_bytes()
    assert umts("report", "pair").stdout == f"{Path('results/reports/pair.html')}\n"
    assert page.read_bytes() == first


def test_a_report_may_have_chosen_points_and_metrics(page: Path, umts: Umts) -> None:
    umts("report", "pair@tcp.variant=reno", "--metric", "rto_count", "--log", "-o", "chosen.html")
    chosen = page.parents[2].joinpath("chosen.html").read_text()
    assert [row[0] for row in _rows(chosen, "rto_count")] == ["0.1", "0.3"]
    assert 'id="goodput_kbps"' not in chosen
    assert 'id="goodput_kbps"' in page.read_text()


def test_the_page_is_self_contained(page: Path) -> None:
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    sources = re.findall(r'(?:src|href)="([^"]{0,40})', text)
    assert len(sources) >= 3
    assert all(source.startswith(("data:image/", "#")) for source in sources)
    assert "Two versions &amp; two error rates" in text


def test_the_page_has_the_numbers_of_the_table(page: Path, umts: Umts) -> None:
    words = ("export", "pair", "--csv", "--table", "summary", "--metric", "goodput_kbps")
    exported = list(csv.DictReader(io.StringIO(umts(*words).stdout)))
    rows = _rows(page.read_text(), "goodput_kbps")
    assert [row[:3] for row in rows] == [
        [value_label(row["tcp.variant"]), row["radio.bler"], row["n"]] for row in exported
    ]
    for cells, row in zip(rows, exported, strict=True):
        _, _, _, mean, _, low, high, *_ = cells
        exported_mean, half_width = float(row["mean"]), float(row["ci95"])
        assert float(mean) == pytest.approx(exported_mean, rel=1e-3)
        assert float(low) == pytest.approx(exported_mean - half_width, rel=1e-3, abs=1e-3)
        assert float(high) == pytest.approx(exported_mean + half_width, rel=1e-3)


def test_the_commands_of_the_page_repeat_a_point(page: Path, umts: Umts, tmp_path: Path) -> None:
    last = html.unescape(re.findall(r'<code class="command">(.*?)</code>', page.read_text())[-1])
    _, *words = shlex.split(last)
    words[words.index("--out") + 1] = str(tmp_path / "repeated")
    umts(*words)
    with open_store(tmp_path / "repeated") as repeated, read_store(tmp_path / "results") as store:
        record = load_record(store, "pair")
        assert record is not None
        assert [run.key for run in repeated.runs()] == [run.key for run in record.cells[-1].runs]


def test_runs_without_consecutive_numbers_have_separate_commands(page: Path) -> None:
    with read_store(page.parents[1]) as store:
        record = load_record(store, "pair")
        assert record is not None
        first, _, last = record.cells[0].runs
        lines = [shlex.split(line) for line in commands(Cell({}, (first, last)), store)]
        assert [words[words.index("--first-run") + 1] for words in lines] == ["0", "2"]
        assert all("--runs" not in words for words in lines)
        assert commands(Cell({}, ()), store) == []


def test_points_without_runs_are_reported(page: Path) -> None:
    with read_store(page.parents[1]) as store:
        record = load_record(store, "pair")
        assert record is not None
        emptied = replace(record, cells=(*record.cells[:3], Cell(record.cells[3].parameters, ())))
        text = write_report(emptied, store, output=page.with_name("emptied.html")).read_text()
    assert "1 of the points have no runs yet" in text
    assert "1 of the points have no runs yet" not in page.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "has no campaign 'nothing', nor a study or run of this name"),
        (("pair", "--metric", "speed"), "there is no metric 'speed'"),
        (("pair", "--over", "rlc.max_dat"), "does not vary 'rlc.max_dat'"),
        (("pair", "--metric", "udp_loss_pct"), "no run of pair measured udp_loss_pct"),
    ],
)
def test_invalid_reports_are_refused_and_nothing_is_written(
    page: Path, umts: Umts, words: tuple[str, ...], message: str
) -> None:
    page.unlink()
    assert message in umts("report", *words, status=2).stderr
    assert list(page.parent.iterdir()) == []


def test_the_path_of_the_report_is_on_standard_error_with_json(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(CAMPAIGN)
    done = umts("sweep", "pair.toml", "-P", "radio.bler=0.1", "--report", "--json")
    assert len(json.loads(done.stdout)["points"]) == 2
    assert "report: results/reports/pair.html" in done.stderr.replace(str(tmp_path) + "/", "")

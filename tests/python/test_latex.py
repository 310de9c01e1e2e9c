"""LaTeX tables of campaigns."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CAMPAIGN, Umts
from umtslab import Run, Scenario, simulate
from umtslab.campaign import CampaignError
from umtslab.campaign.pivot import pivots
from umtslab.campaign.record import Cell, Record
from umtslab.export import summary_table
from umtslab.latex import escape, mean, summary_to_latex, to_latex
from umtslab.run import Identity
from umtslab.version import CodeVersion


def cell(variant: str, bler: float, *goodputs: float, buffer: str = "9 kB") -> Cell:
    """Return a point of a campaign with one run for each goodput in kbit/s."""
    code = CodeVersion("1", "c", "f")
    runs = tuple(
        Run(
            "made-up",
            Identity("hash", code, seed=1, run=number),
            {"goodput_kbps": value, "pages": 0.0},
            events=1,
            duration_s=20.0,
        )
        for number, value in enumerate(goodputs)
    )
    return Cell({"tcp.variant": variant, "radio.bler": bler, "rlc.buffer": buffer}, runs)


AXES = ("tcp.variant", "radio.bler", "rlc.buffer")
CELLS = (
    cell("reno", 0.1, 50.0, 50.2, 50.1),
    cell("reno", 0.01, 55.0, 55.0, 55.0),
    cell("sack", 0.1, 700.0, 900.0, 796.0),
)


def test_latex_is_a_booktabs_table_with_escaped_text(scenario: Scenario) -> None:
    text = to_latex(summary_table(simulate(scenario, runs=2)), caption="50 % of R&D")
    lines = text.splitlines()
    assert lines[3] == r"\caption{50 \% of R\&D}"
    assert [line for line in lines if "rule" in line] == [r"\toprule", r"\midrule", r"\bottomrule"]
    rows = [line for line in lines if line.endswith(r"\\")]
    # Metric, unit, n, mean, standard deviation and half width of the interval.
    assert {line.count(" & ") for line in rows} == {6 - 1}
    assert any(line.startswith(r"goodput\_kbps & kbit/s & 2 & ") for line in rows)


def test_every_special_character_of_latex_is_escaped() -> None:
    assert escape(r"a_b\c{d}") == r"a\_b\textbackslash{}c\{d\}"
    assert escape("1~2^3#4$") == r"1\textasciitilde{}2\textasciicircum{}3\#4\$"


def test_a_summary_has_mean_and_interval_in_one_cell_and_no_empty_rows(scenario: Scenario) -> None:
    text = summary_to_latex(summary_table(simulate(scenario, runs=3)))
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert not any("& 0 &" in line for line in rows)
    [goodput] = [line for line in rows if line.startswith("Goodput &")]
    assert r"& kbit/s & 3 & \num{" in goodput
    assert r" \pm " in goodput


def test_a_mean_is_written_for_siunitx() -> None:
    assert mean(value=796.1, half_width=130.0) == r"\num{796 \pm 130}"
    assert mean(value=50.2416, half_width=0.0213) == r"\num{50.242 \pm 0.021}"
    assert mean(value=3.1e-6, half_width=2e-7) == r"\num{3.10 \pm 0.20 e-6}"
    assert mean(value=29.73, half_width=None) == r"\num{29.73}"
    assert mean(value=None, half_width=None) == "--"


def test_a_pivot_has_a_row_and_a_column_for_each_value() -> None:
    [table] = pivots(
        Record("c", "A & B", AXES, seed=1, cells=CELLS), "radio.bler", "tcp.variant", ["goodput_kbps"]
    )
    lines = table.latex().splitlines()
    assert lines[4] == r"\begin{tabular}{rrr}"
    assert r"A \& B: Goodput (kbit/s), mean and 95 \% interval of 3 runs" in lines[3]
    assert lines[6:] == [
        r" & \multicolumn{2}{c}{TCP version} \\",
        r"\cmidrule(lr){2-3}",
        r"Block error rate & Reno & SACK \\",
        r"\midrule",
        r"0.1 & \num{50.10 \pm 0.25} & \num{799 \pm 250} \\",
        r"0.01 & \num{55 \pm 0} & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    assert table.frame().columns == ["radio.bler", "reno", "± reno", "sack", "± sack"]


def test_without_a_column_key_each_metric_is_a_column() -> None:
    record = Record("c", title="", axes=AXES, seed=1, cells=CELLS[:2])
    [table] = pivots(record, "radio.bler", None, ["goodput_kbps", "pages"])
    assert r"Block error rate & Goodput (kbit/s) & Web pages \\" in table.latex()
    assert r"\caption{c: mean and 95 \% interval of 3 runs}" in table.latex()


def test_equal_values_of_different_types_have_separate_rows() -> None:
    cells = tuple(
        Cell({**cell("reno", 0.1).parameters, "rlc.buffer": value}, cell("reno", 0.1, goodput).runs)
        for value, goodput in ((1, 10.0), (True, 20.0), (1.0, 30.0))
    )
    [table] = pivots(
        Record("c", title="", axes=AXES, seed=1, cells=cells), "rlc.buffer", None, ["goodput_kbps"]
    )
    assert list(map(repr, table.row_values)) == ["1", "True", "1.0"]
    assert [table.at(value, "goodput_kbps").mean for value in (1, True, 1.0)] == [10.0, 20.0, 30.0]


def test_units_of_keys_and_metrics_are_in_the_headings() -> None:
    cells = (cell("reno", 0.1, 1.0, 2.0), cell("reno", 0.1, 1.0, 2.0, buffer="20 kB"))
    [table] = pivots(
        Record("c", title="", axes=AXES, seed=1, cells=cells), "rlc.buffer", None, ["goodput_kbps"]
    )
    assert r"(kB) & Goodput (kbit/s) \\" in table.latex()
    assert "\n20 & " in table.latex()


def test_other_varying_parameters_must_be_chosen() -> None:
    record = Record("c", title="", axes=AXES, seed=1, cells=(*CELLS, cell("reno", 0.1, 1.0, buffer="20 kB")))
    with pytest.raises(CampaignError, match=r"c also varies rlc\.buffer: c@rlc\.buffer=9 kB"):
        pivots(record, "radio.bler", "tcp.variant", ["goodput_kbps"])
    with pytest.raises(CampaignError, match=r"not vary radio\.blerr; it varies tcp\.variant, radio\.bler"):
        pivots(record, "radio.blerr", None, ["goodput_kbps"])


@pytest.mark.slow
def test_the_command_writes_a_table_for_a_paper(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(CAMPAIGN)
    umts("sweep", "pair.toml", "--quiet")
    words = ("export", "pair", "--latex")
    pivot = umts(
        *words, "--rows", "radio.bler", "--columns", "tcp.variant", "--metric", "goodput_kbps"
    ).stdout
    assert pivot.count(r"\num{") == 4
    assert "with duration = 20 s" in pivot
    plain = umts(*words).stdout
    assert plain.count("& Goodput &") == 4
    # Metrics without a value, such as the ones of UDP, have no row.
    assert "UDP" not in plain
    assert "& 0 &" not in plain
    refused = umts(*words, "--rows", "radio.bler", status=2)
    assert "also varies tcp.variant" in refused.stderr
    assert "did you mean goodput_kbps?" in umts(*words, "--metric", "goodput", status=2).stderr
    csv = umts("export", "pair", "--csv", "--rows", "radio.bler", "--columns", "tcp.variant").stdout
    assert csv.splitlines()[0] == "radio.bler,reno,± reno,tahoe,± tahoe"

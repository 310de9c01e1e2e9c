"""Figures of campaigns and studies: labels, ticks, intervals side by side, maps, trials."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import FTP, Umts, overhanging, short
from umtslab import open_store, simulate
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.cli.plot_campaigns import named_campaigns
from umtslab.plot import Look
from umtslab.plot.campaign import draw_campaign
from umtslab.plot.effects import draw_effects
from umtslab.plot.heat_map import draw_map
from umtslab.plot.optimisation import draw_history, draw_importance, draw_pareto
from umtslab.run import Run
from umtslab.studies.file import Frame
from umtslab.studies.optimise import Outcome, load_optimisation, optimise
from umtslab.studies.record import load_study, save_outcome
from umtslab.studies.runner import StudyRunner
from umtslab.studies.sensitivity import Effect, Findings, Sensitivity

ERRORS = (0.0, 0.01, 0.02, 0.1, 0.3)
VERSIONS = ("reno", "newreno")


@pytest.fixture(scope="module")
def record() -> Record:
    """Five error rates and two TCP versions with equal results, each with three different runs.

    The goodput is 30 to 12 kbit/s in the first run, and 1 and 2 kbit/s more in the others. So the means
    are 31 to 13 kbit/s, the standard deviation is 1 kbit/s, and the interval has a half width of
    4.303 / √3 = 2.5 kbit/s, with Student's t for two degrees of freedom.
    """
    [run] = simulate(short())

    def measured(bler: float, number: int) -> Run:
        return replace(run, metrics={"goodput_kbps": 30 - 60 * bler + number})

    cells = (
        Cell(
            {"tcp.variant": version, "radio.bler": bler},
            tuple(measured(bler, number) for number in range(3)),
        )
        for version in VERSIONS
        for bler in ERRORS
    )
    return Record("c", "A campaign", ("tcp.variant", "radio.bler"), seed=1, cells=tuple(cells))


@pytest.mark.parametrize("width", [3.5, 6.3, 10])
def test_axes_have_labels_units_and_ticks_at_the_values(width: float, record: Record) -> None:
    figure = draw_campaign(record, "goodput_kbps", look=Look(width_in=width))
    [axes] = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Block error rate", "Goodput (kbit/s)")
    ticks = {float(tick) for minor in (False, True) for tick in axes.get_xticks(minor=minor)}
    assert ticks == set(ERRORS)
    assert overhanging(figure) == []
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["Reno", "NewReno (equal to Reno)"]
    assert legend.get_title().get_text() == "TCP version (mean and 95 % interval, n = 3 runs)"
    # The axis has room for the largest mean of 31 kbit/s and its interval of ± 2.48.
    low, high = axes.get_ylim()
    assert low == 0
    assert high > 31 + 2.48


def test_markers_are_at_the_values_and_error_bars_beside_them(record: Record) -> None:
    figure = draw_campaign(record, "goodput_kbps")
    [axes] = figure.axes
    figure.draw_without_rendering()
    curves = [line for line in axes.lines if line.get_marker() in {"o", "s"}]
    for curve in curves:
        assert curve.get_transform() == axes.transData
        assert np.asarray(curve.get_xdata()).tolist() == list(ERRORS)
        assert curve.get_markersize() == curves[0].get_markersize()
    # The error bars of the two curves are 1.5 points (1 point = 1/72 inch) left and right of the marker.
    bars_x = [area.get_transform().transform((0.1, 20.0))[0] for area in axes.collections]
    marker_x = axes.transData.transform((0.1, 20.0))[0]
    offsets_points = [(bar_x - marker_x) * 72 / figure.dpi for bar_x in bars_x]
    assert offsets_points == pytest.approx([-1.5, 1.5])


@pytest.mark.parametrize("count", [2, 4, 5, 12])
def test_error_bars_of_many_curves_stay_within_a_few_points(count: int, record: Record) -> None:
    cells = tuple(
        replace(cell, parameters={**cell.parameters, "tcp.variant": f"v{number}"})
        for number in range(count)
        for cell in record.cells[:5]
    )
    figure = draw_campaign(replace(record, cells=cells), "goodput_kbps")
    [axes] = figure.axes
    figure.draw_without_rendering()
    marker_x = axes.transData.transform((0.1, 20.0))[0]
    bars_x = [area.get_transform().transform((0.1, 20.0))[0] for area in axes.collections]
    offsets_points = [(bar_x - marker_x) * 72 / figure.dpi for bar_x in bars_x]
    # All bars are within 9 points. The rest is rounding.
    assert max(map(abs, offsets_points)) <= 9 / 2 + 0.01
    assert len(set(offsets_points)) == count
    # More than four curves have smaller markers.
    sizes = {line.get_markersize() for line in axes.lines if str(line.get_label()).startswith("v")}
    assert sizes == {2.8 if count > 4 else 4.0}
    looks = {
        (line.get_color(), line.get_marker(), str(line.get_linestyle()))
        for line in axes.lines
        if str(line.get_label()).startswith("v")
    }
    assert len(looks) == count


def test_equal_variants_are_named_in_the_legend(record: Record) -> None:
    [legend] = draw_campaign(record, "goodput_kbps").legends
    assert [text.get_text() for text in legend.get_texts()] == ["Reno", "NewReno (equal to Reno)"]


def test_the_axis_covers_every_interval(record: Record) -> None:
    cells = tuple(
        replace(cell, runs=tuple(replace(run, metrics={"goodput_kbps": value}) for run, value in
                                 zip(cell.runs, (-10.0, 5.0, 25.0), strict=True)))
        for cell in record.cells
    )  # fmt: skip
    [axes] = draw_campaign(replace(record, cells=cells), "goodput_kbps").axes
    low, high = axes.get_ylim()
    ends = [y for area in axes.collections for bar in area.get_segments() for _, y in bar]  # type: ignore[attr-defined]
    # The mean of the three runs is 6.7, and the half width 43.6.
    assert low < min(ends) < -30
    assert high > max(ends)


def test_a_point_without_finished_transfers_is_a_cross_at_the_upper_edge(record: Record) -> None:
    def unfinished(cell: Cell) -> Cell:
        lost = cell.parameters["radio.bler"] == 0.1
        values = {"download_time_s": None if lost else 3.0}
        return replace(cell, runs=tuple(replace(run, metrics=values) for run in cell.runs))

    figure = draw_campaign(replace(record, cells=tuple(map(unfinished, record.cells))), "download_time_s")
    [axes] = figure.axes
    marks = [line for line in axes.lines if line.get_marker() == "x"]
    crosses = [line for line in marks if len(line.get_xdata())]  # type: ignore[arg-type]
    assert [list(line.get_xdata()) for line in crosses] == [[0.1], [0.1]]  # type: ignore[arg-type]
    # Each TCP version has a cross. The crosses are drawn below each other.
    assert len({tuple(line.get_ydata()) for line in crosses}) == 2  # type: ignore[arg-type]
    [legend] = figure.legends
    assert "no file arrived completely" in [text.get_text() for text in legend.get_texts()]
    curve = next(line for line in axes.lines if line.get_marker() == "o")
    assert np.isnan(np.asarray(curve.get_ydata(), dtype=float)[3])  # The line has a gap.


def test_logarithmic_axes_label_the_values(record: Record) -> None:
    above = replace(record, cells=tuple(cell for cell in record.cells if cell.parameters["radio.bler"]))
    [axes] = draw_campaign(above, "goodput_kbps", look=Look(log_x=True, log_y=True)).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.01", "0.02", "0.1", "0.3"]
    with pytest.raises(CampaignError, match="above 0"):
        draw_campaign(record, "goodput_kbps", look=Look(log_x=True))


def test_a_map_has_a_cell_for_each_pair_of_values(record: Record) -> None:
    figure = draw_map(record, "goodput_kbps")
    axes, bar = figure.axes
    assert axes.images[0].get_array().shape == (2, 5)  # type: ignore[union-attr]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Reno", "NewReno"]
    assert bar.get_ylabel() == "Goodput (kbit/s)"
    assert axes.texts[0].get_text() == "31.0\n± 2.5"
    of_one_parameter = Record("c", "A campaign", ("radio.bler",), seed=1, cells=record.cells[:5])
    with pytest.raises(CampaignError, match="a map needs two parameters"):
        draw_map(of_one_parameter, "goodput_kbps")


BEST = f"""
version = 1
scenario = "{FTP}"
runs = 2
trials = 8
[set]
duration = "10 s"
radio.bler = 0.2
[parameters]
rlc.max_dat = {{ from = 1, to = 6 }}
rlc.timer_poll_prohibit = {{ from = "100 ms", to = "400 ms" }}
tcp.variant = {{ choices = ["reno", "tahoe"] }}
[objective]
metric = "goodput_kbps"
[[constraint]]
metric = "mean_outstanding_segments"
at_most = 12
"""


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """The folder of the results of a small search, and its outcome."""
    from umtslab.campaign import Workers

    folder = tmp_path_factory.mktemp("searched")
    (folder / "best.toml").write_text(BEST)
    with open_store(folder / "results") as store:
        outcome = optimise(load_optimisation(folder / "best.toml"), StudyRunner(store, Workers()))
        save_outcome(store.path, outcome)
        assert load_study(store, "best") == outcome
    return folder / "results", outcome


def test_a_search_has_figures_of_history_pareto_front_and_importance(searched: tuple[Path, Outcome]) -> None:
    _, outcome = searched
    for draw in (draw_history, draw_pareto, draw_importance):
        for width in (3.5, 10):
            assert overhanging(draw(outcome, look=Look(width_in=width))) == []
    [axes] = draw_importance(outcome).axes
    shares = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    assert sum(shares) == pytest.approx(1.0)
    assert "TCP version" in [label.get_text() for label in axes.get_yticklabels()]
    [history] = draw_history(outcome).axes
    best = next(line for line in history.lines if line.get_label() == "best so far")
    values = np.asarray(best.get_ydata(), dtype=float).tolist()
    assert values == sorted(values)
    assert values[-1] == outcome.ranking()[0].objective.mean


def test_the_command_draws_the_figures_of_a_study_and_names_them_in_errors(
    umts: Umts, searched: tuple[Path, Outcome]
) -> None:
    results, _ = searched
    for kind in ("history", "pareto", "importance"):
        assert umts("plot", "best", kind, "--out", results).stdout == f"{results}/figures/best-{kind}.png\n"
    errors = umts("plot", "best", "effects", "--out", results, status=2).stderr
    assert (
        errors
        == "umts: of an optimisation there is no figure 'effects'; there are history, pareto, importance\n"
    )
    errors = umts("plot", "best", "importence", "--out", results, status=2).stderr
    assert errors == "umts: of an optimisation there is no figure 'importence'; did you mean importance?\n"


def test_commands_report_and_export_a_study(umts: Umts, searched: tuple[Path, Outcome]) -> None:
    results, outcome = searched
    page = Path(umts("report", "best", "--out", results).stdout.strip()).read_text()
    assert page.count("<img") == 3
    assert "The best trial is" in page
    lines = umts("export", "best", "--csv", "--out", results).stdout.splitlines()
    assert lines[0].startswith("trial,rlc.max_dat,rlc.timer_poll_prohibit,tcp.variant,n,goodput_kbps,")
    # The heading, the trials, and the unchanged scenario.
    assert len(lines) == 1 + len(outcome.trials) + 1
    assert lines[-1].startswith("unchanged scenario,")


def frame(settings: dict[str, str]) -> Frame:
    """Return the common part of a study with these settings."""
    return Frame(
        "study",
        title="",
        source=Path("study.toml"),
        scenario=FTP,
        seed=None,
        runs=1,
        settings=settings,
        parameters=(),
    )


@pytest.mark.parametrize("method", ["morris", "sobol"])
def test_the_axes_of_effects_cover_every_estimate_and_interval(method: str) -> None:
    effects = (
        Effect("radio.bler", first=0.2, first_ci95=1.3, total=0.9, total_ci95=1.7),
        Effect("tcp.variant", first=-0.1, first_ci95=0.3, total=0.4, total_ci95=None),
    )
    study = Sensitivity(frame({"duration": "60 s"}), method, samples=8, metrics=("goodput_kbps",))
    figure = draw_effects(Findings(study, seed=7, points=16, effects={"goodput_kbps": effects}))
    assert figure.get_suptitle() == "study, seed 7, with duration = 60 s"
    [axes] = figure.axes
    low, high = axes.get_xlim()
    ends = [x for area in axes.collections for bar in area.get_segments() for x, _ in bar]  # type: ignore[attr-defined]
    # The first effect is 0.2 with an interval of ± 1.3.
    assert min(ends) <= -1.1 + 1e-9
    assert low < min(ends)
    assert high > max(ends)
    if method == "sobol":
        assert -0.1 in [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]


def test_a_map_distinguishes_missing_values_from_missing_runs(record: Record) -> None:
    def measured(values: tuple[float | None, ...], cell: Cell) -> Cell:
        runs = zip(cell.runs, values, strict=True)
        return replace(cell, runs=tuple(replace(run, metrics={"delay": value}) for run, value in runs))

    # The map has 5 error rates and 2 TCP versions. One pair has values of "delay", three have runs
    # with None, and one has runs without this metric. These five have a text. The other five have
    # no runs.
    first, *middle, last = record.cells
    cells = (
        measured((168.0, 220.0, 116.0), first),
        *(measured((None,) * 3, cell) for cell in middle[:3]),
        last,
    )
    axes = draw_map(replace(record, cells=cells), "delay").axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert texts[0] == "168\n± 130"
    assert set(texts[1:]) == {"–"}
    assert len(texts) == 5


@pytest.mark.parametrize("width", [3.5, 10])
def test_names_below_a_map_do_not_overlap(width: float, record: Record) -> None:
    cells = tuple(
        replace(cell, parameters={**cell.parameters, "rrc.profile": f"a-long-name-{number}"})
        for number in range(14)
        for cell in record.cells[:2]
    )
    axes = ("radio.bler", "rrc.profile")
    drawn = draw_map(
        replace(record, cells=cells, axes=axes), "goodput_kbps", "rrc.profile", look=Look(width_in=width)
    ).axes[0]
    labels = [label for label in drawn.get_xticklabels() if label.get_text()]
    assert all(label.get_rotation() == 35 for label in labels)
    column_px = drawn.transData.transform((1, 0))[0] - drawn.transData.transform((0, 0))[0]
    columns_between_labels = labels[1].get_position()[0] - labels[0].get_position()[0]
    size_px = float(labels[0].get_fontsize()) / 72 * drawn.get_figure(root=True).dpi  # type: ignore[union-attr]
    # The distance between rotated labels must be more than the height of letters, about 0.75 of the size
    # of the font.
    distance_px = column_px * columns_between_labels * math.sin(math.radians(35))
    assert distance_px > 0.75 * size_px


def test_several_campaigns_are_one_figure_named_by_their_differences(record: Record) -> None:
    one = replace(record, name="one", cells=record.cells[:5], axes=("radio.bler",))
    two = replace(record, name="two", title="", cells=record.cells[5:], axes=("radio.bler",))
    figure = draw_campaign(named_campaigns({"one": one, "two": two}), "goodput_kbps")
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two (equal to one)"]
    assert legend.get_title().get_text() == "Campaign (mean and 95 % interval, n = 3 runs)"
    title = " ".join(figure.axes[0].get_title(loc="left").split())
    assert title == "A campaign, two, with duration = 20 s"


def test_parts_of_one_campaign_are_named_by_their_values(record: Record) -> None:
    def part(version: str) -> Record:
        overrides = (("duration", "20 s"), ("tcp.variant", version))
        cells = tuple(
            replace(cell, runs=tuple(replace(run, overrides=overrides) for run in cell.runs))
            for cell in record.cells[:5]
        )
        return replace(record, cells=cells, axes=("radio.bler",))

    parts = {f"c@tcp.variant={version}": part(version) for version in VERSIONS}
    assert list(named_campaigns(parts)) == ["tcp.variant = reno", "tcp.variant = newreno"]
    figure = draw_campaign(named_campaigns(parts), "goodput_kbps")
    title = " ".join(figure.axes[0].get_title(loc="left").split())
    assert title == "A campaign, with duration = 20 s"

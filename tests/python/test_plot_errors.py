"""Errors of ``umts plot``: each names the wrong word and the existing ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CAMPAIGN, FTP, run_umts
from umtslab import Scenario, simulate
from umtslab.budget import MissingBudget
from umtslab.campaign.record import Cell, Record
from umtslab.figure_kinds import UnknownFigure
from umtslab.plot import draw
from umtslab.plot.budget import draw_budget
from umtslab.plot.budget_overlay import draw_budgets, merged
from umtslab.plot.cdf import draw_cdf
from umtslab.plot.mean import draw_mean
from umtslab.run import Run

LOSSES = FTP.with_name("three-losses.toml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two campaigns of one run per point, and runs of a scenario with series."""
    folder = tmp_path_factory.mktemp("results")
    for name in ("one", "two"):
        text = CAMPAIGN.replace("runs = 3", "runs = 1").replace('"20 s"', '"5 s"')
        (folder / f"{name}.toml").write_text(text)
        run_umts(folder, "sweep", f"{name}.toml", "--quiet")
    run_umts(folder, "run", FTP, "--duration", "5 s", "--series", "--quiet", "--out", "fach")
    return folder


@pytest.mark.parametrize(
    ("words", "error"),
    [
        # "one" and "two" are campaigns, "fach" is a folder of runs.
        (("nosuch", "goodput_kbps"), "results has no campaign 'nosuch'; it has campaigns one, two"),
        (("nosuch", "cwnd"), "results has no run, result, scenario, campaign or study 'nosuch'; "
         "results has campaigns one, two and scenario ftp-on-fach"),
        (("no/such", "cwnd"), "there is no results folder or run folder no/such; "
         "results has campaigns one, two and scenario ftp-on-fach"),
        (("one", "cwnd", "--out", "nowhere"), "one is neither a run folder nor a results folder, and the "
         "results folder nowhere to look it up in does not exist"),
        (("fach", "cwnd", "rtt"), "a figure has one kind: draw cwnd and rtt separately, umts plot fach cwnd"),
        (("one", "goodput_kbps", "mean_rtt_s"), "a figure shows one metric: draw goodput_kbps and mean_rtt_s "
         "separately, umts plot one goodput_kbps"),
        (("one", "goodput_kbps", "cwnd"), "goodput_kbps is a metric, which comes last and alone: "
         "umts plot one goodput_kbps"),
        (("one", "cwnd"), "cwnd is a figure of runs, and one is a campaign, of which a metric or budget is "
         "drawn"),
        (("one", "effects"), "effects is a figure of studies, and one is a campaign, of which a metric or "
         "budget is drawn"),
        (("one", "goodput_kpbs"), "figures of campaigns are a metric or budget; there is no metric "
         "'goodput_kpbs'; did you mean goodput_kbps?"),
        (("one", "page_time_s"), "no run of one measured page_time_s; it measured goodput_kbps, "
         "goodput_active_kbps, throughput_kbps, mean_rtt_s, mean_rtt_time_avg_s, "
         "mean_outstanding_segments …"),
        (("one", "goodput_kbps", "--over", "tcp.mss"), "one does not vary 'tcp.mss'; it varies tcp.variant, "
         "radio.bler"),
        (("fach", "mean_rtt_s"), "mean_rtt_s is a metric, which is drawn for campaigns, and fach "
         "contains runs"),
        (("fach", "effects"), "effects is a figure of studies, and fach contains runs"),
        (("fach", "cwnd", "--over", "radio.bler"), "--over is for campaigns, and fach contains runs"),
        (("one", "goodput_kbps", "--until", "3"), "--until is for runs, and one is a campaign"),
        (("one", "fach", "goodput_kbps"), "one is a campaign and fach contains runs: draw them separately"),
        (("one", "two", "goodput_kbps", "--against", "tcp.variant"), "--against draws a map of one "
         "campaign, not of 2"),
    ],
)  # fmt: skip
def test_the_error_names_the_wrong_word(words: tuple[str, ...], error: str, folder: Path) -> None:
    done = run_umts(folder, "plot", *words, status=2)
    assert done.stderr.startswith(f"umts: {error}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_two_campaigns_are_one_figure(folder: Path) -> None:
    path = run_umts(folder, "plot", "one", "two", "goodput_kbps").stdout.strip()
    assert path == "results/figures/one-two-goodput_kbps.png"
    assert (folder / path).is_file()


def budgeted(version: str, *, budget: bool = True) -> list[Run]:
    """Return two runs with a TCP version, without time budgets if `budget` is false."""
    settings = [("duration", "15 s"), ("tcp.variant", version)]
    return simulate(
        Scenario.load(LOSSES, settings + ([("measure.budget", "true")] if budget else [])), runs=2
    )


def test_budgets_of_two_results_stand_side_by_side() -> None:
    results = {version: budgeted(version) for version in ("reno", "newreno")}
    figure = draw_budgets(results)
    [axes] = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Reno", "NewReno"]
    # The top of each stack of bars. The stacks are at the positions 0 and 1.
    tops = dict.fromkeys((0.0, 1.0), 0.0)
    for bar in axes.patches:
        position = round(bar.get_x() + bar.get_width() / 2)  # type: ignore[attr-defined]
        tops[position] = max(tops[position], bar.get_y() + bar.get_height())  # type: ignore[attr-defined]
    for position, runs in enumerate(results.values()):
        totals_s = [(run.metrics["budget_total_s"] or 0.0) / run.connection_count() for run in runs]
        assert tops[position] == pytest.approx(sum(totals_s) / len(totals_s))
    title = " ".join(axes.get_title(loc="left").split())
    assert title == "three-losses, seed 1, runs 0 to 1, with duration = 15 s"
    with pytest.raises(MissingBudget, match="tahoe has no time budget: run it again with --budget"):
        draw_budgets({**results, "tahoe": budgeted("tahoe", budget=False)})


def test_budgets_of_two_campaigns_are_panels_of_one_figure() -> None:
    def campaign(name: str) -> Record:
        cells = tuple(
            Cell({"tcp.variant": version}, tuple(budgeted(version))) for version in ("reno", "sack")
        )
        return Record(name, title="", axes=("tcp.variant",), seed=1, cells=cells)

    figure = draw_budget(merged({"one": campaign("one"), "two": campaign("two")}))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]


def test_an_unknown_kind_of_figure_is_an_error_with_a_suggestion(recorded: Run) -> None:
    with pytest.raises(KeyError) as caught:
        draw(recorded, "cwdn")
    assert str(caught.value) == "there is no figure 'cwdn'; did you mean 'cwnd'?"
    with pytest.raises(UnknownFigure, match=r"drawn by umtslab\.plot\.draw_waterfall"):
        draw(recorded, "waterfall")
    with pytest.raises(UnknownFigure, match="there is no mean over runs 'timeseq'"):
        draw_mean({"": [recorded]}, "timeseq")
    with pytest.raises(UnknownFigure, match=r"drawn by umtslab\.plot\.cdf\.draw_cdf"):
        draw_mean({"": [recorded]}, "rtt_cdf")
    with pytest.raises(UnknownFigure, match="did you mean 'rtt_cdf'"):
        draw_cdf({"": [recorded]}, "rt_cdf")

"""Figures: highlighted connections, several results in a figure, means over runs, distributions.

Of curves with equal data only one is visible. Its entry in the legend names the others as "equal".
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import FTP, Umts, short
from umtslab import Scenario, Store, open_store, simulate
from umtslab.analyse.rates import bin_length, rebinned, summed
from umtslab.analyse.replications import mean_and_half
from umtslab.analyse.steps import envelope
from umtslab.budget import MissingBudget
from umtslab.cli.plot_kinds import CDF_KINDS
from umtslab.plot import NobodyChosen, View, draw, named_apart
from umtslab.plot.bands import MAX_CHANGES, lines_or_bands
from umtslab.plot.cdf import CDFS, draw_cdf
from umtslab.plot.cwnd import NO_INFLATION, after_handshake
from umtslab.plot.mean import draw_mean
from umtslab.plot.palette import GREY
from umtslab.plot.rtt import figure as draw_rtt
from umtslab.plot.run_budget import draw_run_budget
from umtslab.plot.style import OTHERS, finish, new_figure
from umtslab.plot.timeseq import figure as draw_timeseq
from umtslab.plot.titles import shared_title
from umtslab.run import MissingSeries, Run


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Run]]:
    """Two runs each of Reno and NewReno."""
    with open_store(tmp_path_factory.mktemp("versions")) as store:
        return {
            name: simulate(short(("tcp.variant", name)), store=store, series=True, runs=2)
            for name in ("reno", "newreno")
        }


def legend_entries(figure: object) -> list[str]:
    """Return the entries of the legend."""
    [legend] = figure.legends  # type: ignore[attr-defined]
    return [text.get_text() for text in legend.get_texts()]


def test_chosen_connections_are_coloured_and_others_grey(switched: Run) -> None:
    figure = draw(switched, "cwnd", View(connections=(9,)))
    [axes] = figure.axes
    assert {"15 others", "congestion window, connection 9"} <= set(legend_entries(figure))
    assert sum(line.get_color() == OTHERS for line in axes.lines) == 15
    users = draw(switched, "rlc_buffer", View(ues=(5,)))
    assert {"RLC buffer, UE 5, downlink", "RLC buffer, UE 5, uplink"} < set(legend_entries(users))


def test_the_axis_fits_the_chosen_connections(switched: Run) -> None:
    _, high_kbps = draw(switched, "goodput", View(connections=(9,))).axes[0].get_ylim()
    # One connection has at most 64 kbit/s. The sum of all is much more.
    assert high_kbps < 100


@pytest.mark.parametrize("kind", ["timeseq", "rtt", "outstanding", "throughput", "rrc", "cell"])
def test_every_kind_accepts_chosen_connections_and_ues(kind: str, switched: Run) -> None:
    assert draw(switched, kind, View(connections=(9,), ues=(3,))).axes


def test_unknown_connection_or_ue_is_an_error(switched: Run) -> None:
    with pytest.raises(NobodyChosen, match="has no connection 99; it has connections 0 to 15"):
        draw(switched, "cwnd", View(connections=(99,)))
    with pytest.raises(NobodyChosen, match="has no UE 16; it has UEs 0 to 15"):
        draw(switched, "rrc", View(ues=(16,)))


def test_the_timeout_is_in_the_figure_of_any_number_of_connections() -> None:
    def table(column: str, count: int) -> pl.DataFrame:
        numbers = list(range(count))
        return pl.DataFrame({"time_s": [0.0] * count, "connection": numbers, column: [1.0] * count})

    for count in (1, 4, 5, 8, 9):
        figure = draw_rtt(table("rtt_s", count), table("srtt_s", count), table("rto_s", count))
        assert any("timeout (RTO)" in entry for entry in legend_entries(figure))


def test_results_are_named_by_their_differences(versions: dict[str, list[Run]]) -> None:
    named = named_apart([runs[0] for runs in versions.values()])
    assert list(named) == ["Reno", "NewReno"]
    figure = draw(named, "cwnd")
    # At the losses of these runs Reno and NewReno behave equally.
    assert legend_entries(figure)[:2] == ["Reno", "NewReno (equal to Reno)"]


def test_results_without_differences_keep_their_given_names(versions: dict[str, list[Run]]) -> None:
    equal = [versions["reno"][0], versions["reno"][0]]
    assert list(named_apart(equal, ["a", "b"])) == ["a", "b"]


@pytest.mark.parametrize("kind", ["timeseq", "rtt", "outstanding", "goodput", "throughput", "rlc_buffer"])
def test_results_have_the_same_order_in_every_figure(kind: str, versions: dict[str, list[Run]]) -> None:
    """The order decides the colours."""
    named = named_apart([runs[0] for runs in versions.values()])
    labels = [entry.partition(" (equal")[0] for entry in legend_entries(draw(named, kind))]
    assert [label for label in labels if label in named] == list(named)


def test_recording_options_do_not_distinguish_results(versions: dict[str, list[Run]], store: Store) -> None:
    [measured] = simulate(short(("tcp.variant", "newreno"), ("measure.budget", "true")), store=store)
    assert list(named_apart([versions["reno"][0], measured])) == ["Reno", "NewReno"]
    assert list(named_apart([versions["newreno"][0], measured], ["plain", "measured"])) == [
        "plain",
        "measured",
    ]


@pytest.mark.parametrize("kind", ["timeseq", "cwnd", "rtt", "outstanding", "goodput", "rlc_buffer"])
def test_the_legend_names_equal_curves(kind: str, recorded: Run) -> None:
    figure = draw({"one": recorded, "two": recorded}, kind)
    assert [entry for entry in legend_entries(figure) if entry.startswith(("one", "two"))] == [
        *("one", "two (equal to one)")
    ]
    widths = [
        line.get_linewidth()
        for line in figure.axes[0].lines
        if line.get_label() in legend_entries(figure)[:2]
    ]
    assert len(set(widths)) == 1


def test_distribution_functions_and_means_name_equal_curves(versions: dict[str, list[Run]]) -> None:
    equal = {"one": versions["reno"], "two": versions["reno"]}
    assert legend_entries(draw_cdf(equal, "rtt_cdf"))[1].endswith(" of 2 runs; equal to one)")
    assert legend_entries(draw_mean(equal, "cwnd"))[1] == "two (mean of 2 runs, 95 % band; equal to one)"


def test_a_mean_over_runs_has_its_band(versions: dict[str, list[Run]]) -> None:
    figure = draw_mean(versions, "goodput")
    assert [entry.partition(";")[0].rstrip(")") for entry in legend_entries(figure)] == [
        f"{name} (mean of 2 runs, 95 % band" for name in versions
    ]
    assert draw_mean({"": versions["reno"]}, "cwnd", View(from_s=5.0, until_s=15.0)).axes[0].get_xlim() == (
        5.0,
        15.0,
    )
    with pytest.raises(MissingSeries, match="at least two"):
        draw_mean({"": versions["reno"][:1]}, "cwnd")


def test_the_band_of_a_mean_has_the_half_width_of_its_interval() -> None:
    # Two runs with values at three times. One value at the second time is missing.
    mean, half_width = mean_and_half([np.array([1.0, np.nan, 2.0]), np.array([3.0, 5.0, 2.0])])
    assert mean.tolist() == [2.0, 5.0, 2.0]
    # The quantile of Student's t for one degree of freedom, times the standard error of 1.
    assert half_width[0] == pytest.approx(12.706, rel=1e-4)
    assert np.isnan(half_width[1])
    assert half_width[2] == 0


def test_the_command_draws_all_distribution_functions() -> None:
    assert tuple(CDFS) == CDF_KINDS


def test_a_distribution_function_counts_all_samples(versions: dict[str, list[Run]]) -> None:
    figure = draw_cdf(versions, "rtt_cdf")
    for line, runs in zip(figure.axes[0].lines, versions.values(), strict=False):
        samples = sum(run.series_rows("rtt") for run in runs)
        # The line begins with a point at 0 %.
        assert len(line.get_xdata()) == samples + 1  # type: ignore[arg-type]
        assert list(line.get_ydata())[-1] == 100  # type: ignore[arg-type]
    assert draw_cdf({"": versions["reno"]}, "delay_cdf").axes
    with pytest.raises(MissingSeries, match="has no pages in the selected time"):
        draw_cdf({"": versions["reno"]}, "page_cdf")


def test_a_bin_has_about_twenty_segments_but_the_number_of_bins_is_limited() -> None:
    def rates(seconds: int, kbps: float) -> pl.DataFrame:
        times = [float(second) for second in range(seconds)]
        return pl.DataFrame({"time_s": times, "connection": [0] * seconds, "goodput_kbps": [kbps] * seconds})

    segments = pl.DataFrame({"seq": [1, 1001], "end": [1001, 2001]})
    # 8 kbit/s are one segment of 1,000 bytes per second. Ten bins of 60 s are 6 s, and the next of
    # the lengths 1, 2, 5, 10 s … is 10 s.
    assert bin_length(rates(300, 8.0), "goodput_kbps", segments) == 20.0
    assert bin_length(rates(60, 8.0), "goodput_kbps", segments) == 10.0
    # 100 segments per second. 120 bins of 4,000 s are 33 s, and the next length is 50 s.
    assert bin_length(rates(100, 800.0), "goodput_kbps", segments) == 1.0
    assert bin_length(rates(4000, 800.0), "goodput_kbps", segments) == 50.0


def test_the_rate_of_a_bin_is_a_mean_in_which_silence_is_zero() -> None:
    table = pl.DataFrame(
        {"time_s": [0.0, 1.0, 4.0], "connection": [0, 0, 0], "goodput_kbps": [8.0, 4.0, 10.0]}
    )
    assert rebinned(table, "goodput_kbps", 2.0).rows() == [(0.0, 0, 6.0), (2.0, 0, 0.0), (4.0, 0, 10.0)]


def test_rates_of_connections_are_summed() -> None:
    table = pl.DataFrame(
        {"time_s": [0.0, 1.0, 4.0], "connection": [0, 0, 0], "goodput_kbps": [8.0, 4.0, 10.0]}
    )
    both = pl.concat([table, table.with_columns(pl.lit(1, dtype=pl.Int64).alias("connection"))])
    assert summed(both, "goodput_kbps")["goodput_kbps"].to_list() == [16.0, 8.0, 20.0]


def test_an_envelope_has_minimum_mean_and_maximum_of_each_bin() -> None:
    rows = pl.DataFrame({"time_s": [0.0, 1.0, 1.5, 4.0], "x": [2.0, 6.0, 4.0, 4.0]})
    bins = envelope(rows, "x", from_s=0.0, until_s=6.0, bins=3)
    assert bins.rows() == [(0.0, 2.0, 3.5, 6.0), (2.0, 4.0, 4.0, 4.0), (4.0, None, None, None)]


def test_a_line_with_too_many_changes_is_drawn_as_a_band() -> None:
    times = np.arange(MAX_CHANGES + 2.0)
    rows = pl.DataFrame({"time_s": times, "connection": [0] * len(times), "x": times % 7})
    figure, axes = new_figure("", "x (1)")
    lines_or_bands(axes, rows, "x", "buffer")
    finish(figure, axes)
    assert axes.patches
    assert legend_entries(figure) == ["range over 5 s", "buffer, mean"]


def test_negative_values_are_inside_the_axes() -> None:
    for from_zero in (True, False):
        figure, axes = new_figure("", "x (1)")
        axes.plot([0.0, 1.0], [-3.0, 5.0])
        finish(figure, axes, from_zero=from_zero)
        assert axes.get_ylim()[0] <= -3.0


def test_few_segments_are_drawn_as_bars_with_window_and_sack() -> None:
    sent = pl.DataFrame(
        {
            "time_s": [0.0, 0.1], "connection": [0, 0], "seq": [1, 1001], "end": [1001, 2001],
            "retransmission": [False, False],
        }
    )  # fmt: skip
    acked = pl.DataFrame({"time_s": [0.2, 0.3], "connection": [0, 0], "ack": [1001, 2001]})
    sacked = pl.DataFrame({"time_s": [0.25], "connection": [0], "left": [1501], "right": [2001]})
    window = pl.DataFrame({"time_s": [0.0], "connection": [0], "window_octets": [1000.0]})
    figure = draw_timeseq(sent, acked, sacked, window)
    assert set(legend_entries(figure)) == {
        "segment",
        "selectively acknowledged",
        "acknowledged",
        "end of the receiver's window",
    }
    edge = figure.axes[0].lines[-1]
    assert list(edge.get_ydata()) == [2.001, 3.001]  # type: ignore[arg-type]
    # An end far above the data would compress them.
    with_large_window = draw_timeseq(sent, acked, None, window.with_columns(window_octets=1e6))
    assert "end of the receiver's window" not in legend_entries(with_large_window)


def test_lines_of_several_results_are_explained_and_marks_keep_the_colours_of_their_results() -> None:
    sent = pl.DataFrame(
        {
            "time_s": [0.0, 0.1, 0.0, 0.1, 0.2], "connection": [0] * 5, "seq": [1, 1001, 1, 1001, 1],
            "end": [1001, 2001, 1001, 2001, 1001], "retransmission": [False] * 4 + [True],
            "result": ["Reno"] * 2 + ["Tahoe"] * 3,
        }
    )  # fmt: skip
    acked = pl.DataFrame(
        {"time_s": [0.2, 0.3], "connection": [0, 0], "ack": [1001, 2001], "result": ["Reno", "Tahoe"]}
    )
    figure = draw_timeseq(sent, acked)
    assert {"sent", "retransmission", "acknowledged", "Reno", "Tahoe"} == set(legend_entries(figure))
    [axes] = figure.axes
    crosses = [line for line in axes.lines if line.get_marker() == "x" and len(line.get_xdata())]  # type: ignore[arg-type]
    tahoe = next(line for line in axes.lines if line.get_label() == "Tahoe")
    assert [line.get_color() for line in crosses] == [tahoe.get_color()]
    # The entries of the legend for marks have no data in the figure.
    grey = {line.get_label(): line.get_color() for line in axes.lines if not len(line.get_xdata())}  # type: ignore[arg-type]
    assert set(grey.values()) == {GREY}
    assert {"sent", "retransmission", "acknowledged"} == set(grey)


def test_segments_are_drawn_over_the_end_of_the_receivers_window() -> None:
    sent = pl.DataFrame(
        {"time_s": [0.0], "connection": [0], "seq": [1], "end": [1001], "retransmission": [False]}
    )
    acked = pl.DataFrame({"time_s": [0.0], "connection": [0], "ack": [1]})
    window = pl.DataFrame({"time_s": [0.0], "connection": [0], "window_octets": [1000.0]})
    [axes] = draw_timeseq(sent, acked, None, window).axes
    edge = next(line for line in axes.lines if line.get_label() == "end of the receiver's window")
    assert edge.get_zorder() < min(area.get_zorder() for area in axes.collections)


@pytest.mark.parametrize("several", [False, True])
def test_dropped_packets_are_marked_by_place_and_kind(several: bool) -> None:
    def with_result(table: pl.DataFrame, result: str) -> pl.DataFrame:
        return table.with_columns(pl.lit(result).alias("result"))

    sent = pl.DataFrame(
        {"time_s": [0.0], "connection": [0], "seq": [1], "end": [1001], "retransmission": [False]}
    )
    acked = pl.DataFrame({"time_s": [0.2], "connection": [0], "ack": [1001]})
    dropped = pl.DataFrame(
        {
            "time_s": [0.0, 0.5, 0.6], "connection": [0] * 3, "kind": ["data", "ack", "data"],
            "seq": [1, 1001, 1001], "end": [1001, 1001, 2001], "place": ["script", "script", "link_queue"],
        }
    )  # fmt: skip
    if several:
        sent, acked = (
            pl.concat([with_result(table, "Reno"), with_result(table, "Tahoe")]) for table in (sent, acked)
        )
        dropped = with_result(dropped, "Tahoe")
    figure = draw_timeseq(sent, acked, dropped=dropped)
    assert {
        "dropped by the scenario's script",
        "ACK dropped by the scenario's script",
        "dropped by a full link queue",
    } < set(legend_entries(figure))
    marks = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "none"]
    places = [line.get_xydata() for line in marks if len(line.get_xdata())]  # type: ignore[arg-type]
    assert np.concatenate(places) == pytest.approx(np.array([(0.0, 1.001), (0.5, 1.001), (0.6, 2.001)]))


def test_the_window_is_drawn_from_the_end_of_the_handshake() -> None:
    cwnd = pl.DataFrame(
        {
            "time_s": [0.0, 1.0, 2.0, 0.0, 9.0],
            "connection": [0, 0, 0, 1, 1],
            "cwnd_segments": [1.0, 3, 4, 1, 1],
        }
    )
    acked = pl.DataFrame({"time_s": [1.0, 2.0, 5.0], "connection": [0, 0, 1], "ack": [1, 1001, 1]})
    after = after_handshake(cwnd, acked)
    assert sorted(after.rows(), key=lambda row: (row[1], row[0])) == [
        *((1.0, 0, 3.0), (2.0, 0, 4.0)),
        *((5.0, 1, 1.0), (9.0, 1, 1.0)),
    ]
    # Without a SYN the first acknowledgment covers data, and the window is drawn from the first
    # segment on.
    no_syn = after_handshake(cwnd, acked.with_columns(pl.col("ack") + 1000))
    assert no_syn.height == cwnd.height


def test_the_cwnd_figure_begins_with_the_initial_window_and_has_a_note_on_inflation() -> None:
    losses = FTP.with_name("three-losses.toml")
    run = simulate(Scenario.load(losses, [("duration", "5 s")]), series=True)[0]
    figure = draw(run, "cwnd")
    line = next(line for line in figure.axes[0].lines if line.get_label() == "congestion window")
    times, values = (np.asarray(part, dtype=float) for part in line.get_data())
    first_ack = run.series("acked")["time_s"][0]
    # The scenario's initial window is three segments.
    assert (times[0], values[0]) == (first_ack, 3)
    [legend] = figure.legends
    assert " ".join(legend.get_title().get_text().split()) == NO_INFLATION


def test_the_title_names_the_settings_that_all_results_share(versions: dict[str, list[Run]]) -> None:
    figures = [draw_cdf(versions, "rtt_cdf"), draw_mean(versions, "cwnd")]
    for figure in figures:
        title = " ".join(figure.axes[0].get_title(loc="left").split())
        assert title == "ftp-on-fach, seed 1, runs 0 to 1, with duration = 20 s, radio.bler = 0.2"
    both = draw({name: runs[0] for name, runs in versions.items()}, "cwnd")
    title = " ".join(both.axes[0].get_title(loc="left").split())
    assert title == "ftp-on-fach, seed 1, run 0, with duration = 20 s, radio.bler = 0.2"
    other = simulate(Scenario.load(FTP.with_name("three-losses.toml"), [("duration", "20 s")]))[0]
    assert shared_title([[versions["reno"][0]], [other]]) == "seed 1, run 0, with duration = 20 s"


def test_a_band_below_zero_is_within_the_axes() -> None:
    figure, axes = new_figure("", "x (1)")
    axes.stairs([9.0, 8.0], [0.0, 1.0, 2.0], baseline=[-3.0, -5.0], fill=True, label="band")
    finish(figure, axes)
    low, high = axes.get_ylim()
    assert low <= -5
    assert high >= 9


def test_the_budget_of_one_run_shows_the_mean_the_slowest_connections_and_users() -> None:
    settings = {"duration": "20 s", "measure.budget": True}
    run = simulate(Scenario.load(FTP.with_name("ftp-fach-dch.toml"), settings))[0]
    figure = draw_run_budget(run)
    names = [[label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes]
    assert names[0] == ["16 connections"]
    assert len(names[1]) == 10
    assert len(names[2]) == 16
    totals_s = run.connections()["budget_total_s"]
    ends = [max(bar.get_x() + bar.get_width() for bar in axes.patches) for axes in figure.axes]  # type: ignore[attr-defined]
    assert ends[0] == pytest.approx(float(str(totals_s.mean())))
    assert ends[1] == pytest.approx(float(str(totals_s.max())))
    with pytest.raises(MissingBudget, match="--budget"):
        draw_run_budget(simulate(short())[0])


def test_the_command_draws_several_results(umts: Umts, tmp_path: Path) -> None:
    for name in ("reno", "newreno"):
        umts("run", FTP, "--set", f"tcp.variant={name}", "--duration", "10 s", "--series", "--runs", 2,
             "--out", name)  # fmt: skip
    umts("plot", "reno", "newreno", "cwnd", "-o", "both.svg")
    assert "NewReno" in (tmp_path / "both.svg").read_text()
    umts("plot", "reno", "newreno", "rtt", "--mean", "--connection", 0, "-o", "mean.svg")
    umts("plot", "reno", "newreno", "rtt_cdf", "--log", "-o", "cdf.svg")
    errors = umts("plot", "reno", "newreno", "waterfall", status=2).stderr
    assert errors == "umts: waterfall shows one result, not 2\n"
    errors = umts("plot", "reno", "timeseq", "--mean", status=2).stderr
    assert errors == "umts: --mean applies to cwnd, outstanding, rtt, goodput, rlc_buffer\n"
    errors = umts("plot", "reno", "cwnd", "--ue", "one", status=2).stderr
    assert errors == "umts: --ue takes a number from 0, or several as in 3,7, not 'one'\n"
    errors = umts("plot", "reno", "cwnd", "--connection", "7", status=2).stderr
    assert errors == "umts: run 0 of ftp-on-fach has no connection 7; it has connections 0 to 0\n"

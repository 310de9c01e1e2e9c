"""Figures: files, units on the axes, and readability without colour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import FTP, Umts, overhanging
from umtslab import Scenario, simulate
from umtslab.analyse.rates import sent_per_window
from umtslab.analyse.steps import cut, hold
from umtslab.cli.plot_kinds import RUN_KINDS
from umtslab.plot import FORMATS, KINDS, View, draw, save
from umtslab.plot.palette import COLOURS, DASHES, marker_of, style
from umtslab.run import MissingSeries, Run

BEGINS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


# The figure of PDUs is tested in test_reproduce_pdus.py.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pdus"])
def test_every_kind_has_data_units_and_a_legend(kind: str, run_of_kind: Callable[[str], Run]) -> None:
    figure = draw(run_of_kind(kind), kind)
    assert figure.axes[-1].get_xlabel().endswith("(s)")
    for axes in figure.axes:
        assert axes.get_ylabel().endswith(")")
        drawn = [len(line.get_xdata()) for line in axes.lines]  # type: ignore[arg-type]
        drawn += [len(area.get_paths()) for area in axes.collections]
        drawn += [len(area.get_path()) for area in axes.patches]
        assert any(drawn)
    [legend] = figure.legends
    assert len(legend.get_texts()) >= 1
    assert all(text.get_fontsize() == 10 for text in legend.get_texts())
    assert overhanging(figure) == []


@pytest.mark.parametrize("suffix", FORMATS)
def test_files_have_the_format_of_their_suffix_and_are_reproducible(
    suffix: str, recorded: Run, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        save(draw(recorded, "cwnd"), tmp_path / f"{name}{suffix}")
    content = (tmp_path / f"one{suffix}").read_bytes()
    assert content.startswith(BEGINS[suffix])
    assert content == (tmp_path / f"two{suffix}").read_bytes()


def test_each_colour_has_its_own_dashes() -> None:
    assert len(set(map(str, DASHES))) == len(DASHES) == len(COLOURS)


def test_forty_curves_have_unique_combinations_of_colour_and_dashes_or_marker() -> None:
    looks = [style(number) for number in range(40)]
    assert len({look["color"] for look in looks[:10]}) == 10
    assert len({str(look["linestyle"]) for look in looks[:10]}) == 10
    assert len({str(look) for look in looks}) == 40
    assert len({(look["color"], marker_of(number)) for number, look in enumerate(looks)}) == 40


def test_a_failed_write_of_a_figure_leaves_no_file(recorded: Run, tmp_path: Path) -> None:
    class Unwritable:
        def savefig(self, *_: object, **__: object) -> None:
            raise OSError("no")

    with pytest.raises(OSError, match="no"):
        save(Unwritable(), tmp_path / "figure.png")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_series_names_the_option_that_records_them() -> None:
    from conftest import short

    with pytest.raises(MissingSeries, match="--series"):
        draw(simulate(short())[0], "cwnd")


def test_throughput_counts_retransmissions_and_is_zero_in_silent_windows() -> None:
    sent = pl.DataFrame(
        {
            "time_s": [0.1, 0.2, 0.9, 3.5],
            "connection": [0, 0, 0, 0],
            "seq": [0, 1, 1, 1001],
            "end": [1, 1001, 1001, 1501],
        }
    )
    # Rates of windows of a second. The SYN has no payload, and the segment of 1,000 bytes counts
    # twice.
    assert sent_per_window(sent).rows() == [(0.0, 0, 16.0), (1.0, 0, 0.0), (2.0, 0, 0.0), (3.0, 0, 4.0)]


def test_values_recorded_on_change_hold_to_the_end_of_their_connection() -> None:
    table = pl.DataFrame({"time_s": [1.0, 2.0, 3.0], "connection": [0, 1, 0], "x": [5.0, 6.0, 7.0]})
    closed = pl.DataFrame({"connection": [0, 1], "closed_s": [4.0, None]})
    assert hold(table, ("connection",), 10.0, closed).rows()[3:] == [(4.0, 0, 7.0), (10.0, 1, 6.0)]


def test_the_last_value_of_a_line_is_drawn_to_the_end_of_the_run(recorded: Run) -> None:
    [axes] = draw(recorded, "outstanding").axes
    [line] = axes.lines
    assert list(line.get_xdata())[-1] == 20.0  # type: ignore[arg-type]


def test_a_part_of_a_series_has_the_values_at_its_ends() -> None:
    table = pl.DataFrame(
        {
            "time_s": [0.0, 2.0, 9.0, 0.0, 1.0, 6.0, 9.0],
            "connection": [0, 0, 0, 1, 1, 2, 2],
            "x": [5.0, 6.0, 6.0, 7.0, 8.0, 9.0, 9.0],
        }
    )
    # Connection 1 ends at 1 s, and connection 2 begins at 6 s.
    assert cut(table, ("connection",), from_s=3.0, until_s=5.0).rows() == [(3.0, 0, 6.0), (5.0, 0, 6.0)]
    at_one_s = cut(table, ("connection",), from_s=1.0, until_s=1.5).rows()
    assert sorted(at_one_s) == [(1.0, 0, 5.0), (1.0, 1, 7.0), (1.0, 1, 8.0), (1.5, 0, 5.0)]


@pytest.mark.parametrize("kind", ["timeseq", "cwnd", "rtt", "outstanding", "goodput", "rlc_buffer", "cell"])
def test_both_axes_show_the_requested_part(kind: str, recorded: Run, switched: Run) -> None:
    run = switched if kind == "cell" else recorded
    for axes in draw(run, kind, View(from_s=1.3, until_s=4.7)).axes:
        assert axes.get_xlim() == (1.3, 4.7)
        # The data fill the axis except for margins of up to 20 %.
        low, high = axes.get_ylim()
        assert high - low <= 1.2 * axes.dataLim.height or low == 0
        assert high <= 1.2 * axes.dataLim.y1
        for line in axes.lines:
            times = np.asarray(line.get_xdata())
            # Windows of a second that overlap the part are drawn completely.
            assert np.all((times >= 0.3) & (times <= 5.0))


def test_sequence_numbers_begin_at_zero_only_in_a_figure_of_the_whole_run(recorded: Run) -> None:
    last_part = draw(recorded, "timeseq", View(from_s=15.0, until_s=20.0)).axes[0]
    whole_run = draw(recorded, "timeseq").axes[0]
    assert whole_run.get_ylim()[0] == 0 < last_part.get_ylim()[0]


def test_efficiency_in_a_part_equals_efficiency_in_the_whole_run(switched: Run) -> None:
    upper, lower = draw(switched, "cell", View(from_s=10.0, until_s=20.0)).axes
    part, whole = lower.patches[0], draw(switched, "cell").axes[1].patches[0]
    values = whole.get_data().values[10:20]  # type: ignore[attr-defined]
    assert part.get_data().values == pytest.approx(values, nan_ok=True)  # type: ignore[attr-defined]
    assert upper.get_xlim() == (10.0, 20.0)


def test_the_time_axis_ends_with_the_data(recorded: Run) -> None:
    for kind in ("outstanding", "rlc_buffer", "cwnd"):
        assert draw(recorded, kind).axes[0].get_xlim() == (0.0, 20.0)


@pytest.mark.parametrize("kind", ["goodput", "throughput"])
def test_the_last_window_is_drawn_to_its_end(kind: str, recorded: Run) -> None:
    [axes] = draw(recorded, kind).axes
    [line] = axes.lines
    times, values = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    [length] = set(np.diff(times))
    assert f" over {length:g} s" in axes.get_ylabel()
    assert times[-1] == 20.0
    assert values[-1] == values[-2]


def test_the_legend_has_only_marks_of_the_figure() -> None:
    losses = Scenario.load(FTP.with_name("three-losses.toml"), {"duration": "20 s"})
    [run] = simulate(losses, series=True)

    def legend_of(view: View) -> list[str]:
        [legend] = draw(run, "timeseq", view).legends
        return [text.get_text() for text in legend.get_texts()]

    retransmitted_s = run.series("sent").filter(pl.col("retransmission"))["time_s"].to_list()
    assert "retransmission" in legend_of(View())
    assert "retransmission" not in legend_of(View(0.0, min(retransmitted_s) - 0.1))


@pytest.mark.parametrize("kind", ["cwnd", "outstanding"])
def test_ticks_of_an_axis_of_segments_are_integers(kind: str, recorded: Run) -> None:
    figure = draw(recorded, kind, View(from_s=0.0, until_s=1.0))
    figure.draw_without_rendering()
    assert all(float(tick).is_integer() for tick in figure.axes[0].get_yticks())


def test_an_svg_file_has_its_text_as_text(recorded: Run, tmp_path: Path) -> None:
    save(draw(recorded, "cwnd"), tmp_path / "cwnd.svg")
    content = (tmp_path / "cwnd.svg").read_text()
    assert "<text" in content
    assert "congestion window" in content


def test_a_part_after_the_end_of_the_run_is_refused(umts: Umts) -> None:
    umts("run", FTP, "--duration", "5 s", "--series")
    errors = umts("plot", "results", "cwnd", "--from", 7, status=2).stderr
    assert errors == "umts: --from 7 is not before the end of the run at 5 s\n"


def test_a_mistyped_figure_is_named(umts: Umts) -> None:
    umts("run", FTP, "--duration", "5 s", "--series")
    errors = umts("plot", "results", "rlc-buffer", status=2).stderr
    assert errors == "umts: there is no figure 'rlc-buffer'; did you mean rlc_buffer?\n"
    errors = umts("plot", "results", "xyzzy", status=2).stderr
    assert errors == f"umts: there is no figure 'xyzzy'; there are {', '.join(RUN_KINDS)}\n"


def test_a_missing_folder_is_refused_before_drawing(umts: Umts, tmp_path: Path) -> None:
    umts("run", FTP, "--duration", "5 s", "--series")
    errors = umts("plot", "results", "cwnd", "-o", "nowhere/cwnd.png", status=2).stderr
    assert errors == "umts: nowhere/cwnd.png: the folder nowhere does not exist\n"


def test_the_command_prints_the_path_of_the_figure(umts: Umts, tmp_path: Path) -> None:
    umts("run", FTP, "--duration", "20 s", "--series")
    path = umts("plot", "results", "outstanding").stdout.strip()
    assert (tmp_path / path).read_bytes().startswith(BEGINS[".png"])
    umts("plot", "results", "rtt", "-o", "rtt.pdf")
    assert (tmp_path / "rtt.pdf").read_bytes().startswith(BEGINS[".pdf"])

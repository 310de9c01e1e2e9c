"""Figures of RRC states and of the cell agree with the metrics."""

from __future__ import annotations

from math import fsum

import polars as pl
import pytest
from conftest import overhanging
from umtslab.analyse.efficiency import efficiency_per_window
from umtslab.analyse.steps import hold, integral
from umtslab.plot import draw
from umtslab.plot.rrc import MAX_UES, SWITCHING, figure, spans
from umtslab.run import MissingSeries, Run


def held_series(run: Run, name: str, key: str) -> pl.DataFrame:
    """Return a series that is recorded on change, with a last row for each `key` at the run's end."""
    return hold(run.series(name), (key,), run.duration_s)


def test_strips_show_the_time_in_each_state_that_the_metrics_count(switched: Run) -> None:
    table = held_series(switched, "rrc_state", "ue")
    strips = [spans(rows) for rows in table.partition_by("ue")]
    for strip in strips:
        lengths = [length for of_state in strip.values() for _, length in of_state]
        assert fsum(lengths) == pytest.approx(switched.duration_s, abs=1e-9)
    for state, metric in (("CELL_DCH", "time_in_cell_dch_s"), ("CELL_FACH", "time_in_cell_fach_s")):
        shown_s = fsum(length for strip in strips for _, length in strip.get(state, []))
        assert shown_s > 0
        assert shown_s / len(strips) == pytest.approx(switched.metrics[metric])
    assert all(length > 0 for strip in strips for _, length in strip[SWITCHING])


def test_efficiency_over_the_whole_run_is_the_metric(switched: Run) -> None:
    cell, goodput = held_series(switched, "cell", "cell"), switched.series("goodput")
    [only_window] = efficiency_per_window(cell, goodput, length_s=switched.duration_s).to_dicts()
    assert only_window["efficiency"] == pytest.approx(switched.metrics["cell_efficiency"])
    # The run lasts 40 s, and windows are a second long.
    assert len(efficiency_per_window(cell, goodput)) == 40


def test_the_mean_of_the_reserved_rate_is_the_metric_of_occupancy(switched: Run) -> None:
    cell = held_series(switched, "cell", "cell")
    begin_and_end_s = pl.Series([0.0, switched.duration_s]).to_numpy()
    _, reserved_kbit = integral(cell["time_s"].to_numpy(), cell["downlink_kbps"].to_numpy(), begin_and_end_s)
    mean_kbps = reserved_kbit / switched.duration_s
    assert mean_kbps == pytest.approx(switched.metrics["cell_occupancy_kbps"])


def test_a_window_cut_by_the_end_counts_its_actual_length() -> None:
    cell = pl.DataFrame({"time_s": [0.0, 2.0, 2.5], "cell": [0, 0, 0], "downlink_kbps": [10.0, 20.0, 20.0]})
    goodput = pl.DataFrame(
        {"time_s": [0.0, 1.0, 2.0], "connection": [0, 0, 0], "goodput_kbps": [5.0, 0, 8.0]}
    )
    # Start, length and efficiency of each window: goodput divided by the reserved rate.
    rows = efficiency_per_window(cell, goodput, length_s=1.0).rows()
    assert rows == [(0.0, 1.0, 0.5), (1.0, 1.0, 0.0), (2.0, 0.5, 0.4)]


def test_without_reserved_rate_there_is_no_efficiency() -> None:
    cell = pl.DataFrame({"time_s": [1.0, 2.0], "cell": [0, 0], "downlink_kbps": [10.0, 10.0]})
    goodput = pl.DataFrame({"time_s": [1.0], "connection": [0], "goodput_kbps": [4.0]})
    assert efficiency_per_window(cell, goodput)["efficiency"].to_list() == [None, 0.4]


@pytest.mark.parametrize("kind", ["rrc", "cell"])
def test_a_run_without_switched_users_cannot_be_drawn(kind: str, recorded: Run) -> None:
    with pytest.raises(MissingSeries, match="switched"):
        draw(recorded, kind)


def test_only_the_first_of_many_users_are_drawn_and_the_axis_has_their_number() -> None:
    count = MAX_UES + 5
    ues = [ue for ue in range(count) for _ in range(2)]
    states = pl.DataFrame(
        {"time_s": [0.0, 9.0] * count, "ue": ues, "state": "IDLE", "towards": ""},
        schema_overrides={"ue": pl.UInt32},
    )
    [axes] = figure(states).axes
    assert f"first {MAX_UES} of {count}" in axes.get_ylabel()
    assert len(axes.collections) == MAX_UES


def test_the_strip_of_one_user_has_room_for_its_label() -> None:
    table = pl.DataFrame(
        {"time_s": [0.0, 5.0], "ue": [0, 0], "state": ["CELL_FACH", "CELL_FACH"], "towards": ["", ""]}
    )
    assert overhanging(figure(table)) == []

"""The map of a layout: best cells, tracks of users, handovers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import FTP
from umtslab import Scenario, Store, simulate
from umtslab.cli.failures import UsageError
from umtslab.cli.plot_runs import RunSelection, draw_runs
from umtslab.plot import NobodyChosen, View
from umtslab.plot.look import HOUSE
from umtslab.plot.map import MAX_TRACKS, draw_map
from umtslab.run import MissingSeries, Run

TOWN = """
version = 1
name = "town"
duration = "60 s"
[layout]
[[cell]]
name = "sector"
[[ue]]
name = "car"
count = 7
mobility = { speed = "120 km/h" }
"""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A minute of seven cars in the default layout of 36 cells."""
    return stored(TOWN, tmp_path_factory.mktemp("town"))


def stored(text: str, folder: Path) -> Run:
    """Simulate a scenario with series, and store the run. Its map needs the stored scenario."""
    [run] = simulate(Scenario.parse(text), series=True, store=Store(folder))
    return run


def legend_entries(figure: object) -> list[str]:
    """Return the entries of the legend."""
    [legend] = figure.legends  # type: ignore[attr-defined]
    return [text.get_text() for text in legend.get_texts()]


def test_a_map_numbers_36_cells_and_shows_the_first_users(town: Run) -> None:
    figure = draw_map(town)
    [axes] = figure.axes
    assert {text.get_text() for text in axes.texts} == {str(number) for number in range(1, 37)}
    users = [f"UE {ue}" for ue in range(MAX_TRACKS)]
    assert legend_entries(figure) == [*users, "start", "site", "2 other users not drawn"]
    # The area in km.
    assert axes.get_xlim() == pytest.approx((0.0, 4.5))
    assert axes.get_ylim() == pytest.approx((0.0, 5.196), abs=1e-3)


def test_every_cell_is_best_in_a_similar_area(town: Run) -> None:
    assert town.folder is not None
    # Best cells at 90 by 104 places of the area.
    best_cells = Scenario.load(town.folder / "scenario.toml").core.map(90, 104)
    assert best_cells is not None
    _, _, cells, best_of_place = best_cells
    shares = [best_of_place.count(cell) / len(best_of_place) for cell in range(len(cells))]
    assert min(shares) > 0.9 / 36
    assert max(shares) < 1.1 / 36


STREETS = """
version = 1
name = "streets"
duration = "30 s"
[layout]
[layout.streets]
blocks = [4, 2]
[propagation]
model = "manhattan"
[[cell]]
name = "corner"
[[ue]]
name = "walker"
count = 2
mobility = { model = "manhattan" }
"""


def test_houses_are_drawn_and_pedestrians_stay_outside(tmp_path: Path) -> None:
    figure = draw_map(stored(STREETS, tmp_path))
    [axes] = figure.axes
    [houses] = axes.collections[:1]
    corners = [path.get_extents().extents for path in houses.get_paths()]
    assert len(corners) == 4 * 2
    # Blocks of 200 m between streets of 30 m.
    assert corners[0] == pytest.approx((0.03, 0.03, 0.23, 0.23))
    assert {text.get_text() for text in axes.texts} == {"1", "2", "3", "4"}
    for line in axes.lines:
        for x, y in np.array(line.get_xydata()):
            assert not any(left < x < right and low < y < high for left, low, right, high in corners)


def test_chosen_users_are_shown_for_the_chosen_time(town: Run) -> None:
    figure = draw_map(town, View(from_s=10.0, until_s=13.0, ues=(6,)))
    assert legend_entries(figure) == ["UE 6", "start", "site", "6 other users not drawn"]
    [axes] = figure.axes
    tracks = [np.array(line.get_xydata()) for line in axes.lines]
    length_km = sum(np.hypot(*np.diff(track, axis=0).T).sum() for track in tracks)
    # Three seconds at 120 km/h.
    assert length_km == pytest.approx(3 * 120 / 3600, rel=0.01)


def test_a_map_marks_only_handovers_within_its_time(tmp_path: Path) -> None:
    scenario = Scenario.load(FTP.with_name("manhattan.toml"), [("duration", "20 s"), ("measure.from", "0 s")])
    [run] = simulate(scenario, series=True, store=Store(tmp_path))
    moved = tuple(run.series("handovers")["ue"].unique()[:1])
    assert "handover" in legend_entries(draw_map(run, View(ues=moved)))
    assert "handover" not in legend_entries(draw_map(run, View(until_s=0.0, ues=moved)))


def test_unknown_users_cannot_be_drawn(town: Run) -> None:
    with pytest.raises(NobodyChosen, match="no UE 7"):
        draw_map(town, View(ues=(7,)))


def test_without_a_layout_there_is_no_map(tmp_path: Path) -> None:
    text = 'version = 1\nduration = "1 s"\n[[ue]]\nname = "u"\n'
    with pytest.raises(MissingSeries, match=r"no \[layout\]"):
        draw_map(stored(text, tmp_path))


def test_a_map_refuses_connections(town: Run) -> None:
    of_connection_0 = RunSelection(
        from_=None, until=None, connections=("0",), ues=(), mean=False, annotate=False
    )
    with pytest.raises(UsageError, match="--ue N"):
        draw_runs([[town]], ["town"], "map", of_connection_0, HOUSE)

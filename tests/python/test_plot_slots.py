"""Figure of TDD slots: blocks of the run, no resource unit twice, one direction for each slot."""

from __future__ import annotations

import polars as pl
import pytest
from matplotlib.colors import to_hex, to_rgba_array
from umtslab.plot import draw
from umtslab.plot.palette import OTHER_USERS
from umtslab.plot.sir import figure as sir_figure
from umtslab.plot.slots import CODES, FRAME_S, MAX_FRAMES, figure
from umtslab.plot.users import colours_of, user_patches
from umtslab.run import MissingSeries, Run


def test_the_drawn_blocks_agree_with_the_metrics(tdd: Run) -> None:
    slots = tdd.series("slots")
    for direction, ending in (("downlink", ""), ("uplink", "_uplink")):
        blocks = slots.filter(pl.col("direction") == direction)
        assert blocks.height > 100
        # The metrics also count blocks of the common channels, which the figure does not show.
        lost_pct = 100 * blocks["lost"].sum() / blocks.height
        assert lost_pct == pytest.approx(tdd.metrics[f"bler_pct{ending}"], abs=2)


def test_no_resource_unit_is_used_twice_and_no_slot_in_both_directions(tdd: Run) -> None:
    slots = tdd.series("slots")
    assert slots.select("time_s", "slot", "code").is_duplicated().sum() == 0
    assert ((slots["code"] + slots["codes"]) <= CODES).all()
    directions = slots.group_by("time_s", "slot").agg(pl.col("direction").n_unique())
    assert directions["direction"].max() == 1


def test_figures_of_slots_and_of_sir_are_drawn(tdd: Run) -> None:
    drawn = draw(tdd, "slots").axes[0]
    assert drawn.get_ylabel() == f"slot (number; the first {MAX_FRAMES} frames)"
    assert len(draw(tdd, "sir").axes) >= 1


def test_a_run_without_slots_is_an_error_that_names_the_key(recorded: Run) -> None:
    with pytest.raises(MissingSeries, match=r"measure\.slots=true"):
        draw(recorded, "slots")


def test_blocks_without_sir_are_not_in_the_figure_of_sir() -> None:
    block = {"time_s": 0.01, "ue": 0, "direction": "uplink", "slot": 1, "code": 0, "codes": 4, "lost": False}
    table = pl.DataFrame([{**block, "sir_db": None}, {**block, "ue": 1, "sir_db": 9.0}])
    assert [axes.get_ylabel() for axes in sir_figure(table).axes] == ["UE 1\nSIR (dB)"]
    assert figure(table).axes[0].get_ylabel() == "slot (number)"


def test_the_legend_has_each_colour_and_the_number_of_its_users(tdd: Run) -> None:
    drawing = draw(tdd, "slots")
    [legend] = drawing.legends
    entries = [text.get_text() for text in legend.get_texts()]
    slots = tdd.series("slots")
    # The figure has the first frames only. The small number excludes a block at their end.
    is_drawn = pl.col("time_s") < pl.col("time_s").min() + MAX_FRAMES * FRAME_S - 1e-9
    users = slots.filter(is_drawn)["ue"].n_unique()
    assert sum(entry.startswith("UE ") for entry in entries) == 12
    assert f"{users - 12} other users" in entries
    drawn = {
        to_hex(colour)
        for area in drawing.axes[0].collections
        for colour in to_rgba_array(area.get_facecolor())
        if area.get_zorder() == 2
    }
    named = {to_hex(patch.get_facecolor()) for patch in legend.get_patches()}
    assert drawn <= named | {"#000000"}  # lost blocks are crosses


@pytest.mark.parametrize(
    ("users", "last_entry"),
    [(1, "UE 0"), (6, "UE 5"), (12, "UE 11"), (13, "1 other user"), (40, "28 other users")],
)
def test_up_to_twelve_users_have_unique_colours(users: int, last_entry: str) -> None:
    colours = colours_of(range(users))
    unique = [colour for colour in colours.values() if colour != OTHER_USERS]
    assert len(unique) == len(set(unique)) == min(users, 12)
    entries = [str(patch.get_label()) for patch in user_patches(colours)]
    # One more entry stands for all other users.
    assert len(entries) == min(users, 13)
    assert entries[-1] == last_entry

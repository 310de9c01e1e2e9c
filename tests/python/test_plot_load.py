"""Figures of a layout: mean load and power of the cells, code trees, Jain's fairness index.

The figure of codes shows the OVSF code tree of one cell: a code of spreading factor n is 1/n of it.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from umtslab.plot import draw
from umtslab.plot.cdf import jain, values_per_user
from umtslab.plot.codes import MAX_TTIS
from umtslab.plot.codes import figure as codes_figure
from umtslab.plot.load import figure as load_figure
from umtslab.run import MissingSeries, Run


def cells(seconds: int, levels: tuple[float, ...]) -> pl.DataFrame:
    """A row for each cell and second. Every second cell postpones half of its requests."""
    return pl.DataFrame(
        [
            {
                "time_s": float(second), "cell": cell, "load_factor_pct": 80.0 + cell, "power_dbm": level,
                "grants": 10, "postponed": 10 * (cell % 2),
            }
            for second in range(seconds)
            for cell, level in enumerate(levels)
        ]
    )  # fmt: skip


def test_the_lines_are_means_over_the_cells_and_powers_are_averaged_in_milliwatts() -> None:
    # Two cells with load factors of 80 and 81 %, and powers of 20 and 30 dBm: 100 and 1,000 mW.
    load, power, postponed = load_figure(cells(3, (20.0, 30.0)), title="two").axes
    assert set(load.lines[0].get_ydata()) == {80.5}  # type: ignore[arg-type]
    assert next(iter(power.lines[0].get_ydata())) == pytest.approx(10 * np.log10(550))  # type: ignore[arg-type]
    # 20 requests are granted and 10 are postponed.
    assert next(iter(postponed.lines[0].get_ydata())) == pytest.approx(100 / 3)  # type: ignore[arg-type]
    assert [axes.get_ylabel() for axes in (load, power, postponed)] == [
        "load factor (%)",
        "power (dBm)",
        "postponed (%)",
    ]


def test_each_result_has_a_line() -> None:
    several = pl.concat(
        cells(2, (20.0,)).with_columns(pl.lit(name).alias("result")) for name in ("SCr16", "TO300")
    )
    assert [line.get_label() for line in load_figure(several).axes[1].lines] == ["SCr16", "TO300"]


def test_the_figure_of_cells_without_requests_is_drawn() -> None:
    without_grants = cells(2, (20.0,)).with_columns(pl.lit(0).alias("grants"))
    assert without_grants["postponed"].sum() == 0
    assert load_figure(without_grants).axes[2].lines


def requests(ttis: int) -> pl.DataFrame:
    """Return requests of TTIs of 20 ms.

    In cell 4, UE 1 has a code of spreading factor 8. UE 2 wanted one as well and has one of 16. UE 3 is
    postponed, because no code is free. In cell 5, UE 9 is postponed because of the power.
    """
    granted = {"fate": "granted", "wanted": 8}
    rows = []
    for tti in range(ttis):
        tti_of_cell = {"time_s": round(0.02 * tti, 6), "cell": 4}
        rows += [
            {**tti_of_cell, **granted, "ue": 1, "spreading_factor": 8, "code": 6},
            {**tti_of_cell, **granted, "ue": 2, "spreading_factor": 16, "code": 14},
            {**tti_of_cell, "fate": "codes", "ue": 3},
            {**tti_of_cell, "cell": 5, "fate": "power", "ue": 9},
        ]
    return pl.DataFrame(rows)


def test_codes_are_as_high_as_their_share_of_the_tree() -> None:
    upper, lower = codes_figure(requests(3)).axes
    as_wanted, smaller = upper.collections
    # Start (s), lower edge (%), duration (s) and height (%): code 6 of 8 begins at 75 %.
    bounds = [next(path.get_extents().bounds for path in drawn.get_paths()) for drawn in (as_wanted, smaller)]
    assert bounds == [pytest.approx((0, 75, 0.02, 12.5)), pytest.approx((0, 87.5, 0.02, 6.25))]
    assert smaller.get_hatch() == "//////"
    assert upper.get_ylim() == (75, 100)
    assert upper.get_ylabel() == "code tree of cell 4 (%)"
    assert [bar.get_extents().height > 0 for bar in lower.patches] == [True] * 3
    assert lower.get_ylim()[1] >= 1


def test_a_grant_of_20_ms_lasts_for_two_decisions_if_there_is_one_in_each_frame() -> None:
    """Decisions in odd frames are about other users than decisions in even frames."""
    granted = {"cell": 4, "fate": "granted", "wanted": 8, "spreading_factor": 8}
    rows = []
    for tti in range(3):
        even, odd = ({"time_s": round(0.02 * tti + late, 6)} for late in (0.0, 0.01))
        rows += [{**granted, **even, "ue": 0, "code": 6}, {**granted, **odd, "ue": 1, "code": 7}]
        rows += [{"cell": 4, "fate": "codes", **odd, "ue": 3}]
    upper, lower = codes_figure(pl.DataFrame(rows)).axes
    bounds = [path.get_extents().bounds for path in upper.collections[0].get_paths()]
    assert bounds[:2] == [pytest.approx((0, 75, 0.02, 12.5)), pytest.approx((0.01, 87.5, 0.02, 12.5))]
    assert [bar.get_x() for bar in lower.patches] == pytest.approx([0.01, 0.03, 0.05])  # type: ignore[attr-defined]
    assert {round(bar.get_width(), 6) for bar in lower.patches} == {0.01}  # type: ignore[attr-defined]


def test_a_tti_of_10_ms_is_half_as_long() -> None:
    # The same user has a grant every 10 ms.
    granted = {"cell": 4, "fate": "granted", "wanted": 8, "spreading_factor": 8, "code": 6, "ue": 0}
    upper, _ = codes_figure(pl.DataFrame([{**granted, "time_s": 0.01 * tti} for tti in range(3)])).axes
    assert upper.collections[0].get_paths()[0].get_extents().width == pytest.approx(0.01)


def colours_of(drawing: Figure) -> dict[str, str]:
    """Return the colours of the entries of the legend."""
    [legend] = drawing.legends
    return {
        text.get_text(): to_hex(patch.get_facecolor())
        for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True)
        if text.get_text().startswith("UE ")
    }


@pytest.mark.parametrize("users", [3, 6, 12, 13, 40])
def test_users_in_the_legend_have_unique_colours(users: int) -> None:
    grant = {"cell": 4, "fate": "granted", "wanted": 32, "spreading_factor": 32, "code": 24}
    # Numbers of UEs in steps of 12: colours by number modulo 12 would all be the same.
    rows = [{**grant, "time_s": 0.02 * tti, "ue": ue} for tti, ue in enumerate(range(0, 12 * users, 12))]
    second_grant = {**rows[-1], "spreading_factor": 8, "code": 7}
    drawing = codes_figure(pl.DataFrame([*rows, second_grant]))
    named = colours_of(drawing)
    assert len(set(named.values())) == len(named) == min(users, 12)
    # The user with the largest share is in the legend.
    assert f"UE {rows[-1]['ue']}" in named
    [drawn, _] = drawing.axes[0].collections
    colours = [to_hex(colour) for colour in np.atleast_2d(drawn.get_facecolor())]
    # The last user has two grants. More than twelve users share one more colour.
    assert sum(colour in named.values() for colour in colours) == len(named) + 1
    assert len(set(colours)) == min(users, 12) + (users > 12)


def test_only_the_first_of_many_ttis_are_drawn() -> None:
    lower = codes_figure(requests(MAX_TTIS + 50)).axes[1]
    assert len(lower.patches) == MAX_TTIS
    assert f"the first {MAX_TTIS} TTIs" in lower.get_xlabel()


def test_jains_index_is_one_for_equals_and_a_share_for_one_of_many() -> None:
    assert jain(np.array([3.0, 3.0, 3.0])) == pytest.approx(1.0)
    assert jain(np.array([1.0, 0.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert jain(np.array([0.0, 0.0])) == 1.0


def test_a_user_has_the_mean_delay_and_rate_of_all_its_data() -> None:
    # UE 1 received 2,000 bytes in 0.4 s, UE 4 received 250 bytes in 1 s.
    sdus = pl.DataFrame({"ue": [1, 1, 4], "octets": [500, 1500, 250], "delay_s": [0.1, 0.3, 1.0]})
    assert values_per_user(sdus, "delay_s", "mean").tolist() == pytest.approx([0.2, 1.0])
    assert values_per_user(sdus, "octets", "rate").tolist() == pytest.approx([40.0, 2.0])


@pytest.mark.parametrize(("kind", "advice"), [("load", r"with a layout"), ("codes", r"measure\.dsch=true")])
def test_a_run_without_a_layout_is_an_error_that_names_the_key(recorded: Run, kind: str, advice: str) -> None:
    with pytest.raises(MissingSeries, match=advice):
        draw(recorded, kind)

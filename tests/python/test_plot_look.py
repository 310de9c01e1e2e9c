"""Figures for print: a given width, custom labels, no colour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import FTP, Umts, overhanging
from matplotlib.colors import to_rgba_array
from matplotlib.lines import Line2D
from umtslab.plot import KINDS, Look, UnknownFont, View, draw
from umtslab.plot.look import wrapped
from umtslab.run import Run

COLUMN, SLIDE = Look(width_in=3.5), Look(width_in=10)


@pytest.mark.parametrize("look", [COLUMN, SLIDE], ids=["column", "slide"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pdus"])
def test_every_kind_fits_a_column_and_a_slide(
    kind: str, look: Look, run_of_kind: Callable[[str], Run]
) -> None:
    figure = draw(run_of_kind(kind), kind, look=look)
    assert figure.get_figwidth() == look.width_in
    assert overhanging(figure) == []
    size = 8 if look is COLUMN else 14  # Font size in points.
    assert {text.get_fontsize() for legend in figure.legends for text in legend.get_texts()} == {size}
    assert all(axes.xaxis.label.get_fontsize() == size for axes in figure.axes)


def test_a_legend_of_many_lines_leaves_the_axes_their_size(switched: Run) -> None:
    few, many = (
        draw(switched, "cwnd", View(connections=connections), COLUMN) for connections in ((1,), (1, 2, 3, 4))
    )
    assert many.get_figheight() > few.get_figheight()
    heights = []
    for figure in (few, many):
        figure.draw_without_rendering()
        heights.append(figure.axes[0].get_position().height * figure.get_figheight())
    assert heights[0] == pytest.approx(heights[1], rel=0.05)


def test_custom_labels_and_font_are_used(recorded: Run) -> None:
    look = Look(title="Slow start", x_label="t", y_label="w", font="serif", log_y=True)
    [axes] = draw(recorded, "cwnd", look=look).axes
    assert axes.get_title(loc="left") == "Slow start"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("t", "w")
    assert axes.xaxis.label.get_fontfamily() == ["serif"]
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] > 0
    [untitled] = draw(recorded, "cwnd", look=Look(title="")).axes
    assert untitled.get_title(loc="left") == ""


def test_an_unknown_font_is_refused(recorded: Run) -> None:
    with pytest.raises(
        UnknownFont, match="there is no font 'DejaVu Sanz' on this machine; similar fonts are DejaVu Sans"
    ):
        draw(recorded, "cwnd", look=Look(font="DejaVu Sanz"))


@pytest.mark.parametrize("kind", ["timeseq", "cwnd", "rtt", "cell", "rrc"])
def test_a_grey_figure_has_no_colour(kind: str, recorded: Run, switched: Run) -> None:
    figure = draw(switched if kind in {"cell", "rrc"} else recorded, kind, look=Look(grey=True))
    for artist in figure.findobj():
        for part in ("color", "facecolor", "edgecolor"):
            colour = getattr(artist, f"get_{part}", lambda: None)()
            if colour is not None and not (isinstance(colour, str) and colour in {"none", "auto"}):
                assert all(red == green == blue for red, green, blue, _ in to_rgba_array(colour))


def test_lines_without_colour_are_distinguishable(recorded: Run) -> None:
    figure = draw(recorded, "cwnd", look=Look(grey=True))
    lines = [line for line in figure.axes[0].lines if isinstance(line, Line2D)]
    assert len({(str(line.get_color()), str(line.get_linestyle())) for line in lines}) == len(lines) == 2


def test_the_command_accepts_sizes_and_labels(umts: Umts, tmp_path: Path) -> None:
    umts("run", FTP, "--duration", "10 s", "--series")
    drawn = umts("plot", "results", "cwnd", "--width", "88mm", "--title", "Mine", "--grey", "-o", "a.svg")
    assert drawn.stdout == "a.svg\n"
    content = (tmp_path / "a.svg").read_text()
    assert "Mine" in content
    assert 'width="249' in content  # 88 mm are 249.4 points of 1/72 inch.
    errors = umts("plot", "results", "cwnd", "--width", "wide", status=2).stderr
    assert errors == "umts: --width takes a size with in, cm or mm, for example 3.5in or 88mm, not 'wide'\n"
    errors = umts("plot", "results", "cwnd", "--width", "1mm", status=2).stderr
    assert errors == "umts: --width takes 2 to 40 inches, not 1mm (0.0394 inches)\n"
    errors = umts("plot", "results", "cwnd", "--font", "Nosuch", status=2).stderr
    assert errors.startswith("umts: there is no font 'Nosuch' on this machine; similar fonts are ")


def test_a_title_does_not_break_before_a_number() -> None:
    title = "ftp-on-fach, seed 1, run 0, with duration = 1600 s, connection 12"
    lines = wrapped(title, len(title) - 1).split("\n")
    assert lines == ["ftp-on-fach, seed 1, run 0, with duration = 1600 s,", "connection 12"]
    assert wrapped(title, len(title)) == title

"""Appearance of figures: size, labels, font, grey."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN, HEIGHT_IN = 6.3, 3.6
"""Default size in inches: 160 mm wide, readable in print."""

MIN_WIDTH_IN, MAX_WIDTH_IN = 2.0, 40.0
"""Minimum and maximum width of a figure, in inches."""

COLUMN_IN = 4.5
"""Maximum width in inches of a figure for one column of a paper. Its text has the size of captions."""

SLIDE_IN = 8.5
"""Minimum width in inches of a figure for a slide, which has larger text."""

_LETTERS_BETWEEN = 3
"""Minimum distance between the titles of neighbouring panels, in letters."""

_SPACE_BEFORE_NUMBER = re.compile(r"(?<=[a-z]) (?=\d)")
_NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Look:
    """Appearance of a figure. None stands for the default.

    Parameters
    ----------
    width_in : float
        Width in inches: 3.5 for a column of a paper, 10 for a slide. Height and font size follow.
    title, x_label, y_label : str, optional
        Texts that replace the figure's own; empty for none. With several panels, the vertical label
        belongs to the first panel.
    grey : bool
        Whether the figure is without colour.
    font : str, optional
        Font family, for example "serif" or "Times New Roman".
    log_x, log_y : bool
        Whether the axes are logarithmic.
    """

    width_in: float = WIDTH_IN
    title: str | None = None
    x_label: str | None = None
    y_label: str | None = None
    grey: bool = False
    font: str | None = None
    log_x: bool = False
    log_y: bool = False

    @property
    def font_size(self) -> int:
        """Size of all text, in points."""
        if self.width_in <= COLUMN_IN:
            return 8
        return 10 if self.width_in < SLIDE_IN else 14


HOUSE = Look()
"""The default appearance, called house style."""


class UnknownFont(ValueError):
    """The requested font is not installed."""


@contextmanager
def printable(look: Look = HOUSE) -> Iterator[None]:
    """Create and save figures with this appearance during the block."""
    import matplotlib as mpl

    with mpl.rc_context(_settings(look)):
        yield


def canvas(height_in: float = HEIGHT_IN) -> Figure:
    """Return an empty figure of the current width.

    `height_in` is the height at a width of 6.3 inches.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    width = mpl.rcParams["figure.figsize"][0]
    # Narrow figures are relatively higher, because their text does not shrink in proportion.
    ratio = max(width / WIDTH_IN, (width / WIDTH_IN) ** 0.5)
    # Journals require a resolution that keeps the small letters of narrow figures readable.
    dpi = 300 if width <= COLUMN_IN else 200
    return Figure(figsize=(width, height_in * ratio), dpi=dpi, layout="constrained")


def scale() -> float:
    """Return the size of marks and lines relative to a figure of 6.3 inches.

    Proportional to the font size.
    """
    import matplotlib as mpl

    return float(mpl.rcParams["font.size"]) / HOUSE.font_size


def dress(figure: Figure, look: Look) -> Figure:
    """Apply titles, labels and colours, and wrap texts that are too long."""
    from umtslab.plot.grey import without_colour

    panels = _panels(figure)
    if look.title is not None:
        _retitle(figure, panels, look.title)
    for axes in panels:
        if look.x_label is not None and axes.get_xlabel():
            axes.set_xlabel(look.x_label)
        _logarithmic(axes, look)
    if look.y_label is not None:
        panels[0].set_ylabel(look.y_label)
    _break_lines(figure)
    if look.grey:
        without_colour(figure)
    return figure


def _panels(figure: Figure) -> list[Axes]:
    """Return the axes with data, without colour bars."""
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def _settings(look: Look) -> Any:
    """Return matplotlib's settings. Line widths grow with the font size."""
    size = look.font_size
    ratio = size / 10
    return {
        "figure.figsize": (look.width_in, HEIGHT_IN),
        "font.size": size,
        "axes.titlesize": size,
        "axes.labelsize": size,
        "xtick.labelsize": size,
        "ytick.labelsize": size,
        "legend.fontsize": size,
        "legend.title_fontsize": size,
        "figure.titlesize": size,
        "lines.linewidth": 1.1 * ratio,
        "axes.linewidth": 0.8 * ratio,
        "savefig.dpi": "figure",
        "hatch.linewidth": 0.6 * ratio,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.5 * ratio,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.hashsalt": "umtslab",
        "pdf.fonttype": 42,
        "svg.fonttype": "none",  # searchable and editable text
        **({} if look.font is None else {"font.family": _installed(look.font)}),
    }


def _installed(font: str) -> str:
    """Return the name of an installed font family.

    Raises
    ------
    UnknownFont
        If it is not installed. Without this check matplotlib would draw another font.
    """
    from difflib import get_close_matches

    from matplotlib.font_manager import fontManager

    names = {
        name.lower(): name for name in ("serif", "sans-serif", "monospace", *fontManager.get_font_names())
    }
    if font.lower() in names:
        return names[font.lower()]
    similar = get_close_matches(font.lower(), names, 3, 0.5) or ["serif", "sans-serif", "monospace"]
    raise UnknownFont(
        f"there is no font {font!r} on this machine; similar fonts are "
        f"{', '.join(names[name] for name in similar)}"
    )


def _retitle(figure: Figure, panels: list[Axes], title: str) -> None:
    if figure.get_suptitle():
        figure.suptitle(title)
    else:
        panels[0].set_title(title, loc="left")


def _logarithmic(axes: Axes, look: Look) -> None:
    from umtslab.plot.log_ticks import log_ticks

    if look.log_x and axes.get_xscale() != "log":
        axes.set_xscale("log")
        log_ticks(axes, "x")
    if look.log_y:
        smallest = _smallest_positive(axes)
        axes.set_yscale("log")
        log_ticks(axes, "y")
        if smallest is not None:
            axes.set_ylim(bottom=smallest / 1.5)


def _smallest_positive(axes: Axes) -> float | None:
    """Return the least positive value of all lines, error bars and areas, or None."""
    import numpy as np

    values = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines]
    values += [
        np.asarray(segment, dtype=float)[:, 1]
        for area in axes.collections
        for segment in _corners(area)
        if len(segment)
    ]
    above = [float(value[value > 0].min()) for value in values if np.any(value > 0)]
    return min(above, default=None)


def _corners(area: Any) -> list[Any]:
    """Return the vertices of a collection in data coordinates."""
    segments = getattr(area, "get_segments", None)
    return segments() if segments is not None else [path.vertices for path in area.get_paths()]


def letters_across(figure: Figure) -> float:
    """Return the approximate width of a figure in letters."""
    return figure.get_figwidth() / _letter_in()


def _letter_in() -> float:
    """Return the mean width of a letter in inches: about 0.53 of the font size, in points of 1/72 inch."""
    import matplotlib as mpl

    return float(mpl.rcParams["font.size"]) * 0.53 / 72


def _break_lines(figure: Figure) -> None:
    """Wrap titles and labels that are longer than their side of the figure."""
    figure.draw_without_rendering()  # computes the positions of panels
    letter_in, letters = _letter_in(), letters_across(figure)
    height = figure.get_figheight() - _legends_in(figure)
    if figure.get_suptitle():
        figure.suptitle(wrapped(figure.get_suptitle(), letters))
    for axes in figure.axes:
        position = axes.get_position()
        middle = (position.x0 + position.x1) / 2
        # Changes only the text: setting the label again would reset its position.
        axes.set_title(
            wrapped(axes.get_title(loc="left"), letters * (_right_limit(figure, axes) - position.x0)),
            loc="left",
        )
        axes.xaxis.label.set_text(wrapped(axes.get_xlabel(), 2 * letters * min(middle, 1 - middle)))
        axes.yaxis.label.set_text(wrapped(axes.get_ylabel(), position.height * height / letter_in))


def _right_limit(figure: Figure, axes: Axes) -> float:
    """Return where the title of a panel must end: before the next panel in the row, or at the edge."""
    here = axes.get_position()
    others = (other.get_position() for other in _panels(figure) if other is not axes)
    gap = _LETTERS_BETWEEN / letters_across(figure)
    return min(
        (
            position.x0 - gap
            for position in others
            if position.x0 > here.x0 and abs(position.y0 - here.y0) < 0.01
        ),
        default=1.0,
    )


def _legends_in(figure: Figure) -> float:
    """Return the height of the legends in inches."""
    return sum(float(legend.get_window_extent().height) for legend in figure.legends) / figure.dpi


def wrapped(text: str, letters: float) -> str:
    """Wrap a text at `letters` letters.

    Words stay whole, and numbers stay with their word: `connection 1`.
    """
    joined = _SPACE_BEFORE_NUMBER.sub(_NO_BREAK, text)
    return "\n".join(fill(line, max(12, int(letters))) for line in joined.split("\n")).replace(_NO_BREAK, " ")

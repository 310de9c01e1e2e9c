"""Options for the appearance of figures, shared by the verbs that draw."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_flag, add_value

if TYPE_CHECKING:
    from umtslab.cli.parser import Options
    from umtslab.plot import Look

_SIZE = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*(in|cm|mm)?\s*")
_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}


def add_print(options: Options) -> None:
    """Add the options of every figure: size, font and shades of grey."""
    add_value(
        options,
        "--width",
        "SIZE",
        "Width with its unit: 3.5in (a column of a paper), 160mm (default), 10in (a slide).",
    )
    add_value(options, "--font", "NAME", 'Font of all text, for example serif or "DejaVu Sans".')
    add_flag(options, "--grey", "Draw in shades of grey.")


def add_look(options: Options) -> None:
    """Add all options: also title, labels and logarithmic axes."""
    add_print(options)
    add_value(options, "--title", "TEXT", 'Title of the figure; "" for none.')
    add_value(options, "--xlabel", "TEXT", "Label of the horizontal axis.")
    add_value(
        options, "--ylabel", "TEXT", "Label of the vertical axis; with several panels, of the first panel."
    )
    add_flag(options, "--log", "Logarithmic horizontal axis.")
    add_flag(options, "--log-y", "Logarithmic vertical axis.")


def chosen_look(
    width: str | None,
    title: str | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    font: str | None = None,
    *,
    grey: bool,
    log_x: bool = False,
    log_y: bool = False,
) -> Look:
    """Return the appearance of a figure from the values of the options."""
    from umtslab.plot import Look
    from umtslab.plot.look import WIDTH_IN

    width_in = WIDTH_IN if width is None else _inches(width)
    return Look(
        width_in,
        title=title,
        x_label=x_label,
        y_label=y_label,
        grey=grey,
        font=font,
        log_x=log_x,
        log_y=log_y,
    )


def check_font(look: Look) -> None:
    """Refuse an unknown font before anything is run."""
    from umtslab.plot import UnknownFont, printable

    if look.font is None:
        return
    try:
        with printable(look):
            pass
    except UnknownFont as error:
        raise UsageError(f"--font {look.font}: {error}") from None


def _inches(text: str) -> float:
    """Return a length in inches."""
    from umtslab.plot.look import MAX_WIDTH_IN, MIN_WIDTH_IN

    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(f"--width takes a size with in, cm or mm, for example 3.5in or 88mm, not {text!r}")
    width = float(match[1]) * _INCHES[match[2] or "in"]
    if not MIN_WIDTH_IN <= width <= MAX_WIDTH_IN:
        raise UsageError(
            f"--width takes {MIN_WIDTH_IN:g} to {MAX_WIDTH_IN:g} inches, not {text} ({width:.3g} inches)"
        )
    return width

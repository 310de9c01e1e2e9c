"""Figures without colour.

Colours of the palette become distinguishable greys. Other colours become grey by luminance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GREYS = {
    "#000000": "#000000",
    "#0072b2": "#3d3d3d",
    "#d55e00": "#6b6b6b",
    "#009e73": "#8c8c8c",
    "#cc79a7": "#a6a6a6",
    "#e69f00": "#bdbdbd",
    "#56b4e9": "#d0d0d0",
    "#f0e442": "#e8e8e8",
}
"""Grey for each colour of Okabe and Ito's palette, in the order of lines.

Dashes and hatches help to distinguish the pale ones.
"""


def without_colour(figure: Figure) -> None:
    """Convert every colour of a figure to grey."""
    from matplotlib.artist import Artist
    from matplotlib.cm import ScalarMappable

    for artist in figure.findobj(Artist):
        if isinstance(artist, ScalarMappable) and artist.get_array() is not None:
            artist.set_cmap("Greys_r")
            continue
        for part in ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor"):
            read, write = getattr(artist, f"get_{part}", None), getattr(artist, f"set_{part}", None)
            if read is not None and write is not None and (colour := read()) is not None:
                write(_as_grey(colour))


def _as_grey(colour: Any) -> Any:
    """Convert a colour or an array of colours to grey. "none" and similar words are kept."""
    import numpy as np
    from matplotlib.colors import to_hex, to_rgba, to_rgba_array

    if isinstance(colour, str) and colour in {"none", "auto", "face"}:
        return colour
    colours = to_rgba_array(colour)
    greys = []
    for rgba in colours:
        grey = _GREYS.get(to_hex(rgba))
        # Luminance according to ITU-R BT.709.
        level = float(np.dot(rgba[:3], (0.2126, 0.7152, 0.0722))) if grey is None else to_rgba(grey)[0]
        greys.append((level, level, level, float(rgba[3])))
    is_single = isinstance(colour, str) or np.asarray(colour).ndim == 1
    return greys[0] if is_single and len(greys) == 1 else greys

"""Colours, dashes and markers that distinguish many curves, on screen and in grey print."""

from __future__ import annotations

from typing import Any

COLOURS = (
    *("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777"),
    *("#5D3A9B", "#8C4A00", "#9A9A00", "#A50026"),
)
"""Colours of curves, in order.

Colour-blind readers can distinguish the first eight (Okabe and Ito).
"""

DASHES: tuple[Any, ...] = (
    "solid",
    (0, (6, 2)),
    (0, (2, 1.5)),
    (0, (6, 2, 1.5, 2)),
    (0, (1, 1)),
    (0, (9, 2)),
    (0, (4, 1.5, 1, 1.5, 1, 1.5)),
    (0, (3, 4)),
    (0, (1, 3)),
    (0, (9, 2, 1, 2, 1, 2)),
    (0, (4, 1)),
    (0, (3, 1, 1, 1)),
)
"""Dashes of curves, one pattern per colour, for print without colour."""

MARKERS = "osD^vPXp<>hd"
"""Markers of means. The star is reserved for numbers that a document states."""

USERS = (*COLOURS[1:7], "#8c6d31", "#6b4ba1", "#2f9e8f", "#b5495b", "#4f6d7a", "#a0a94a")
"""Colours of users in figures with areas. Further users have the colour `OTHER_USERS`."""

OTHER_USERS = "#efe3b4"
"""Colour shared by all users that have no colour of their own."""

GREY = "#777777"
"""Colour of legend entries that apply to every colour of the figure."""


def style(number: int) -> dict[str, Any]:
    """Colour and dashes of curve `number`; the first 144 pairs differ."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": _of_round(number, DASHES)}


def marker_of(number: int) -> str:
    """Marker of curve `number`; the first 144 pairs of colour and marker differ."""
    return str(_of_round(number, MARKERS))


def _of_round(number: int, looks: Any) -> Any:
    """Return the entry of `looks` for curve `number`.

    When the colours begin again, the entries are shifted by one, so that pairs of both differ.
    """
    return looks[(number + number // len(COLOURS)) % len(looks)]

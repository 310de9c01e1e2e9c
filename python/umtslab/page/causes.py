"""Colours of the causes of time budgets for pages, in light and dark themes.

Hue and hatch of each cause are as in the figures (`umtslab.plot.causes`). A page adds an
edge to each fill, because yellow, orange and light blue are too pale to be seen alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from umtslab.budget import causes
from umtslab.labels import cause_label

THEMES = {
    "rto": ("#d55e00", "#8f3f00", "#e8742c", "#ffb27d"),
    "switch": ("#e69f00", "#8a5f00", "#e9a820", "#ffd98a"),
    "rlc": ("#cc79a7", "#8f4470", "#d58bb4", "#f3c3dc"),
    "queue": ("#f0e442", "#7d7600", "#ede255", "#fff8b0"),
    "core": ("#777777", "#4a4a4a", "#70767d", "#c5cacf"),
    "repeat": ("#882255", "#5e173b", "#c2487f", "#eea9c9"),
    "setup": ("#1b1f24", "#1b1f24", "#e6e9ec", "#e6e9ec"),
    "window": ("#56b4e9", "#1f75a6", "#7cc6f0", "#c4e5f8"),
    "serial": ("#0072b2", "#004e7a", "#2f87c4", "#8cc5eb"),
    "prop": ("#009e73", "#006a4d", "#1fa67f", "#7fdcbf"),
    "idle": ("#e3e6ea", "#8a929b", "#2b3036", "#6b747e"),
    "unseen": ("#ffffff", "#8a929b", "#15171a", "#6b747e"),
}
"""Fill and edge of each hue in the light theme, then in the dark one."""

_HUES = {
    "#D55E00": "rto",
    "#E69F00": "switch",
    "#CC79A7": "rlc",
    "#F0E442": "queue",
    "#777777": "core",
    "#882255": "repeat",
    "#000000": "setup",
    "#56B4E9": "window",
    "#0072B2": "serial",
    "#009E73": "prop",
    "#dddddd": "idle",
    "#eeeeee": "idle",
    "#ffffff": "unseen",
}
"""Names of the figures' colours."""

_HATCHES = {"": "", "/": "rising", "\\": "falling", "x": "crossed", ".": "dotted", "o": "ringed", "+": "plus"}


@lru_cache(maxsize=1)
def looks() -> tuple[dict[str, str], ...]:
    """Return name, label, hue and hatch of each cause, in order of precedence."""
    from umtslab.plot.causes import LOOKS

    return tuple(
        {
            "name": cause,
            "label": cause_label(cause),
            "hue": _HUES[LOOKS[cause][0]],
            "hatch": _HATCHES[LOOKS[cause][1][:1]],
        }
        for cause in causes()
    )


def looks_of_file() -> dict[str, Any]:
    """Return colours, the fill of each cause, and hatched patterns, for the template of a file."""
    from markupsafe import Markup

    hatched = {(look["hue"], look["hatch"]) for look in looks() if look["hatch"]}
    return {
        "css": Markup(_css()),
        "looks": [{"name": look["name"], "fill": Markup(_fill(look))} for look in looks()],
        "patterns": [{"hue": hue, "hatch": hatch} for hue, hatch in sorted(hatched)],
    }


def _fill(look: dict[str, str]) -> str:
    return f"url(#h-{look['hue']}-{look['hatch']})" if look["hatch"] else f"var(--{look['hue']})"


def _css() -> str:
    """Return the custom properties of both themes."""

    def block(first: int) -> str:
        return " ".join(f"--{name}: {values[first]};" for name, values in THEMES.items())

    return f":root {{ {block(0)} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {block(2)} }} }}"

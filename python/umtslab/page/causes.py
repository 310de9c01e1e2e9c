"""Colours of the causes of time budgets for pages, in light and dark themes.

The causes are the entries of the time budget of a connection, such as a channel switch. Each has a
hue and for some causes a hatch, both as in the figures. A page adds an edge to each fill, because
yellow, orange and light blue are too pale to be seen alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from umtslab.labels import cause_label
from umtslab.lanes import cause_looks, hues


@lru_cache(maxsize=1)
def looks() -> tuple[dict[str, str], ...]:
    """Return name, label, hue and hatch of each cause, in order of precedence."""
    return tuple(
        {"name": name, "label": cause_label(name), "hue": look.hue, "hatch": look.hatch}
        for name, look in cause_looks().items()
    )


def looks_of_file() -> dict[str, Any]:
    """Return the colours for the template of ``umts report``: style sheet, fills, and hatched patterns."""
    from markupsafe import Markup

    hatched = {(look["hue"], look["hatch"]) for look in looks() if look["hatch"]}
    return {
        "css": Markup(_css()),
        "looks": [{"name": look["name"], "fill": Markup(_fill(look))} for look in looks()],
        "patterns": [{"hue": hue, "hatch": hatch} for hue, hatch in sorted(hatched)],
    }


def _fill(look: dict[str, str]) -> str:
    """Return the SVG fill of a cause: a hatched pattern of the page, or the hue's custom property."""
    return f"url(#h-{look['hue']}-{look['hatch']})" if look["hatch"] else f"var(--{look['hue']})"


def _css() -> str:
    """Return the custom properties of the causes' hues in both themes."""
    used = {look.hue for look in cause_looks().values()}
    hues_of_causes = [hue for hue in hues().values() if hue.name in used]
    light = " ".join(f"--{hue.name}: {hue.light.fill};" for hue in hues_of_causes)
    dark = " ".join(f"--{hue.name}: {hue.dark.fill};" for hue in hues_of_causes)
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"

"""Colours and hatches of the causes of time budgets in figures, as `umtslab.lanes` has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from umtslab.budget import seconds, transfer_parts
from umtslab.labels import cause_label
from umtslab.lanes import Look, cause_looks, fill_of, proxy_looks
from umtslab.plot.style import put_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HATCHES = {
    "": "",
    "rising": "////",
    "falling": "\\\\\\\\",
    "crossed": "xxxx",
    "dotted": "....",
    "ringed": "oooo",
    "plus": "++++",
}
"""Hatches of matplotlib by their names in the declaration."""


def styles(looks: Mapping[str, Look]) -> dict[str, tuple[str, str]]:
    """Return colour and hatch for matplotlib of each cause or state."""
    return {name: (fill_of(look.hue), _HATCHES[look.hatch]) for name, look in looks.items()}


LOOKS = styles(cause_looks())
"""Colour (from the palette of Okabe and Ito) and hatch of each cause."""

IN_PROXY = styles(proxy_looks())
"""Colour and hatch of causes that apply only to transfers split by a proxy."""


def bar_style(cause: str, looks: Mapping[str, tuple[str, str]] = LOOKS) -> dict[str, Any]:
    """Return the arguments for matplotlib."""
    fill, hatch = looks[cause]
    return {"facecolor": fill, "hatch": hatch, "edgecolor": "#333333", "linewidth": 0.3}


def cause_text(cause: str) -> str:
    """Return the label of a cause for legends, the same as in the tables of budgets."""
    if cause in IN_PROXY:
        return dict(transfer_parts())[f"transfer_{seconds(cause)}"]
    return cause_label(cause)


def legend(figure: Figure, causes: Iterable[str], *, title: str = "") -> None:
    """Put the legend of `causes` below a figure, in the order of the stack from the top."""
    from matplotlib.patches import Patch

    reversed_causes = list(causes)[::-1]
    patches = [Patch(**bar_style(cause, {**LOOKS, **IN_PROXY})) for cause in reversed_causes]
    put_legend(figure, patches, [cause_text(cause) for cause in reversed_causes], title=title)

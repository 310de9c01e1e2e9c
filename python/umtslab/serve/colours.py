"""Writes the style sheet with the colours of lanes and causes: ``python -m umtslab.serve.colours [FILE]``.

Each hue of the core's declaration (`umtslab.lanes`) becomes two custom properties of CSS: ``--NAME``
for the fill and ``--NAME-e`` for the edge. The page of ``umts serve`` is built with this file. A test
compares the file with the declaration. Without FILE the style sheet is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from umtslab.lanes import hues


def text() -> str:
    """Return the properties of the light and of the dark theme."""
    all_hues = hues().values()
    light = [f"  --{hue.name}: {hue.light.fill}; --{hue.name}-e: {hue.light.edge};" for hue in all_hues]
    dark = [f"  --{hue.name}: {hue.dark.fill}; --{hue.name}-e: {hue.dark.edge};" for hue in all_hues]
    return "\n".join(
        [
            "/* Generated from crates/record/src/looks.rs by python -m umtslab.serve.colours. */",
            *(":root {", *light, "}"),
            *(":root[data-theme='dark'] {", *dark, "}", ""),
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text())
    else:
        print(text(), end="")

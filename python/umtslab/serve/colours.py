"""The colours of lanes and causes as CSS: ``python -m umtslab.serve.colours [FILE]``.

Each hue is a custom property with its fill, and one with ``-e`` for its edge. The built page contains
the file. A test compares the file with the declaration.
"""

from __future__ import annotations

import sys
from pathlib import Path

from umtslab.lanes import hues


def text() -> str:
    """Return the properties of the light and of the dark theme."""
    all_hues = hues().values()
    light = [f"  --{hue.name}: {hue.light[0]}; --{hue.name}-e: {hue.light[1]};" for hue in all_hues]
    dark = [f"  --{hue.name}: {hue.dark[0]}; --{hue.name}-e: {hue.dark[1]};" for hue in all_hues]
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

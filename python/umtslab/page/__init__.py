"""Self-contained HTML pages, which open offline and include their figures."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 130


def render(template: str, **content: Any) -> str:
    """Fill a template of this folder. Values are escaped."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("umtslab.page"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(content)


def address(figure: Figure, *, in_pixels: bool = False) -> str:
    """Return a figure as a data URL: as SVG, or as PNG if it has too many elements for SVG."""
    from umtslab.plot.look import printable

    content = io.BytesIO()
    with printable():
        if in_pixels:
            figure.savefig(content, format="png", dpi=_DPI, metadata=None)
        else:
            figure.savefig(content, format="svg", metadata={"Date": None})
    kind = "image/png" if in_pixels else "image/svg+xml"
    return f"data:{kind};base64,{base64.b64encode(content.getvalue()).decode('ascii')}"


def write(path: Path, page: str) -> Path:
    """Write a page atomically. Creates its folder."""
    from umtslab.atomic_files import atomic_file

    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path) as file:
        file.write(page.encode())
    return path

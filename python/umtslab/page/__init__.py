"""Self-contained HTML pages of ``umts report``, which open offline and include their figures.

Each module collects the content of one kind of page and fills a template of this folder: `run`,
`campaign` and `study`. `run` and `stalls` also serve the pages of ``umts serve``.
"""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 130
"""Resolution of figures that are included as PNG."""


def render(template: str, **content: Any) -> str:
    """Fill a template of this folder with `content`. Values are escaped for HTML."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("umtslab.page"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(content)


def data_url(figure: Figure, *, in_pixels: bool = False) -> str:
    """Return a figure as a data URL: as SVG, or `in_pixels` as PNG, for figures with very many elements."""
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

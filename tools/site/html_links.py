"""Checks a built site: each linked file and anchor exists, and nothing is loaded from other hosts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src")}
"""Elements with a target that a browser loads with the page."""


@dataclass
class Page(HTMLParser):
    """Anchors and links of one page."""

    anchors: set[str] = field(default_factory=set)
    links: list[tuple[str, str]] = field(default_factory=list)
    """Each link after "loads" or "links to"."""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the anchors and links of a tag."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None:
                verb = "loads" if (tag, name) in _LOADED else "links to"
                self.links.append((verb, value))


def mistakes(site: Path) -> Iterator[str]:
    """Yield a sentence for each link of a site that leads nowhere."""
    pages = {file: _read(file) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        if file.name == "404.html":  # its links are absolute: the page is shown for any path
            continue
        for verb, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if verb == "loads" and parts.scheme in ("http", "https", ""):
                    yield f"{file.relative_to(site)} loads {link}"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.is_file():
                yield f"{file.relative_to(site)} {verb} {link}: there is no such file"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{file.relative_to(site)} {verb} {link}: there is no such anchor"


def _read(file: Path) -> Page:
    """Read the anchors and links of a page."""
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page

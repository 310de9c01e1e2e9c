"""Collects the pages of the site: docs/, and the Markdown files of the tree that its pages link to."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

PROJECT_PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "examples/README.md": "project/examples.md",
    "lessons/README.md": "project/lessons.md",
    "lessons/TEACHER.md": "project/lessons-teacher.md",
    "packaging/wireshark/README.md": "project/wireshark.md",
    "reproductions/README.md": "project/reproductions.md",
}
"""Files outside docs/ by their page of the site."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~)")


def pages() -> dict[Path, PurePosixPath]:
    """Return the Markdown files of the tree that are pages, with their paths in the site."""
    sources = {file: PurePosixPath(file.relative_to(DOCS)) for file in sorted(DOCS.rglob("*.md"))}
    for name, page in PROJECT_PAGES.items():
        if (ROOT / name).exists():
            sources[ROOT / name] = PurePosixPath(page)
    return sources


def stage(into: Path) -> None:
    """Copy all pages and pictures into a folder. Links between pages stay valid."""
    mapping = pages()
    for file, page in mapping.items():
        target = into / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(relinked(file.read_text(encoding="utf-8"), file, page, mapping), encoding="utf-8")
    for picture in sorted(DOCS.rglob("*.png")):
        target = into / picture.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, target)


def relinked(text: str, file: Path, page: PurePosixPath, mapping: dict[Path, PurePosixPath]) -> str:
    """Return the text of a file with each link pointing at the page of its target.

    A link to a file of the tree that is no page becomes the path of the file, as code.
    """

    def moved(match: re.Match[str]) -> str:
        picture, label, link = match.groups()
        name, hash_sign, anchor = link.partition("#")
        if picture or not name or re.match(r"[a-z]+:", name):
            return match[0]
        target = (file.parent / name).resolve()
        staged = mapping.get(target) or mapping.get(target / "README.md")
        if staged is None:
            return f"{label} (`{target.relative_to(ROOT)}`)" if target.is_relative_to(ROOT) else match[0]
        return f"[{label}]({os.path.relpath(staged, page.parent)}{hash_sign}{anchor})"

    lines, is_code = [], False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            is_code = not is_code
        lines.append(line if is_code else _LINK.sub(moved, line))
    return "".join(lines)

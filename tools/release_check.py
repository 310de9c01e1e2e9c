#!/usr/bin/env python3
"""Check whether the tree can be released: tools/release_check.py [--builds] [--notes].

Versions and dates of all files must be equal, and the changelog must have a complete section for
the version. `TAG` in the environment, such as v0.1.0, must name the version. `--builds` also builds
the wheel twice from nothing and compares the bytes. `--notes` only prints the section of the
changelog.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATE = r"\d{4}-\d{2}-\d{2}"


def main() -> int:
    """Run the checks. Return 1 if the tree cannot be released."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--builds", action="store_true", help="Build the wheel twice and compare.")
    options.add_argument("--notes", action="store_true", help="Print the notes of this version.")
    options.add_argument("--root", type=Path, default=ROOT, help="The tree (default: the one of this file).")
    arguments = options.parse_args()
    if arguments.notes:
        print(notes(arguments.root))
        return 0
    mistakes = [*version_mistakes(arguments.root, os.environ.get("TAG")), *changelog_mistakes(arguments.root)]
    if arguments.builds and not mistakes:
        mistakes += build_mistakes(arguments.root)
    for mistake in mistakes:
        print(f"release-check: {mistake}", file=sys.stderr)
    if not mistakes:
        print(f"release-check: {version_of(arguments.root)} can be released")
    return 1 if mistakes else 0


def version_of(root: Path) -> str:
    """Return the version of the workspace, from which the package takes its own."""
    version: str = _toml(root, "Cargo.toml")["workspace"]["package"]["version"]
    return version


def version_mistakes(root: Path, tag: str | None) -> Iterator[str]:
    """Yield each file with another version than Cargo.toml."""
    version = version_of(root)
    for package in _toml(root, "Cargo.lock")["package"]:
        if "source" not in package and package["version"] != version:
            yield f"Cargo.lock: {package['name']} has version {package['version']}, not {version}"
    for name, pattern in (("CITATION.cff", r"^version: (\S+)"), ("CHANGELOG.md", r"^## \[([^\]]+)\]")):
        named = _first(root, name, pattern)
        if named != version:
            yield f"{name}: version {named}, not {version} as in Cargo.toml"
    if tag is not None and tag != f"v{version}":
        yield f"the tag is {tag}, not v{version}"


def changelog_mistakes(root: Path) -> Iterator[str]:
    """Yield missing dates and sections of this version."""
    dated = _first(root, "CHANGELOG.md", rf"^## \[[^\]]+\] - ({DATE})$")
    newest = _first(root, "CHANGELOG.md", r"^(## .*)$")
    if dated is None or newest is None or not newest.endswith(dated):
        yield f"CHANGELOG.md: the newest section has no date: {newest!r} must end with - YYYY-MM-DD"
    cited = _first(root, "CITATION.cff", rf"^date-released: ({DATE})$")
    if cited is None or cited != dated:
        yield f"CITATION.cff: date-released is {cited}, the changelog has {dated}"
    if not re.search(r"^### Results$", notes(root), re.MULTILINE):
        yield "CHANGELOG.md: the newest section has no part ### Results"
    if "not released yet" in (root / "README.md").read_text(encoding="utf-8"):
        yield "README.md: says that the version is not released yet"


def notes(root: Path) -> str:
    """Return the newest section of the changelog, without its heading."""
    sections = re.split(r"^## .*$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return sections[1].strip() if len(sections) > 1 else ""


def build_mistakes(root: Path) -> list[str]:
    """Build the wheel twice in the same empty folder. Report a difference between the two."""
    digests = {_built(root) for _ in range(2)}
    return [] if len(digests) == 1 else ["two builds of the wheel differ"]


def _built(root: Path) -> str:
    """Build a wheel from nothing. Return its digest."""
    folder = root / "target" / "release-check"
    shutil.rmtree(folder, ignore_errors=True)
    maturin, out = str(root / ".venv/bin/maturin"), str(folder / "dist")
    command = [maturin, "build", "--release", "--locked", "--out", out]
    subprocess.run(command, cwd=root, env={**os.environ, "CARGO_TARGET_DIR": str(folder)}, check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def _first(root: Path, name: str, pattern: str) -> str | None:
    """Return the first group of the first match in a file, or None."""
    match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else None


def _toml(root: Path, name: str) -> dict[str, Any]:
    """Read a TOML file of the tree."""
    return tomllib.loads((root / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())

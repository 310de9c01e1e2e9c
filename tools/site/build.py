"""Builds the documentation site, strictly and without a network: target/site/html.

All pages are collected in target/site/pages first: docs/, linked pages of other folders,
reference pages generated from the program, and the gallery with its figures.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import gallery
import html_links
import reference_pages
import staging

ROOT = staging.ROOT
CONFIGURATION = Path(__file__).with_name("zensical.toml")


def main() -> int:
    """Build the site. Return 1 if a link leads nowhere."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--into", type=Path, default=ROOT / "target/site", help="The folder of the build.")
    options.add_argument(
        "--no-gallery", action="store_true", help="Leave the gallery as it is in the folder."
    )
    arguments = options.parse_args()
    build(arguments.into, draws=not arguments.no_gallery)
    mistakes = list(html_links.mistakes(arguments.into / "html"))
    for mistake in mistakes:
        print(f"docs: {mistake}", file=sys.stderr)
    if not mistakes:
        print(f"docs: {arguments.into / 'html/index.html'}")
    return 1 if mistakes else 0


def build(folder: Path, *, draws: bool) -> None:
    """Collect the pages below a folder and build the site from them."""
    pages = folder / "pages"
    kept = folder / "gallery"
    if not draws and (pages / "gallery").exists():
        shutil.rmtree(kept, ignore_errors=True)
        (pages / "gallery").rename(kept)
    for old in (pages, folder / "html", folder / ".cache"):
        shutil.rmtree(old, ignore_errors=True)
    staging.stage(pages)
    shutil.copy(CONFIGURATION.with_name("site.css"), pages)
    reference_pages.write(pages)
    if draws:
        gallery.write(pages)
    else:
        (pages / "gallery.md").write_text(gallery.page(), encoding="utf-8")
        if kept.exists():
            kept.rename(pages / "gallery")
    configuration = CONFIGURATION.read_text(encoding="utf-8").replace("PYTHON", str(ROOT / "python"))
    (folder / "zensical.toml").write_text(configuration, encoding="utf-8")
    subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        check=True,
    )


if __name__ == "__main__":
    sys.exit(main())

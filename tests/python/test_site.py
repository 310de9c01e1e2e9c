"""The documentation site: links, generated pages and the gallery, and a strict build."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
import umtslab
from PIL import Image
from umtslab import _core
from umtslab.cli.plot_kinds import RUN_KINDS, STUDY_KINDS
from umtslab.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools/site"))

import gallery  # noqa: E402
import html_links  # noqa: E402
import reference_pages  # noqa: E402
import staging  # noqa: E402


def test_the_gallery_has_every_kind_of_figure() -> None:
    kinds = [figure.kind for figure in gallery.FIGURES]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) - {*RUN_KINDS, *STUDY_KINDS} == {
        "annotated",
        "mean",
        "campaign metric",
        "campaign map",
        "campaign budget",
    }
    assert {*RUN_KINDS, *STUDY_KINDS} <= set(kinds)


def test_every_figure_of_the_gallery_has_its_data() -> None:
    used = {name for figure in gallery.FIGURES for name in figure.source.split()}
    assert used == set(gallery.SOURCES)
    assert all(figure.command in gallery.page() for figure in gallery.FIGURES)


def test_generated_pages_contain_everything_that_the_program_knows() -> None:
    keys = reference_pages.keys()
    assert all(f"| `{row['key'].rpartition('.')[2]}` |" in keys for row in _core.params())
    commands = reference_pages.commands()
    assert all(f"### umts {verb}\n\n```text\nusage: umts {verb}" in commands for verb in VERBS)
    interface = reference_pages.python_api()
    assert all(f".{name}\n" in interface or f"## {name}\n" in interface for name in umtslab.__all__)
    profiles = reference_pages.tcp_profiles()
    assert all(f"## {profile['name']}\n" in profiles for profile in _core.profiles())


def test_the_navigation_has_every_page_once() -> None:
    written = {str(page) for page in staging.pages().values()} | {"gallery.md"}
    generated = {f"reference/{name}" for name in reference_pages.PAGES if name.endswith(".md")}
    listed = re.findall(r'"([\w./-]+\.md)"', (ROOT / "tools/site/zensical.toml").read_text())
    assert sorted(listed) == sorted(written | generated)


def test_links_are_adapted_to_the_site() -> None:
    text = (
        "[a](guide.md#change-one-thing) [b](../CONTRIBUTING.md) [c](../Makefile) [d](#here) "
        "[e](../reproductions/README.md)\n```sh\n[f](../Makefile)\n```\n"
    )
    page = PurePosixPath("sample.md")
    assert staging.relinked(text, ROOT / "docs/sample.md", page, staging.pages()) == (
        "[a](guide.md#change-one-thing) [b](project/contributing.md) c (`Makefile`) [d](#here) "
        "[e](project/reproductions.md)\n```sh\n[f](../Makefile)\n```\n"
    )


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="x"></p><a href="b.html#y">1</a><a href="b.html#z">2</a><a href="c.html">3</a>'
        '<a href="#x">4</a><img src="http://host.example/i.png"><a href="http://host.example/">5</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="y">b</h1>')
    assert list(html_links.mistakes(tmp_path)) == [
        "a.html links to b.html#z: there is no such anchor",
        "a.html links to c.html: there is no such file",
        "a.html loads http://host.example/i.png",
    ]


@pytest.mark.slow
def test_the_site_builds_strictly_and_all_links_resolve(tmp_path: Path) -> None:
    """Without drawing the gallery, which `make docs` does."""
    pytest.importorskip("zensical", reason="zensical is not installed: make docs")
    pictures = tmp_path / "pages" / "gallery"
    pictures.mkdir(parents=True)
    for figure in gallery.FIGURES:
        Image.new("1", (1, 1)).save(pictures / figure.file)
    command = [sys.executable, str(ROOT / "tools/site/build.py"), "--into", str(tmp_path), "--no-gallery"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("index", "gallery", "tutorial", "recipes", "reference/keys", "reference/python-api"):
        assert (tmp_path / f"html/{name}.html").is_file()

"""The built page of `umts serve`, and the files in `web/` from which it is built."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
PAGE = ROOT / "python/umtslab/serve/page"

built = pytest.mark.skipif(
    not (PAGE / "index.html").exists(), reason="the page is not built: `make page` says why"
)


@built
def test_the_page_is_small_enough() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in (PAGE / "assets").iterdir()}
    text = (PAGE / "index.html").read_text()
    # Compressed bytes that the first view loads: the files that index.html names.
    first_view = sum(size for name, size in sizes.items() if name in text)
    assert 0 < first_view <= 150_000
    assert sum(sizes.values()) <= 450_000


@built
def test_the_page_has_the_licences_of_its_parts() -> None:
    text = (PAGE / "licences.txt").read_text()
    for name in ("preact", "uplot", "@observablehq/plot", "@codemirror/view", "d3-array"):
        assert f"\n{name} " in f"\n{text}"
    assert "ISC" in text
    assert "Permission is hereby granted" in text


@built
def test_the_page_loads_nothing_from_other_servers() -> None:
    text = (PAGE / "index.html").read_text()
    assert "http:" not in text
    assert "https:" not in text


def test_the_lock_file_contains_no_package_addresses() -> None:
    """So each user's registry is used. Checksums still identify the packages."""
    lock = json.loads((WEB / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert all("resolved" not in package for package in packages.values())
    assert all("integrity" in package for package in packages.values())
    assert "omit-lockfile-registry-resolved=true" in (WEB / ".npmrc").read_text().splitlines()
    assert "registry=" not in (WEB / ".npmrc").read_text()


def test_the_openapi_description_is_current() -> None:
    pytest.importorskip("fastapi", reason="the extra serve is not installed")
    from umtslab.serve.openapi import text

    current = (WEB / "openapi.json").read_text()
    assert current == text(), "python -m umtslab.serve.openapi web/openapi.json"


def test_the_colours_of_the_page_are_those_of_the_declaration() -> None:
    from umtslab.serve.colours import text

    current = (WEB / "src/app/colours.css").read_text()
    assert current == text(), "python -m umtslab.serve.colours web/src/app/colours.css"

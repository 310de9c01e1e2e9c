"""Objects of the store that the routes find by name, and headers of stored files."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from umtslab.run import Run
from umtslab.serve.files import NoSuchFile, file_in
from umtslab.serve.settings import Settings
from umtslab.store import RunNotFound, read_store
from umtslab.store.reader import StoreReader, is_store

# ── Objects ─────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def opened_store(settings: Settings) -> Iterator[StoreReader]:
    """Open the store to read. Damaged runs are left out, as everywhere; Home names them."""
    if not is_store(settings.store):
        raise NoSuchFile(f"there is no store at {settings.store}")
    with read_store(settings.store, lambda damage: None) as store:
        yield store


def run_of(store: StoreReader, key: str) -> Run:
    """Return the run with a key.

    Raises
    ------
    RunNotFound
        If the store has no such run.
    """
    run = store.of_keys([key]).get(key)
    if run is None:
        raise RunNotFound("the store has no run with this key")
    return run


def stored_run(settings: Settings, key: str) -> Run:
    """Open the store, and return the run with a key. Raises as `opened_store` and `run_of` do."""
    with opened_store(settings) as store:
        return run_of(store, key)


def capture_path(run: Run, name: str) -> Path:
    """Return the path of a capture of a run."""
    if run.folder is None:
        raise RunNotFound("the run has no folder")
    return file_in(run.folder / "captures", name)


def checked_number(number: int, kind: str = "connection") -> int:
    """Return the number of a connection or row, if it can be one: an integer of 32 bits without sign.

    Raises
    ------
    NoSuchFile
        If it cannot. The message names the `kind` of the object.
    """
    if not 0 <= number < 2**32:
        raise NoSuchFile(f"there is no such {kind}")
    return number


# ── Headers ─────────────────────────────────────────────────────────────────────────────────────────

INERT_POLICY = {"content-security-policy": "default-src 'none'; sandbox"}
"""Policy of a picture or table: if a browser opens it as a page, the page can do nothing."""


def page_policy(page: str) -> dict[str, str]:
    """Return the policy of a stored page: no script, no request, only the style sheets in the page.

    A style sheet of a stored page is allowed by a digest.
    """
    sheets = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digests = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()}'" for sheet in sheets
    )
    style = f"style-src {digests}; " if digests else ""
    policy = f"default-src 'none'; img-src data:; {style}sandbox"
    return {"content-security-policy": policy}


def download_as(name: str) -> dict[str, str]:
    """Return the header that makes a browser save the answer as a file with this name."""
    if not re.fullmatch(r"[\w.-]+", name, re.ASCII):
        # RFC 8187: a header has ASCII characters only.
        return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return {"content-disposition": f'attachment; filename="{name}"'}

"""Captures that a browser uploads to the server of `umts serve`.

Each upload is written to a file in a private temporary folder, chunk by chunk. The latest ones are
kept for later requests of the page, and all are removed when the server stops. The caller limits
the size: its iterator of chunks raises an exception if an upload is too large.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

_MAX_KEPT = 4
"""Maximum number of uploads that are kept. A further one replaces the oldest."""

_MAX_IN_PROGRESS = 2
"""Maximum number of uploads in progress at the same time."""


class TooManyUploads(Exception):
    """As many uploads as allowed are in progress."""

    def __init__(self) -> None:
        super().__init__("Other captures are being uploaded. Try again in a moment.")


@dataclass(frozen=True)
class Upload:
    """A complete upload. `name` comes from the browser and is only displayed; the file is `path`."""

    id: str
    name: str
    path: Path


class Uploads:
    """The uploaded captures of this server."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._kept: dict[str, Upload] = {}
        self._lock = threading.Lock()
        self._in_progress = 0

    async def receive(self, name: str, chunks: AsyncIterator[bytes]) -> Upload:
        """Write an upload to the private folder, and keep it.

        If `chunks` raises an exception, the incomplete file is removed.

        Raises
        ------
        TooManyUploads
            If `_MAX_IN_PROGRESS` uploads are in progress.
        """
        if self._in_progress >= _MAX_IN_PROGRESS:
            raise TooManyUploads
        identity = secrets.token_hex(8)
        path = self._private_folder() / identity
        self._in_progress += 1
        try:
            with path.open("wb") as file:
                async for chunk in chunks:
                    file.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._in_progress -= 1
        return self._keep(Upload(identity, name[:200], path))

    def get(self, identity: str) -> Upload | None:
        """Return an upload, or None if it is unknown or was replaced by later ones."""
        return self._kept.get(identity)

    def close(self) -> None:
        """Remove all uploads and the private folder."""
        with self._lock:
            self._kept.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def _private_folder(self) -> Path:
        """Return the folder of the uploads. The first call creates it, readable by this user only."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="umtslab-serve-"))
            return self._folder

    def _keep(self, upload: Upload) -> Upload:
        """Add an upload, and remove the oldest if there are too many."""
        with self._lock:
            self._kept[upload.id] = upload
            for old in list(self._kept)[:-_MAX_KEPT]:
                self._kept.pop(old).path.unlink(missing_ok=True)
        return upload

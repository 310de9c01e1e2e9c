"""Uploaded captures: written to a private folder piece by piece, and removed at the end.

The caller checks the size: its pieces end with an exception when the upload is too large.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

_MOST_KEPT = 4
"""Uploads that are kept. The oldest is removed for a new one."""

_AT_ONCE = 2
"""Uploads that may be in progress."""


class TooManyUploads(Exception):
    """Other uploads are in progress."""

    def __init__(self) -> None:
        super().__init__("Other captures are being uploaded. Try again in a moment.")


@dataclass(frozen=True)
class Upload:
    """An uploaded capture. `name` is the visitor's name for the file, for display only."""

    id: str
    name: str
    path: Path


class Uploads:
    """The uploaded captures of this server."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._kept: dict[str, Upload] = {}
        self._lock = threading.Lock()
        self._under_way = 0

    async def receive(self, name: str, pieces: AsyncIterator[bytes]) -> Upload:
        """Write an upload to the private folder.

        Raises
        ------
        TooManyUploads
            If too many are in progress.
        """
        if self._under_way >= _AT_ONCE:
            raise TooManyUploads
        identity = secrets.token_hex(8)
        path = self._place() / identity
        self._under_way += 1
        try:
            with path.open("wb") as file:
                async for piece in pieces:
                    file.write(piece)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._under_way -= 1
        return self._keep(Upload(identity, name[:200], path))

    def get(self, identity: str) -> Upload | None:
        """Return an upload, or None if there is none any more."""
        return self._kept.get(identity)

    def close(self) -> None:
        """Remove all uploads."""
        with self._lock:
            self._kept.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def _place(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="umtslab-serve-"))
            return self._folder

    def _keep(self, upload: Upload) -> Upload:
        with self._lock:
            self._kept[upload.id] = upload
            for old in list(self._kept)[:-_MOST_KEPT]:
                self._kept.pop(old).path.unlink(missing_ok=True)
        return upload

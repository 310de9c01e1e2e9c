"""Staging area: folders of runs being written.

Each writer has its own folder below ``.staging``, and holds a lock on a file beside it. The kernel
releases the lock when the process ends for any reason. So a process that opens the store later can
recognise abandoned folders.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from umtslab.atomic_files import describe_irregular


class Staging:
    """The staging area of one store for one writer."""

    def __init__(self, store: Path) -> None:
        self._root = store / ".staging"
        self._root.mkdir(parents=True, exist_ok=True)
        self._remove_abandoned()
        self._name = _new_name()
        with self.exclusively():
            self._lock = _open_lock(self._lock_file(self._name))
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._folder.mkdir()

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Yield a new empty folder. It is removed at the end unless it was renamed."""
        folder = self._folder / _new_name()
        folder.mkdir()
        try:
            yield folder
        finally:
            _remove_tree(folder)

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Hold an exclusive lock on the store, among threads and processes."""
        descriptor = _open_lock(self._root / "lock")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def remove_from_store(self, folder: Path) -> None:
        """Remove a folder from the store atomically, then delete it."""
        removed = self._folder / _new_name()
        folder.rename(removed)
        _remove_tree(removed)

    def close(self) -> None:
        """Remove this writer's folder and release its lock."""
        with self.exclusively():
            self._remove(self._name)
            os.close(self._lock)

    @property
    def _folder(self) -> Path:
        return self._root / self._name

    def _lock_file(self, name: str) -> Path:
        return self._root / f"{name}.lock"

    def _remove_abandoned(self) -> None:
        with self.exclusively():
            for lock_file in self._root.glob("*.lock"):
                if describe_irregular(lock_file) is None and _is_free(lock_file):
                    self._remove(lock_file.stem)

    def _remove(self, name: str) -> None:
        # The lock file is removed last: while it exists, a later process finds and removes the rest
        # of a folder that was not removed completely.
        _remove_tree(self._root / name)
        self._lock_file(name).unlink(missing_ok=True)


def irregular_locks(store: Path) -> Iterator[tuple[Path, str]]:
    """Yield lock files of a store that are not regular files, each with its kind of file."""
    root = store / ".staging"
    for path in sorted([root / "lock", *root.glob("*.lock")]):
        if (irregularity := describe_irregular(path)) is not None:
            yield path, irregularity


def _open_lock(path: Path) -> int:
    """Open a lock file, and create it if it is missing.

    Raises
    ------
    OSError
        If it is not a regular file, or cannot be created.
    """
    if (irregularity := describe_irregular(path)) is not None:
        hint = "umts doctor FOLDER --repair moves it away"
        raise OSError(errno.EINVAL, f"it is {irregularity}, not a file; {hint}", str(path))
    return os.open(path, os.O_CREAT | os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)


def _new_name() -> str:
    return os.urandom(16).hex()


def _remove_tree(folder: Path) -> None:
    """Remove a folder with its contents, as far as possible."""
    try:
        folder.rmdir()  # most often it is empty, or was renamed away
    except FileNotFoundError:
        return
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _is_free(lock_file: Path) -> bool:
    descriptor = os.open(lock_file, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(descriptor)

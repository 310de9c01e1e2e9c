"""The file of the catalogue: opening, detection of damage, and salvage.

A complete check takes time proportional to the number of runs. So the last process that closes a
store records the state of the file (inode, size, times) in ``.staging/lock``. The check is skipped
while the state is unchanged. ``umts doctor STORE`` always checks.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from umtslab.atomic_files import describe_irregular, stored_text
from umtslab.store.catalogue import COLUMNS, SCHEMA, SEALED, Catalogue, Row, seal
from umtslab.store.folder import OtherLayout, is_other_layout, other_layout

NAME = "catalogue.sqlite"

LAYOUT = 1
"""Version of the store's layout, in the catalogue's ``user_version``.

0, the value of a new database, is not another layout.
"""

_WAIT_S = 60.0
"""Time for which SQLite waits for a lock of another process."""

_MAX_STATE_BYTES = 4096
"""Maximum size in bytes of the recorded state."""

_MAGIC = b"SQLite format 3\0"
"""The beginning of the header of a database file (https://sqlite.org/fileformat2.html, 1.3)."""

_HEADER_BYTES = 100
_USER_VERSION = slice(60, 64)
"""Place of ``user_version`` in the header."""

_NOT_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
    }
)  # fmt: skip
"""Errors of SQLite that do not indicate damage."""


class NoCatalogue(Exception):
    """There is no catalogue, or it cannot be read without writing."""


class BrokenCatalogue(Exception):
    """The catalogue is damaged. The message says how."""


def files(store: Path) -> list[Path]:
    """Return the existing files of the catalogue."""
    paths = (store / (NAME + ending) for ending in ("", "-wal", "-shm", "-journal"))
    return [path for path in paths if os.path.lexists(path)]


def refuse_irregular(path: Path) -> None:
    """Refuse a database with irregular files: SQLite would block on a named pipe.

    Raises
    ------
    BrokenCatalogue
        If a file is not regular.
    """
    for ending in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + ending)
        if (kind := describe_irregular(file)) is not None:
            raise BrokenCatalogue(f"{file.name} is {kind}, not a file")


def refuse_other_layout(store: Path) -> None:
    """Refuse a store with the layout of another version. The store is not changed.

    Raises
    ------
    OtherLayout
        If the layout is another one.
    """
    layout = _layout(store)
    if layout is not None and is_other_layout(layout, LAYOUT):
        raise OtherLayout(
            f"{store}: this results folder has layout {layout}, but this version of umts uses layout "
            f"{LAYOUT}; choose another folder with --out, or use the version that created it"
        )


def _layout(store: Path) -> int | None:
    """Return the layout according to the catalogue, or to all run folders, or None."""
    if (layout := _layout_in_header(store / NAME)) is not None:
        return layout
    try:
        db = _connect_to_read(store / NAME)
    except (NoCatalogue, BrokenCatalogue):
        layouts = {other_layout(card.parent) for card in (store / "runs").glob("*/run.json")}
        return layouts.pop() if len(layouts) == 1 else None
    with closing(db), suppress(sqlite3.DatabaseError, UnicodeDecodeError):
        return int(db.execute("PRAGMA user_version").fetchone()[0])
    return None


def _layout_in_header(path: Path) -> int | None:
    """Return ``user_version`` from the header of the file, without opening it as a database.

    Opening a database in WAL mode, even for reading, can leave two files beside it. None if there
    is no file, or if its write-ahead log is not empty and may contain a newer header.
    """
    if not path.is_file() or not _log_is_empty(path):
        return None
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    is_database = header.startswith(_MAGIC) and len(header) == _HEADER_BYTES
    return int.from_bytes(header[_USER_VERSION], "big") if is_database else None


def _log_is_empty(path: Path) -> bool:
    """Whether the write-ahead log of a database is empty or missing."""
    log = path.with_name(path.name + "-wal")
    return not log.exists() or log.stat().st_size == 0


# ── Opening ─────────────────────────────────────────────────────────────────────────────────────────────────


def open_to_read(store: Path, *, is_audited: bool = False) -> Catalogue:
    """Open the catalogue for reading. It is checked if it may have changed, or always with `is_audited`.

    Raises
    ------
    NoCatalogue
        If there is none, or it cannot be read without writing.
    BrokenCatalogue
        If it is damaged.
    """
    db = _connect_to_read(store / NAME)
    try:
        if is_audited or not _is_unchanged(store):
            audit(db)
        return Catalogue(store, db)
    except BaseException:
        db.close()
        raise


def open_to_write(store: Path) -> Catalogue:
    """Open or create the catalogue.

    Raises
    ------
    BrokenCatalogue
        If it is damaged.
    """
    path = store / NAME
    refuse_irregular(path)
    is_new = not path.exists() or path.stat().st_size == 0
    db = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
    try:
        if not is_new and not _is_unchanged(store):
            audit(db)
        with _broken_if_damaged():
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(SCHEMA)
            if "seal" not in _columns(db):
                db.execute("ALTER TABLE runs ADD COLUMN seal TEXT")
            if db.execute("PRAGMA user_version").fetchone() != (LAYOUT,):
                # Only if the version differs, because the statement writes even an equal value.
                db.execute(f"PRAGMA user_version = {LAYOUT}")
    except sqlite3.OperationalError as error:
        db.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK):
            raise BrokenCatalogue("its header marks it as read-only") from error
        raise
    except BaseException:
        db.close()
        raise
    return Catalogue(store, db)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open without writing.

    SQLite needs a shared memory file beside a database in WAL mode, which it cannot create in a
    write-protected folder. It needs none if the database is opened as immutable, which is safe
    only while the write-ahead log is empty.
    """
    refuse_irregular(path)
    if not path.is_file():
        raise NoCatalogue
    modes = ["mode=ro"]
    if _log_is_empty(path):
        modes.append("immutable=1")
    for mode in modes:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=_WAIT_S, check_same_thread=False
        )
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.DatabaseError as error:
            db.close()
            if is_damage(error):
                raise BrokenCatalogue(str(error)) from error
        except UnicodeDecodeError as error:
            # SQLite quotes the damaged name in its error message.
            db.close()
            raise BrokenCatalogue("its schema contains invalid text") from error
        else:
            return db
    raise NoCatalogue


# ── Damage ──────────────────────────────────────────────────────────────────────────────────────────────────


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error is caused by the content of the file."""
    extended_code = getattr(error, "sqlite_errorcode", None)  # missing if text could not be decoded
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    # The low 8 bits of an extended result code are the primary result code.
    return extended_code is None or extended_code & 0xFF not in _NOT_DAMAGE


@contextmanager
def _broken_if_damaged() -> Iterator[None]:
    """Convert SQLite's errors that indicate damage to `BrokenCatalogue`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise BrokenCatalogue(str(error)) from error
        raise
    except (UnicodeDecodeError, ValueError, OverflowError) as error:
        raise BrokenCatalogue("it contains invalid text") from error


def audit(db: sqlite3.Connection) -> None:
    """Check the whole catalogue.

    Raises
    ------
    BrokenCatalogue
        If it is damaged.
    """
    with _broken_if_damaged():
        [(verdict,)] = db.execute("PRAGMA integrity_check(1)").fetchall()
        if verdict != "ok":
            raise BrokenCatalogue(str(verdict))
        columns = _columns(db)
        columns_without_seal = COLUMNS[:-1]
        if tuple(columns) not in (COLUMNS, columns_without_seal):
            raise BrokenCatalogue("it has no table `runs`")
        if "seal" not in columns:
            return  # an earlier version wrote the catalogue, without seals
        for *values, digest in db.execute(f"SELECT {SEALED}, seal FROM runs NOT INDEXED"):
            if digest is not None and seal(tuple(values)) != digest:
                raise BrokenCatalogue("a row is not as it was written")


def salvage(path: Path) -> dict[str, Row]:
    """Return the intact rows of a damaged catalogue, by key.

    Reading stops at the damage, so the rows are read from the beginning and from the end.
    """
    rows: dict[str, Row] = {}
    try:
        refuse_irregular(path)
    except BrokenCatalogue:
        return rows
    for order in ("", "ORDER BY rowid DESC"):
        try:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
                for *values, digest_of_row in db.execute(
                    f"SELECT {SEALED}, seal FROM runs NOT INDEXED {order}"
                ):
                    row = dict(zip(COLUMNS, values, strict=False))
                    if seal(tuple(values)) == digest_of_row:
                        rows[row["key"]] = Row(
                            parameters=row["parameters"], created=row["created"], command=row["command"]
                        )
        except (sqlite3.Error, ValueError, OverflowError):
            continue
    return rows


def _columns(db: sqlite3.Connection) -> list[str]:
    return [str(name) for _, name, *_ in db.execute("PRAGMA table_info(runs)")]


# ── Last known sound state ──────────────────────────────────────────────────────────────────────────────────


def record_state(store: Path) -> None:
    """Record the file system state of the catalogue, which must be intact and closed."""
    _write_state(store, _state(store) or "")


def clear_state(store: Path) -> None:
    """Clear the record, so that the next process to open the catalogue checks it."""
    _write_state(store, "")


def _write_state(store: Path, text: str) -> None:
    lock = store / ".staging" / "lock"
    if describe_irregular(lock) is None:
        with suppress(OSError):
            lock.write_text(text, encoding="ascii")


def _is_unchanged(store: Path) -> bool:
    """Whether the file is in the state that the last process recorded when it closed the store."""
    state = _state(store)
    try:
        return state is not None and stored_text(store / ".staging" / "lock", _MAX_STATE_BYTES) == state
    except (OSError, ValueError):
        return False


def _state(store: Path) -> str | None:
    """Return the state of the file.

    None while there is a log: a process is writing, or was killed.
    """
    try:
        if not _log_is_empty(store / NAME):
            return None
        status = (store / NAME).stat()
    except OSError:
        return None
    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}\n"

"""The catalogue: one row per run, in SQLite.

Write-ahead logging lets others read while one process writes. The catalogue can be rebuilt from the run
folders, but for the time of creation and the command, which are not in them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from umtslab.run import CodeVersion, Identity, Run
from umtslab.store.folder import OtherLayout, read_run

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    result TEXT NOT NULL,
    scenario TEXT NOT NULL,
    scenario_hash TEXT NOT NULL,
    parameters TEXT NOT NULL,
    version TEXT NOT NULL,
    code_commit TEXT NOT NULL,
    code TEXT NOT NULL,
    seed INTEGER NOT NULL,
    run INTEGER NOT NULL,
    events INTEGER NOT NULL,
    duration_s REAL NOT NULL,
    metrics TEXT NOT NULL,
    created TEXT NOT NULL,
    command TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS runs_by_result ON runs (result, seed, run);
"""

_COLUMNS = (
    "key, result, scenario, scenario_hash, parameters, version, code_commit, code, seed, run, events, "
    "duration_s, metrics, created, command"
)
_RUN_COLUMNS = (
    "scenario, scenario_hash, version, code_commit, code, seed, run, events, duration_s, metrics, key, "
    "command"
)

_WAIT_S = 60.0

LAYOUT = 1
"""Version of the store's layout, in the catalogue's ``user_version``; 0 (not written yet) is the same."""


class NoCatalogue(Exception):
    """There is none, or it cannot be read without writing."""


@dataclass(frozen=True)
class Row:
    """What the catalogue says of a run beyond the run itself."""

    parameters: str
    created: str
    command: str


class Catalogue:
    """The file ``catalogue.sqlite`` of a store; safe to use from several threads."""

    def __init__(self, store: Path, db: sqlite3.Connection | None = None) -> None:
        self._store = store
        self._lock = RLock()
        self._db = _connect(store / "catalogue.sqlite") if db is None else db

    @classmethod
    def to_read(cls, store: Path) -> Catalogue:
        """The catalogue as it is.

        Raises
        ------
        NoCatalogue
            If there is none, or it cannot be read without writing.
        """
        return cls(store, _connect_to_read(store / "catalogue.sqlite"))

    @classmethod
    def in_memory(cls, store: Path) -> Catalogue:
        """An empty catalogue that no file belongs to."""
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.executescript(_SCHEMA)
        return cls(store, db)

    def copied(self) -> Catalogue:
        """The same in memory, where it can be changed; this one is closed."""
        copy = Catalogue.in_memory(self._store)
        with self._lock:
            self._db.backup(copy._db)
        self.close()
        return copy

    def add(self, run: Run, row: Row) -> None:
        """Enter a run, or enter it anew."""
        identity = run.identity
        values = (
            identity.key,
            identity.result,
            run.scenario,
            identity.scenario_hash,
            row.parameters,
            identity.code.version,
            identity.code.commit,
            identity.code.code,
            # SQLite's integers have a sign; seeds have none and use all 64 bits.
            _signed(identity.seed),
            identity.run,
            run.events,
            run.duration_s,
            json.dumps(run.metrics, sort_keys=True, allow_nan=False),
            row.created,
            row.command,
        )
        marks = ", ".join("?" * len(values))
        with self._lock, self._db:
            self._db.execute(f"INSERT OR REPLACE INTO runs ({_COLUMNS}) VALUES ({marks})", values)

    def remove(self, keys: Iterable[str]) -> None:
        """Strike runs off."""
        with self._lock, self._db:
            self._db.executemany("DELETE FROM runs WHERE key = ?", [(key,) for key in keys])

    def keys(self) -> set[str]:
        """Keys of all runs."""
        return {str(key) for (key,) in self._select("SELECT key FROM runs")}

    def find(self, key: str) -> Run | None:
        """The run of exactly that key."""
        found = self._load("WHERE key = ?", (key,))
        return found[0] if found else None

    def by_prefix(self, prefix: str) -> list[Run]:
        """Runs whose key or result begins with `prefix`, or whose scenario has that name."""
        pattern = prefix.replace("%", "").replace("_", "") + "%"
        return self._load(
            "WHERE key LIKE ? OR result LIKE ? OR scenario = ? ORDER BY result, seed, run",
            (pattern, pattern, prefix),
        )

    def of_result(self, result: str) -> list[Run]:
        """All replications of one result, by seed and run."""
        return self._load("WHERE result = ? ORDER BY seed, run", (result,))

    def all(self) -> list[Run]:
        """All runs, by result, seed and run."""
        return self._load("ORDER BY result, seed, run", ())

    def latest_result(self, scenario: str | None = None) -> str | None:
        """The result that was added to last, of the scenario of that name if one is given."""
        rows = self._select(
            "SELECT result FROM runs WHERE ?1 IS NULL OR scenario = ?1 "
            "ORDER BY created DESC, rowid DESC LIMIT 1",
            (scenario,),
        )
        return str(rows[0][0]) if rows else None

    def row(self, key: str) -> Row | None:
        """Parameters (JSON), time of creation and command of a run."""
        rows = self._select("SELECT parameters, created, command FROM runs WHERE key = ?", (key,))
        return Row(*map(str, rows[0])) if rows else None

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def _load(self, where: str, values: tuple[object, ...]) -> list[Run]:
        return [self._as_run(row) for row in self._select(f"SELECT {_RUN_COLUMNS} FROM runs {where}", values)]

    def _select(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def _as_run(self, row: tuple[object, ...]) -> Run:
        (
            scenario,
            scenario_hash,
            version,
            commit,
            code,
            seed,
            run,
            events,
            duration_s,
            metrics,
            key,
            command,
        ) = row
        version_of_code = CodeVersion(str(version), str(commit), str(code))
        identity = Identity(str(scenario_hash), version_of_code, _unsigned(int(str(seed))), int(str(run)))
        return Run(
            str(scenario),
            identity,
            json.loads(str(metrics)),
            int(str(events)),
            float(str(duration_s)),
            self._store / "runs" / str(key),
            command=str(command),
        )


def check_version(store: Path) -> None:
    """Refuse a store that another version of the program keeps differently; nothing in it is changed.

    Raises
    ------
    OtherLayout
        If it is one.
    """
    path = store / "catalogue.sqlite"
    layout = _layout_in_header(path)
    if layout is None:
        try:
            db = _connect_to_read(path)
        except NoCatalogue:
            folders = (store / "runs").glob("*/run.json")
            if (card := next(folders, None)) is not None:
                read_run(card.parent)
            return
        with closing(db):
            layout = int(db.execute("PRAGMA user_version").fetchone()[0])
    if layout not in (0, LAYOUT):
        raise OtherLayout(
            f"{store}: a store of layout {layout}, but this version of umts keeps layout {LAYOUT}; "
            "choose another folder with --out, or use the version that made it"
        )


def _layout_in_header(path: Path) -> int | None:
    """The ``user_version`` as SQLite's file format has it; None if the log may know better, or there is none.

    Whoever opens a database with a log, even to read, leaves two files beside it.
    """
    if not path.is_file() or not _log_is_empty(path):
        return None
    with path.open("rb") as file:
        header = file.read(100)
    is_database = header.startswith(b"SQLite format 3\0") and len(header) == 100
    return int.from_bytes(header[60:64], "big") if is_database else None


def _log_is_empty(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return not log.exists() or log.stat().st_size == 0


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open without writing; a write-protected folder has no room for the files that WAL shares memory by."""
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
        except sqlite3.OperationalError:
            db.close()
        else:
            return db
    raise NoCatalogue


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_SCHEMA)
        db.execute(f"PRAGMA user_version = {LAYOUT}")
    except BaseException:
        db.close()
        raise
    return db


def _signed(seed: int) -> int:
    return seed - 2**64 if seed >= 2**63 else seed


def _unsigned(seed: int) -> int:
    return seed + 2**64 if seed < 0 else seed

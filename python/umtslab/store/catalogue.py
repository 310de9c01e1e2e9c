"""The catalogue: an SQLite database with one row per run.

Write-ahead logging allows reads during writes. The catalogue can be rebuilt from the run folders,
except for the commands, which are not stored there. Each row has a seal, because SQLite detects
damage to its structures but not to the values.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import RLock

from umtslab.former_names import current_metrics
from umtslab.run import Identity, Run
from umtslab.version import CodeVersion

SCHEMA = """
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
    command TEXT NOT NULL,
    seal TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS runs_by_result ON runs (result, seed, run);
CREATE TABLE IF NOT EXISTS sound (key TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT;
"""
"""The table ``runs`` has a row per run. Runs in ``sound`` were undamaged when the file system reported
`state` for them."""

SEALED = (
    "key, result, scenario, scenario_hash, parameters, version, code_commit, code, seed, run, events, "
    "duration_s, metrics, created, command"
)
"""The columns that the seal of a row covers."""

COLUMNS = (*SEALED.split(", "), "seal")

_RUN_COLUMNS = (
    "scenario, scenario_hash, version, code_commit, code, seed, run, events, duration_s, metrics, key, "
    "command"
)

_MAX_VALUES = 500
"""Maximum number of values per query. SQLite allows at least 1000."""


@dataclass(frozen=True)
class Row:
    """Information about a run that the run itself does not contain."""

    parameters: str
    """The whole scenario, as JSON."""
    created: str
    """Time at which the run was stored, in UTC (ISO 8601)."""
    command: str
    """The command that repeats the run."""


class Catalogue:
    """The file ``catalogue.sqlite`` of a store; safe to use from several threads."""

    def __init__(self, store: Path, db: sqlite3.Connection) -> None:
        self._store = store
        self._runs = store / "runs"
        self._lock = RLock()
        self._db = db

    @classmethod
    def in_memory(cls, store: Path) -> Catalogue:
        """Return an empty catalogue without a file."""
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.executescript(SCHEMA)
        return cls(store, db)

    def copied(self) -> Catalogue:
        """Return a copy in memory, which can be changed, and close this catalogue."""
        copy = Catalogue.in_memory(self._store)
        with self._lock:
            self._db.backup(copy._db)
        self.close()
        return copy

    def add(self, run: Run, row: Row) -> None:
        """Insert or replace a run."""
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
            float(run.duration_s),
            json.dumps(run.metrics, sort_keys=True, allow_nan=False),
            row.created,
            row.command,
        )
        names, placeholders = ", ".join(COLUMNS), ", ".join("?" * len(COLUMNS))
        statement = f"INSERT OR REPLACE INTO runs ({names}) VALUES ({placeholders})"
        with self._lock, self._db:
            self._db.execute(statement, (*values, seal(values)))

    def remove(self, keys: Iterable[str]) -> None:
        """Delete runs."""
        rows = [(key,) for key in keys]
        with self._lock, self._db:
            self._db.executemany("DELETE FROM runs WHERE key = ?", rows)
            self._db.executemany("DELETE FROM sound WHERE key = ?", rows)

    def states(self) -> dict[str, str]:
        """Return the recorded file system state of sound (undamaged) runs, by key.

        Empty in catalogues of earlier versions.
        """
        try:
            rows = self._select("SELECT key, state FROM sound")
        except sqlite3.OperationalError:
            return {}
        return {str(key): str(state) for key, state in rows}

    def add_states(self, states: Mapping[str, str]) -> None:
        """Record the file system state of sound runs."""
        with self._lock, self._db:
            self._db.executemany("INSERT OR REPLACE INTO sound VALUES (?, ?)", states.items())

    def keys(self) -> set[str]:
        """Keys of all runs."""
        return {str(key) for (key,) in self._select("SELECT key FROM runs")}

    def find(self, key: str) -> Run | None:
        """Return the run with exactly this key, or None."""
        runs = self._load("WHERE key = ?", (key,))
        return runs[0] if runs else None

    def by_prefix(self, prefix: str) -> list[Run]:
        """Return runs by a prefix of key or result, or by the name of the scenario."""
        length = len(prefix)
        return self._load(
            "WHERE substr(key, 1, ?) = ? OR substr(result, 1, ?) = ? OR scenario = ? "
            "ORDER BY result, seed, run",
            (length, prefix, length, prefix, prefix),
        )

    def of_result(self, result: str) -> list[Run]:
        """All replications of one result, by seed and run."""
        return self._load("WHERE result = ? ORDER BY seed, run", (result,))

    def of_keys(self, keys: Iterable[str]) -> list[Run]:
        """Return the existing runs with these keys."""
        requested = list(keys)
        parts = (requested[first : first + _MAX_VALUES] for first in range(0, len(requested), _MAX_VALUES))
        return [
            run
            for part in parts
            for run in self._load(f"WHERE key IN ({', '.join('?' * len(part))})", tuple(part))
        ]

    def all(self) -> list[Run]:
        """All runs, by result, seed and run."""
        return self._load("ORDER BY result, seed, run", ())

    def scenarios(self) -> list[str]:
        """Names of all scenarios, in alphabetical order."""
        return [str(name) for (name,) in self._select("SELECT DISTINCT scenario FROM runs ORDER BY scenario")]

    def latest_result(self, scenario: str | None = None) -> str | None:
        """Return the result with the latest run, of any scenario or of the given one."""
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
        """Return the runs of the rows that satisfy an SQL clause."""
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
        identity = Identity(
            scenario_hash=str(scenario_hash),
            code=_code_version(str(version), str(commit), str(code)),
            seed=_unsigned(int(str(seed))),
            run=int(str(run)),
        )
        return Run(
            scenario=str(scenario),
            identity=identity,
            metrics=current_metrics(json.loads(str(metrics))),
            events=int(str(events)),
            duration_s=float(str(duration_s)),
            folder=self._runs / str(key),
            command=str(command),
        )


@lru_cache(maxsize=16)
def _code_version(version: str, commit: str, code: str) -> CodeVersion:
    """Return a shared object, because the runs of a store have few versions."""
    return CodeVersion(version, commit, code)


def _signed(seed: int) -> int:
    """Map an unsigned seed of 64 bits to SQLite's signed integers."""
    return seed - 2**64 if seed >= 2**63 else seed


def _unsigned(seed: int) -> int:
    """Map a signed integer of SQLite back to a seed."""
    return seed + 2**64 if seed < 0 else seed


def seal(values: tuple[object, ...]) -> str:
    """Return a digest of a row's values, without the seal itself."""
    return blake2b(repr(values).encode(errors="backslashreplace"), digest_size=16).hexdigest()

"""The catalogue: one row per run, in SQLite.

Write-ahead logging lets others read while one process writes. The catalogue can be rebuilt from the run
folders, but for the command, which is not in them. Each row has a seal: SQLite notices what breaks its own
order, not what it orders.
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
"""Of the runs in ``sound`` every file was as it was written, when the file system said `state` of them."""

SEALED = (
    "key, result, scenario, scenario_hash, parameters, version, code_commit, code, seed, run, events, "
    "duration_s, metrics, created, command"
)
"""The columns of a row that its seal is of."""

COLUMNS = (*SEALED.split(", "), "seal")

_RUN_COLUMNS = (
    "scenario, scenario_hash, version, code_commit, code, seed, run, events, duration_s, metrics, key, "
    "command"
)

_VALUES = 500
"""In one question to SQLite, which takes a thousand at least."""


@dataclass(frozen=True)
class Row:
    """What the catalogue says of a run beyond the run itself."""

    parameters: str
    created: str
    command: str


class Catalogue:
    """The file ``catalogue.sqlite`` of a store; safe to use from several threads."""

    def __init__(self, store: Path, db: sqlite3.Connection) -> None:
        self._store = store
        self._runs = store / "runs"
        self._lock = RLock()
        self._db = db

    @classmethod
    def in_memory(cls, store: Path) -> Catalogue:
        """An empty catalogue that no file belongs to."""
        db = sqlite3.connect(":memory:", check_same_thread=False)
        db.executescript(SCHEMA)
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
            float(run.duration_s),
            json.dumps(run.metrics, sort_keys=True, allow_nan=False),
            row.created,
            row.command,
        )
        names, marks = ", ".join(COLUMNS), ", ".join("?" * len(COLUMNS))
        statement = f"INSERT OR REPLACE INTO runs ({names}) VALUES ({marks})"
        with self._lock, self._db:
            self._db.execute(statement, (*values, seal(values)))

    def remove(self, keys: Iterable[str]) -> None:
        """Strike runs off."""
        struck = [(key,) for key in keys]
        with self._lock, self._db:
            self._db.executemany("DELETE FROM runs WHERE key = ?", struck)
            self._db.executemany("DELETE FROM sound WHERE key = ?", struck)

    def states(self) -> dict[str, str]:
        """What the file system said of runs that were sound, by key; of none in a catalogue of before."""
        try:
            found = self._select("SELECT key, state FROM sound")
        except sqlite3.OperationalError:
            return {}
        return {str(key): str(state) for key, state in found}

    def add_states(self, states: Mapping[str, str]) -> None:
        """Note what the file system says of runs that are sound."""
        with self._lock, self._db:
            self._db.executemany("INSERT OR REPLACE INTO sound VALUES (?, ?)", states.items())

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

    def of_keys(self, keys: Iterable[str]) -> list[Run]:
        """Those of some runs that there are."""
        wanted = list(keys)
        parts = (wanted[first : first + _VALUES] for first in range(0, len(wanted), _VALUES))
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
        version_of_code = _code_version(str(version), str(commit), str(code))
        identity = Identity(str(scenario_hash), version_of_code, _unsigned(int(str(seed))), int(str(run)))
        return Run(
            str(scenario),
            identity,
            current_metrics(json.loads(str(metrics))),
            int(str(events)),
            float(str(duration_s)),
            self._runs / str(key),
            command=str(command),
        )


@lru_cache(maxsize=16)
def _code_version(version: str, commit: str, code: str) -> CodeVersion:
    """The runs of a store are of a few versions."""
    return CodeVersion(version, commit, code)


def _signed(seed: int) -> int:
    return seed - 2**64 if seed >= 2**63 else seed


def _unsigned(seed: int) -> int:
    return seed + 2**64 if seed < 0 else seed


def seal(values: tuple[object, ...]) -> str:
    """What shows that the values of a row, without its seal, are as they were entered."""
    return blake2b(repr(values).encode(errors="backslashreplace"), digest_size=16).hexdigest()

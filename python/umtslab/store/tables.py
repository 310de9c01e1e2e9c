"""The tables of a run folder: as Parquet, written in parts while the run goes on.

A part goes into a scratch file below the folder as soon as the core has one, so memory does not follow the
length of a run. When the run is over, parts and rest become one file. Its bytes are the same whatever the
table came in: row groups have a fixed number of rows.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

_PARTS = ".parts"

_ROWS_PER_GROUP = 100_000


class Parts:
    """Takes parts of tables while a run goes on."""

    def __init__(self, folder: Path) -> None:
        self._parts = folder / _PARTS
        self._counts: dict[str, int] = {}

    def keep(self, name: str, columns: Any) -> None:
        """Write the next part of the table called `name`.

        Raises
        ------
        OSError
            If there is no room for it.
        """
        import polars as pl

        number = self._counts.get(name, 0)
        self._counts[name] = number + 1
        (self._parts / name).mkdir(parents=True, exist_ok=True)
        _write(self._parts / name / f"{number:08}.parquet", pl.DataFrame(columns).lazy())


def write_tables(folder: Path, tables: Mapping[str, Any]) -> None:
    """Write the tables of a run, each behind the parts that were kept of it below `folder`.

    Raises
    ------
    OSError
        If there is no room for them.
    """
    import polars as pl

    for name, columns in sorted(tables.items()):
        place = folder / file_of(name)
        place.parent.mkdir(exist_ok=True)
        rest = pl.DataFrame(columns).lazy()
        parts = sorted((folder / _PARTS / name).glob("*.parquet"))
        _write(place, pl.concat([pl.scan_parquet(parts), rest]) if parts else rest)
        shutil.rmtree(folder / _PARTS / name, ignore_errors=True)
    shutil.rmtree(folder / _PARTS, ignore_errors=True)


def file_of(name: str) -> str:
    """Where the table called `name` is in its folder."""
    return "connections.parquet" if name == "connections" else f"series/{name}.parquet"


def _write(path: Path, table: Any) -> None:
    with path.open("wb") as file:
        told = _Told(file)
        try:
            table.sink_parquet(told, compression="zstd", row_group_size=_ROWS_PER_GROUP)
        except Exception:
            if told.error is not None:
                raise told.error from None
            raise


class _Told(io.RawIOBase):
    """A file that remembers what went wrong: polars tells a full disk as an error of computation."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            raise

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError as error:
            self.error = error
            raise

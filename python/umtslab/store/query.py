"""SQL over a store, by DuckDB, and a store as one set of Parquet files.

A query runs in an in-memory database of its own, with copies of the tables that the query names.
The database can access no files except its temporary ones, because the SQL may come from an
untrusted source. A view over the store's files would need access to their folder, and DuckDB's
access includes writing.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING

from umtslab.store.answer import clean, write_answer
from umtslab.store.interruptible import Abandoned, run_interruptibly
from umtslab.store.sql_tables import NOT_SERIES, Contents, define_tables

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_LISTS_TABLES = re.compile(
    r"\b(show|query|query_table|information_schema|sqlite_master|(duckdb|pg|pragma)_\w+)\b"
)
"""Words of SQL that may refer to tables without their names."""

_ACCESS_DENIED = re.compile(
    r"file system operations are disabled|extensions is disabled|configuration has been locked"
)


_LITTLE_SPACE = 1 << 20
"""Octets of free space below which a failed write is taken for one of a full disk."""

_QUERIES = frozenset({"SELECT", "EXPLAIN", "MULTI", "PRAGMA"})
"""DuckDB's types of statements that return rows; ``MULTI`` is a pivot."""

_NO_QUERY = "a query begins with select, from, with, values, describe, summarize or show, and changes nothing"


class WrongQuery(ValueError):
    """SQL that DuckDB rejects. The message is DuckDB's, followed by the names of the tables."""


def query(contents: Contents, sql: str) -> pl.DataFrame:
    """Answer `sql` over the tables of a store.

    In the answer a float that is not finite is null. Types without a counterpart in polars are text.

    Raises
    ------
    WrongQuery
        If `sql` is not a query, or names something that does not exist.
    OSError
        If a temporary file cannot be written.
    """
    import duckdb
    import polars as pl

    with _database() as (db, folder):
        file = folder / "answer.parquet"

        def answer() -> None:
            define_tables(db, contents, folder, _tables_in(contents, sql))
            _lock(db, folder)
            _refuse_commands(db, sql)
            result = db.sql(sql)
            if result is None:
                raise WrongQuery(_NO_QUERY)
            write_answer(result, file)

        try:
            run_interruptibly(answer, db.interrupt)
        except (duckdb.IOException, pl.exceptions.ComputeError) as error:
            raise _error_of_disk(error) from None
        except duckdb.Error as error:
            raise WrongQuery(_error_text(error, contents)) from None
        return clean(pl.read_parquet(file))


def write_dataset(contents: Contents, folder: Path) -> list[Path]:
    """Write each table of a store as a Parquet file into the new folder `folder`.

    Time series are in ``series/KIND.parquet``. The same runs give the same rows in the same order.

    Raises
    ------
    FileExistsError
        If `folder` exists.
    """
    import duckdb
    import polars as pl

    folder.mkdir(parents=True)
    try:
        return _write_dataset(contents, folder)
    except Abandoned:
        raise  # the query may still write into the folder
    except (duckdb.IOException, pl.exceptions.ComputeError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise _error_of_disk(error) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _write_dataset(contents: Contents, folder: Path) -> list[Path]:
    with _database() as (db, temporary):
        names = contents.table_names()
        define_tables(db, contents, temporary, names, as_views=True)
        files = [
            folder / (f"{name}.parquet" if name in NOT_SERIES else f"series/{name}.parquet") for name in names
        ]

        def write() -> None:
            for name, file in zip(names, files, strict=True):
                file.parent.mkdir(exist_ok=True)
                db.table(name).write_parquet(str(file), compression="zstd")

        run_interruptibly(write, db.interrupt)
    return files


def _error_of_disk(error: Exception) -> OSError:
    """Return an error of DuckDB or polars about a file as an error of the system.

    Polars does not name the reason, which for a new file is nearly always a full disk.
    """
    number = re.search(r'"errno":"(\d+)"', str(error))
    if number:
        return OSError(int(number[1]), os.strerror(int(number[1])))
    if shutil.disk_usage(gettempdir()).free < _LITTLE_SPACE:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), gettempdir())
    return OSError(str(error))


@contextmanager
def _database() -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Open an empty database in memory, and create a folder for temporary files."""
    import duckdb

    with TemporaryDirectory(prefix="umts-query-", ignore_cleanup_errors=True) as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": folder,
            "allow_community_extensions": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
        }
        db = duckdb.connect(config=settings)
        try:
            yield db, Path(folder)
        except Abandoned:
            raise  # closing the database would wait for its query
        except BaseException:
            db.close()
            raise
        db.close()


def _lock(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Deny the database access to files outside `folder`, to extensions and to its own settings."""
    quoted_folder = str(folder).replace("'", "''")
    db.execute("set allow_persistent_secrets = false")
    db.execute(f"set allowed_directories = ['{quoted_folder}']")
    db.execute("set enable_external_access = false")
    db.execute("set lock_configuration = true")


def _refuse_commands(db: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Refuse statements such as insert and drop, which would change only copies of the tables."""
    for statement in db.extract_statements(sql):
        if statement.type.name not in _QUERIES:
            raise WrongQuery(f"{statement.type.name.lower()} is not a query: {_NO_QUERY}")


def _tables_in(contents: Contents, sql: str) -> set[str]:
    """Return the tables that `sql` may refer to."""
    lower = sql.lower()
    names = contents.table_names()
    if _LISTS_TABLES.search(lower):
        return set(names)
    return {name for name in names if re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", lower)}


def _error_text(error: duckdb.Error, contents: Contents) -> str:
    """Return DuckDB's message, followed by the tables that a query can use."""
    if _ACCESS_DENIED.search(str(error)):
        return f"{error}\na query can read only the tables of the results folder"
    return f"{error}\nthere are {', '.join(contents.table_names())}"

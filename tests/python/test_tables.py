"""Tables of runs: they are written during the run, and have the same bytes in every case."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import duckdb
import polars as pl
import pytest
from conftest import FTP, tree
from umtslab import Scenario, _core, open_store, simulate
from umtslab.export import runs_object
from umtslab.run import Run

GROUP_ROWS = 100_000
"""Maximum number of rows of a row group of a Parquet file."""

CHUNK_ROWS = 16_384
"""Rows of a table that are encoded at once."""

WEB_CELL = FTP.with_name("web-cell.toml")


@pytest.fixture(scope="module")
def long() -> Scenario:
    """Eight thousand seconds of FTP, in which some tables have several row groups."""
    return Scenario.load(FTP, [("duration", "8000 s"), ("measure.budget", "true")])


@pytest.fixture(scope="module")
def written(long: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the tables of the long run, written by the core."""
    folder = tmp_path_factory.mktemp("written")
    result = _core.simulate(long.core, 1, 0, series=True, tables_dir=str(folder))
    assert (len(result.connections), result.series) == (0, {})
    return folder


def tables_in(folder: Path) -> dict[str, Path]:
    """Return the files of tables by name."""
    return {path.stem: path for path in folder.rglob("*.parquet")}


def test_tables_written_during_a_run_equal_tables_in_memory(long: Scenario, written: Path) -> None:
    whole = _core.simulate(long.core, 1, 0, series=True)
    tables = {"connections": whole.connections, **whole.series}
    assert tables.keys() == tables_in(written).keys()
    assert max(len(columns) for columns in tables.values()) > GROUP_ROWS
    for name, columns in tables.items():
        path = tables_in(written)[name]
        assert pl.read_parquet(path).equals(pl.DataFrame(columns)), name
        assert _core.count_rows(str(path)) == len(columns)


def test_a_table_file_does_not_depend_on_chunk_sizes(written: Path, tmp_path: Path) -> None:
    for name, path in tables_in(written).items():
        # The table is read in chunks of another size than the run wrote it in.
        _core.read_table(str(path)).write(str(tmp_path), name)
    assert tree(tmp_path) == tree(written)


def chunks(folder: Path) -> list[tuple[str, str, str, str, int]]:
    """Return table, column, encodings, compression and rows of each column chunk."""
    files = "', '".join(str(path) for path in folder.rglob("*.parquet"))
    columns = "file_name, path_in_schema, encodings, compression, row_group_num_rows"
    with duckdb.connect() as db:
        rows = db.sql(f"select {columns} from parquet_metadata(['{files}'])").fetchall()
    return [(Path(file).stem, *values) for file, *values in rows]


@pytest.mark.parametrize(
    ("table", "column", "encoding"),
    [
        ("acked", "ack", "DELTA_BINARY_PACKED"),
        ("cwnd", "connection", "BYTE_STREAM_SPLIT"),
        ("rlc_delivered", "direction", "RLE_DICTIONARY"),
        ("rlc_buffer", "octets", "RLE_DICTIONARY"),
        ("cwnd", "cwnd_segments", "RLE_DICTIONARY"),
    ],
)
def test_the_encoding_of_a_column_depends_on_its_type(
    written: Path, table: str, column: str, encoding: str
) -> None:
    of_column = [encodings for *names, encodings, _, _ in chunks(written) if names == [table, column]]
    assert of_column
    for encodings in of_column:
        assert encoding in encodings
        assert ("DICTIONARY" in encodings) == (encoding == "RLE_DICTIONARY")


def test_all_columns_are_compressed(written: Path) -> None:
    for table, column, _, compression, rows in chunks(written):
        assert compression == "ZSTD", (table, column)
        assert rows <= GROUP_ROWS


@pytest.mark.parametrize("duration", ["60 s", "20000 s"])
def test_connections_in_files_equal_connections_in_memory(duration: str, tmp_path: Path) -> None:
    web = Scenario.load(WEB_CELL, [("duration", duration)])
    _core.simulate(web.core, 1, 0, tables_dir=str(tmp_path))
    table = pl.read_parquet(tmp_path / "connections.parquet")
    assert table.equals(pl.DataFrame(_core.simulate(web.core, 1, 0).connections))
    assert table["connection"].n_unique() == len(table)
    # Only the long run has more connections than are encoded at once.
    assert (len(table) > CHUNK_ROWS) == (duration == "20000 s")


def test_rows_of_connections_of_a_stored_run_equal_the_table(recorded: Run) -> None:
    assert recorded.connection_rows() == recorded.connections().to_dicts()


def test_printed_connections_equal_the_table(recorded: Run, long: Scenario) -> None:
    for run in (recorded, simulate(long, store=None)[0]):
        printed = json.loads(json.dumps(runs_object(run.scenario, [run]), allow_nan=False))
        assert printed["runs"][0]["connections"] == run.connections().to_dicts()


def test_a_stored_run_equals_the_one_in_memory_with_any_number_of_jobs(
    tmp_path: Path, long: Scenario
) -> None:
    trees = []
    for jobs in (1, 2):
        with open_store(tmp_path / str(jobs)) as store:
            stored = simulate(long, runs=2, jobs=jobs, store=store, series=True)
        trees.append(tree(tmp_path / str(jobs) / "runs"))
    assert trees[0] == trees[1]
    [in_memory] = simulate(long, series=True)
    assert stored[0].series_kinds() == in_memory.series_kinds()
    assert stored[0].connections().equals(in_memory.connections())
    for kind in in_memory.series_kinds():
        assert stored[0].series(kind).equals(in_memory.series(kind)), kind


@pytest.mark.parametrize("table", ["connections.parquet", "series/rlc_delivered.parquet"])
def test_a_full_disk_is_reported_with_the_file(long: Scenario, tmp_path: Path, table: str) -> None:
    # Writing to this device fails as on a full disk.
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("there is no /dev/full")
    file = tmp_path / table
    file.parent.mkdir(exist_ok=True)
    file.symlink_to(device)
    with pytest.raises(OSError, match="No space left") as caught:
        _core.simulate(long.core, 1, 0, series=True, tables_dir=str(tmp_path))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(file))


def test_an_invalid_table_is_reported_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_text("no table")
    with pytest.raises(OSError, match=r"x\.parquet"):
        _core.read_table(str(tmp_path / "x.parquet"))
    with pytest.raises(FileNotFoundError):
        _core.count_rows(str(tmp_path / "y.parquet"))

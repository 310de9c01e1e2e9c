"""The tables of runs: written while a run goes on, the same bytes however they came."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from conftest import FTP, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from umtslab import Scenario, _core, open_store, simulate
from umtslab.store.tables import Parts, write_tables

PART_ROWS = 16 * 1024
"""A part has so many rows, and what one second of the model's time adds."""


@pytest.fixture(scope="module")
def long() -> Scenario:
    """Six thousand seconds of FTP, in which some tables have several parts."""
    return Scenario.load(FTP, [("duration", "6000 s"), ("measure.budget", "true")])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3_000), max_size=6), st.integers(0, 3_000))
def test_parts_and_the_whole_table_are_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], rest: int
) -> None:
    rows = sum(sizes) + rest
    number = pl.int_range(rows, eager=True, dtype=pl.UInt32)
    table = pl.DataFrame({"connection": number, "opened_s": number / 7, "word": number.cast(pl.String)})
    one, other = (tmp_path_factory.mktemp(name) for name in ("one", "other"))
    parts, begin = Parts(one), 0
    for size in sizes:
        parts.keep("connections", table.slice(begin, size))
        begin += size
    write_tables(one, {"connections": table.slice(begin)})
    write_tables(other, {"connections": table})
    assert tree(one) == tree(other)
    assert pl.read_parquet(one / "connections.parquet").equals(table)


def test_a_long_run_hands_its_tables_out_while_it_goes_on(long: Scenario) -> None:
    most: dict[str, int] = {}
    parts: dict[str, list[pl.DataFrame]] = {}

    def keep(name: str, columns: _core.Columns) -> None:
        most[name] = max(most.get(name, 0), len(columns))
        parts.setdefault(name, []).append(pl.DataFrame(columns))

    left = _core.simulate(long.core, 1, 0, series=True, keep=keep)
    whole = _core.simulate(long.core, 1, 0, series=True)
    assert {"rlc_buffer", "rlc_delivered", "sent", "acked"} <= parts.keys()
    # What a second of this scenario adds is less than 1,000 rows.
    assert max(most.values()) < PART_ROWS + 1_000
    assert all(len(columns) < PART_ROWS + 1_000 for columns in left.series.values())
    assert left.metrics == whole.metrics
    for name, columns in whole.series.items():
        together = pl.concat([*parts.get(name, []), pl.DataFrame(left.series[name])])
        assert together.equals(pl.DataFrame(columns)), name


def test_a_stored_run_is_the_one_in_memory_however_many_jobs(tmp_path: Path, long: Scenario) -> None:
    trees = []
    for jobs in (1, 2):
        with open_store(tmp_path / str(jobs)) as store:
            stored = simulate(long, runs=2, jobs=jobs, store=store, series=True)
        trees.append(tree(tmp_path / str(jobs) / "runs"))
    assert trees[0] == trees[1]
    assert not [name for name in trees[0] if ".parts" in name]
    [memory] = simulate(long, series=True)
    assert stored[0].series_kinds() == memory.series_kinds()
    assert stored[0].connections().equals(memory.connections())
    for kind in memory.series_kinds():
        assert stored[0].series(kind).equals(memory.series(kind)), kind


def test_a_run_whose_rows_nobody_can_keep_ends(long: Scenario) -> None:
    full = OSError(28, "No space left on device")

    def keep(_name: str, _columns: _core.Columns) -> None:
        raise full

    with pytest.raises(OSError, match="No space left") as caught:
        _core.simulate(long.core, 1, 0, series=True, keep=keep)
    assert caught.value is full


def test_a_full_disk_is_told_as_such() -> None:
    table = pl.DataFrame({"connection": [1, 2, 3]})
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("there is no /dev/full")
    from umtslab.store import tables

    with pytest.raises(OSError, match="No space left"):
        tables._write(device, table.lazy())

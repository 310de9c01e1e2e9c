"""SQL over a store, and a store as Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import FTP, Umts, short
from umtslab import Scenario, Store, open_store, simulate, sweep
from umtslab.store.parameters import columns
from umtslab.store.query import WrongQuery


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Four runs at two error rates, and one of another scenario, with series."""
    with open_store(tmp_path_factory.mktemp("it's filled")) as store:
        sweep(short(), {"radio.bler": [0.1, 0.3]}, runs=2, store=store, series=True)
        web = Scenario.load(FTP.with_name("three-losses.toml"), {"duration": "5 s"})
        simulate(web, store=store, series=True)
        yield store


def test_parameters_and_metrics_are_columns_of_runs(filled: Store) -> None:
    means = filled.query(
        """select "radio.bler", "tcp.variant", count(*) as n, avg(goodput_kbps) as mean
        from runs where scenario = 'ftp-on-fach' group by all order by "radio.bler" """
    )
    assert means.select("radio.bler", "tcp.variant", "n").rows() == [(0.1, "reno", 2), (0.3, "reno", 2)]
    runs = [
        run for run in filled.runs() if run.scenario == "ftp-on-fach" and ("radio.bler", "0.1") in run.changes
    ]
    assert means["mean"][0] == pytest.approx(sum(run.metrics["goodput_kbps"] or 0 for run in runs) / 2)


def test_quantities_are_numbers_in_one_unit(filled: Store) -> None:
    [row] = (
        filled.query("""select "cell.fach.rate", "cell.iub.delay", "rlc.buffer", duration_s, "link.0.delay"
        from runs where scenario = 'ftp-on-fach' limit 1""").to_dicts()
    )
    assert row == {
        "cell.fach.rate": 32_000.0,
        "cell.iub.delay": 0.015,
        "rlc.buffer": 100_000.0,
        "duration_s": 20.0,
        "link.0.delay": 0.035,
    }


def test_connections_and_series_say_of_which_run_they_are(filled: Store) -> None:
    found = filled.query("select * from connections")
    assert found.columns[:4] == ["key", "scenario", "seed", "run"]
    assert {"radio.bler", "duration", "connection", "goodput_kbps"} <= set(found.columns)
    assert "cell.iub.rate" not in found.columns, "alike in all runs"
    assert found["key"].to_list() == [run.key for run in filled.runs()]
    last = filled.query("""select "radio.bler" as bler, run, max(cwnd_segments) as most from cwnd
        where scenario = 'ftp-on-fach' group by all order by all""")
    assert last.select("bler", "run").rows() == [(0.1, 0), (0.1, 1), (0.3, 0), (0.3, 1)]


def test_what_is_wrong_with_a_query_is_said(filled: Store) -> None:
    with pytest.raises(WrongQuery, match=r"(?s)nosuch.*there are runs, connections, acked"):
        filled.query("select * from nosuch")
    with pytest.raises(WrongQuery, match="begins with select"):
        filled.query("-- nothing")


def test_an_empty_store_has_no_runs(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        assert store.query("select count(*) as n from runs")["n"].to_list() == [0]


def test_a_store_becomes_parquet_files_with_the_same_tables(filled: Store, tmp_path: Path) -> None:
    files = filled.write_dataset(tmp_path / "data")
    names = {str(file.relative_to(tmp_path / "data")) for file in files}
    assert {"runs.parquet", "connections.parquet", "series/cwnd.parquet", "series/rtt.parquet"} <= names
    runs = pl.read_parquet(tmp_path / "data" / "runs.parquet")
    assert runs.equals(filled.query("select * from runs"))
    rtt = pl.read_parquet(tmp_path / "data" / "series" / "rtt.parquet")
    expected = pl.concat([run.series("rtt") for run in filled.runs()])
    assert rtt.select(expected.columns).equals(expected)
    again = filled.write_dataset(tmp_path / "again")
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in again]
    with pytest.raises(FileExistsError):
        filled.write_dataset(tmp_path / "data")


def test_keys_are_columns_of_one_type() -> None:
    scenarios: list[dict[str, Any]] = [
        {
            "name": "a",
            "on": True,
            "n": 3,
            "timer": "off",
            "rate": "1 Mbit/s",
            "ue": [{"name": "x"}],
            "dch": ["p", "q"],
        },
        {"n": 4, "timer": "300 ms", "rate": "64 kbit/s", "ue": [{"name": "y"}, {"name": "z"}]},
        {"ue": [{"capacity": {"down": "d"}}]},
    ]
    found = {column.name: column for column in columns(scenarios)}
    assert list(found) == [
        "dch", "n", "on", "rate", "timer", "ue.0.capacity.down", "ue.0.name", "ue.1.name",
    ]  # fmt: skip
    assert found["n"].to_list() == [3, 4, None]
    assert found["n"].dtype == pl.Int64
    assert found["on"].to_list() == [True, None, None]
    assert found["rate"].to_list() == [1e6, 64e3, None]
    assert found["timer"].to_list() == ["off", "300 ms", None]
    assert found["dch"].to_list() == ["p, q", None, None]
    assert found["ue.0.name"].to_list() == ["x", "y", None]


def test_the_command_answers_as_a_table_csv_json_and_files(filled: Store, umts: Umts, tmp_path: Path) -> None:
    of_ftp = "from runs where scenario = 'ftp-on-fach' group by all order by 1"
    sql = f'select "radio.bler" as bler, count(*) as n {of_ftp}'
    words = ("query", sql, "--out", filled.path)
    shown = [line.split() for line in umts(*words).stdout.splitlines()]
    assert shown == [["bler", "n"], ["0.1000", "2"], ["0.3000", "2"]]
    assert umts(*words, "--csv").stdout == "bler,n\n0.1,2\n0.3,2\n"
    assert json.loads(umts(*words, "--json").stdout) == [{"bler": 0.1, "n": 2}, {"bler": 0.3, "n": 2}]
    umts(*words, "-o", "answer.parquet")
    assert pl.read_parquet(tmp_path / "answer.parquet").rows() == [(0.1, 2), (0.3, 2)]
    assert "the end of the name" in umts(*words, "-o", "answer.txt", status=2).stderr
    told = umts("query", "select nosuch from runs", "--out", filled.path, status=2).stderr
    assert told.startswith("umts: Binder Error")
    assert "there are runs, connections, acked" in told
    assert "no results folder" in umts("query", sql, "--out", "nowhere", status=2).stderr


def test_the_command_writes_parquet_into_a_new_folder(filled: Store, umts: Umts, tmp_path: Path) -> None:
    words = ("export", filled.path, "--parquet")
    assert "name a new folder" in umts(*words, status=2).stderr
    told = umts(*words, "-o", "data").stdout
    assert "runs.parquet, connections.parquet, series/acked.parquet" in told
    assert len(pl.read_parquet(tmp_path / "data" / "runs.parquet")) == 5
    assert "is there already" in umts(*words, "-o", "data", status=2).stderr
    assert "a whole results folder" in umts("export", "nowhere", "--parquet", "-o", "new", status=2).stderr

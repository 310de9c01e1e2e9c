"""SQL queries of a store, and reading its Parquet files."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import FTP, Umts, command, short, started, tree
from umtslab import Scenario, Store, open_store, read_store, simulate, sweep
from umtslab.store.parameters import columns
from umtslab.store.query import WrongQuery


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with four runs at two error rates, and one run of another scenario, with series."""
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


def test_connections_and_series_have_the_key_of_their_run(filled: Store) -> None:
    connections = filled.query("select * from connections")
    assert connections.columns[:4] == ["key", "scenario", "seed", "run"]
    assert {"radio.bler", "duration", "connection", "goodput_kbps"} <= set(connections.columns)
    # Only the table of runs has all keys. This one has the keys with different values in the runs.
    assert "cell.iub.rate" not in connections.columns
    assert connections["key"].to_list() == [run.key for run in filled.runs()]
    largest = filled.query("""select "radio.bler" as bler, run, max(cwnd_segments) as largest from cwnd
        where scenario = 'ftp-on-fach' group by all order by all""")
    assert largest.select("bler", "run").rows() == [(0.1, 0), (0.1, 1), (0.3, 0), (0.3, 1)]


def test_errors_of_a_query_are_reported(filled: Store) -> None:
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
    second = filled.write_dataset(tmp_path / "second")
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in second]
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
    by_name = {column.name: column for column in columns(scenarios)}
    # "name" is no column: a table of runs has it as "scenario".
    assert list(by_name) == [
        "dch", "n", "on", "rate", "timer", "ue.0.capacity.down", "ue.0.name", "ue.1.name",
    ]  # fmt: skip
    assert by_name["n"].to_list() == [3, 4, None]
    assert by_name["n"].dtype == pl.Int64
    assert by_name["on"].to_list() == [True, None, None]
    assert by_name["rate"].to_list() == [1e6, 64e3, None]
    assert by_name["timer"].to_list() == ["off", "300 ms", None]
    assert by_name["dch"].to_list() == ["p, q", None, None]
    assert by_name["ue.0.name"].to_list() == ["x", "y", None]


def test_the_command_answers_as_a_table_csv_json_and_files(filled: Store, umts: Umts, tmp_path: Path) -> None:
    of_ftp = "from runs where scenario = 'ftp-on-fach' group by all order by 1"
    sql = f'select "radio.bler" as bler, count(*) as n {of_ftp}'
    words = ("query", sql, "--out", filled.path)
    rows = [line.split() for line in umts(*words).stdout.splitlines()]
    assert rows == [["bler", "n"], ["0.1000", "2"], ["0.3000", "2"]]
    assert umts(*words, "--csv").stdout == "bler,n\n0.1,2\n0.3,2\n"
    assert json.loads(umts(*words, "--json").stdout) == [{"bler": 0.1, "n": 2}, {"bler": 0.3, "n": 2}]
    umts(*words, "-o", "answer.parquet")
    assert pl.read_parquet(tmp_path / "answer.parquet").rows() == [(0.1, 2), (0.3, 2)]
    assert "the suffix must be" in umts(*words, "-o", "answer.txt", status=2).stderr
    errors = umts("query", "select nosuch from runs", "--out", filled.path, status=2).stderr
    assert errors.startswith("umts: Binder Error")
    assert "there are runs, connections, acked" in errors
    assert "not a results folder" in umts("query", sql, "--out", "nowhere", status=2).stderr


def test_the_command_writes_parquet_into_a_new_folder(filled: Store, umts: Umts, tmp_path: Path) -> None:
    words = ("export", filled.path, "--parquet")
    assert "give a new folder" in umts(*words, status=2).stderr
    printed = umts(*words, "-o", "data").stdout
    assert "runs.parquet, connections.parquet, series/acked.parquet" in printed
    assert len(pl.read_parquet(tmp_path / "data" / "runs.parquet")) == 5
    assert "already exists" in umts(*words, "-o", "data", status=2).stderr
    assert "a whole results folder" in umts("export", "nowhere", "--parquet", "-o", "new", status=2).stderr


OUTSIDE = {
    "copy": "copy (select 1 as x) to '{place}/x.json' (format json)",
    "copy in a with": "with x as (copy (select 1) to '{place}/x.csv') select * from x",
    "copy of a pivot": "copy (pivot (select 1 a, 2 b) on a using sum(b)) to '{place}/x.csv'",
    "explain of copy": "explain analyze copy (select 1) to '{place}/x.csv'",
    "attach": "attach '{place}/x.db'",
    "export": "export database '{place}'",
    "text": "select * from read_text('{file}')",
    "octets": "select * from read_blob('/etc/hostname')",
    "csv": "select * from read_csv('{file}')",
    "a file as a table": "select * from '{file}'",
    "standard input": "select * from read_csv('/dev/stdin')",
    "names of files": "select * from glob('/etc/*')",
    "above": "select * from read_text('{place}/../runs/../../../../../../etc/hostname')",
    "through a link": "select * from read_text('{place}/link')",
    "in a text": "select * from query('select * from read_text(''{file}'')')",
    "serialised": "from json_execute_serialized_sql(json_serialize_sql('from read_text(''{file}'')'))",
    "network": "select * from read_csv('http://127.0.0.1:9/x')",
    "extensions": "install httpfs",
    "loading": "load httpfs",
    "settings": "set enable_external_access = true",
    "settings by pragma": "pragma enable_profiling = 'json'",
    "folder of temporary files": "set temp_directory = '/tmp'",
    "profile": "select * from enable_profiling(save_location = '{place}/x.json')",
    "log": "select * from enable_logging(storage = 'file', storage_path = '{place}/log')",
    "a variable of Python": "select * from secret_frame",
    "another table": "create table t as select 1",
    "insert": "insert into runs select * from runs",
    "drop": "drop table runs",
    "two commands": "select 1; drop table runs",
    "nothing": "-- nothing",
}
"""Queries that would read or write outside of the tables, or change a table. `place` is a folder of
the store, and `file` a CSV file in it."""


@pytest.mark.parametrize("attack", OUTSIDE)
def test_a_query_that_reads_or_writes_a_file_or_changes_a_table_is_refused(
    attack: str, filled: Store, umts: Umts, tmp_path: Path
) -> None:
    # DuckDB would find this variable by its name.
    secret_frame = pl.DataFrame({"x": [1]})
    assert len(secret_frame) == 1
    place = filled.path / "runs"
    (place / "link").unlink(missing_ok=True)
    (place / "link").symlink_to("/etc/hostname")
    (place / "link.csv").write_text("x\n1\n")
    before = tree(filled.path / "runs")
    with pytest.raises(WrongQuery):
        filled.query(OUTSIDE[attack].format(place=place, file=place / "link.csv"))
    assert tree(filled.path / "runs") == before
    (place / "link").unlink()
    (place / "link.csv").unlink()


def test_values_that_other_formats_lack_are_null_or_text(filled: Store, umts: Umts) -> None:
    sql = """select
        corr(seed, goodput_kbps) as correlation,
        'inf'::double as infinite,
        interval 3 day as days,
        0.50 as half,
        ['nan'::double, 1.5] as numbers,
        {'a': interval 1 hour, 'b': 2} as parts,
        'a'::blob as octets,
        uuid '12345678-1234-1234-1234-123456789012' as id,
        date '290000-01-01' as far_date,
        1::bit as bits
        from runs"""
    words = ("query", sql, "--out", filled.path)
    [row] = json.loads(umts(*words, "--json").stdout)
    assert row == {
        # All runs have the same seed, so there is no correlation.
        "correlation": None,
        "infinite": None,
        "days": "3 days",
        "half": 0.5,
        "numbers": [None, 1.5],
        "parts": "{'a': '01:00:00', 'b': 2}",
        "octets": "a",
        "id": "12345678-1234-1234-1234-123456789012",
        "far_date": None,
        # A bit string of an integer has 32 bits.
        "bits": "0" * 31 + "1",
    }
    # At least two spaces separate the cells of a table.
    cells = re.split(" {2,}", umts(*words).stdout.splitlines()[1].strip())
    assert cells[:3] == ["–", "–", "3 days"]
    assert '"[null, 1.5]"' in umts(*words, "--csv").stdout


def test_all_types_of_duckdb_are_converted(filled: Store, umts: Umts) -> None:
    words = ("query", "select * from test_all_types()", "--out", filled.path)
    assert len(json.loads(umts(*words, "--json").stdout)) == 3
    umts(*words)
    umts(*words, "--csv")


def test_names_of_columns_are_escaped(filled: Store, umts: Umts) -> None:
    # In a text table, ">" before a heading marks a column of numbers. Names of columns keep it.
    output = umts("query", 'select 1 as "a\x1b[31mb", 2 as ">c", \'x\' as ">d"', "--out", filled.path).stdout
    assert output.splitlines()[0].split() == ["a\\u001b[31mb", ">c", ">d"]


def test_numbers_have_enough_digits_to_distinguish_rows(filled: Store, umts: Umts) -> None:
    sql = "select t::double as t from (values (1500.001), (1500.002), (1500.003)) v(t)"
    output = umts("query", sql, "--out", filled.path).stdout
    assert output.split() == ["t", "1500.001", "1500.002", "1500.003"]


def test_ctrl_c_ends_a_query_at_once(filled: Store, tmp_path: Path) -> None:
    endless = "select sum(a.range * b.range) from range(100000000) a, range(100000000) b"
    words = command("query", endless, "--out", filled.path)
    # The folder of temporary files shows when the query has begun.
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with started(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        while not list(tmp_path.glob("umts-query-*")):
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == ""


def test_campaigns_and_points_are_tables(umts: Umts, tmp_path: Path) -> None:
    campaign = tmp_path / "rates.toml"
    campaign.write_text(
        f"""version = 1
        title = "Rates"
        scenario = "{FTP}"
        runs = 2
        [set]
        duration = "5 s"
        [grid]
        cell.fach.rate = ["32 kbit/s", "0.064 Mbit/s"]
        tcp.variant = ["reno"]
        """
    )
    umts("sweep", campaign, "--quiet")
    umts("run", FTP, "--duration", "5 s", "--out", "results")
    with read_store(tmp_path / "results") as store:
        [row] = store.query("select * from campaigns").to_dicts()
        assert row == {
            "campaign": "rates", "title": "Rates", "seed": 1, "axes": ["cell.fach.rate", "tcp.variant"],
            "metrics": [], "points": 2, "runs": 4,
        }  # fmt: skip
        means = store.query(
            """select p.point, p."cell.fach.rate" as rate, p."tcp.variant" as variant, count(*) as n
            from points p join runs r using (key) where p.campaign = 'rates' group by all order by all"""
        )
        assert means.rows() == [(0, 32_000.0, "reno", 2), (1, 64_000.0, "reno", 2)]
        unit_of = dict(store.query("select name, unit from keys").rows())
    assert unit_of["cell.fach.rate"] == "bit/s"
    assert unit_of["cell.iub.delay"] == "s"
    assert unit_of["radio.bler"] == ""
    assert unit_of["tcp.variant"] is None


def forbid_large_files() -> None:
    """Let writing beyond 100 octets of a file fail, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def test_a_file_that_cannot_be_written_is_an_error_of_the_system(filled: Store, tmp_path: Path) -> None:
    for words in (
        ("query", "select * from runs", "--out", filled.path),
        ("export", filled.path, "--parquet", "-o", "data"),
    ):
        done = subprocess.run(
            command(*words),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=forbid_large_files,
        )
        assert done.returncode == 1, done.stderr
        assert done.stderr.startswith("umts: cannot write results: ")
    # The incomplete folder is removed, so the command can be repeated.
    assert not (tmp_path / "data").exists()

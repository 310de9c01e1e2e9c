"""``umts export``: tables as CSV, traces, and LaTeX."""

from __future__ import annotations

import csv
import io
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from conftest import FTP, Umts
from umtslab import Scenario, simulate
from umtslab.export import connections_table, runs_table, summary_table, to_csv

pytestmark = pytest.mark.slow


def test_csv_has_a_row_per_run_and_exact_numbers(scenario: Scenario) -> None:
    runs = simulate(scenario, runs=3)
    rows = list(csv.DictReader(io.StringIO(to_csv(runs_table(runs)))))
    assert [row["run"] for row in rows] == ["0", "1", "2"]
    assert [float(row["goodput_kbps"]) for row in rows] == [run.metrics["goodput_kbps"] for run in runs]
    assert rows[0]["download_time_s"] == ""


def test_summary_has_unit_n_mean_and_interval(scenario: Scenario) -> None:
    table = summary_table(simulate(scenario, runs=3))
    [goodput] = table.filter(pl.col("metric") == "goodput_kbps").to_dicts()
    assert (goodput["unit"], goodput["n"]) == ("kbit/s", 3)
    # Student's t for two degrees of freedom is 4.3027.
    assert goodput["ci95"] == pytest.approx(4.3027 * goodput["sd"] / 3**0.5, rel=1e-4)


def test_connections_have_the_seed_and_number_of_their_run(scenario: Scenario) -> None:
    table = connections_table(simulate(scenario, runs=2, seed=9))
    assert table.select("seed", "run").rows() == [(9, 0), (9, 1)]


def test_the_command_writes_complete_files(umts: Umts, tmp_path: Path) -> None:
    umts("run", FTP, "--duration", "10 s", "--runs", 2)
    umts("export", "results", "--csv", "-o", "runs.csv")
    assert (tmp_path / "runs.csv").read_text() == umts("export", "results", "--csv").stdout
    umts("export", "results", "--latex", "--table", "runs", "-o", "runs.tex")
    assert (tmp_path / "runs.tex").read_text().startswith(r"\begin{table}")
    umts("export", "results", "--csv", "-o", "missing/runs.csv", status=2)
    # No file can be created there.
    errors = umts("export", "results", "--csv", "-o", "/proc/runs.csv", status=1).stderr
    assert errors.endswith(": /proc/runs.csv\n")
    assert sorted(os.listdir(tmp_path)) == ["results", "runs.csv", "runs.tex"]


def test_pipes_and_links_are_written_and_stay(umts: Umts, tmp_path: Path) -> None:
    umts("run", FTP, "--duration", "10 s")
    table = umts("export", "results", "--csv").stdout
    (tmp_path / "target.csv").write_text("former content")
    (tmp_path / "link.csv").symlink_to("target.csv")
    umts("export", "results", "--csv", "-o", "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "target.csv").read_text() == table
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reader:
        content = reader.submit((tmp_path / "pipe").read_text)
        umts("export", "results", "--csv", "-o", "pipe")
        assert content.result(60) == table
    assert (tmp_path / "pipe").is_fifo()


def test_varied_quantities_are_numbers_in_base_units(umts: Umts) -> None:
    varied = ("-P", "duration=20 s,25000 ms", "-P", "rlc.sdu_discard=max_dat,never")
    umts("sweep", FTP, *varied, "--name", "lengths", "--runs", 1, "--quiet")

    def column(*words: str) -> list[tuple[str, str]]:
        rows = csv.DictReader(io.StringIO(umts("export", "lengths", "--csv", *words).stdout))
        return [(row["duration"], row.get("rlc.sdu_discard", "")) for row in rows]

    points = [(duration, discard) for duration in ("20.0", "25.0") for discard in ("max_dat", "never")]
    assert sorted(column()) == sorted(column("--table", "connections")) == points
    assert set(column("--table", "summary")) == set(points)
    pivot = ("--rows", "duration", "--columns", "rlc.sdu_discard", "--metric", "goodput_kbps")
    assert column(*pivot) == [("20.0", ""), ("25.0", "")]
    # Tables for readers show the values as they were written.
    assert "25000 ms" in umts("export", "lengths", "--latex").stdout


def test_a_saturated_bearer_is_exported_as_its_trace(tmp_path: Path, umts: Umts) -> None:
    """A flow that always has data uses every opportunity of the trace ``drive.down``, in ms."""
    scenario = FTP.parent / "measured-radio.toml"
    saturating = ("--set", "flow.1.cbr.payload=1472 B", "--set", "flow.1.cbr.interval=10 ms")
    umts("run", scenario, "--duration", "100 s", "--series", *saturating)
    umts("export", "results", "--mahimahi", "-o", "trace.down")
    exported_ms = [int(line) for line in (tmp_path / "trace.down").read_text().splitlines()]
    trace_ms = [int(line) for line in (FTP.parents[1] / "traces" / "drive.down").read_text().splitlines()]
    # The trace repeats after its last opportunity. The first opportunities come before the first packet.
    repeated_ms = trace_ms + [trace_ms[-1] + at_ms for at_ms in trace_ms]
    first_used = repeated_ms.index(exported_ms[0])
    assert first_used < 3
    assert exported_ms == repeated_ms[first_used : first_used + len(exported_ms)]
    # Up to the end of the run, at 100 s.
    assert 99_900 < exported_ms[-1] <= 100_000


def test_a_trace_needs_one_run_with_series(umts: Umts) -> None:
    umts("run", FTP, "--duration", "10 s", "--runs", 2)
    assert "2 runs, and a trace is made from one" in umts("export", "results", "--mahimahi", status=2).stderr
    umts("run", FTP, "--duration", "10 s", "--out", "one")
    assert "--series" in umts("export", "one", "--mahimahi", status=2).stderr
    umts("run", FTP, "--duration", "10 s", "--series", "--out", "with")
    assert umts("export", "with", "--mahimahi").stdout.splitlines()[0].isdigit()
    assert "UE 5" in umts("export", "with", "--mahimahi", "--ue", 5, status=2).stderr
    assert "one of" in umts("export", "with", "--mahimahi", "--csv", status=2).stderr

"""The output of ``umts run``, its exit status, and interruption with Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import FTP, Umts, command, short, started, tree
from umtslab import Scenario
from umtslab.cli.results import find_runs
from umtslab.simulation import execute
from umtslab.task import Task

SHORT = ("--duration", "20 s", "--set", "radio.bler=0.2")
"""Options for a short run of the scenario `FTP`."""


def test_json_is_one_object_of_the_documented_shape(umts: Umts) -> None:
    answer = json.loads(umts("run", FTP, *SHORT, "--runs", 3, "--seed", 5, "--json").stdout)
    assert set(answer) == {"scenario", "changes", "version", "runs", "summary"}
    assert answer["scenario"] == "ftp-on-fach"
    assert [(run["seed"], run["run"]) for run in answer["runs"]] == [(5, 0), (5, 1), (5, 2)]
    for run in answer["runs"]:
        assert set(run) == {"seed", "run", "metrics", "connections"}
        [connection] = run["connections"]
        assert connection["goodput_kbps"] == pytest.approx(run["metrics"]["goodput_kbps"])
    goodputs = [run["metrics"]["goodput_kbps"] for run in answer["runs"]]
    summary = answer["summary"]["goodput_kbps"]
    assert set(summary) == {"n", "mean", "sd", "ci95"}
    assert summary["n"] == 3
    assert summary["mean"] == pytest.approx(sum(goodputs) / 3)
    assert set(answer["summary"]) == set(answer["runs"][0]["metrics"])


def test_missing_values_are_null_in_json(umts: Umts) -> None:
    answer = json.loads(umts("run", FTP, *SHORT, "--json").stdout)
    assert answer["runs"][0]["metrics"]["download_time_s"] is None
    assert answer["summary"]["download_time_s"] == {"n": 0, "mean": None, "sd": None, "ci95": None}
    assert answer["summary"]["goodput_kbps"]["ci95"] is None


def test_the_table_has_metrics_with_units_and_the_folder(umts: Umts, tmp_path: Path) -> None:
    done = umts("run", FTP, *SHORT, "--runs", 3, "--series", "--pcap", "--out", "here")
    [goodput] = [line.split() for line in done.stdout.splitlines() if line.startswith("goodput_kbps")]
    assert goodput[-4:] == ["kbit/s", "sum", "over", "connections"]
    assert len(goodput) == 8  # Name, mean, half width, n, unit, and the three words of the scope.
    folder = next(word for word in done.stdout.split() if word.startswith("here/runs/"))
    assert (tmp_path / folder / "metrics.json").is_file()
    assert f"server.pcapng, ue.pcapng in {folder}/captures" in done.stdout
    assert "umts plot here" in done.stdout
    assert "user: only IP packets are captured, no RLC PDUs: rlc.header" in done.stdout
    assert done.stderr == ""


def test_a_run_without_values_of_headline_metrics_has_a_note_instead_of_the_table(umts: Umts) -> None:
    printed = umts("run", FTP, "--duration", "10 ms").stdout
    assert "\n\nnone of the headline metrics has a value; --all prints every metric" in printed
    # A heading of the table.
    assert "scope" not in printed
    assert "\nacks_received " in umts("run", FTP, "--duration", "10 ms", "--all").stdout


def test_the_environment_sets_the_results_folder(
    umts: Umts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UMTS_OUT", "elsewhere")
    umts("run", FTP, *SHORT)
    umts("export", "ftp-on-fach", "--csv")
    umts("run", FTP, *SHORT, "--out", "here")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "here"]


def test_one_run_has_values_and_several_have_means(umts: Umts) -> None:
    headings = [
        next(
            line.split()
            for line in umts("run", FTP, *SHORT, "--runs", runs).stdout.splitlines()
            if "unit" in line
        )
        for runs in (1, 2)
    ]
    assert headings == [
        ["metric", "value", "unit", "scope"],
        ["metric", "mean", "±", "95", "%", "n", "unit", "scope"],
    ]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("--series",), "outstanding"),
        (("--waterfall", 0), "waterfall"),
        (("--series", "--set", "measure.rlc_pdus=true"), "pdus"),
    ],
)
def test_the_suggested_figure_matches_the_recorded_series(
    words: tuple[object, ...], kind: str, umts: Umts
) -> None:
    printed = umts("run", FTP, *SHORT, *words, "--out", "here").stdout
    assert f"figures: umts plot here {kind}\n" in printed


def test_the_suggested_figure_of_a_run_without_tcp_is_none_of_tcp(umts: Umts) -> None:
    # The download of this scenario begins after ten seconds.
    voice = FTP.with_name("voice-beside-download.toml")
    printed = umts("run", voice, "--duration", "5 s", "--series", "--out", "here").stdout
    assert "figures: umts plot here rlc_buffer\n" in printed


def test_overrides_may_be_nested_tables_as_in_a_file() -> None:
    flat = Scenario.load(FTP, {"radio.bler": 0.1, "duration": "20 s", "radio.unit": "pdu"})
    tables = Scenario.load(FTP, {"radio": {"bler": 0.1, "unit": "pdu"}, "duration": "20 s"})
    assert tables.content_hash == flat.content_hash


def test_the_command_that_opens_captures_of_pdus_is_printed(umts: Umts) -> None:
    done = umts("run", FTP.with_name("ftp-on-fach-3gpp.toml"), *SHORT, "--pcap", "--out", "here")
    assert "rlc-downlink-air.pcapng, rlc-downlink-delivery.pcapng" in done.stdout
    assert "wireshark --enable-heuristic rlc_udp here/runs/" in done.stdout
    assert "only IP packets are captured" not in done.stdout


def test_one_worker_or_two_write_the_same_bytes(umts: Umts, tmp_path: Path) -> None:
    for out, jobs in (("one", 1), ("two", 2), ("again", 2)):
        words = ("--runs", 5, "--series", "--pcap", "--jobs", jobs, "--out", out)
        umts("run", FTP, *SHORT, *words)
    assert (
        tree(tmp_path / "one" / "runs")
        == tree(tmp_path / "two" / "runs")
        == tree(tmp_path / "again" / "runs")
    )


def test_the_seed_of_the_scenario_is_the_default(umts: Umts) -> None:
    without = umts("run", FTP, *SHORT, "--json").stdout
    assert json.loads(umts("run", FTP, *SHORT, "--seed", 1, "--json").stdout) == json.loads(without)
    assert json.loads(umts("run", FTP, *SHORT, "--seed", 2, "--json").stdout)["runs"][0]["seed"] == 2


def test_a_run_has_the_same_result_alone_and_after_others(umts: Umts) -> None:
    both = json.loads(umts("run", FTP, *SHORT, "--runs", 2, "--json").stdout)
    second = json.loads(umts("run", FTP, *SHORT, "--first-run", 1, "--json").stdout)
    assert second["runs"] == both["runs"][1:]


def test_ctrl_c_keeps_finished_runs(tmp_path: Path) -> None:
    words = ("run", FTP, "--runs", 500, "--jobs", 2, "--json", "--out", tmp_path / "results")
    runs = tmp_path / "results" / "runs"
    with started(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        while child.poll() is None and (not runs.is_dir() or len(os.listdir(runs)) < 3):
            signal.sigtimedwait([], 0.01)
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate()
    assert child.returncode == 130, errors
    assert "finished runs are stored" in errors
    assert "the same command with --resume continues" in errors
    assert 3 <= len(json.loads(output)["runs"]) <= len(os.listdir(runs)) < 500


def test_ctrl_c_does_not_break_a_condition_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    # Waiting for a condition variable releases its lock. An exception while the lock is acquired again
    # would leave the variable without its lock.
    acquire = threading.Condition._acquire_restore  # type: ignore[attr-defined]

    def interrupted(condition: threading.Condition, state: object) -> None:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        acquire(condition, state)

    tasks = [Task(short(), seed=1, run=number) for number in range(40)]
    runs = execute(tasks, jobs=2)
    # All threads exist after the first run, so the patch does not affect the start of threads.
    finished = [next(runs)]
    monkeypatch.setattr(threading.Condition, "_acquire_restore", interrupted)
    finished += runs
    assert {run.run for run in finished} == set(range(40))


def test_closed_pipe_prints_no_error() -> None:
    line = " ".join(command("params")) + " | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_a_run_that_is_named_by_its_folder_shows_its_changes_if_it_is_in_a_store(
    umts: Umts, tmp_path: Path
) -> None:
    umts("run", FTP, *SHORT, "--out", "store")
    [folder] = (tmp_path / "store" / "runs").iterdir()
    [run] = find_runs(str(folder), tmp_path / "none")
    assert "radio.bler = 0.2" in run.heading
    moved = folder.rename(tmp_path / folder.name)
    [run] = find_runs(str(moved), tmp_path / "none")
    assert run.heading == "ftp-on-fach, seed 1, run 0"

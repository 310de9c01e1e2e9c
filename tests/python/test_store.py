"""The store: runs are complete and can be found, also after failures and kills."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from conftest import DSCH, FTP, Umts, command, short, started, tree, write_and_seal
from hypothesis import given, settings
from hypothesis import strategies as st
from umtslab import Scenario, Store, _core, open_store, simulate
from umtslab.run import Identity, Run, finite
from umtslab.store import RunNotFound, UnusablePath
from umtslab.store.folder import read_run
from umtslab.version import CodeVersion

ANY_METRIC = st.floats() | st.none()


def drafts(store: Path) -> list[str]:
    """Return the drafts of runs. A writer moves a draft to the runs when it is complete."""
    return [path.name for path in (store / ".staging").iterdir() if path.name != "lock"]


def test_a_run_is_found_by_key_result_and_scenario(store: Store, scenario: Scenario) -> None:
    runs = simulate(scenario, runs=3, store=store)
    assert store.find(runs[1].key[:12]) == [runs[1]]
    assert store.find(runs[0].identity.result) == runs
    assert store.find("ftp-on-fach") == runs
    assert store.latest() == runs
    for name in ("nonsense", "_", "%"):
        with pytest.raises(RunNotFound, match=f"no run, result or scenario '{name}'"):
            store.find(name)


def test_the_latest_result_is_the_one_added_to_last(store: Store, scenario: Scenario) -> None:
    first = simulate(scenario, store=store)
    second = simulate(scenario.with_overrides({"radio.bler": 0.1}), store=store)
    assert store.latest() == second
    simulate(scenario, store=store)
    assert store.latest() == first


def test_a_folder_holds_the_whole_run(recorded: Run) -> None:
    assert recorded.folder is not None
    names = set(tree(recorded.folder))
    assert {
        "run.json",
        "scenario.toml",
        "metrics.json",
        "connections.parquet",
        "series/cwnd.parquet",
    } <= names
    assert json.loads((recorded.folder / "metrics.json").read_text()) == recorded.metrics
    assert len(recorded.connections()) == recorded.connection_count() == 1
    assert recorded.series("cwnd").columns == ["time_s", "connection", "cwnd_segments"]
    assert len(recorded.captures()) == 3


def test_the_stored_scenario_equals_the_simulated_one(store: Store, scenario: Scenario) -> None:
    run = simulate(scenario, store=store)[0]
    assert run.folder is not None
    assert Scenario.load(run.folder / "scenario.toml").content_hash == scenario.content_hash
    assert store.parameters(run)["duration"] == "20 s"


def test_the_catalogued_command_repeats_the_run(store: Store, scenario: Scenario) -> None:
    run = simulate(scenario, first_run=3, seed=7, store=store)[0]
    assert run.folder is not None
    before = tree(run.folder)
    words = store.command(run)
    assert words.startswith("umts run ")
    repeated = Path(store.path.parent / "repeated")
    line = words.removeprefix("umts run ").replace(f"--out {store.path}", f"--out {repeated}")
    subprocess.run(f"{sys.executable} -m umtslab run {line}", shell=True, check=True, capture_output=True)
    assert tree(repeated / "runs" / run.key) == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_same_seed_gives_the_same_bytes_with_any_number_of_jobs(
    tmp_path: Path, scenario: Scenario, jobs: int
) -> None:
    assert_same_bytes(tmp_path, scenario, jobs)


def test_cells_on_one_carrier_give_the_same_bytes(tmp_path: Path) -> None:
    changes = {"duration": "2 s", "measure.from": "0 s", "measure.dsch": "true"}
    assert_same_bytes(tmp_path, Scenario.load(DSCH, changes), 2)


def assert_same_bytes(tmp_path: Path, scenario: Scenario, jobs: int) -> None:
    """Check that runs with one worker and with `jobs` workers have the same files."""
    trees = []
    for name, workers in (("one worker", 1), ("several workers", jobs)):
        with open_store(tmp_path / name) as store:
            simulate(scenario, runs=4, store=store, series=True, pcap=True, jobs=workers)
        trees.append(tree(tmp_path / name / "runs"))
    assert trees[0] == trees[1]


def test_another_seed_or_run_number_gives_other_metrics(store: Store, scenario: Scenario) -> None:
    runs = [*simulate(scenario, runs=2, store=store), *simulate(scenario, seed=2, store=store)]
    assert len({json.dumps(run.metrics) for run in runs}) == 3


def test_a_repetition_without_series_keeps_existing_series(store: Store, scenario: Scenario) -> None:
    simulate(scenario, store=store, series=True)
    run = simulate(scenario, store=store)[0]
    assert "cwnd" in run.series_kinds()


def test_a_failed_run_leaves_nothing(store: Store, scenario: Scenario) -> None:
    def fail(_task: object, _fraction: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        simulate(scenario, store=store, watch=fail)
    assert store.runs() == []
    assert os.listdir(store.path / "runs") == []
    store.close()
    assert drafts(store.path) == []


def test_runs_that_finished_before_a_failure_are_kept(store: Store, scenario: Scenario) -> None:
    def fail(task: object, _fraction: float) -> None:
        if getattr(task, "run", 0) == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        simulate(scenario, runs=5, store=store, watch=fail)
    assert [run.run for run in store.runs()] == [0, 1]


def test_several_processes_write_to_one_store(store: Store, scenario: Scenario) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        runs = simulate(scenario, runs=4, store=store, executor=executor)
    assert store.runs() == runs
    assert [run.run for run in runs] == [0, 1, 2, 3]


def test_complete_runs_are_restored_without_the_catalogue(tmp_path: Path, scenario: Scenario) -> None:
    with open_store(tmp_path) as store:
        runs = simulate(scenario, runs=2, store=store)
    for file in tmp_path.glob("catalogue.sqlite*"):
        file.unlink()
    with open_store(tmp_path) as store:
        assert store.runs() == runs
        assert "scenario.toml --seed 1 --first-run 1" in store.command(runs[1])


def test_runs_with_a_deleted_folder_are_removed_from_the_catalogue(
    tmp_path: Path, scenario: Scenario
) -> None:
    with open_store(tmp_path) as store:
        runs = simulate(scenario, runs=2, store=store)
    folder = runs[0].folder
    assert folder is not None
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    with open_store(tmp_path) as store:
        assert store.runs() == runs[1:]


def test_opening_a_store_leaves_the_draft_of_a_running_writer(tmp_path: Path) -> None:
    with open_store(tmp_path) as writer, writer.draft() as draft:
        with open_store(tmp_path):
            assert draft.folder.is_dir()
        assert draft.folder.is_dir()


def test_opening_a_store_removes_the_draft_of_a_killed_writer(tmp_path: Path) -> None:
    program = (
        "import sys, time, umtslab\n"
        "with umtslab.open_store(sys.argv[1]) as store, store.draft() as draft:\n"
        "    (draft.folder / 'metrics.json').write_text('{')\n"
        "    print('written', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with started([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        writer.send_signal(signal.SIGKILL)
    assert drafts(tmp_path) != []
    with open_store(tmp_path) as store:
        assert store.runs() == []
    assert drafts(tmp_path) == []


def test_replications_continue_after_kill_9(tmp_path: Path) -> None:
    words = ("run", FTP, "--runs", 40, "--set", "radio.bler=0.2", "--out")
    runs = tmp_path / "killed" / "runs"
    with started(command(*words, tmp_path / "killed", "--quiet"), stdout=subprocess.DEVNULL) as child:
        while child.poll() is None and (not runs.is_dir() or len(os.listdir(runs)) < 3):
            time.sleep(0.01)
        child.kill()
    with open_store(tmp_path / "killed") as store:
        survivors = store.runs()
        assert {run.key for run in survivors} == set(os.listdir(runs))
        assert all(len(run.connections()) == 1 for run in survivors)
    resumed = command(*words, tmp_path / "killed", "--resume")
    done = subprocess.run(resumed, capture_output=True, text=True, check=True)
    assert f"{len(survivors)} of these runs were already stored" in done.stderr
    whole = tmp_path / "whole"
    subprocess.run(command(*words, whole), stdout=subprocess.DEVNULL, check=True)
    assert tree(runs) == tree(whole / "runs")


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.text("abcdefghij_", min_size=1), ANY_METRIC, max_size=8),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**32 - 1),
)
def test_metrics_are_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, measured: dict[str, float | None], seed: int, number: int
) -> None:
    scenario = short()
    identity = Identity(scenario.content_hash, CodeVersion("1", "c", "f"), seed, number)
    connections = _core.simulate(short(("duration", "1 ms")).core, 1, 0).connections
    run = Run(
        scenario.name,
        identity,
        finite(measured),
        events=1,
        duration_s=20.0,
        folder=None,
        tables={"connections": connections},
    )
    folder = tmp_path_factory.mktemp("exact")
    with open_store(folder) as store, store.draft() as draft:
        stored = store.keep(draft, run, scenario, series=False, pcap=False)
        assert store.runs() == [stored]
    # Without the catalogue the run is read from its folder.
    (folder / "catalogue.sqlite").unlink()
    with open_store(folder) as store:
        [read_back] = store.runs()
    assert read_back.metrics == finite(measured)
    assert read_back.identity == identity


def test_stored_metrics_with_former_names_are_read_under_current_names(
    store: Store, scenario: Scenario
) -> None:
    former = {"pep_transfers": 1.0, "transfer_budget_pep_queue_s": 0.5, "goodput_kbps": None}
    (run,) = simulate(scenario, store=store)
    assert run.folder is not None
    write_and_seal(run.folder / "metrics.json", json.dumps(former))
    expected = {"proxy_transfers": 1.0, "transfer_budget_proxy_queue_s": 0.5, "goodput_kbps": None}
    assert read_run(run.folder).metrics == expected


def test_runs_and_connections_are_tables_for_sql(store: Store, scenario: Scenario) -> None:
    runs = simulate(scenario, runs=3, store=store)
    answer = store.query("SELECT count(*) AS n, avg(goodput_kbps) AS mean FROM runs")
    goodputs = [run.metrics["goodput_kbps"] or 0 for run in runs]
    assert answer["n"].to_list() == [3]
    assert answer["mean"][0] == pytest.approx(sum(goodputs) / 3)
    keys = store.query("SELECT DISTINCT key FROM connections")["key"].to_list()
    assert set(keys) == {run.key for run in runs}


def test_a_transaction_of_a_reader_does_not_see_a_later_write(store: Store, scenario: Scenario) -> None:
    simulate(scenario, store=store)
    reader = sqlite3.connect(store.path / "catalogue.sqlite")
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM runs").fetchone() == (1,)
    simulate(scenario, first_run=1, store=store)
    assert reader.execute("SELECT count(*) FROM runs").fetchone() == (1,)
    reader.close()


def test_paths_that_are_not_text(umts: Umts, tmp_path: Path, scenario: Scenario) -> None:
    """A scenario may have any path: its command is stored with question marks. A store may not."""
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.toml"))
    file.write_text(scenario.to_toml())
    umts("run", file, "--set", "duration=2 s", "--out", tmp_path / "text")
    with open_store(tmp_path / "text") as store:
        assert "?.toml" in store.command(store.latest()[0])
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe"))
    assert "must be UTF-8 (got b'" in umts("run", FTP, "--out", folder, status=2).stderr
    assert not folder.exists()
    with pytest.raises(UnusablePath, match="must be UTF-8"):
        Store(folder)

"""Damaged stores: intact runs stay usable, damaged ones are named and restored exactly.

Every file of a run has a digest in ``run.json``. ``umts doctor`` names damage and repairs it: damaged
files move to the folder ``damaged`` of the store.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
import store_damage
from conftest import FTP, Umts, tree
from umtslab import Scenario, open_store, simulate
from umtslab.store import Damage, DamagedStore, RunNotFound, read_store, reader
from umtslab.store.seal import flaws_of_runs

CHANGES = int(os.environ.get("UMTS_DAMAGE", "200"))
"""Total number of damaged files. `make soak` sets a larger number."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> store_damage.SoundStore:
    """An undamaged store, of which tests damage copies."""
    return store_damage.make(tmp_path_factory.mktemp("original"))


@pytest.mark.slow
@pytest.mark.timeout(300 + 5 * CHANGES)
def test_commands_restore_a_store_after_random_damage(
    original: store_damage.SoundStore, tmp_path: Path
) -> None:
    draws = random.Random(int(os.environ.get("UMTS_SEED", "1")))
    changed = number = 0
    while changed < CHANGES:
        changes = min(draws.choice([1, 2, 5, 20]), CHANGES - changed)
        store_damage.damage_and_restore(original, tmp_path / f"store{number}", changes, draws)
        changed += changes
        number += 1


RUN_INTO = ("run", FTP, "--set", "duration=5 s", "--set", "radio.bler=0.2", "--runs", 2, "--out")
RUN = (*RUN_INTO, "store")


@pytest.fixture
def two_runs(umts: Umts, tmp_path: Path) -> Path:
    """A store with two runs, which the test damages."""
    umts(*RUN)
    return tmp_path / "store"


def first_run(store: Path) -> Path:
    """Return the folder of the first run."""
    with read_store(store) as reader:
        folder = reader.runs()[0].folder
    assert folder is not None
    return folder


def cut(file: Path) -> None:
    """Remove all bytes of a file except the first 100."""
    file.write_bytes(file.read_bytes()[:100])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": cut,
    "empty": lambda file: file.write_text(""),
    "garbage": lambda file: file.write_bytes(bytes(range(256))),
    "deleted": Path.unlink,
    "edited": lambda file: file.write_text(file.read_text().replace("1", "7")),
    "an empty object": lambda file: file.write_text("{}"),
    "deeply nested": lambda file: file.write_text("[" * 100_000),
}


def test_unchanged_runs_are_not_hashed_again(
    tmp_path: Path, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []

    def record_and_check(folders: Sequence[str]) -> list[tuple[str, ...]]:
        hashed.extend(Path(folder).name for folder in folders)
        return flaws_of_runs(folders)

    monkeypatch.setattr(reader, "flaws_of_runs", record_and_check)
    with open_store(tmp_path / "store") as store:
        runs = simulate(scenario, runs=3, store=store, series=True)
    time.sleep(2.1)  # Until then, an unchanged time does not prove that a file is unchanged.
    with open_store(tmp_path / "store") as store:
        assert store.runs() == runs
    assert sorted(hashed) == sorted(run.key for run in runs)
    hashed.clear()
    with open_store(tmp_path / "store") as store:
        assert store.runs() == runs
    with read_store(tmp_path / "store") as store_reader:
        assert store_reader.runs() == runs
    assert hashed == []

    # A flipped bit is found although the time of the file's last change is set back.
    damaged = runs[1]
    assert damaged.folder is not None
    file = damaged.folder / "series" / "cwnd.parquet"
    before, content = file.stat(), bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    for open_or_read in (open_store, read_store):
        hashed.clear()
        with open_or_read(tmp_path / "store", lambda _: None) as opened:
            assert opened.runs() == [runs[0], runs[2]]
            assert [damage.name for damage in opened.damage] == hashed == [damaged.key]


@pytest.mark.parametrize("name", ["metrics.json", "run.json"])
@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_run_is_named_left_out_and_repeated(
    name: str, kind: str, umts: Umts, two_runs: Path
) -> None:
    whole = tree(two_runs / "runs")
    folder = first_run(two_runs)
    DAMAGES[kind](folder / name)
    exported = umts("export", "store", "--csv")
    assert len(exported.stdout.splitlines()) == 2
    assert f"umts: damaged: run {folder.name}: {name} is" in exported.stderr
    assert f"run {folder.name} is damaged" in umts("doctor", "store", status=1).stdout
    done = umts(*RUN, "--resume")
    assert "1 of these runs were already stored" in done.stderr
    assert tree(two_runs / "runs") == whole
    # The damaged run is moved, not deleted.
    assert (two_runs / "damaged" / folder.name).is_dir()
    assert "no damage found" in umts("doctor", "store").stdout


def test_an_edited_metric_is_not_used(umts: Umts, two_runs: Path) -> None:
    file = first_run(two_runs) / "metrics.json"
    metrics = json.loads(file.read_text())
    before = metrics["goodput_kbps"]
    file.write_text(json.dumps(metrics | {"goodput_kbps": 777.0}, indent=1, sort_keys=True))
    for path in two_runs.glob("catalogue.sqlite*"):
        path.unlink()
    printed = json.loads(umts(*RUN, "--resume", "--json").stdout)
    assert printed["runs"][0]["metrics"]["goodput_kbps"] == before


CATALOGUE_DAMAGES: dict[str, str] = {
    "metrics cut": "UPDATE runs SET metrics = substr(metrics, 1, 100)",
    "a number changed": "UPDATE runs SET metrics = replace(metrics, '1', '7')",
    "a key changed": "UPDATE runs SET key = 'x' || key",
    "no table": "DROP TABLE runs",
    "another table": "DROP TABLE runs; CREATE TABLE runs (key TEXT)",
}


@pytest.mark.parametrize("kind", CATALOGUE_DAMAGES)
def test_a_damaged_catalogue_is_rebuilt_from_the_folders(kind: str, umts: Umts, two_runs: Path) -> None:
    exported = umts("export", "store", "--csv").stdout
    db = sqlite3.connect(two_runs / "catalogue.sqlite")
    db.executescript(CATALOGUE_DAMAGES[kind])
    db.close()
    damaged = umts("export", "store", "--csv")
    assert damaged.stdout == exported
    assert "umts: damaged: catalogue catalogue.sqlite" in damaged.stderr
    assert "catalogue catalogue.sqlite is damaged" in umts("doctor", "store", status=1).stdout
    assert "was moved to" in umts("doctor", "store", "--repair").stdout
    assert "no damage found" in umts("doctor", "store").stdout
    assert (two_runs / "damaged" / "catalogue.sqlite").is_file()
    assert umts("export", "store", "--csv").stderr == ""


def test_a_damaged_row_of_the_catalogue_does_not_affect_the_commands_of_others(
    umts: Umts, two_runs: Path
) -> None:
    with read_store(two_runs) as reader:
        commands = [reader.command(run) for run in reader.runs()]
    assert all("--set duration=5 s" in command.replace("'", "") for command in commands)
    db = sqlite3.connect(two_runs / "catalogue.sqlite")
    db.execute("UPDATE runs SET events = events + 1 WHERE run = 0")
    db.commit()
    db.close()
    with (
        pytest.warns(DamagedStore, match="a row is not as it was written"),
        open_store(two_runs) as store,
    ):
        after = [store.command(run) for run in store.runs()]
    assert after[1] == commands[1]
    # The changed row is not used at all. Its run has the command that uses the stored scenario.
    assert "scenario.toml" in after[0]


def test_a_store_in_which_all_runs_are_damaged_has_nothing_to_export(umts: Umts, two_runs: Path) -> None:
    for file in (two_runs / "runs").glob("*/metrics.json"):
        cut(file)
    done = umts("export", "store", "--csv", status=2)
    assert "are damaged; umts doctor store lists the damage" in done.stderr
    assert done.stdout == ""


def test_the_folder_of_a_damaged_run_is_refused_with_a_message(umts: Umts, two_runs: Path) -> None:
    folder = first_run(two_runs)
    cut(folder / "connections.parquet")
    done = umts("export", folder, "--csv", status=2)
    assert "connections.parquet is not as it was written" in done.stderr


def test_a_damaged_campaign_is_rebuilt(umts: Umts, tmp_path: Path) -> None:
    (tmp_path / "pair.toml").write_text(store_damage.CAMPAIGN)
    umts("sweep", "pair.toml", "--out", "store")
    file = tmp_path / "store/campaigns/pair.json"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"0.3", b"0.5"))
    done = umts("export", "pair", "--csv", "--out", "store", status=2)
    assert "pair.json is damaged" in done.stderr
    assert "campaign pair is damaged" in umts("doctor", "store", status=1).stdout
    assert "4 of these runs were already stored" in umts("sweep", "pair.toml", "--out", "store").stderr
    assert file.read_bytes() == whole


def test_python_gets_a_warning_and_continues(two_runs: Path) -> None:
    folder = first_run(two_runs)
    (folder / "metrics.json").unlink()
    with read_store(two_runs) as reader, pytest.warns(DamagedStore, match=r"metrics\.json is gone"):
        [intact] = reader.runs()
    assert intact.key != folder.name
    reported: list[Damage] = []
    with read_store(two_runs, tell=reported.append) as reader:
        with pytest.raises(RunNotFound, match="damaged"):
            reader.find(folder.name)
        assert reported == reader.damage
    assert [damage.name for damage in reported] == [folder.name]


def test_a_repeated_run_has_no_series_of_its_damaged_predecessor(tmp_path: Path, scenario: Scenario) -> None:
    with open_store(tmp_path) as store:
        [run] = simulate(scenario, store=store, series=True)
    assert run.folder is not None
    cut(run.folder / "series" / "cwnd.parquet")
    with open_store(tmp_path) as store:
        [repeated] = simulate(scenario, store=store)
        assert repeated.series_kinds() == []
        assert store.get(repeated.identity) is not None


def test_runs_without_digests_are_read(umts: Umts, two_runs: Path) -> None:
    exported = umts("export", "store", "--csv").stdout
    for file in (two_runs / "runs").glob("*/run.json"):
        card = json.loads(file.read_text())
        del card["digest"], card["files"]
        file.write_text(json.dumps(card))
    db = sqlite3.connect(two_runs / "catalogue.sqlite")
    db.execute("ALTER TABLE runs DROP COLUMN seal")
    db.close()
    done = umts("export", "store", "--csv")
    assert (done.stdout, done.stderr) == (exported, "")
    assert "2 of them have no digests" in umts("doctor", "store").stdout
    umts(*RUN, "--resume")


def test_each_damaged_copy_of_a_run_is_kept(umts: Umts, two_runs: Path) -> None:
    folder = first_run(two_runs)
    for _ in range(2):
        cut(folder / "metrics.json")
        umts(*RUN, "--resume")
    assert sorted(path.name for path in (two_runs / "damaged").iterdir()) == [folder.name, f"{folder.name}.1"]


def test_a_run_in_the_folder_of_another_is_damage(umts: Umts, two_runs: Path) -> None:
    replaced, copied = sorted((two_runs / "runs").iterdir())
    shutil.rmtree(replaced)
    shutil.copytree(copied, replaced)
    assert f"run.json belongs to another run, {copied.name}" in umts("doctor", "store", status=1).stdout
    umts("doctor", "store", "--repair")
    umts(*RUN, "--resume")
    assert "2 sound runs" in umts("doctor", "store").stdout


def test_a_catalogue_whose_error_message_is_not_utf8_is_handled_as_damaged(
    umts: Umts, tmp_path: Path
) -> None:
    umts(*RUN)
    catalogue = tmp_path / "store" / "catalogue.sqlite"
    index = b"sqlite_autoindex_runs_1"
    octets = catalogue.read_bytes()
    assert octets.count(index) == 1
    # SQLite's error message has the name of an orphan index, which is not UTF-8 here.
    catalogue.write_bytes(octets.replace(index, b"sqlite_autoind\xc7\x9a\x9a\xf4\xf2runs"))
    assert umts("export", "store", "--csv").stdout.count("\n") == 3


IRREGULAR: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "endless": lambda file: file.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "loop": lambda file: file.symlink_to(file.name),
    "huge": lambda file: os.truncate(os.open(file, os.O_CREAT | os.O_RDWR), 10**12),
}
"""Replacements of a file that are no regular files or too large: opening them blocks, or reading does
not end or fails."""

PLACES = (
    "runs/KEY/run.json",
    "runs/KEY/metrics.json",
    "campaigns/some.json",
    "catalogue.sqlite",
    ".staging/lock",
)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", IRREGULAR)
def test_irregular_files_are_named_and_never_read(
    kind: str, place: str, two_runs: Path, tmp_path: Path
) -> None:
    if kind == "huge" and place in ("catalogue.sqlite", ".staging/lock"):
        pytest.skip("SQLite reads no more than its header, and nothing reads the lock")
    finished = store_damage.finished
    (two_runs / "campaigns").mkdir()
    (two_runs / "campaigns" / "some.json").touch()
    file = two_runs / place.replace("KEY", first_run(two_runs).name)
    for path in two_runs.glob("catalogue.sqlite-*"):
        path.unlink()
    file.unlink()
    IRREGULAR[kind](file)
    export = finished(("export", two_runs, "--csv"), 0, 2)
    if place.startswith("runs/KEY"):
        assert f"{file.name} " in export
    finished(("query", "select count(*) from runs", "--out", two_runs), 0)
    finished(("report", "some", "--out", two_runs), 2)
    finished(("doctor", two_runs), 1)
    run = (*RUN_INTO, two_runs, "--resume")
    # A writer needs the lock.
    finished(run, 2 if place == ".staging/lock" else 0)
    finished(("doctor", two_runs, "--repair"))
    finished(("doctor", two_runs))
    finished(run)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("name", ["study.sqlite", "study.json", "study.sqlite-wal"])
def test_irregular_files_of_a_study_are_named(kind: str, name: str, two_runs: Path) -> None:
    if kind == "huge" and name != "study.json":
        pytest.skip("SQLite reads no more than its header")
    finished = store_damage.finished
    (two_runs / "studies").mkdir()
    if name == "study.sqlite-wal":
        with closing(sqlite3.connect(two_runs / "studies" / "study.sqlite")) as db:
            db.execute("CREATE TABLE x (y)")
    IRREGULAR[kind](two_runs / "studies" / name)
    finished(("doctor", two_runs), 1)
    finished(("report", "study", "--out", two_runs), 2)
    finished(("doctor", two_runs, "--repair"))


def test_a_figure_outside_the_store_needs_no_folder_in_it(two_runs: Path, umts: Umts, tmp_path: Path) -> None:
    umts(*RUN, "--series")
    (two_runs / "figures").write_text("a file, so that no folder can be created here")
    umts("plot", "store", "cwnd", "-o", "elsewhere.png")
    assert (tmp_path / "elsewhere.png").is_file()

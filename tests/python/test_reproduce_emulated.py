"""Points of a plan of ``umts reproduce`` that are emulated in real time with the kernel's TCP.

The small document compares a simulated download of 300 KiB with an emulated one of 20 kB. An
emulation that did not keep real time is marked as degraded and repeated, at most three times.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import write_and_seal
from umtslab.reproduce import emulated, reproduce, select, study
from umtslab.reproduce.compare import Verdict
from umtslab.reproduce.emulated import download
from umtslab.reproduce.errors import BadData, EmulationFailed
from umtslab.scenario import Scenario
from umtslab.store import Store, open_store

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

PLAN = """
version = 1
title = "A small file"
claims = "small"
scenario = "download-beside-kernel.toml"
runs = 2
quick_runs = 1
emulated_runs = 1

[defaults]
stack = "simulated"

[dimension.stack.values.simulated]

[dimension.stack.values.kernel]
emulated = true
set = { "flow.0.size" = "20 kB" }
kernel = { preset = "reno", tcp_window_scaling = "0" }

[[sweep]]
name = "both"
feeds = []
grid = { stack = ["simulated", "kernel"] }

[[figure]]
id = "both"
kind = "table"
title = "Both"
x = "stack"
y = ["download_time_data_s", "tcp_retransmissions"]
curves = { stack = ["simulated", "kernel"] }
"""

CLAIMS = """
[[claim]]
id = "small.both.no-retransmissions"
where = "1"
statement = "There are no retransmissions."
kind = "bound"
metric = "tcp_retransmissions"
conditions = { stack = "kernel" }
expected = "tcp_retransmissions == 0"
confidence = "stated"
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with the small document and its scenario."""
    (tmp_path / "reproductions" / "small").mkdir(parents=True)
    (tmp_path / "reproductions" / "small" / "plan.toml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "reproductions" / "small" / "claims.toml").write_text(CLAIMS, encoding="utf-8")
    (tmp_path / "scenarios").mkdir()
    shutil.copy(ROOT / "scenarios" / "download-beside-kernel.toml", tmp_path / "scenarios")
    return tmp_path


SESSIONS = [
    ("duration", "8 s"),
    ("measure.from", "1 s"),
    ("flow.0.traffic", "ftp_sessions"),
    ("flow.0.ftp_sessions.file_mean", "20 kB"),
    ("flow.0.ftp_sessions.file_min", "20 kB"),
    ("flow.0.ftp_sessions.file_max", "20 kB"),
    ("flow.0.ftp_sessions.truncation", "clip"),
    ("flow.0.ftp_sessions.reading_time", "2 s"),
]
"""The first user downloads files of one size, with pauses, from 1 s to the end at 8 s."""


@pytest.mark.usefixtures("may_emulate")
def test_files_with_pauses_are_emulated_together_with_other_users(store: Store) -> None:
    scenario = Scenario.load(ROOT / "scenarios" / "ftp-on-dch-384-3gpp.toml", SESSIONS)
    requested = download(scenario, {"preset": "reno"}, 1, store, series=True)
    ((_, run),) = emulated.emulate_missing([requested], store)
    # The emulation lasts about as long as the scenario.
    assert 8 <= run.duration_s < 20
    assert run.metrics["goodput_active_kbps"] is not None
    connections = run.connections().sort("opened_s")
    assert len(connections) >= 1
    # The first connection opens after the warm-up.
    assert connections["opened_s"][0] >= 1
    assert {"acked", "program_rtt"} <= set(run.series_kinds())
    # The series of one download begins when its connection opens. No round trip can be longer
    # than the emulation.
    round_trips = study._series(run, "rtt", 1, 8.0)
    assert round_trips.values
    assert all(0 < value < 20 for value in round_trips.values)
    assert round_trips.times_s[0] >= connections["opened_s"][0]


def test_only_files_of_one_size_can_be_emulated(store: Store) -> None:
    scenario = Scenario.load(ROOT / "scenarios" / "ftp-on-dch-384-3gpp.toml", SESSIONS)
    other = scenario.with_overrides([("flow.0.ftp_sessions.file_max", "30 kB")])
    with pytest.raises(BadData, match="equal file_min and file_max"):
        download(other, {}, 1, store)


@pytest.mark.usefixtures("may_emulate")
def test_a_file_is_emulated_once_and_its_run_is_stored(data: Path, store: Store) -> None:
    parts = select(data / "reproductions", ["small"])
    (chapter,) = reproduce(parts, store=store, data=data, real_time=True)
    assert [scored.verdict for scored in chapter.scored] == [Verdict.PASS]
    times = {row["at"]: row for row in chapter.figures[0].rows() if row["quantity"] == "download_time_data_s"}
    assert (times["kernel"]["n"], times["simulated"]["n"]) == (1, 2)
    # At 384 kbit/s, 20 kB take at least 20 * 8 / 384 = 0.4 s.
    assert times["kernel"]["mean"] is not None
    assert times["kernel"]["mean"] > 0.4
    stored = sorted(path.name for path in (store.path / "runs").iterdir())
    (second_chapter,) = reproduce(parts, store=store, data=data, real_time=True)
    assert second_chapter.scored == chapter.scored
    assert sorted(path.name for path in (store.path / "runs").iterdir()) == stored


def test_without_real_time_only_simulations_are_run(data: Path, store: Store) -> None:
    (chapter,) = reproduce(select(data / "reproductions", ["small"]), store=store, data=data)
    assert [scored.verdict for scored in chapter.scored] == [Verdict.NOT_YET]
    assert [row["at"] for row in chapter.figures[0].rows()] == ["simulated"] * 2


def test_only_downloads_can_be_emulated(store: Store) -> None:
    scenario = Scenario.load(ROOT / "scenarios" / "ftp-on-fach-two-users.toml")
    with pytest.raises(BadData, match="only downloads of one size by the first UE"):
        download(scenario, {}, 1, store)


def test_an_unknown_preset_of_the_kernel_is_refused(store: Store) -> None:
    file = Scenario.load(ROOT / "scenarios" / "download-beside-kernel.toml")
    with pytest.raises(BadData, match="no preset 'vegas'"):
        download(file, {"preset": "vegas"}, 1, store)


def test_the_cross_check_sets_the_kernels_congestion_control(tmp_path: Path) -> None:
    (part,) = select(ROOT / "reproductions", ["cross-check"])
    (plan,) = part.plans
    with open_store(tmp_path / "store") as store:
        for sweep in plan.sweeps:
            for point in plan.points(sweep, quick=False):
                kernel = plan.kernel(point)
                assert (kernel is not None) == (point["stack"] == "kernel")
                if kernel is not None:
                    name, overrides = plan.scenario_of(point)
                    scenario = Scenario.load(ROOT / "scenarios" / name, overrides)
                    session = download(scenario, kernel, 5, store).session
                    assert dict(session.tcp)["route.congctl"] == point["tcp"]
                    assert session.seed == 5


@pytest.mark.usefixtures("may_emulate")
def test_a_degraded_download_is_repeated(
    data: Path, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first two attempts are marked as degraded. So the third, run 2, is used."""
    scenario = Scenario.load(data / "scenarios" / "download-beside-kernel.toml", [("flow.0.size", "10 kB")])
    requested = download(scenario, {}, 1, store)
    cards: list[Path] = []

    def emulate_and_mark(requested: emulated.Download) -> emulated.Download:
        emulated_download = emulate(requested)
        runs = sorted((store.path / "runs").iterdir(), key=lambda run: run.stat().st_mtime_ns)
        card = runs[-1] / "emulation.json"
        cards.append(card)
        content = json.loads(card.read_text())
        write_and_seal(card, json.dumps({**content, "degraded": len(cards) < 3}))
        return emulated_download

    emulate = emulated._emulate
    monkeypatch.setattr(emulated, "_emulate", emulate_and_mark)
    ((identity, run),) = emulated.emulate_missing([requested], store)
    assert (identity, run.run, len(cards)) == (requested.identity.key, 2, 3)
    assert list(emulated.emulate_missing([requested], store)) == [(identity, run)]
    # No warning that a degraded run is used.
    assert capsys.readouterr().err == ""


def test_a_download_that_is_never_stored_fails_after_three_attempts(
    data: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested = download(Scenario.load(data / "scenarios" / "download-beside-kernel.toml"), {}, 1, store)
    attempts: list[emulated.Download] = []

    def emulate_without_storing(requested: emulated.Download) -> emulated.Download:
        attempts.append(requested)
        return requested

    monkeypatch.setattr(emulated, "_emulate", emulate_without_storing)
    with pytest.raises(EmulationFailed, match="the package was rebuilt"):
        list(emulated.emulate_missing([requested], store))
    assert len(attempts) == emulated.ATTEMPTS == 3

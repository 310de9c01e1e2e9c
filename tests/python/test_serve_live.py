"""Live sessions of ``umts serve``: the results of stepped runs, controls, tabs, and limits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import polars as pl
from serving import PATIENCE_S, Served, serving
from umtslab import Scenario, _core
from umtslab.serve import live
from umtslab.serve.live_player import Player, Start
from umtslab.serve.models import live as models
from umtslab.serve.scenarios import Request
from websockets.sync.client import ClientConnection

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
SHORT = (("duration", "40 s"),)
NANO = 1_000_000_000

pytestmark = pytest.mark.timeout(4 * PATIENCE_S)


# ── The core ────────────────────────────────────────────────────────────────────────────────────────


def tables(result: _core.RunResult) -> dict[str, list[dict[str, Any]]]:
    columns = {"connections": result.connections, **result.series}
    return {name: pl.DataFrame(table).to_dicts() for name, table in columns.items()}


def test_a_stepped_run_has_the_metrics_and_tables_of_a_run() -> None:
    scenario = Scenario.load(SCENARIOS / "ftp-fach-dch.toml", dict(SHORT) | {"measure.budget": True})
    whole = _core.simulate(scenario.core, 1, 0, series=True)
    runs = _core.LiveRuns([scenario.core], 1, 0, series=True)
    for _ in range(20):
        runs.advance_event()
    for kind in ("switch", "block_error", "loss", "timeout"):
        assert runs.advance_to(kind, PATIENCE_S)
        json.loads(runs.state(0, 16, 1, 60))
    while not runs.is_over:
        runs.advance(40 * NANO, 0.0)
    [stepped] = runs.finish()
    assert stepped.metrics == whole.metrics
    assert stepped.events == whole.events
    assert tables(stepped) == tables(whole)
    with pytest.raises(RuntimeError, match="were taken"):
        runs.advance_event()


def test_the_core_refuses_unknown_kinds_and_runs_that_have_not_ended() -> None:
    scenario = Scenario.load(SCENARIOS / "ftp-on-fach.toml", dict(SHORT))
    with pytest.raises(ValueError, match="must be a scenario"):
        _core.LiveRuns([], 1, 0)
    runs = _core.LiveRuns([scenario.core], 1, 0)
    with pytest.raises(ValueError, match="use timeout, loss, block_error, switch"):
        runs.advance_to("rto", 1.0)
    with pytest.raises(ValueError, match="no such run"):
        runs.state(1, 1, 1, 1)
    with pytest.raises(ValueError, match="at least one bin"):
        runs.state(0, 1, 0, 1)
    with pytest.raises(RuntimeError, match="has not ended"):
        runs.finish()


# ── The player ──────────────────────────────────────────────────────────────────────────────────────


def player(
    name: str = "ftp-fach-dch",
    changes: tuple[tuple[str, str], ...] = SHORT,
    beside: tuple[tuple[str, str], ...] | None = None,
) -> Player:
    return Player(Start("id", SCENARIOS, Request(name, None, changes), beside, False))


def worked(playing: Player, order: dict[str, Any]) -> models.Live:
    """Give an order, work until it is executed, and return the state."""
    playing.control(order)
    while playing.is_busy:
        playing.work()
    return models.Live.model_validate_json(playing.state())


def go(time_s: float) -> dict[str, Any]:
    return {"action": "go", "time_s": time_s}


def step(by: str) -> dict[str, Any]:
    return {"action": "step", "by": by}


def test_steps_end_at_the_next_event_tti_second_and_notable_event() -> None:
    playing = player()
    first = models.Live.model_validate_json(playing.state())
    assert (first.state, first.time, first.duration_s) == ("paused", "0.000 s", 40.0)
    assert worked(playing, go(3.0045)).time == "3.004500 s"
    assert worked(playing, step("tti")).time == "3.010 s"
    assert worked(playing, step("second")).time == "4.010 s"
    before = worked(playing, go(5))
    assert worked(playing, step("event")).time_s >= before.time_s
    for kind in ("timeout", "loss", "block_error", "switch"):
        state = worked(playing, step(kind))
        newest = next(event for event in state.columns[0].notable if event.kind == kind)
        assert newest.time_s == pytest.approx(state.time_s, abs=1e-9)
    assert state.state == "paused"
    assert state.message == ""


def test_an_ended_run_refuses_steps_until_it_is_taken_back() -> None:
    playing = player()
    worked(playing, go(40))
    for order in (step("event"), step("timeout"), {"action": "play"}):
        state = worked(playing, order)
        assert (state.state, state.time_s) == ("ended", 40.0)
        assert "Go back to an earlier instant" in state.message
    assert worked(playing, go(40)).state == "ended"
    assert worked(playing, go(39)).state == "paused"
    assert worked(playing, step("second")).state == "ended"


def test_a_step_without_such_an_event_says_so_at_the_end() -> None:
    playing = player("ftp-on-dch-64", (("duration", "5 s"),))
    state = worked(playing, step("switch"))
    assert (state.state, state.time_s) == ("ended", 5.0)
    assert state.message == "There is no later switch in this run."
    # The channels of these users are fixed.
    assert state.columns[0].ues[0].state is None
    assert (state.columns[0].ues[0].downlink, state.columns[0].cells) == ("DCH", [])


def test_going_back_and_on_again_gives_the_same_states_and_results() -> None:
    playing = player()
    there = worked(playing, go(20))
    ended = worked(playing, go(40))
    assert ended.state == "ended"
    back = worked(playing, go(20))
    assert (back.time_s, back.state) == (20.0, "paused")
    assert back.columns == there.columns
    again = worked(playing, {"action": "speed", "speed": None})
    again = worked(playing, {"action": "play"})
    assert again.columns == ended.columns
    scenario = Scenario.load(SCENARIOS / "ftp-fach-dch.toml", dict(SHORT))
    metrics = _core.simulate(scenario.core, scenario.seed, 0).metrics
    shown = {metric.name: metric.value for metric in again.columns[0].metrics}
    assert shown
    assert shown == {name: metrics[name] for name in shown}


def test_charts_cover_the_chosen_time_after_the_end_too() -> None:
    playing = player()
    worked(playing, go(40))
    for span_s, points in ((6, 60), (60, 40), (600, 4)):
        state = worked(playing, {"action": "span", "span_s": span_s})
        [column] = state.columns
        assert state.span_s == span_s
        assert len(column.point_ends_s) == points
        assert all(len(ue.history.rate_kbps) == points for ue in column.ues)
        assert column.point_ends_s[-1] == 40.0
        assert column.metrics


def test_dchs_and_requests_match_the_users() -> None:
    playing = player()
    seen_waiting = 0
    for second in range(5, 16):
        [column] = worked(playing, go(second)).columns
        [cell] = column.cells
        assert cell.name == "cell"
        assert len(cell.holders) <= cell.dchs <= 12
        assert cell.holders == [ue.ue for ue in column.ues if ue.state == "CELL_DCH"]
        assert (cell.share or 0) <= 1
        seen_waiting += len(cell.waiting)
    assert seen_waiting


def test_two_runs_keep_one_clock_and_are_named_by_their_difference() -> None:
    changes = (("duration", "60 s"), ("rlc.max_dat", "2"), ("radio.bler", "0.2"))
    playing = player("ftp-on-fach", changes, (("tcp.variant", "sack"),))
    state = worked(playing, step("timeout"))
    assert [column.label for column in state.columns] == ["TCP version Reno", "TCP version SACK"]
    # Until the first timeout both runs had the same losses, and it stops both clocks.
    timeouts = [
        [event.time for event in column.notable if event.kind == "timeout"] for column in state.columns
    ]
    assert any(timeouts)
    assert all(times in ([], [f"{state.time_s:.3f} s"]) for times in timeouts)
    ended = worked(playing, go(60))
    scenario = Scenario.load(SCENARIOS / "ftp-on-fach.toml", changes)
    for column, variant in zip(ended.columns, ("reno", "sack"), strict=True):
        alone = _core.simulate(
            scenario.with_overrides({"tcp.variant": variant}).core, scenario.seed, 0
        ).metrics
        assert {metric.name: metric.value for metric in column.metrics}.items() <= alone.items()
        assert f"tcp.variant={variant}" in column.command or variant == "reno"


def test_a_slow_run_loses_time_instead_of_hurrying_later(monkeypatch: pytest.MonkeyPatch) -> None:
    playing = player()
    # The orders `speed` and `play` read the clock at 0 s. All later reads are from 100 s on, 10 ms
    # apart.
    clock = iter([0.0, 0.0, *(100.0 + tick / 100 for tick in range(1000))])
    monkeypatch.setattr("umtslab.serve.live_player.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("umtslab.serve.live_player._SLICE_S", 0.0)
    playing.control({"action": "speed", "speed": 1.0})
    playing.control({"action": "play"})
    # 100 s of real time pass at once, and one slice of simulated time is done.
    playing.work()
    assert playing.is_behind
    state = models.Live.model_validate_json(playing.state())
    assert 0 < state.time_s < 1
    playing.work()
    assert models.Live.model_validate_json(playing.state()).time_s < 1
    assert state.pace.endswith("this computer is not faster")


# ── The server ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("live"), "results", "--scenarios", SCENARIOS) as server:
        yield server


@pytest.fixture
def session(served: Served) -> Iterator[str]:
    """A paused session."""
    identity = started(served)
    yield identity
    served.post(f"/api/live/{identity}/end", {})


def started(served: Served, scenario: str = "ftp-fach-dch", **request: Any) -> str:
    overrides = [{"key": "duration", "value": "40 s"}]
    answer = served.post("/api/live", {"scenario": scenario, "overrides": overrides} | request)
    assert answer.status == 200, answer.text
    identity = str(answer.json()["id"])
    until(lambda: served.ask(f"/api/live/{identity}").json() is not None)
    return identity


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ordered(served: Served, identity: str, order: dict[str, Any]) -> None:
    answer = served.post(f"/api/live/{identity}/control", {"order": order})
    assert answer.status == 200, answer.text


def reached(served: Served, identity: str, time_s: float) -> dict[str, Any]:
    """Go to an instant, wait for it, and return the state."""
    ordered(served, identity, go(time_s))
    found: dict[str, Any] = {}

    def is_there() -> bool:
        found.update(served.ask(f"/api/live/{identity}").json())
        return found["time_s"] == time_s and found["state"] in ("paused", "ended")

    until(is_there)
    return found


def received(channel: ClientConnection) -> models.State:
    return models.State.model_validate_json(channel.recv(PATIENCE_S))


def watched_state(channel: ClientConnection) -> models.State:
    """Return the next message with a live session."""
    while (state := received(channel)).live is None:
        pass
    return state


def test_a_session_is_started_controlled_and_ended(served: Served) -> None:
    identity = started(served)
    assert identity in [row["id"] for row in served.ask("/api/live").json()["sessions"]]
    assert reached(served, identity, 12.5)["time"] == "12.500 s"
    assert reached(served, identity, 40)["state"] == "ended"
    assert reached(served, identity, 3)["state"] == "paused"
    assert served.post(f"/api/live/{identity}/end", {}).status == 200
    answer = served.ask(f"/api/live/{identity}")
    assert answer.status == 404
    assert "no such live session" in answer.text


def test_a_tab_that_sleeps_gets_the_latest_state_only(served: Served, session: str) -> None:
    with served.channel() as channel:
        channel.send(json.dumps({"watch": session, "shown": 0}))
        first = watched_state(channel)
        for second in range(1, 30):
            reached(served, session, float(second))
        # The tab has not confirmed the first state, so there is no other one on the way.
        with pytest.raises(TimeoutError):
            channel.recv(0.5)
        channel.send(json.dumps({"watch": session, "shown": first.live_number}))
        latest = watched_state(channel)
        assert latest.live is not None
        assert latest.live.time_s == 29.0
        assert latest.live_number > first.live_number + 1


def test_several_tabs_see_one_session(served: Served, session: str) -> None:
    with served.channel() as one, served.channel() as other:
        for channel in (one, other):
            channel.send(json.dumps({"watch": session}))
        reached(served, session, 7.0)
        for channel in (one, other):
            state = watched_state(channel)
            while state.live is not None and state.live.time_s < 7.0:
                channel.send(json.dumps({"watch": session, "shown": state.live_number}))
                state = watched_state(channel)
            assert state.live is not None


def test_a_tab_learns_that_its_session_does_not_exist_and_wrong_messages_are_dropped(served: Served) -> None:
    with served.channel() as channel:
        received(channel)
        for wrong in ("", "[]", '{"watch": 5}', '{"other": "x"}'):
            channel.send(wrong)
        channel.send(json.dumps({"watch": "nothing"}))
        state = received(channel)
        assert state.live is None
        assert state.live_problem is not None
        assert "no such live session" in state.live_problem


def test_wrong_requests_are_refused_with_one_sentence(served: Served, session: str) -> None:
    def refusal(request: dict[str, Any], address: str = "/api/live") -> tuple[int, Any]:
        answer = served.post(address, request)
        return answer.status, answer.json()["detail"]

    assert refusal({"scenario": "nothing"})[0] == 404
    status, text = refusal({"scenario": "ftp-on-fach", "overrides": [{"key": "rlc.max_dta", "value": "3"}]})
    assert (status, "did you mean `max_dat`?" in text) == (400, True)
    # A mistake in the changes of the second run, alone and after a valid change.
    mistake = {"key": "tcp.variant", "value": "renoo"}
    valid = {"key": "rlc.max_dat", "value": "3"}
    for beside in ([mistake], [valid, mistake]):
        status, text = refusal({"scenario": "ftp-on-fach", "beside": beside})
        assert (status, "reno" in text) == (400, True)
    orders = (
        {"action": "speed", "speed": 0.01},
        {"action": "step", "by": "rto"},
        {"action": "go", "time_s": -1},
    )
    for order in orders:
        assert refusal({"order": order}, f"/api/live/{session}/control")[0] == 422
    assert refusal({"order": go(1)}, "/api/live/nothing/control")[0] == 404
    assert served.post("/api/live/nothing/end", {}).status == 404


def test_the_number_of_sessions_is_limited(served: Served) -> None:
    sessions = [started(served) for _ in range(live.MAX_SESSIONS)]
    try:
        answer = served.post("/api/live", {"scenario": "ftp-on-fach"})
        assert answer.status == 409
        assert "End one of them first" in answer.text
    finally:
        for identity in sessions:
            served.post(f"/api/live/{identity}/end", {})
    assert served.ask("/api/live").json()["sessions"] == []


def test_python_code_needs_allow_code_here_too(tmp_path: Path) -> None:
    folder = tmp_path / "scenarios"
    folder.mkdir()
    text = (SCENARIOS / "ftp-on-fach.toml").read_text()
    with_code = text.replace("[tcp]", '[tcp]\npython = "control.py:Control"', 1)
    (folder / "code.toml").write_text(with_code.replace('variant = "reno"', 'variant = "python"', 1))
    (folder / "control.py").write_text(
        "from umtslab import CongestionControl\n"
        "class Control(CongestionControl):\n"
        "    def on_ack(self, **values):\n"
        "        raise ValueError('a mistake of the class')\n"
    )
    with serving(tmp_path, "results", "--scenarios", folder) as server:
        answer = server.post("/api/live", {"scenario": "code"})
        assert answer.status == 400
        assert "names Python code" in answer.text
    with serving(tmp_path, "results", "--scenarios", folder, "--allow-code") as server:
        identity = started(server, "code")
        ordered(server, identity, go(30))
        until(lambda: server.ask(f"/api/live/{identity}").status == 409)
        assert "a mistake of the class" in server.ask(f"/api/live/{identity}").text


def test_a_read_only_page_watches_and_keeps_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, "results", "--scenarios", SCENARIOS, "--read-only") as server:
        identity = started(server)
        assert reached(server, identity, 5)["state"] == "paused"
        assert server.post(f"/api/live/{identity}/keep", {}).status == 403
        assert server.post(f"/api/live/{identity}/end", {}).status == 200
    assert not (tmp_path / "results").exists()


def test_a_kept_session_is_the_same_run_in_the_store(tmp_path: Path) -> None:
    with serving(tmp_path, "results", "--scenarios", SCENARIOS) as server:
        identity = started(server)
        [column] = reached(server, identity, 40)["columns"]
        assert server.post(f"/api/live/{identity}/keep", {}).status == 200

        def job() -> Any:
            return server.ask("/api/jobs").json()["jobs"][0]

        until(lambda: job()["state"] == "done")
        page = server.ask(f"/api/runs/{job()['result']}").json()
        kept = {metric["name"]: metric["value"] for metric in page["metrics"]}
        shown = {metric["name"]: metric["value"] for metric in column["metrics"]}
        assert shown
        assert shown.items() <= kept.items()


# ── Limits ──────────────────────────────────────────────────────────────────────────────────────────


def sessions_of(changes: list[str | None]) -> live.Sessions:
    return live.Sessions(changes.append)


def begun(sessions: live.Sessions) -> str:
    request = Request("ftp-fach-dch", None, (("duration", "100000 h"),))
    return sessions.start(lambda identity: Start(identity, SCENARIOS, request, None, False), "endless")


def failure(sessions: live.Sessions, identity: str) -> str:
    found = []

    def has_failed() -> bool:
        try:
            sessions.get(identity)
        except live.SessionFailed as error:
            found.append(str(error))
        return bool(found)

    until(has_failed)
    return found[0]


def test_an_endless_session_dies_at_its_limit_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "LIVE", live.LIVE._replace(cpu_s=2))
    sessions = sessions_of([])
    try:
        identity = begun(sessions)
        sessions.control(identity, {"action": "speed", "speed": None})
        sessions.control(identity, {"action": "play"})
        text = failure(sessions, identity)
        assert "more than 2 s of processor time" in text
        assert "Open the scenario live again." in text
        assert sessions.rows() == []
    finally:
        sessions.close()


def test_a_session_that_no_tab_shows_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = sessions_of([])
    try:
        watched, unwatched = begun(sessions), begun(sessions)
        sessions.watch(watched)
        monkeypatch.setattr(live, "UNWATCHED_S", 0.0)
        sessions.end_unwatched()
        assert [row["id"] for row in sessions.rows()] == [watched]
        with pytest.raises(live.NoSuchSession):
            sessions.get(unwatched)
        sessions.leave(watched)
        sessions.end_unwatched()
        assert sessions.rows() == []
    finally:
        sessions.close()

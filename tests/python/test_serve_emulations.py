"""Running emulations in ``umts serve``: what is shown, who may change the network, and broken sockets."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from live_stand_in import StandIn, emulated
from serving import PATIENCE_S, Served, serving
from umtslab import Scenario, live_sockets, open_store, simulate
from umtslab.emulate.faults import inline_table
from umtslab.emulate.live_controls import controls
from umtslab.serve import emulations, ended_emulations
from umtslab.serve.emulations import MAX_EMULATIONS, Emulations
from umtslab.serve.models import live as models

SCENARIOS = Path(__file__).parents[2] / "scenarios"
NAME = "e0000000a"

pytestmark = pytest.mark.timeout(4 * PATIENCE_S)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def shown(served: Served) -> list[str]:
    return [row["id"] for row in served.ask("/api/live").json()["emulations"]]


def names_found(found: Emulations) -> list[str]:
    """Look for new emulations, and return the names of those that are shown."""
    found.find_new()
    return [row["id"] for row in found.rows()]


def state(served: Served, name: str = NAME) -> models.LiveEmulation:
    """Return the next complete state of an emulation."""
    found: list[Any] = []

    def is_there() -> bool:
        answer = served.ask(f"/api/emulations/{name}")
        found[:] = [answer.json()] if answer.status == 200 else []
        return bool(found and found[0])

    until(is_there)
    return models.LiveEmulation.model_validate(found[0])


def chosen(served: Served, name: str, choice: int) -> Any:
    return served.post(f"/api/emulations/{NAME}/control", {"control": name, "choice": choice})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("emulations")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    with serving(folder, "results", "--scenarios", SCENARIOS) as server:
        yield server


@pytest.fixture
def emulation(folder: Path, served: Served) -> Iterator[StandIn]:
    """An emulation that the server shows, until the end of the test."""
    with emulated(folder / "results", StandIn()) as stand_in:
        state(served)
        yield stand_in
    until(lambda: shown(served) == [])


# ── An emulation ────────────────────────────────────────────────────────────────────────────────────


def test_an_emulation_appears_is_watched_and_disappears(folder: Path, served: Served) -> None:
    with served.channel() as channel:
        # The tab opens the address before the emulation begins.
        channel.send(json.dumps({"watch": NAME}))
        with emulated(folder / "results", StandIn()) as emulation:
            times: set[float] = set()
            while len(times) < 3:
                message = models.State.model_validate_json(channel.recv(PATIENCE_S))
                if message.emulation is not None:
                    times.add(message.emulation.time_s)
                    channel.send(json.dumps({"watch": NAME, "shown": message.live_number}))
            found = state(served)
            assert (found.command, found.scenario) == (emulation.about["command"], "ftp-on-dch-64")
            assert found.rtt == "234 ms"
            assert not found.fidelity.is_degraded
            assert found.fidelity.values[3].value == "1 of 3,000"
            user, *others = found.column.ues
            # The TCP of programs is not visible, and simulated users have counts.
            assert (user.timeouts, user.retransmissions) == (None, None)
            assert all(other.timeouts is not None for other in others)
        while models.State.model_validate_json(channel.recv(PATIENCE_S)).live_problem is None:
            channel.send(json.dumps({"watch": NAME, "shown": 10**9}))
    until(lambda: shown(served) == [])
    answer = served.ask(f"/api/emulations/{NAME}")
    assert answer.status == 404
    assert "its result is on Home" in answer.text


def test_a_degraded_emulation_says_why(served: Served, emulation: StandIn) -> None:
    emulation.is_degraded = True
    until(lambda: state(served).fidelity.is_degraded)
    fidelity = state(served).fidelity
    assert fidelity.reason == (
        "3 % of the instants were late by more than a TTI, and the 99th percentile is 31.2 ms. "
        "Delays here are longer than in the network."
    )


def test_controls_set_change_and_remove_faults(served: Served, emulation: StandIn) -> None:
    rate, errors, coverage = state(served).controls
    assert rate.choices == ["as in the scenario (64 kbit/s)", "48 kbit/s", "32 kbit/s", "16 kbit/s"]
    assert (rate.chosen, errors.chosen, coverage.chosen) == (0, 0, 0)
    for name, choice in (("rate", 3), ("rate", 2), ("coverage", 1), ("rate", 0), ("rate", 0)):
        assert chosen(served, name, choice).status == 200
    assert emulation.orders.orders == [
        ("page-rate", '{ "bearer.ps-64-20ms.downlink.rate" = "16000 bit/s" }'),
        ("page-rate", '{ "bearer.ps-64-20ms.downlink.rate" = "32000 bit/s" }'),
        ("page-coverage", '{ "radio.cut" = true }'),
        ("page-rate", None),
    ]
    emulation.faults.add("test", {"link.0.delay": "1 s"})
    with served.channel() as channel:
        channel.send(json.dumps({"watch": NAME}))
        until(lambda: state(served).controls[2].chosen == 1 and bool(state(served).faults))
    assert state(served).faults == ['test: link.0.delay = "1 s", since 5.0 s']


def test_unknown_controls_and_choices_are_refused(served: Served, emulation: StandIn) -> None:
    state(served)
    for name, choice in (("tcp", 0), ("rate", 99)):
        answer = chosen(served, name, choice)
        assert (answer.status, "no such control" in answer.text) == (409, True)
    assert chosen(served, "rate", -1).status == 422
    assert served.post("/api/emulations/e99999999/control", {"control": "rate", "choice": 1}).status == 404
    assert emulation.orders.orders == []


def test_guard_refuses_others(served: Served, emulation: StandIn) -> None:
    state(served)
    body = json.dumps({"control": "coverage", "choice": 1}).encode()
    address = f"/api/emulations/{NAME}/control"
    assert served.ask(address, "POST", body, origin="http://evil.example").status == 403
    assert served.ask(address, "POST", body, origin=None).status == 403
    assert served.ask(address, "POST", body, cookie=None).status == 401
    assert served.ask(f"/api/emulations/{NAME}", cookie=None).status == 401
    assert served.ask(address).status == 405
    assert emulation.orders.orders == []


def test_a_read_only_page_shows_and_controls_nothing(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "results", "--scenarios", SCENARIOS, "--read-only") as server,
        emulated(tmp_path / "results", StandIn()) as emulation,
    ):
        assert state(server).column.ues
        answer = chosen(server, "coverage", 1)
        assert (answer.status, "read-only" in answer.text) == (403, True)
        assert emulation.orders.orders == []


def test_node_b_queues_of_users_with_an_hs_dsch_are_shown(folder: Path, served: Served) -> None:
    with emulated(folder / "results", StandIn("hsdpa")):
        found = state(served)
        assert found.column.has_nodeb_queue
        assert all(ue.nodeb_queue is not None for ue in found.column.ues if ue.downlink == "HS-DSCH")
        # The rate of an HS-DSCH cannot change, nor its block errors.
        assert found.controls[0].choices == []
        assert "CQI" in found.controls[0].note
    until(lambda: shown(served) == [])


def test_controls_are_those_that_the_scenario_accepts() -> None:
    def found(name: str) -> dict[str, list[str]]:
        scenario = Scenario.load(SCENARIOS / f"{name}.toml").core
        return {control.name: [choice.label for choice in control.choices] for control in controls(scenario)}

    # RRC switches these users between FACH and DCHs.
    assert found("ftp-fach-dch")["rate"] == [
        "as in the scenario (64 kbit/s)",
        "at most 32 kbit/s on DCHs",
    ]
    assert found("ftp-on-fach")["rate"] == found("hsdpa")["rate"] == []
    # Its block errors follow a Gilbert model.
    assert found("ftp-fach-dch")["block-errors"] == []
    assert found("ftp-on-fach")["block-errors"][:3] == ["as in the scenario", "0 %", "1 %"]
    assert found("measured-radio")["block-errors"] == []
    assert found("measured-radio")["coverage"] == ["yes", "no (tunnel)"]
    for path in sorted(SCENARIOS.glob("*.toml")):
        scenario = Scenario.load(path)
        for control in controls(scenario.core):
            assert bool(control.choices) != bool(control.note), path
            for choice in control.choices[1:]:
                change = f'[{{ time = "1 s", set = {inline_table(choice.set)} }}]'
                assert scenario.with_overrides([("at", change)]), (path, choice)


def test_a_limited_rate_sets_every_larger_dch_of_a_switched_user() -> None:
    text = (
        'version = 1\nduration = "9 s"\n[rrc]\ndch = ["ps-128", "ps-64"]\n'
        '[[ue]]\nname = "u"\nbearer = "switched"\n[[flow]]\nue = "u"\ntraffic = "ftp"\n'
    )
    rate, *_ = controls(Scenario.parse(text, base_dir=".").core)
    keys = {choice.label: dict(choice.set) for choice in rate.choices}
    assert keys["at most 64 kbit/s on DCHs"] == {"bearer.ps-128.downlink.rate": "64000 bit/s"}
    assert keys["at most 32 kbit/s on DCHs"] == {
        "bearer.ps-128.downlink.rate": "32000 bit/s",
        "bearer.ps-64.downlink.rate": "32000 bit/s",
    }


def test_rates_that_cannot_change_say_why() -> None:
    def note(name: str) -> str:
        return controls(Scenario.load(SCENARIOS / f"{name}.toml").core)[0].note

    assert "CQI" in note("hsdpa")
    assert "layout" in note("dsch-5km")
    assert "Only a DCH" in note("ftp-on-fach")


# ── After the end ───────────────────────────────────────────────────────────────────────────────────


def test_an_ended_emulation_leads_to_its_run(folder: Path, served: Served) -> None:
    name = "e0000000b"
    with served.channel() as channel:
        channel.send(json.dumps({"watch": name}))
        with emulated(folder / "results", StandIn(), name):
            state(served, name)
        # An emulation is stored after its end.
        with open_store(folder / "results") as store:
            [run] = simulate(Scenario.load(SCENARIOS / "ftp-on-fach.toml", {"duration": "5 s"}), store=store)
        assert run.folder is not None
        (run.folder / "emulation.json").write_text(json.dumps({"session": {"live": name}}))
        os.utime(run.folder.parent)
        found: str | None = None
        while found is None:
            message = models.State.model_validate_json(channel.recv(PATIENCE_S))
            found = message.live_run
            channel.send(json.dumps({"watch": name, "shown": message.live_number}))
        assert found == run.key
        assert message.live_problem is not None
        assert message.live_problem.endswith("has ended.")
    # A tab that opens the address later finds the run too, and no other run.
    for other, expected in ((name, run.key), ("e0000000c", None)):
        with served.channel() as channel:
            channel.send(json.dumps({"watch": other}))
            message = models.State.model_validate_json(channel.recv(PATIENCE_S))
            while message.live_problem is None:
                message = models.State.model_validate_json(channel.recv(PATIENCE_S))
            assert message.live_run == expected


def test_irregular_accounts_are_passed_over(tmp_path: Path) -> None:
    accounts = {"fifo": None, "text": "no JSON", "list": "[]", "number": '{"session": {"live": 7}}'}
    for name, text in {**accounts, "right": json.dumps({"session": {"live": NAME}})}.items():
        account = tmp_path / "runs" / name / "emulation.json"
        account.parent.mkdir(parents=True)
        if text is None:
            os.mkfifo(account)
        else:
            account.write_text(text)
    # Searched from the newest on.
    os.utime(tmp_path / "runs" / "right", (0, 0))
    assert ended_emulations.run_of(tmp_path, NAME) == "right"
    assert ended_emulations.run_of(tmp_path, "e0000000b") is None
    assert ended_emulations.run_of(tmp_path / "missing", NAME) is None


# ── Broken sockets ──────────────────────────────────────────────────────────────────────────────────


@contextmanager
def listening(store: Path, name: str, answer: bytes | None) -> Iterator[None]:
    """Listen as `name`: answer each request with `answer`, or never."""
    with live_sockets.place(store, name) as path, socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()

        def respond() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.recv(65536)
                    try:
                        client.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + (answer or b""))
                    except OSError:
                        continue

        if answer is not None:
            threading.Thread(target=respond, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"null",
        b"[" * 60000,
        b'{"version": 2}',
        json.dumps(StandIn().about | {"version": 2}).encode(),
        json.dumps(StandIn().about | {"controls": [{}]}).encode(),
        b"x" * (emulations.MAX_ANSWER + 10),
    ],
    ids=["nothing", "null", "deep", "other", "version", "controls", "large"],
)
def test_an_emulation_with_other_answers_is_not_shown(tmp_path: Path, answer: bytes) -> None:
    found = Emulations(tmp_path, lambda _: None)
    with listening(tmp_path, "e00000001", answer), emulated(tmp_path, StandIn()):
        until(lambda: names_found(found) == [NAME])
    found.close()


def test_an_emulation_that_does_not_answer_delays_no_other_one(tmp_path: Path) -> None:
    found = Emulations(tmp_path, lambda _: None)
    with listening(tmp_path, "e00000001", None), emulated(tmp_path, StandIn()):
        until(lambda: names_found(found) == [NAME])
        until(lambda: found.get(NAME).latest[0] > 0)
    found.close()


def test_files_that_are_no_sockets_of_this_user_are_not_opened(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    with emulated(elsewhere, StandIn()) as emulation:
        folder = tmp_path / "store" / "live"
        folder.mkdir(parents=True)
        (folder / "e00000001.sock").symlink_to(elsewhere / "live" / f"{NAME}.sock")
        (folder / "e00000002.sock").write_text("content")
        os.mkfifo(folder / "e00000003.sock")
        (folder / "other.sock").symlink_to(elsewhere / "live" / f"{NAME}.sock")
        assert live_sockets.names(tmp_path / "store") == ["e00000001", "e00000002", "e00000003"]
        for name in live_sockets.names(tmp_path / "store"):
            with (
                pytest.raises(PermissionError, match="not a socket"),
                live_sockets.connected(tmp_path / "store", name, 1.0),
            ):
                pass
        live_sockets.remove_dead(tmp_path / "store")
        assert len(list(folder.iterdir())) == 4
        assert emulation.requests == 0


def test_a_file_at_the_place_of_the_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "live").write_text("")
    with pytest.raises(NotADirectoryError, match="remove that file"), live_sockets.place(tmp_path, NAME):
        pass


def test_sockets_of_killed_emulations_are_removed(tmp_path: Path) -> None:
    with live_sockets.place(tmp_path, "e00000001") as path, socket.socket(socket.AF_UNIX) as left:
        left.bind(path)
    with emulated(tmp_path, StandIn()):
        live_sockets.remove_dead(tmp_path)
        assert live_sockets.names(tmp_path) == [NAME]


def test_a_long_path_and_dead_sockets_hinder_no_emulation(tmp_path: Path) -> None:
    store = tmp_path / ("long" * 30)
    for number in range(MAX_EMULATIONS + 3):
        with live_sockets.place(store, f"e{number:08x}") as path, socket.socket(socket.AF_UNIX) as left:
            left.bind(path)
    found = Emulations(store, lambda _: None)
    with emulated(store, StandIn(), "effffffff"):
        until(lambda: names_found(found) == ["effffffff"])
    found.close()

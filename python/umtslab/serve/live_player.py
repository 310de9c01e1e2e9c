"""The process of a live session: advances the runs at a pace, and sends their state.

The server sends commands, each a `models.LiveControl` as a dictionary. The process sends the state
as JSON (`models.Live`), at most ten times per second, and only after a change.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from umtslab import _core
from umtslab.headline_metrics import headline_names
from umtslab.labels import key_label, metric_label, value_label
from umtslab.metrics import units
from umtslab.numbers import number
from umtslab.run import finite
from umtslab.scenario import Scenario
from umtslab.serve.live_columns import column
from umtslab.serve.scenarios import Request, load
from umtslab.serve.try_it import command

SPEEDS = (0.1, 1000.0)
"""Limits of the speed in simulated seconds per second."""

SPANS = {6: 1, 60: 10, 600: 100}
"""Time that the charts cover, in seconds, and the bins of 0.1 s in each of their points."""

MAX_USERS = 100
"""Users that are shown. Further ones are counted."""

POINTS = 60
"""Points of each chart."""

_SLICE_S = 0.04
"""Real time between two looks for a command."""

_INTERVAL_S = 0.1
"""Least time between two states."""

_MEASURED_S = 1.0
"""Real time over which the speed is measured."""

_NANO = 1_000_000_000

_STEPS = {
    "timeout": "timeout",
    "loss": "lost packet",
    "block_error": "lost radio block",
    "switch": "switch",
}
"""Notable events by kind, as they are named in a sentence."""


class Start(NamedTuple):
    """The runs of a session: one scenario, or two that differ by `beside`."""

    id: str
    folder: Path
    request: Request
    beside: tuple[tuple[str, str], ...] | None
    allow_code: bool


def requests_of(request: Request, beside: tuple[tuple[str, str], ...] | None) -> list[Request]:
    """Return the requests of the runs of a session."""
    if beside is None:
        return [request]
    second = Request(request.name, request.text, (*request.overrides, *beside))
    return [request, second]


def play(connection: Connection, start: Start) -> None:
    """Run a session until the server closes the connection.

    Send ``("state", text)``, and ``("failed", sentence)`` if the runs cannot go on.
    """
    try:
        _play(connection, Player(start))
    except EOFError:
        return
    except MemoryError:
        connection.send(("failed", "The live session needed too much memory, and was ended."))
    except Exception as error:
        connection.send(("failed", f"The live session failed: {error}"))


def _play(connection: Connection, player: Player) -> None:
    connection.send(("state", player.state()))
    sent_at, sent = time.monotonic(), player.version
    while True:
        player.work()
        now = time.monotonic()
        if player.version != sent and now - sent_at >= _INTERVAL_S:
            connection.send(("state", player.state()))
            sent_at, sent = now, player.version
        # A paused player waits for a command, after it has sent its last state.
        if player.is_busy:
            timeout: float | None = 0.0 if player.is_behind else _SLICE_S
        else:
            timeout = None if player.version == sent else _INTERVAL_S
        if connection.poll(timeout):
            player.control(connection.recv())


class Player:
    """The runs of a session with one clock, and the controls of the clock."""

    def __init__(self, start: Start) -> None:
        self._start = start
        requests = requests_of(start.request, start.beside)
        self._scenarios = [load(start.folder, request, allow_code=start.allow_code) for request in requests]
        self._commands = [command(start.folder, request) for request in requests]
        self._labels = _labels(self._scenarios, [key for key, _ in start.beside or ()])
        first = self._scenarios[0]
        self._seed = first.seed
        self._duration_ns = round(_NANO * max(scenario.duration_s for scenario in self._scenarios))
        self._runs = self._new_runs()
        self._is_playing = False
        self._speed: float | None = 1.0
        self._span_s = 60
        self._goal: tuple[str, int | str] | None = None
        """The step in progress: ``("until", instant)`` or ``("next", kind)``."""
        self._anchor = (0.0, 0)
        """Real and simulated time from which the pace counts."""
        self._measured: list[tuple[float, int]] = []
        self._message = ""
        self._ended: dict[int, list[dict[str, Any]]] = {}
        """The last state for each span of the charts, after the end of the runs."""
        self.is_behind = False
        """Whether the runs cannot keep the speed, or have no speed to keep."""
        self.version = 1
        """Changes with the state."""

    @property
    def is_busy(self) -> bool:
        """Whether the clock moves."""
        return self._goal is not None or self._is_playing

    def _new_runs(self) -> _core.LiveRuns:
        return _core.LiveRuns([scenario.core for scenario in self._scenarios], self._seed, 0)

    # ── Controls ────────────────────────────────────────────────────────────────────────────────────

    def control(self, order: dict[str, Any]) -> None:
        """Execute an order of a visitor."""
        self.version += 1
        action = order["action"]
        if action == "span":
            self._span_s = order["span_s"]
            return
        if action == "speed":
            self._speed = order["speed"]
            self._begin_pace()
            return
        self._goal, self._message = None, ""
        self._is_playing = False
        if action == "go":
            self._go(round(_NANO * order["time_s"]))
        elif self._ended:
            self._message = "The run has ended. Go back to an earlier instant first."
        elif action == "play":
            self._is_playing = True
            self._begin_pace()
        elif action == "step":
            self._step(order["by"])

    def _step(self, by: str) -> None:
        runs = self._runs
        if by == "event":
            runs.advance_event()
            self._look_for_the_end()
        elif by in _STEPS:
            self._goal = ("next", by)
        else:
            self._goal = ("until", runs.next_tti_ns if by == "tti" else runs.now_ns + _NANO)

    def _go(self, instant_ns: int) -> None:
        instant_ns = min(instant_ns, self._duration_ns)
        if instant_ns == self._now_ns:
            return
        if instant_ns < self._now_ns:
            # A run cannot go back, so it is run again from its start.
            self._runs = self._new_runs()
            self._ended = {}
        self._goal = ("until", instant_ns)

    def _begin_pace(self) -> None:
        self._anchor = (time.monotonic(), self._now_ns)
        self._measured = [self._anchor]

    # ── Work ────────────────────────────────────────────────────────────────────────────────────────

    def work(self) -> None:
        """Advance the runs for a moment, if the clock moves."""
        if self._goal is not None:
            self._work_on_step(*self._goal)
        elif self._is_playing:
            self._keep_pace()

    def _work_on_step(self, kind: str, target: int | str) -> None:
        self.version += 1
        self.is_behind = True
        if isinstance(target, int):
            is_complete = self._runs.advance(target, _SLICE_S)
        else:
            is_complete = self._runs.advance_to(target, _SLICE_S)
        if is_complete:
            self._goal = None
            if kind == "next" and self._runs.is_over:
                self._message = f"There is no later {_STEPS[str(target)]} in this run."
            self._look_for_the_end()

    def _keep_pace(self) -> None:
        now = time.monotonic()
        since, from_ns = self._anchor
        target = self._duration_ns
        if self._speed is not None:
            target = min(target, from_ns + round(_NANO * self._speed * (now - since)))
        before = self._runs.now_ns
        is_in_time = self._runs.advance(target, _SLICE_S)
        self.is_behind = self._speed is None or not is_in_time
        if not is_in_time and self._speed is not None:
            # Time that was lost is not caught up.
            self._anchor = (time.monotonic(), self._runs.now_ns)
        self._measured.append((time.monotonic(), self._runs.now_ns))
        while len(self._measured) > 2 and self._measured[1][0] <= now - _MEASURED_S:
            del self._measured[0]
        self.version += self._runs.now_ns != before
        self._look_for_the_end()

    def _look_for_the_end(self) -> None:
        if self._ended or not self._runs.is_over:
            return
        self._is_playing = False
        self._message = self._message or "The run has ended."
        # Reading the results consumes the runs.
        states = {span_s: self._columns(bins) for span_s, bins in SPANS.items()}
        results = self._runs.finish()
        for columns in states.values():
            for content, result in zip(columns, results, strict=True):
                content["metrics"] = _metrics(result)
        self._ended = states
        self.version += 1

    # ── State ───────────────────────────────────────────────────────────────────────────────────────

    @property
    def _now_ns(self) -> int:
        return self._duration_ns if self._ended else self._runs.now_ns

    def state(self) -> str:
        """Return the state as JSON, a `models.Live`."""
        now_ns = self._now_ns
        scenario = self._scenarios[0]
        content = {
            "id": self._start.id,
            "scenario": self._start.request.name,
            "title": scenario.title or scenario.name,
            "seed": self._seed,
            "state": self._state_name(),
            "time_s": now_ns / _NANO,
            "time": _instant(now_ns),
            "duration_s": self._duration_ns / _NANO,
            "speed": self._speed,
            "pace": self._pace(),
            "message": self._message,
            "span_s": self._span_s,
            "columns": self._ended.get(self._span_s) or self._columns(SPANS[self._span_s]),
        }
        return json.dumps(content)

    def _state_name(self) -> str:
        if self._ended:
            return "ended"
        if self._goal is not None:
            return "working"
        return "playing" if self._is_playing else "paused"

    def _pace(self) -> str:
        """Return the measured speed of a run that plays, in words."""
        if not self._is_playing or len(self._measured) < 2:
            return ""
        (since, from_ns), (until, to_ns) = self._measured[0], self._measured[-1]
        factor = (to_ns - from_ns) / _NANO / max(until - since, 1e-9)
        text = f"{number(factor, 2)} times real time"
        is_slow = self._speed is not None and self.is_behind
        return f"{text}: this computer is not faster" if is_slow else text

    def _columns(self, bins: int) -> list[dict[str, Any]]:
        runs = enumerate(zip(self._scenarios, self._labels, self._commands, strict=True))
        return [
            column(json.loads(self._runs.state(index, MAX_USERS, bins, POINTS)))
            | {"label": label, "command": words, "metrics": []}
            for index, (_, label, words) in runs
        ]


def _instant(instant_ns: int) -> str:
    """Write an instant in seconds, with as many decimals as the instant needs, at least three."""
    decimals = next((digits for digits in (3, 6) if instant_ns % 10 ** (9 - digits) == 0), 9)
    return f"{instant_ns / _NANO:.{decimals}f} s"


def _metrics(result: _core.RunResult) -> list[dict[str, Any]]:
    metrics = finite(result.metrics)
    return [
        {
            "name": name,
            "label": metric_label(name),
            "unit": units().get(name, ""),
            "value": metrics[name],
            "text": number(metrics[name]),
        }
        for name in headline_names(metrics)
        if metrics.get(name) is not None
    ]


def _labels(scenarios: Sequence[Scenario], keys: Sequence[str]) -> list[str]:
    """Name each of several runs by the values of the keys in which they differ."""
    return [", ".join(f"{key_label(key)} {_value(scenario, key)}" for key in keys) for scenario in scenarios]


def _value(scenario: Scenario, key: str) -> str:
    """Return the label of a key's value, such as "Reno" for ``tcp.variant``.

    Return "as in the file" if the scenario does not list a value at the key itself: a part of the network
    is addressed by name (``link.router.loss``), or has no value of its own (``ue.0.rlc.max_dat``).
    """
    content: Any = json.loads(scenario.parameters)
    for part in key.split("."):
        if isinstance(content, list) and part.isdigit() and int(part) < len(content):
            content = content[int(part)]
        elif isinstance(content, dict) and part in content:
            content = content[part]
        else:
            return "as in the file"
    return value_label(content)

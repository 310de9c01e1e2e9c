"""A plan with a few dimensions, and synthetic results: runs with metrics that a test chooses.

A test of a verdict writes a `claim`, lets `Synthetic` stand for the finished runs of the plan, and
calls ``umtslab.reproduce.verdict.score``. Nothing is simulated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from umtslab.reproduce.claims import Claim, Kind, Value
from umtslab.reproduce.counts import Count
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.pdus import PduTemplate
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import Key, Plan, Point, key
from umtslab.reproduce.plan_file import load_plan
from umtslab.reproduce.requests import Requests
from umtslab.reproduce.results import Sample, Series
from umtslab.run import Run

PLAN = """
version = 1
title = "A plan for tests"
claims = "paper.ch1"
scenario = "base{users}{accounting}.toml"
runs = 5
quick_runs = 3
honest = { accounting = "honest" }
ignore = ["users"]

[fixed]
scenario = "small"

[defaults]
tcp = "reno"
bler = 0.01
maxdat = 9000
part = 1
accounting = "plain"

[dimension.tcp]
set = { "tcp.variant" = "{}" }
missing = { vegas = "TCP Vegas is missing", sack = "TCP SACK is missing" }

[dimension.bler]
label = "Block error rate"
set = { "radio.bler" = "{}" }

[dimension.maxdat]
set = { "rlc.max_dat" = "{}" }

[dimension.part.values]
1 = { fill = { users = "" } }
2 = { fill = { users = "-two" }, set = { "measure.from" = "1500 s" } }
whole = { fill = { users = "-two" } }

[dimension.accounting.values]
plain = { fill = { accounting = "" } }
honest = { fill = { accounting = "-honest" } }

[dimension.user]

[[metric]]
name = "goodput_kbps"
when = { part = 2 }
at = { part = "whole" }
expr = "sent_kbps"
beside = { "phase alone" = { expr = "sent_kbps", at = { part = 2 } } }

[[metric]]
name = "goodput_kbps"
expr = "sent_kbps"

[[metric]]
name = "loss_kbps"
expr = "alone - both"
inputs.alone = { expr = "sent_kbps", at = { part = 1 } }
inputs.both = { expr = "sent_kbps", at = { part = "whole" } }

[[metric]]
name = "window"
when = { user = 1 }
expr = "first(window)"

[[metric]]
name = "window"
expr = "total(window)"

[[metric]]
name = "window_vs_time"
series = "window"
at = { part = "whole" }

[reading."paper.ch1.sec1.everywhere"]
bler = [0.01, 0.9]

[[sweep]]
name = "all"
feeds = ["fig1", "sec1"]
grid.tcp = ["tahoe", "reno", "newreno", "vegas", "sack"]
grid.bler = [0.01, 0.1, 0.5]
grid.part = [1, 2, "whole"]
grid.accounting = ["plain", "honest"]
quick = { bler = [0.01, 0.5] }

[[sweep]]
name = "maxdat"
feeds = ["fig2"]
grid = { maxdat = [2, 5, 8, 9000], part = [1, 2], accounting = ["plain", "honest"] }

[[figure]]
id = "fig1"
title = "Goodput"
x = "bler"
y = ["goodput_kbps"]
label = "Goodput (kbit/s)"
curves = { tcp = ["reno", "newreno", "vegas"] }

[[figure]]
id = "fig3"
kind = "time"
title = "Window"
y = ["window_vs_time"]
label = "Window (segments)"
curves = { tcp = ["reno"] }
at = { user = 1 }
window_s = 100
marks = [{ claim = "paper.ch1.fig3.window", from_s = 0, to_s = 1000 }]

[[figure]]
id = "tab1"
kind = "table"
title = "A table"
text = "Content of the table."
x = "bler"
y = ["goodput_kbps"]
curves = { bler = [0.01, 0.5], tcp = ["reno", "newreno"] }
"""

"""The plan of chapter 1 of the document ``paper``.

Runs differ in TCP version, block error rate, `maxdat`, part of the document and accounting of the
RNC. The dimension ``user`` selects a connection, so it needs no runs. The point "whole" is the
whole run with two users, of which part 2 measures only the time from 1,500 s. TCP Vegas and SACK
are declared as missing from the model. Claims of this plan have the condition "scenario = small".
"""

NOISE = [-2.0, -1.0, 0.0, 1.0, 2.0]
"""Deviation of each of five runs from a metric's mean, the same at every point, as with common random
numbers. The 95 % interval of the mean has a half width of 1.96."""


def write_plan(folder: Path, text: str = PLAN) -> Path:
    """Write the plan of chapter 1 of the document ``paper``. Returns its file."""
    path = folder / "paper" / "ch1.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def plan_in(folder: Path) -> Plan:
    """Write `PLAN` to `folder`, and load it."""
    return load_plan(write_plan(folder))


def claim(
    kind: Kind,
    expected: Value,
    metric: str = "goodput_kbps",
    *,
    tolerance: float | None = None,
    place: str = "sec1.it",
    **conditions: Value | list[Value],
) -> Claim:
    """Return a claim of the document ``paper``, chapter 1, at the section or figure `place`."""
    return Claim(
        id=f"paper.ch1.{place}",
        where="1",
        statement="It is so.",
        kind=kind,
        metric=metric,
        conditions={"scenario": "small", **conditions},
        expected=expected,
        confidence="stated",
        tolerance=tolerance,
    )


class Synthetic:
    """Results of a plan: `metrics` gives each metric as a function of the point.

    A function that returns a number has the noise of each run added. A function that returns a list
    gives the value of each run itself. `connections` are metrics of each connection, equal in all
    runs, and `series` has one series per run. Both are the same at all points, and so are the
    attributes `request_answers` and `transfers`: the answers to DCH requests and the phases of the
    transfer, by run.
    """

    def __init__(
        self,
        plan: Plan,
        metrics: dict[str, Callable[[Point], float | Sample | None]],
        *,
        noise: Sequence[float] = (0.0,) * 5,
        connections: dict[str, list[float]] | None = None,
        series: dict[str, list[Series]] | None = None,
    ) -> None:
        listed = (point for sweep in plan.sweeps for point in plan.points(sweep, quick=False))
        self._points = list({key(point): point for point in listed}.values())
        self._keys = {key(point) for point in self._points}
        averaging = plan.averaging()
        self._averaging = [point for sweep in averaging for point in plan.points(sweep, quick=False)]
        self._metrics = metrics
        self._noise = noise
        self._connections = connections or {}
        self.request_answers: list[str] = []
        self.transfers: list[list[Phase]] = []
        self._series = series or {}

    @classmethod
    def anything(cls, plan: Plan, only: set[Key] | None = None) -> Synthetic:
        """Results with some number for every metric and a series of every kind.

        They cover the points of `only`, or all points.
        """
        results = cls(plan, {})
        results._points = [point for point in results._points if only is None or key(point) in only]
        results._keys = {key(point) for point in results._points}
        results._metrics = defaultdict(lambda: lambda point: 1.0 + float(point.get("bler", 0.0)))
        results._connections = defaultdict(lambda: [1.0, 2.0])
        results._series = defaultdict(lambda: [Series([0.0, 1600.0], [5.0, 3.0], end_s=7500.0)] * 5)
        return results

    def points(self) -> Sequence[Point]:
        return self._points

    def sets(self) -> Sequence[Point]:
        if not self._averaging:
            return self._points
        return [point for point in self._averaging if key(point) in self._keys]

    def replications(self, point: Point) -> int:
        return len(self._noise)

    def metric(self, point: Point, name: str) -> Sample:
        if key(point) not in self._keys:
            raise Missing("not run")
        if name not in self._metrics and not isinstance(self._metrics, defaultdict):
            raise Missing(f"runs have no metric {name}")
        value = self._metrics[name](point)
        if isinstance(value, list):
            return value
        return [None if value is None else value + noise for noise in self._noise]

    def connections(self, point: Point, name: str) -> list[Sample]:
        return [list(self._connections[name]) for _ in self._noise]

    def series(self, point: Point, name: str, user: int | None) -> list[Series]:
        return self._series[name]

    def counted(self, point: Point, count: Count) -> Sample:
        raise Missing("made-up runs have no RLC PDUs")

    def descriptions(self, point: Point, parts: Sequence[PduTemplate]) -> list[str]:
        raise Missing("made-up runs have no RLC PDUs")

    def answers(self, point: Point, requests: Requests) -> list[str]:
        return list(self.request_answers)

    def phases(self, point: Point) -> list[list[Phase]]:
        return self.transfers

    def recorded(self, point: Point) -> Run:
        raise Missing("made-up runs have recorded nothing")

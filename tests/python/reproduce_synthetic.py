"""Synthetic results: a plan with a few dimensions, and runs with numbers that a test chooses."""

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

NOISE = [-2.0, -1.0, 0.0, 1.0, 2.0]
"""Noise of run k, which is the same at every point, as with common random numbers."""


def write_plan(folder: Path, text: str = PLAN) -> Path:
    """Write a plan of the document ``paper``. Returns its file."""
    path = folder / "paper" / "ch1.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def plan_in(folder: Path) -> Plan:
    """Load `PLAN`."""
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
    """A claim of the document ``paper``."""
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
    """Results in which a metric of run k is a function of the point, plus the noise of run k."""

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
        self.said: list[str] = []
        self.transfers: list[list[Phase]] = []
        self._series = series or {}

    @classmethod
    def anything(cls, plan: Plan, only: set[Key] | None = None) -> Synthetic:
        """Results with some number for every metric and a series of every kind.

        They cover the points of `only`, or all points.
        """
        made = cls(plan, {})
        made._points = [point for point in made._points if only is None or key(point) in only]
        made._keys = {key(point) for point in made._points}
        made._metrics = defaultdict(lambda: lambda point: 1.0 + float(point.get("bler", 0.0)))
        made._connections = defaultdict(lambda: [1.0, 2.0])
        made._series = defaultdict(lambda: [Series([0.0, 1600.0], [5.0, 3.0], 7500.0)] * 5)
        return made

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
        made = self._metrics[name](point)
        if isinstance(made, list):
            return made
        return [None if made is None else made + noise for noise in self._noise]

    def connections(self, point: Point, name: str) -> list[Sample]:
        return [list(self._connections[name]) for _ in self._noise]

    def series(self, point: Point, name: str, user: int | None) -> list[Series]:
        return self._series[name]

    def counted(self, point: Point, count: Count) -> Sample:
        raise Missing("made-up runs have no RLC PDUs")

    def descriptions(self, point: Point, parts: Sequence[PduTemplate]) -> list[str]:
        raise Missing("made-up runs have no RLC PDUs")

    def answers(self, point: Point, requests: Requests) -> list[str]:
        return list(self.said)

    def phases(self, point: Point) -> list[list[Phase]]:
        return self.transfers

    def recorded(self, point: Point) -> Run:
        raise Missing("made-up runs have recorded nothing")

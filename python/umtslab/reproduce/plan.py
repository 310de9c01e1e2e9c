"""A plan: the experiments of one chapter or paper as data. `plan_file` reads it.

A *point* is an assignment of a value to every dimension, for example ``{tcp: reno, bler: 0.1, part: 1, …}``.
Sweeps list the points to run, dimensions say what a value means in a scenario file, metrics say how a
quantity of the ledger is computed from a run, figures say what to draw.
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.counts import Count
from umtslab.reproduce.errors import BadData
from umtslab.reproduce.expression import Expression, parse
from umtslab.reproduce.pdus import Part
from umtslab.reproduce.requests import Requests

Point = Mapping[str, Value]
Key = tuple[tuple[str, str], ...]

AVERAGE = "average"
"""In place of a dimension's value: the mean over all the sets that were run."""


def same(a: Value, b: Value) -> bool:
    """Whether two values of a dimension are the same, however they are written (2, 2.0, "2")."""
    return text(a) == text(b)


def text(value: Value) -> str:
    """A value of a dimension in its one way to write it."""
    if isinstance(value, str):
        return value
    return format(value, ".12g")


def key(point: Point) -> Key:
    """A point as something that can be a dictionary key."""
    return tuple(sorted((name, text(value)) for name, value in point.items()))


@dataclass(frozen=True)
class Meaning:
    """What one value of a dimension means: overrides of the scenario, and words for its file name.

    Where one of a point's values `is_emulated`, the kernel's TCP carries the download, in real time, with the
    settings that all of them have for it.
    """

    overrides: Mapping[str, str]
    fill: Mapping[str, str]
    kernel: Mapping[str, str] = field(default_factory=dict)
    is_emulated: bool = False


@dataclass(frozen=True)
class Dimension:
    """A parameter that the document varies.

    A value is looked up in `values`, else put into the templates of `overrides`; a dimension with neither
    only chooses among metrics. `missing` names values that the model does not have yet, and says so.
    """

    name: str
    label: str
    overrides: Mapping[str, str]
    values: Mapping[str, Meaning]
    missing: Mapping[str, str]

    @property
    def is_run(self) -> bool:
        """Whether another value is another run."""
        return bool(self.overrides or self.values)

    def meaning(self, value: Value) -> Meaning:
        """What `value` means in a scenario file."""
        if (listed := self.values.get(text(value))) is not None:
            return listed
        if not self.overrides and self.values:
            raise BadData(f"dimension {self.name}: no value {text(value)!r}")
        return Meaning({path: form.format(text(value)) for path, form in self.overrides.items()}, {})


@dataclass(frozen=True)
class Input:
    """A formula over metrics of the runs at a point, moved along `at` first."""

    expr: Expression
    at: Point


@dataclass(frozen=True)
class Samples:
    """How many values a mean is taken over in a run, and how many there must be for a figure to show it."""

    expr: Expression
    least: float


@dataclass(frozen=True)
class Metric:
    """How a quantity of the ledger is computed; `when` restricts the entry to some points.

    With `over` the formula is taken at each combination of these values, and `reduce`
    (`umtslab.reproduce.reduce`) makes one number of them. With `told` it is no number but words: what the RLC
    PDUs of a run say (`umtslab.reproduce.pdus`), or with `requests` what became of requests for a DCH. With
    `phases` it is the course of a transfer by phases (`umtslab.reproduce.phases`). With `every_run` a bound
    is about each run and not about their mean: a smallest or largest value lies on one side of its limit.
    """

    name: str
    when: Point
    at: Point
    expr: Expression
    inputs: Mapping[str, Input]
    beside: Mapping[str, Input]
    series: str | None
    over: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    reduce: str = ""
    told: tuple[Part, ...] = ()
    phases: bool = False
    every_run: bool = False
    requests: Requests | None = None
    samples: Samples | None = None


@dataclass(frozen=True)
class Sweep:
    """A grid of points to run, and the places of the document that need them."""

    name: str
    feeds: tuple[str, ...]
    grid: Mapping[str, tuple[Value, ...]]
    quick: Mapping[str, tuple[Value, ...]]
    series: bool
    draw: Draw | None = None


@dataclass(frozen=True)
class Draw:
    """So many draws of a scenario's chance in place of a run of its network.

    `what` is ``traffic`` (pages, files or packet calls of a flow, by default the first) or ``errors`` (blocks
    to its first user).
    """

    what: str
    number: int
    flow: int = 0


@dataclass(frozen=True)
class Mark:
    """A number of the document in a figure over time: the claim that states it, the span it is for."""

    claim: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Level:
    """A number of ours in a figure over time, drawn as a level over the span that it was measured in."""

    quantity: str
    label: str
    at: Point
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Figure:
    """A figure or table to regenerate; `text` says in the page what it shows.

    With `average` its points are means over the plan's sets of parameters; without, the rest is at the
    defaults. The x of a scatter is a quantity, each set of parameters is a point, and `x_label` names it. A
    figure of PDUs shows those of one run, at the point `at`, until `until_s`.
    """

    id: str
    kind: str
    title: str
    text: str
    x: str
    y: tuple[str, ...]
    label: str
    curves: Mapping[str, tuple[Value, ...]]
    at: Point
    log: bool
    window_s: float
    marks: tuple[Mark, ...]
    levels: tuple[Level, ...]
    average: bool
    x_label: str
    until_s: float = float("inf")


@dataclass(frozen=True)
class Plan:
    """The experiments of one chapter or paper.

    `claims` are the beginnings of the ids of the claims that it covers, whole words of them. `counts` are
    numbers that formulas can use like metrics, taken from the RLC PDUs of a run.

    `averaged` has patterns of the ids of claims about means: over the points of the sweep `average_over`
    that have the values which the claim's conditions name. It must be a whole grid, so that each side of a
    comparison averages over the same sets. `gaps` names claims, and labels of orders, that cannot be tested
    because the document lacks something, and says what.
    """

    paper: str
    name: str
    title: str
    claims: tuple[str, ...]
    scenario: str
    runs: int
    quick_runs: int
    emulated_runs: int
    honest: Point
    fixed: Point
    ignore: frozenset[str]
    averaged: tuple[str, ...]
    average_over: tuple[str, ...]
    defaults: Point
    dimensions: Mapping[str, Dimension]
    metrics: tuple[Metric, ...]
    readings: Mapping[str, Mapping[str, Value | list[Value]]]
    sweeps: tuple[Sweep, ...]
    figures: tuple[Figure, ...]
    gaps: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, Count] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    """Scenario keys of all points that do not set them themselves."""
    quick_settings: Mapping[str, str] = field(default_factory=dict)
    """Those that are others in a quick run."""

    def is_averaged(self, claim: Claim) -> bool:
        """Whether the claim is about a mean over sets of parameters."""
        return any(fnmatch.fnmatchcase(claim.id, pattern) for pattern in self.averaged)

    @property
    def chapter(self) -> tuple[str, ...]:
        """The words that the ids of all its claims begin with: the document, then perhaps a chapter."""
        words = zip(*(beginning.split(".") for beginning in self.claims), strict=False)
        return tuple(first for first, *others in words if all(word == first for word in others))

    def covers(self, claim: Claim) -> bool:
        """Whether the claim belongs to this plan's part of the document."""
        return any(claim.id.startswith(beginning + ".") for beginning in self.claims)

    def point(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The point with these values and the defaults for the rest, run dimensions only."""
        full = {**self.defaults, **values}
        return {name: value for name, value in full.items() if self.dimensions[name].is_run}

    def average_point(self) -> dict[str, Value]:
        """The mean over all sets, in every run dimension."""
        return {name: AVERAGE for name, dimension in self.dimensions.items() if dimension.is_run}

    def averaging(self) -> list[Sweep]:
        """The sweeps that means are taken over."""
        return [sweep for sweep in self.sweeps if sweep.name in self.average_over]

    def points(self, sweep: Sweep, *, quick: bool) -> Iterator[dict[str, Value]]:
        """The points of a sweep that the model can run."""
        grid = {**sweep.grid, **sweep.quick} if quick else sweep.grid
        for values in itertools.product(*grid.values()):
            point = self.point(dict(zip(grid, values, strict=True)))
            if self.lacks(point) is None:
                yield point

    def lacks(self, point: Point) -> str | None:
        """Why the model cannot run the point yet, or None if it can."""
        for name, value in point.items():
            if value == AVERAGE:
                continue
            if (reason := self.dimensions[name].missing.get(text(value))) is not None:
                return reason
        return None

    def metric(self, name: str, point: Point) -> Metric:
        """The entry for a quantity of the ledger at a point; else the run's metric of that name."""
        for metric in self.metrics:
            if metric.name == name and all(_matches(point.get(k), v) for k, v in metric.when.items()):
                return metric
        return Metric(name, {}, {}, parse(name), {}, {}, None)

    def scenario_of(self, point: Point) -> tuple[str, list[tuple[str, str]]]:
        """File name of the scenario, and the overrides, of a point."""
        fill: dict[str, str] = {}
        overrides: list[tuple[str, str]] = []
        for name, value in point.items():
            meaning = self.dimensions[name].meaning(value)
            fill.update(meaning.fill)
            overrides.extend(meaning.overrides.items())
        return self.scenario.format(**fill), overrides

    def kernel(self, point: Point) -> Mapping[str, str] | None:
        """What the kernel's TCP is told at a point that is emulated; None at one that is simulated."""
        meanings = [self.dimensions[name].meaning(value) for name, value in point.items()]
        if not any(meaning.is_emulated for meaning in meanings):
            return None
        return {name: value for meaning in meanings for name, value in meaning.kernel.items()}


def _matches(value: Value | None, wanted: Value) -> bool:
    return value is not None and same(value, wanted)

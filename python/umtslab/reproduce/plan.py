"""A plan: the experiments of one chapter or paper as data, read by `plan_file`.

A *point* assigns a value to every dimension, for example ``{tcp: reno, bler: 0.1, part: 1, …}``.
Sweeps list the points to run. Dimensions define the meaning of values in a scenario file. Metrics
define how a quantity of the claims is computed from a run. Figures define what is drawn.
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
from umtslab.reproduce.pdus import PduTemplate
from umtslab.reproduce.requests import Requests

Point = Mapping[str, Value]
"""Values by dimension."""

Key = tuple[tuple[str, str], ...]
"""A point as a dictionary key: names of dimensions with values in canonical form, sorted."""

AVERAGE = "average"
"""Replaces a dimension's value: the mean over all parameter sets that were run."""


def same(a: Value, b: Value) -> bool:
    """Whether two values of a dimension are equal in spite of different spelling (2, 2.0, "2")."""
    return text(a) == text(b)


def text(value: Value) -> str:
    """Format a value of a dimension in its canonical form."""
    if isinstance(value, str):
        return value
    return format(value, ".12g")


def key(point: Point) -> Key:
    """Convert a point to a dictionary key."""
    return tuple(sorted((name, text(value)) for name, value in point.items()))


@dataclass(frozen=True)
class Meaning:
    """Meaning of one value of a dimension: overrides of the scenario, and parts of its file name.

    If any value of a point `is_emulated`, the kernel's TCP carries the download in real time. Its
    settings are the settings of all values of the point together.
    """

    overrides: Mapping[str, str]
    """Scenario keys with their values."""
    fill: Mapping[str, str]
    """Texts for the placeholders in the file name of the scenario, by placeholder."""
    kernel: Mapping[str, str] = field(default_factory=dict)
    """Settings of the kernel's TCP."""
    is_emulated: bool = False


@dataclass(frozen=True)
class Dimension:
    """A parameter that the document varies.

    A value is looked up in `values`, or else inserted into the templates of `overrides`. A
    dimension with neither has no effect on a run and only selects metrics (`Metric.when`). `missing`
    maps values that the model does not support to the reason.
    """

    name: str
    label: str
    overrides: Mapping[str, str]
    values: Mapping[str, Meaning]
    missing: Mapping[str, str]

    @property
    def is_run(self) -> bool:
        """Whether different values are different runs."""
        return bool(self.overrides or self.values)

    def meaning(self, value: Value) -> Meaning:
        """Return the meaning of `value` in a scenario file."""
        if (listed := self.values.get(text(value))) is not None:
            return listed
        if not self.overrides and self.values:
            raise BadData(f"dimension {self.name}: no value {text(value)!r}")
        overrides = {path: template.format(text(value)) for path, template in self.overrides.items()}
        return Meaning(overrides, fill={})


@dataclass(frozen=True)
class Input:
    """A formula over metrics of the runs at a point, after the values `at` are set."""

    expr: Expression
    at: Point


@dataclass(frozen=True)
class Samples:
    """The number of samples of a mean in a run, and the minimum for a figure to show it."""

    expr: Expression
    minimum: float


@dataclass(frozen=True)
class Metric:
    """Computation of a quantity of the claims.

    Usually the quantity is the formula `expr` over metrics. Instead it can be a description of RLC
    PDUs, the phases of a transfer, or the answers to DCH requests.
    """

    name: str
    when: Point
    """The points to which this entry applies: those with these values."""
    at: Point
    """Values that replace those of the point before the formula is evaluated."""
    expr: Expression
    inputs: Mapping[str, Input]
    """Formulas at other points, which `expr` uses by name."""
    alternatives: Mapping[str, Input]
    """Formulas for other interpretations of the document, by label. They are reported but not scored."""
    series: str | None
    """Name of the recorded series, if the quantity is a time course."""
    over: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    """The formula is evaluated at each combination of these values, and `reduce` combines the results."""
    reduce: str = ""
    """Name of the reduction (`umtslab.reproduce.reduce`)."""
    pdu_templates: tuple[PduTemplate, ...] = ()
    """Parts of the description of RLC PDUs (`umtslab.reproduce.pdus`; key ``told``)."""
    phases: bool = False
    """Whether the quantity is the sequence of phases of a transfer (`umtslab.reproduce.phases`)."""
    every_run: bool = False
    """Whether a bound must hold in each run and not only for the mean, for example a bound on a
    largest value."""
    requests: Requests | None = None
    """The DCH requests whose answers are the quantity."""
    samples: Samples | None = None
    """With too few samples, figures omit the value."""


@dataclass(frozen=True)
class Sweep:
    """A grid of points to run."""

    name: str
    feeds: tuple[str, ...]
    """Figures, tables and sections of the document that use these points."""
    grid: Mapping[str, tuple[Value, ...]]
    """Values by dimension. Every combination is a point."""
    quick: Mapping[str, tuple[Value, ...]]
    """Values that replace those of `grid` in a quick run."""
    series: bool
    """Whether the runs record time series."""
    draw: Draw | None = None
    """Random draws instead of runs."""


@dataclass(frozen=True)
class Draw:
    """A number of random draws instead of a run of the network.

    `what` is ``traffic`` (pages, files or packet calls of a flow, by default the first) or
    ``errors`` (blocks to the first user).
    """

    what: str
    number: int
    flow: int = 0


@dataclass(frozen=True)
class Mark:
    """A number of the document in a figure over time: its claim and its time span."""

    claim: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Level:
    """A measured number in a figure over time, drawn as a level over its time span."""

    quantity: str
    label: str
    at: Point
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Figure:
    """A figure or table to reproduce."""

    id: str
    kind: str
    """``curves``, ``time``, ``table``, ``scatter``, ``pdus`` or ``channels``."""
    title: str
    text: str
    """Its explanation in the report."""
    x: str
    """The dimension on the horizontal axis, ``time``, or in a scatter plot a quantity."""
    y: tuple[str, ...]
    """Quantities."""
    label: str
    """Label of the vertical axis."""
    curves: Mapping[str, tuple[Value, ...]]
    """Values by dimension. Every combination is a curve; values of `x` select its points. In a scatter
    plot every parameter set is a point."""
    at: Point
    """Values of other dimensions. A figure of PDUs shows one run at this point."""
    log: bool
    window_s: float
    """Length of the windows over which a time course is averaged."""
    marks: tuple[Mark, ...]
    levels: tuple[Level, ...]
    average: bool
    """Whether points are means over the plan's parameter sets. Otherwise other dimensions have their
    defaults."""
    x_label: str
    """Label of the horizontal axis of a scatter plot."""
    until_s: float = float("inf")
    """End of a figure of PDUs."""


@dataclass(frozen=True)
class Plan:
    """The experiments of one chapter or paper.

    `claims` are prefixes (whole words) of the ids of claims that the plan covers. `counts` are
    numbers from recorded series that formulas can use like metrics. `honest` has the values with
    which a point uses 3GPP's accounting, without the simplifications of the document's own
    simulator. Such points are reported but not scored. `fixed` are conditions that all runs of the
    plan meet, `ignore` conditions that have no effect. `interpretations` has for some claims
    conditions that replace those in `claims.toml`.

    `averaged` has patterns of ids of claims about means over the points of the sweep
    `average_over`, restricted to the conditions of the claim. The sweep must be a complete grid, so
    that both sides of a comparison average over the same sets. `gaps` maps claims, and labels of
    orders, that cannot be tested because the document lacks information, to the reason.
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
    interpretations: Mapping[str, Mapping[str, Value | list[Value]]]
    sweeps: tuple[Sweep, ...]
    figures: tuple[Figure, ...]
    gaps: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, Count] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    """Scenario keys of all points that do not set these keys themselves."""
    quick_settings: Mapping[str, str] = field(default_factory=dict)
    """Scenario keys that differ in a quick run."""

    def is_averaged(self, claim: Claim) -> bool:
        """Whether the claim is about a mean over parameter sets."""
        return any(fnmatch.fnmatchcase(claim.id, pattern) for pattern in self.averaged)

    @property
    def chapter(self) -> tuple[str, ...]:
        """The common first words of the ids of all claims: the document, and perhaps a chapter."""
        words = zip(*(beginning.split(".") for beginning in self.claims), strict=False)
        return tuple(first for first, *others in words if all(word == first for word in others))

    def covers(self, claim: Claim) -> bool:
        """Whether the plan covers the claim."""
        return any(claim.id.startswith(beginning + ".") for beginning in self.claims)

    def point(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return the point with these values, and defaults for the other run dimensions."""
        full = {**self.defaults, **values}
        return {name: value for name, value in full.items() if self.dimensions[name].is_run}

    def average_point(self) -> dict[str, Value]:
        """Return the point that is the mean over all sets in every run dimension."""
        return {name: AVERAGE for name, dimension in self.dimensions.items() if dimension.is_run}

    def averaging(self) -> list[Sweep]:
        """Return the sweeps `average_over`, over whose points means are taken."""
        return [sweep for sweep in self.sweeps if sweep.name in self.average_over]

    def points(self, sweep: Sweep, *, quick: bool) -> Iterator[dict[str, Value]]:
        """Yield the points of a sweep that the model supports."""
        grid = {**sweep.grid, **sweep.quick} if quick else sweep.grid
        for values in itertools.product(*grid.values()):
            point = self.point(dict(zip(grid, values, strict=True)))
            if self.lacks(point) is None:
                yield point

    def lacks(self, point: Point) -> str | None:
        """Return why the model does not support the point, or None."""
        for name, value in point.items():
            if value == AVERAGE:
                continue
            if (reason := self.dimensions[name].missing.get(text(value))) is not None:
                return reason
        return None

    def metric(self, name: str, point: Point) -> Metric:
        """Return the entry for a quantity at a point, by default the run's metric of that name."""
        for metric in self.metrics:
            if metric.name == name and all(
                _matches(point.get(dimension), value) for dimension, value in metric.when.items()
            ):
                return metric
        return Metric(name, when={}, at={}, expr=parse(name), inputs={}, alternatives={}, series=None)

    def scenario_of(self, point: Point) -> tuple[str, list[tuple[str, str]]]:
        """Return the file name of the scenario, and the overrides, for a point."""
        fill: dict[str, str] = {}
        overrides: list[tuple[str, str]] = []
        for name, value in point.items():
            meaning = self.dimensions[name].meaning(value)
            fill.update(meaning.fill)
            overrides.extend(meaning.overrides.items())
        return self.scenario.format(**fill), overrides

    def kernel(self, point: Point) -> Mapping[str, str] | None:
        """Return the kernel settings of TCP at an emulated point. None at a simulated point."""
        meanings = [self.dimensions[name].meaning(value) for name, value in point.items()]
        if not any(meaning.is_emulated for meaning in meanings):
            return None
        return {name: value for meaning in meanings for name, value in meaning.kernel.items()}


def _matches(value: Value | None, required: Value) -> bool:
    return value is not None and same(value, required)

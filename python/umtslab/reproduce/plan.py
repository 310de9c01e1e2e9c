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
    fill: Mapping[str, str]
    kernel: Mapping[str, str] = field(default_factory=dict)
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
    """Computation of a quantity of the claims. `when` restricts the entry to some points.

    Usually the quantity is the formula `expr` over metrics, with the values `at` set at the point.
    `inputs` are formulas at other points, which `expr` uses by name. `alternatives` are formulas for
    other interpretations of the document. They are reported but not scored.

    With `over` the formula is evaluated at each combination of these values, and `reduce`
    (`umtslab.reproduce.reduce`) combines the results. With `pdu_templates` (key ``told``) the
    quantity is a description of RLC PDUs (`umtslab.reproduce.pdus`), with `requests` the answers to
    DCH requests. With `phases` it is the sequence of phases of a transfer
    (`umtslab.reproduce.phases`). With `every_run` a bound must hold in each run and not only for the
    mean, for example a bound on a largest value.
    """

    name: str
    when: Point
    at: Point
    expr: Expression
    inputs: Mapping[str, Input]
    alternatives: Mapping[str, Input]
    series: str | None
    over: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    reduce: str = ""
    pdu_templates: tuple[PduTemplate, ...] = ()
    phases: bool = False
    every_run: bool = False
    requests: Requests | None = None
    samples: Samples | None = None


@dataclass(frozen=True)
class Sweep:
    """A grid of points to run, and the places of the document that use it."""

    name: str
    feeds: tuple[str, ...]
    grid: Mapping[str, tuple[Value, ...]]
    quick: Mapping[str, tuple[Value, ...]]
    series: bool
    draw: Draw | None = None


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
    """A figure or table to reproduce. `text` is its explanation in the report.

    With `average` its points are means over the plan's parameter sets, else other dimensions have
    their defaults. In a scatter plot, x is a quantity with the label `x_label`, and each parameter
    set is a point. A figure of PDUs shows one run at the point `at`, until `until_s`.
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

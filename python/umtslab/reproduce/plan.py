"""A plan: the experiments of one chapter or paper as data (``reproductions/<paper>/<plan>.toml``).

A *point* is an assignment of a value to every dimension, for example ``{tcp: reno, bler: 0.1, part: 1, …}``.
Sweeps list the points to run, dimensions say what a value means in a scenario file, metrics say how a
quantity of the ledger is computed from a run, figures say what to draw.
"""

from __future__ import annotations

import fnmatch
import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.errors import BadData, Missing
from umtslab.reproduce.expression import Expression, parse

Point = Mapping[str, Value]

AVERAGE = "average"
"""In place of a dimension's value: the mean over all the sets that were run."""
Key = tuple[tuple[str, str], ...]


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
class Metric:
    """How a quantity of the ledger is computed; `when` restricts the entry to some points.

    With `over` the formula is taken at each combination of these values, and `reduce`
    (`umtslab.reproduce.reduce`) makes one number of them.
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


@dataclass(frozen=True)
class Sweep:
    """A grid of points to run, and the places of the document that need them."""

    name: str
    feeds: tuple[str, ...]
    grid: Mapping[str, tuple[Value, ...]]
    quick: Mapping[str, tuple[Value, ...]]
    series: bool


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
    defaults. The x of a scatter is a quantity, each set of parameters is a point, and `x_label` names it.
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


@dataclass(frozen=True)
class Plan:
    """The experiments of one chapter or paper.

    `averaged` has patterns of the ids of claims about means: over the points of the sweep `average_over`
    that have the values which the claim's conditions name. It must be a whole grid, so that each side of a
    comparison averages over the same sets. `gaps` names claims, and labels of orders, that cannot be tested
    because the document lacks something, and says what.
    """

    paper: str
    name: str
    title: str
    claims: str
    scenario: str
    runs: int
    quick_runs: int
    emulated_runs: int
    honest: Point
    fixed: Point
    ignore: frozenset[str]
    averaged: tuple[str, ...]
    average_over: str
    defaults: Point
    dimensions: Mapping[str, Dimension]
    metrics: tuple[Metric, ...]
    readings: Mapping[str, Mapping[str, Value | list[Value]]]
    sweeps: tuple[Sweep, ...]
    figures: tuple[Figure, ...]
    gaps: Mapping[str, str] = field(default_factory=dict)

    def is_averaged(self, claim: Claim) -> bool:
        """Whether the claim is about a mean over sets of parameters."""
        return any(fnmatch.fnmatchcase(claim.id, pattern) for pattern in self.averaged)

    def covers(self, claim: Claim) -> bool:
        """Whether the claim belongs to this plan's part of the document."""
        return claim.id.startswith(self.claims + ".")

    def point(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The point with these values and the defaults for the rest, run dimensions only."""
        full = {**self.defaults, **values}
        return {name: value for name, value in full.items() if self.dimensions[name].is_run}

    def average_point(self) -> dict[str, Value]:
        """The mean over all sets, in every run dimension."""
        return {name: AVERAGE for name, dimension in self.dimensions.items() if dimension.is_run}

    def averaging(self) -> Sweep | None:
        """The sweep that means are taken over."""
        return next((sweep for sweep in self.sweeps if sweep.name == self.average_over), None)

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


def plans(root: Path, paper: str) -> list[Plan]:
    """All plans of a document."""
    names = sorted(path for path in (root / paper).glob("*.toml") if path.stem not in {"claims", "reasons"})
    return [load_plan(path) for path in names]


def load_plan(path: Path) -> Plan:
    """Read a plan.

    Raises
    ------
    BadData
        If a key is unknown or missing, a dimension is not declared, or a value is of the wrong type.
    """
    try:
        return _Reader(path).plan()
    except (KeyError, TypeError, Missing) as error:
        raise BadData(f"{path}: {error}") from error


class _Reader:
    """Takes a plan's tables apart; every table must be used up."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def plan(self) -> Plan:
        top = self.table(tomllib.loads(self.path.read_text(encoding="utf-8")), "the plan", _PLAN_KEYS)
        if top["version"] != 1:
            raise BadData(f"{self.path}: version {top['version']!r} is not 1, the version this program reads")
        plan = Plan(
            paper=self.path.parent.name,
            name=self.path.stem,
            title=top["title"],
            claims=top["claims"],
            scenario=top["scenario"],
            runs=top["runs"],
            quick_runs=top["quick_runs"],
            emulated_runs=top.get("emulated_runs", top["quick_runs"]),
            honest=top.get("honest", {}),
            fixed=top.get("fixed", {}),
            ignore=frozenset(top.get("ignore", [])),
            averaged=tuple(top.get("averaged", [])),
            average_over=top.get("average_over", ""),
            defaults=top["defaults"],
            dimensions={name: self.dimension(name, entry) for name, entry in top["dimension"].items()},
            metrics=tuple(self.metric(entry) for entry in top.get("metric", [])),
            readings=top.get("reading", {}),
            sweeps=tuple(self.sweep(entry) for entry in top["sweep"]),
            figures=tuple(self.figure(entry) for entry in top.get("figure", [])),
            gaps=top.get("gap", {}),
        )
        self.check(plan)
        return plan

    def table(self, entry: Mapping[str, Any], where: str, keys: str) -> Mapping[str, Any]:
        if unknown := entry.keys() - set(keys.split()):
            raise BadData(f"{self.path}: {where} has the unknown key {min(unknown)!r}")
        return entry

    def dimension(self, name: str, entry: Mapping[str, Any]) -> Dimension:
        self.table(entry, f"dimension {name}", "label set values missing")
        values = {
            value: Meaning(
                self.table(meaning, f"dimension {name}, {value}", "set fill kernel emulated").get("set", {}),
                meaning.get("fill", {}),
                meaning.get("kernel", {}),
                meaning.get("emulated", False),
            )
            for value, meaning in entry.get("values", {}).items()
        }
        return Dimension(
            name, entry.get("label", name), entry.get("set", {}), values, entry.get("missing", {})
        )

    def metric(self, entry: Mapping[str, Any]) -> Metric:
        self.table(entry, f"metric {entry.get('name')}", "name when at expr inputs beside series over reduce")
        return Metric(
            name=entry["name"],
            when=entry.get("when", {}),
            at=entry.get("at", {}),
            expr=parse(entry.get("expr", entry["name"])),
            inputs={name: self.input(table) for name, table in entry.get("inputs", {}).items()},
            beside={label: self.input(table) for label, table in entry.get("beside", {}).items()},
            series=entry.get("series"),
            over=_lists(entry.get("over", {})),
            reduce=entry.get("reduce", ""),
        )

    def input(self, entry: Mapping[str, Any]) -> Input:
        self.table(entry, "an input of a metric", "expr at")
        return Input(parse(entry["expr"]), entry.get("at", {}))

    def sweep(self, entry: Mapping[str, Any]) -> Sweep:
        self.table(entry, f"sweep {entry.get('name')}", "name feeds grid quick series")
        return Sweep(
            name=entry["name"],
            feeds=tuple(entry["feeds"]),
            grid=_lists(entry["grid"]),
            quick=_lists(entry.get("quick", {})),
            series=entry.get("series", False),
        )

    def figure(self, entry: Mapping[str, Any]) -> Figure:
        self.table(
            entry,
            f"figure {entry.get('id')}",
            "id kind title text x y label curves at log window_s marks levels average x_label",
        )
        kind = entry.get("kind", "curves")
        if kind not in {"curves", "time", "table", "scatter"}:
            raise BadData(f"{self.path}: figure {entry['id']} is of the unknown kind {kind!r}")
        return Figure(
            id=entry["id"],
            kind=kind,
            title=entry["title"],
            text=entry.get("text", ""),
            x=entry.get("x", "time"),
            y=tuple(entry["y"]),
            label=entry.get("label", ""),
            curves=_lists(entry["curves"]),
            at=entry.get("at", {}),
            log=entry.get("log", False),
            window_s=float(entry.get("window_s", 0.0)),
            marks=tuple(
                Mark(mark["claim"], float(mark["from_s"]), float(mark["to_s"]))
                for mark in entry.get("marks", [])
            ),
            levels=tuple(
                Level(row["quantity"], row["label"], row["at"], float(row["from_s"]), float(row["to_s"]))
                for row in entry.get("levels", [])
            ),
            average=entry.get("average", False),
            x_label=entry.get("x_label", ""),
        )

    def check(self, plan: Plan) -> None:
        """Every dimension that is used must be declared and, if it changes the run, have a default."""
        for name, dimension in plan.dimensions.items():
            if dimension.is_run and name not in plan.defaults:
                raise BadData(f"{self.path}: dimension {name} has no default")
        from umtslab.reproduce.reduce import REDUCTIONS

        if (plan.averaged or plan.average_over) and plan.averaging() is None:
            raise BadData(f"{self.path}: average_over = {plan.average_over!r} is no sweep of the plan")
        if unknown := {metric.reduce for metric in plan.metrics if metric.over} - set(REDUCTIONS):
            raise BadData(f"{self.path}: reduce = {min(unknown)!r} is not one of {', '.join(REDUCTIONS)}")
        for where, names in _used_dimensions(plan):
            if unknown := set(names) - plan.dimensions.keys():
                raise BadData(f"{self.path}: {where} uses {min(unknown)!r}, which is no dimension")


_PLAN_KEYS = """version title claims scenario runs quick_runs emulated_runs honest fixed ignore averaged
average_over defaults dimension gap metric reading sweep figure"""


def _lists(grid: Mapping[str, list[Value]]) -> dict[str, tuple[Value, ...]]:
    return {name: tuple(values) for name, values in grid.items()}


def _used_dimensions(plan: Plan) -> Iterable[tuple[str, Iterable[str]]]:
    yield "defaults", plan.defaults
    yield "honest", plan.honest
    for metric in plan.metrics:
        ats = [
            metric.when,
            metric.at,
            metric.over,
            *(entry.at for entry in (*metric.inputs.values(), *metric.beside.values())),
        ]
        yield f"metric {metric.name}", itertools.chain.from_iterable(ats)
    for sweep in plan.sweeps:
        yield f"sweep {sweep.name}", (*sweep.grid, *sweep.quick)
    for figure in plan.figures:
        yield f"figure {figure.id}", (*figure.curves, *figure.at)

"""Reader of plans: ``reproductions/<paper>/<plan>.toml``."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from umtslab.reproduce import toml
from umtslab.reproduce.claims import Value
from umtslab.reproduce.counts import Count, SeriesRows
from umtslab.reproduce.errors import BadData, Missing
from umtslab.reproduce.expression import parse
from umtslab.reproduce.pdus import PduTemplate
from umtslab.reproduce.plan import (
    Dimension,
    Draw,
    Figure,
    Input,
    Level,
    Mark,
    Meaning,
    Metric,
    Plan,
    Samples,
    Sweep,
)
from umtslab.reproduce.reduce import REDUCTIONS
from umtslab.reproduce.requests import Requests

_NO_PLANS = {"claims", "labels", "readings", "reasons"}
"""Other TOML files in the folder of a document."""


def plans(root: Path, paper: str) -> list[Plan]:
    """Return all plans of a document."""
    names = sorted(path for path in (root / paper).glob("*.toml") if path.stem not in _NO_PLANS)
    return [load_plan(path) for path in names]


def load_plan(path: Path) -> Plan:
    """Read a plan.

    Raises
    ------
    BadData
        If a key is unknown or missing, a dimension is not declared, or a value has the wrong type.
    """
    try:
        return _Reader(path).plan()
    except KeyError as error:
        raise BadData(f"{path}: lacks the key {error}") from error
    except (AttributeError, TypeError, Missing) as error:
        raise BadData(f"{path}: {error}") from error


class _Reader:
    """Converts the tables of a plan. Unknown keys are errors."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def plan(self) -> Plan:
        top = self.table(toml.read(self.path), "the plan", _PLAN_KEYS)
        if top["version"] != 1:
            raise BadData(
                f"{self.path}: version {top['version']!r} is not 1, the version that this program reads"
            )
        plan = Plan(
            paper=self.path.parent.name,
            name=self.path.stem,
            title=top["title"],
            claims=_as_tuple(top["claims"]),
            scenario=top["scenario"],
            runs=top["runs"],
            quick_runs=top["quick_runs"],
            settings=top.get("set", {}),
            quick_settings=top.get("quick_set", {}),
            emulated_runs=top.get("emulated_runs", top["quick_runs"]),
            honest=top.get("honest", {}),
            fixed=top.get("fixed", {}),
            ignore=frozenset(top.get("ignore", [])),
            averaged=tuple(top.get("averaged", [])),
            average_over=_as_tuple(top.get("average_over", [])),
            defaults=top["defaults"],
            dimensions={name: self.dimension(name, entry) for name, entry in top["dimension"].items()},
            metrics=tuple(self.metric(entry) for entry in top.get("metric", [])),
            interpretations=top.get("reading", {}),
            sweeps=tuple(self.sweep(entry) for entry in top["sweep"]),
            figures=tuple(self.figure(entry) for entry in top.get("figure", [])),
            gaps=top.get("gap", {}),
            counts={name: self.count(name, entry) for name, entry in top.get("count", {}).items()},
        )
        self.check(plan)
        return plan

    def table(self, entry: Mapping[str, Any], where: str, keys: str) -> Mapping[str, Any]:
        """Return a table of the file unchanged. Keys other than `keys`, separated by spaces, are errors."""
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
        self.table(
            entry,
            f"metric {entry.get('name')}",
            "name when at expr inputs beside series over reduce told phases every_run requests samples",
        )
        return Metric(
            name=entry["name"],
            when=entry.get("when", {}),
            at=entry.get("at", {}),
            expr=parse(entry.get("expr", entry["name"])),
            inputs={name: self.input(table) for name, table in entry.get("inputs", {}).items()},
            alternatives={label: self.input(table) for label, table in entry.get("beside", {}).items()},
            series=entry.get("series"),
            over=_lists(entry.get("over", {})),
            reduce=entry.get("reduce", ""),
            pdu_templates=tuple(self.pdu_template(part) for part in entry.get("told", [])),
            phases=entry.get("phases", False),
            every_run=entry.get("every_run", False),
            requests=self.requests(entry["requests"]) if "requests" in entry else None,
            samples=self.samples(entry["samples"]) if "samples" in entry else None,
        )

    def requests(self, entry: Mapping[str, Any]) -> Requests:
        self.table(entry, "requests of a metric", "after_s until_s")
        return Requests(float(entry["after_s"]), float(entry["until_s"]))

    def samples(self, entry: Mapping[str, Any]) -> Samples:
        self.table(entry, "samples of a metric", "expr least")
        return Samples(parse(entry["expr"]), float(entry["least"]))

    def pdu_template(self, entry: Mapping[str, Any]) -> PduTemplate:
        self.table(entry, "a part of `told`", "rows since since_end forms list first tti_s")
        return PduTemplate(
            rows=entry["rows"],
            since=entry.get("since", {}),
            forms=_as_tuple(entry["forms"]),
            is_list=entry.get("list", False),
            first=entry.get("first"),
            tti_s=float(entry.get("tti_s", 0.0)),
            since_end=entry.get("since_end", False),
        )

    def count(self, name: str, entry: Mapping[str, Any]) -> Count:
        self.table(entry, f"count {name}", f"series rows at_least since during {_HOW_TO_COUNT}")
        chosen = [how for how in _HOW_TO_COUNT.split() if how in entry]
        if len(chosen) != 1:
            *names, last = _HOW_TO_COUNT.split()
            raise BadData(f"{self.path}: count {name} needs one of {', '.join(names)} and {last}")
        [how] = chosen
        counted = entry[how]
        return Count(
            series=entry.get("series", "rlc_pdus"),
            rows=entry.get("rows", {}),
            how=how,
            column=counted if isinstance(counted, str) else "",
            columns=tuple(counted) if isinstance(counted, list) else (),
            since=self.series_rows(entry["since"]) if "since" in entry else None,
            during=self.series_rows(entry["during"]) if "during" in entry else None,
            at_least=entry.get("at_least", {}),
        )

    def series_rows(self, entry: Mapping[str, Any]) -> SeriesRows:
        self.table(entry, "since or during", "series rows")
        return SeriesRows(entry["series"], entry["rows"])

    def input(self, entry: Mapping[str, Any]) -> Input:
        self.table(entry, "an input of a metric", "expr at")
        return Input(parse(entry["expr"]), entry.get("at", {}))

    def sweep(self, entry: Mapping[str, Any]) -> Sweep:
        self.table(entry, f"sweep {entry.get('name')}", "name feeds grid quick series draw draws flow")
        return Sweep(
            name=entry["name"],
            feeds=tuple(entry["feeds"]),
            grid=_lists(entry["grid"]),
            quick=_lists(entry.get("quick", {})),
            series=entry.get("series", False),
            draw=self.draw(entry),
        )

    def draw(self, entry: Mapping[str, Any]) -> Draw | None:
        drawn = entry.get("draw")
        if drawn not in {None, "traffic", "errors"}:
            raise BadData(
                f"{self.path}: sweep {entry['name']} draws {drawn!r}, which is not traffic or errors"
            )
        return None if drawn is None else Draw(drawn, entry["draws"], entry.get("flow", 0))

    def figure(self, entry: Mapping[str, Any]) -> Figure:
        self.table(
            entry,
            f"figure {entry.get('id')}",
            "id kind title text x y label curves at log window_s marks levels average x_label until_s",
        )
        kind = entry.get("kind", "curves")
        if kind not in {"curves", "time", "table", "scatter", "pdus", "channels"}:
            raise BadData(f"{self.path}: figure {entry['id']} has the unknown kind {kind!r}")
        return Figure(
            id=entry["id"],
            kind=kind,
            title=entry["title"],
            text=entry.get("text", ""),
            x=entry.get("x", "time"),
            y=tuple(entry.get("y", []) if kind in _OF_ONE_RUN else entry["y"]),
            label=entry.get("label", ""),
            curves=_lists(entry.get("curves", {}) if kind in _OF_ONE_RUN else entry["curves"]),
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
            until_s=float(entry.get("until_s", "inf")),
        )

    def check(self, plan: Plan) -> None:
        """Check that all dimensions are declared, and have a default if they affect the run."""
        for name, dimension in plan.dimensions.items():
            if dimension.is_run and name not in plan.defaults:
                raise BadData(f"{self.path}: dimension {name} has no default")
        sweeps = {sweep.name for sweep in plan.sweeps}
        if unknown := set(plan.average_over) - sweeps:
            raise BadData(f"{self.path}: average_over = {min(unknown)!r} is not a sweep of the plan")
        if plan.averaged and not plan.average_over:
            raise BadData(f"{self.path}: averaged needs average_over, the sweep over which means are taken")
        if unknown := {metric.reduce for metric in plan.metrics if metric.over} - set(REDUCTIONS):
            raise BadData(f"{self.path}: reduce = {min(unknown)!r} is not one of {', '.join(REDUCTIONS)}")
        for where, names in _used_dimensions(plan):
            if unknown := set(names) - plan.dimensions.keys():
                raise BadData(f"{self.path}: {where} uses {min(unknown)!r}, which is not a dimension")


_OF_ONE_RUN = frozenset({"pdus", "channels"})
"""Kinds of figures that show a single run."""

_HOW_TO_COUNT = "most least least_gap most_with_equal number at"
"""Ways to derive a number from rows, of which a count has one."""

_PLAN_KEYS = """version title claims scenario runs quick_runs set quick_set emulated_runs honest fixed ignore
averaged average_over defaults dimension gap count metric reading sweep figure"""


def _as_tuple(given: str | list[str]) -> tuple[str, ...]:
    """Return one word or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)


def _lists(grid: Mapping[str, list[Value]]) -> dict[str, tuple[Value, ...]]:
    return {name: tuple(values) for name, values in grid.items()}


def _used_dimensions(plan: Plan) -> Iterable[tuple[str, Iterable[str]]]:
    """Yield parts of the plan that use dimensions: a description of the part, and the dimensions."""
    yield "defaults", plan.defaults
    yield "honest", plan.honest
    for metric in plan.metrics:
        value_tables = [
            metric.when,
            metric.at,
            metric.over,
            *(entry.at for entry in (*metric.inputs.values(), *metric.alternatives.values())),
        ]
        yield f"metric {metric.name}", itertools.chain.from_iterable(value_tables)
    for sweep in plan.sweeps:
        yield f"sweep {sweep.name}", (*sweep.grid, *sweep.quick)
    for figure in plan.figures:
        yield f"figure {figure.id}", (*figure.curves, *figure.at)

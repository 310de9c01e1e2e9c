"""Writes the experiments of a figure or chapter as a campaign file, to be edited and run by ``umts sweep``.

A plan describes the experiments of a reproduced document. Each of its points becomes a row of scenario
keys and values. If the rows form a complete grid, the file has a table ``[grid]`` with the values of
each key, otherwise it has a list of the rows.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from umtslab.reproduce.errors import UnknownSelection
from umtslab.reproduce.plan import Figure, Metric, Plan, Point, same
from umtslab.reproduce.selection import Part
from umtslab.reproduce.study import PlannedPoint, wanted_points
from umtslab.scenario import Scenario

SCENARIO = "scenario"

Row = Mapping[str, str]
"""A point of the campaign: values by scenario key, and the scenario file under `SCENARIO`."""


def as_campaign(parts: Sequence[Part], selectors: Sequence[str], data: Path, *, quick: bool) -> str:
    """Return the points of a figure or of a chapter's plan as a campaign file.

    Left out are points that no campaign can have: random draws without a network, and emulations. Also
    left out are repetitions of points with 3GPP's accounting (`Plan.honest`).

    Parameters
    ----------
    parts : sequence of Part
        The selected parts (`umtslab.reproduce.selection.select`).
    selectors : sequence of str
        The arguments that selected them, for the file's name and first comment.
    data : Path
        The folder that contains ``scenarios``.
    quick : bool
        Whether to use the plan's small grid with fewer runs.

    Returns
    -------
    str
        A campaign file for the working directory, to which the paths of scenarios are relative.

    Raises
    ------
    UnknownSelection
        If several plans are selected, or none of the points is a run that a campaign can have.
    """
    plans = [(part, plan) for part in parts for plan in part.plans]
    if len(plans) != 1:
        names = ", ".join(f"{part.paper}/{plan.name}" for part, plan in plans)
        raise UnknownSelection(f"a campaign needs one chapter or figure, not {names}")
    part, plan = plans[0]
    entries = [
        entry
        for entry in wanted_points(plan, part.sweeps(plan), quick=quick)
        if entry.draw is None and not entry.is_emulated and not _has_3gpp_accounting(plan, entry.point)
    ]
    if part.places_inside(plan):
        figures = part.figures(plan)
        in_figures = [entry for entry in entries if any(_shows(plan, figure, entry) for figure in figures)]
        entries = in_figures or entries
    if not entries:
        raise UnknownSelection(f"{' '.join(selectors)}: it contains no run of a network")
    rows = _completed([_row(plan, entry, data) for entry in entries])
    runs = max(entry.runs for entry in entries)
    series = any(entry.series for entry in entries)
    return "\n".join(_lines(plan, list(dict.fromkeys(selectors)), rows, runs, series)) + "\n"


def _has_3gpp_accounting(plan: Plan, point: Point) -> bool:
    """Whether the point repeats another one with 3GPP's accounting (`Plan.honest`)."""
    return bool(plan.honest) and all(same(point[name], value) for name, value in plan.honest.items())


def _shows(plan: Plan, figure: Figure, entry: PlannedPoint) -> bool:
    """Whether a figure needs a point, for a curve or as an input of one of its quantities.

    The value of the point in each dimension must be one that the figure shows: a value of its curves,
    any value on its horizontal axis, or else the figure's own or default value.
    """
    if figure.average and not entry.is_set:
        return False
    metrics = [metric for metric in plan.metrics if metric.name in figure.y]
    any_value_is_shown = {figure.x, *(name for metric in metrics for name in _replaced_dimensions(metric))}
    for name, value in entry.point.items():
        if name in figure.curves:
            shown_values = figure.curves[name]
        elif name in any_value_is_shown or figure.average:
            continue
        else:
            shown_values = (figure.at.get(name, plan.defaults[name]),)
        if not any(same(value, shown) for shown in shown_values):
            return False
    return True


def _replaced_dimensions(metric: Metric) -> Iterator[str]:
    """Yield the dimensions whose values the definition of a quantity replaces by its own."""
    yield from metric.at
    yield from metric.over
    for entry in (*metric.inputs.values(), *metric.alternatives.values()):
        yield from entry.at


def _row(plan: Plan, entry: PlannedPoint, data: Path) -> dict[str, str]:
    """Return the scenario file and the overrides of a point.

    A file below the working directory is relative.
    """
    name, overrides = plan.scenario_of(entry.point)
    path = os.path.normpath(data / "scenarios" / name)
    relative = os.path.relpath(path)
    return {SCENARIO: path if relative.startswith("..") else relative, **dict([*entry.settings, *overrides])}


def _completed(rows: Sequence[Row]) -> list[Row]:
    """Complete each row with a value for every key, by default the scenario's own."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    contents: dict[str, Any] = {
        path: json.loads(Scenario.load(path).to_json()) for path in {row[SCENARIO] for row in rows}
    }
    completed: list[Row] = []
    for row in rows:
        values = {key: row.get(key, _value_at(contents[row[SCENARIO]], key)) for key in keys}
        completed.append({key: value for key, value in values.items() if value is not None})
    return completed


def _value_at(scenario: Any, key: str) -> str | None:
    """Return the value of a dotted key as text, or None."""
    for part in key.split("."):
        index = int(part) if isinstance(scenario, list) and part.isdigit() else part
        try:
            scenario = scenario[index]
        except (KeyError, IndexError, TypeError):
            return None
    if isinstance(scenario, bool):
        return "true" if scenario else "false"
    return str(scenario) if isinstance(scenario, str | int | float) else None


def _lines(
    plan: Plan, selectors: Sequence[str], rows: Sequence[Row], runs: int, series: bool
) -> Iterator[str]:
    """Yield the lines of a campaign file: a grid if the points form one, otherwise a list of points."""
    text = " ".join(selectors)
    yield f"# The points of umts reproduce {text}, to be edited; the campaign is not scored:"
    yield "#"
    yield "#     umts sweep THIS_FILE"
    yield "version = 1"
    yield f"name = {_toml_string(re.sub('[^A-Za-z0-9._-]+', '-', text))}"
    yield f"title = {_toml_string(plan.title)}"
    yield f"scenario = {_toml_string(rows[0][SCENARIO])}      # relative to this file"
    yield f"runs = {runs}"
    if series:
        yield "series = true"
    keys = list(dict.fromkeys(key for row in rows for key in row))
    constant = [key for key in keys if len({row.get(key) for row in rows}) == 1]
    varied = [key for key in keys if key not in constant]
    values = {key: list(dict.fromkeys(row[key] for row in rows if key in row)) for key in varied}
    # The rows form a grid if every combination of the values occurs.
    combinations = {tuple(row.get(key) for key in varied) for row in rows}
    is_grid = SCENARIO not in varied and combinations == set(itertools.product(*values.values()))
    if varied and not is_grid:
        yield "list = ["
        for row in rows:
            pairs = ", ".join(f"{key} = {_toml_value(row[key])}" for key in varied if key in row)
            yield f"    {{ {pairs} }},"
        yield "]"
    yield from _table("set", {key: _toml_value(rows[0][key]) for key in constant if key != SCENARIO})
    if varied and is_grid:
        yield from _table("grid", {key: f"[{', '.join(map(_toml_value, values[key]))}]" for key in varied})


def _table(name: str, values: Mapping[str, str]) -> Iterator[str]:
    if values:
        yield ""
        yield f"[{name}]"
        yield from (f"{key} = {value}" for key, value in values.items())


def _toml_value(text: str) -> str:
    """Return a value in TOML: numbers and booleans as they are, and all else as a string."""
    if text in {"true", "false"} or re.fullmatch(r"-?\d+(\.\d+)?", text):
        return text
    return _toml_string(text)


def _toml_string(text: str) -> str:
    """Return a text as a TOML string."""
    # TOML's basic strings are JSON's, except for control characters, which do not occur here.
    return json.dumps(text, ensure_ascii=False)

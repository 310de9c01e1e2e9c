"""Converts the conditions of a claim to points of a plan.

A plan describes experiments. A dimension is a parameter of these experiments, such as ``tcp`` or
``bler``, and a point has a value for each dimension. A claim has conditions, for example
``{bler = [0.0, 0.3], tcp = "reno", vary = "max_dat"}``: it is about Reno, must hold at each BLER that
was run from 0 to 0.3 (each is a *case*), and compares points with different values of ``max_dat`` (a
*varied* dimension). This module finds the cases, and the values of the varied dimensions that were run.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from umtslab.reproduce.claims import Claim, Value
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.plan import AVERAGE, Plan, Point, same, text

_STRUCTURE = {"vary", "num", "den"}
"""Conditions that are not dimensions: the varied dimensions, and the two sides of a ratio."""


@dataclass(frozen=True)
class ResolvedConditions:
    """The conditions of a claim, converted to the points of a plan at which the claim is tested."""

    claim: Claim
    plan: Plan
    cases: tuple[dict[str, Value], ...]
    """Values of all dimensions except the varied ones. The claim must hold for each case."""
    gaps: tuple[str, ...]
    """Reasons why further cases of the claim cannot be run."""
    vary: tuple[str, ...]
    """The varied dimensions."""
    limits: Mapping[str, tuple[Value, ...]]
    """Values of varied dimensions to which the claim is limited."""
    points: Sequence[Point]
    """The points that were run."""

    @property
    def is_scatter(self) -> bool:
        """Whether the claim is about a scatter plot: the varied quantity is measured, not a dimension."""
        return bool(self.vary) and not any(name in self.plan.dimensions for name in self.vary)

    def levels(self, case: Point, name: str) -> list[Value]:
        """Return the values of dimension `name` that were run for the case, within limits."""
        if name in self.limits:
            return _within(self.plan, self.limits[name], case, name, self.points)
        return _available(self.plan, case, name, self.points)

    def includes(self, name: str, value: Value) -> bool:
        """Whether the claim includes this value of a varied dimension."""
        return name not in self.limits or any(same(value, limit) for limit in self.limits[name])

    def matching(self, case: Point) -> list[Point]:
        """Return the points that were run with the case's values."""
        return matching(self.plan, case, self.points)


def matching(plan: Plan, case: Point, points: Sequence[Point]) -> list[Point]:
    """Return the points with the case's values.

    A dimension with the value `AVERAGE` matches every point.
    """
    required = {
        name: value for name, value in case.items() if plan.dimensions[name].is_run and value != AVERAGE
    }
    return [point for point in points if all(same(point[name], value) for name, value in required.items())]


def resolve_conditions(
    claim: Claim, plan: Plan, points: Sequence[Point], sets: Sequence[Point] = (), **overrides: Value
) -> ResolvedConditions:
    """Convert the conditions of a claim to points of a plan.

    Parameters
    ----------
    claim : Claim
        A claim that the plan covers.
    plan : Plan
        The plan.
    points : sequence of Point
        The points that were run.
    sets : sequence of Point
        The points over which means are taken, for claims about means.
    **overrides
        Values that replace the plan's defaults, for example `Plan.honest` (3GPP's accounting).

    Raises
    ------
    Missing
        If the plan does not define a condition, or no run meets it.
    """
    conditions = {**claim.conditions, **plan.interpretations.get(claim.id, {})}
    for name, value in plan.fixed.items():
        if name in conditions and not _equal(conditions[name], value):
            raise Missing(f"no plan for {name} = {conditions[name]}")
    vary = _as_tuple(conditions.get("vary", ()))
    single: dict[str, Value] = dict(overrides)
    listed: dict[str, tuple[Value, ...]] = {}
    for name, given in conditions.items():
        if name in _STRUCTURE or name in plan.fixed or name in plan.ignore:
            continue
        if name not in plan.dimensions:
            raise Missing(f"the plan has no dimension {name}")
        if isinstance(given, list):
            listed[name] = tuple(given)
        else:
            single[name] = given
    are_dimensions = [name in plan.dimensions for name in vary]
    if not all(are_dimensions) and (any(are_dimensions) or not plan.is_averaged(claim)):
        raise Missing(f"the plan does not vary {vary[are_dimensions.index(False)]}")
    if plan.is_averaged(claim):
        points = sets
        if not points:
            raise Missing("the parameter sets of this mean were not run")
        defaults: Point = {**plan.defaults, **plan.average_point()}
    else:
        defaults = plan.defaults
    listed_cases = {name: values for name, values in listed.items() if name not in vary}
    limits = {name: values for name, values in listed.items() if name in vary}
    cases, gaps = _cases(plan, {**defaults, **single}, listed_cases, vary, points)
    return ResolvedConditions(claim, plan, cases, gaps, vary, limits, points)


def _cases(
    plan: Plan,
    single: Mapping[str, Value],
    listed: Mapping[str, tuple[Value, ...]],
    vary: Sequence[str],
    points: Sequence[Point],
) -> tuple[tuple[dict[str, Value], ...], tuple[str, ...]]:
    """Return the cases of a claim, and the reasons why some values in `listed` cannot be run.

    The cases are all combinations of the values in `listed`. In the other dimensions they have the
    values `single`, and for varied dimensions no value.
    """
    base = {name: value for name, value in single.items() if name not in vary}
    constant = {name: value for name, value in base.items() if name not in listed}
    constant_of_runs = {name: value for name, value in constant.items() if plan.dimensions[name].is_run}
    if (reason := plan.lacks(constant_of_runs)) is not None:
        raise Missing(reason)
    choices = {}
    gaps: list[str] = []
    for name, values in listed.items():
        gaps += [reason for value in values if (reason := plan.dimensions[name].missing.get(text(value)))]
        supported = tuple(value for value in values if text(value) not in plan.dimensions[name].missing)
        choices[name] = _within(plan, supported, constant, name, points) if supported else []
    combinations = itertools.product(*choices.values())
    cases = tuple({**base, **dict(zip(choices, values, strict=True))} for values in combinations)
    return cases, tuple(gaps)


def _within(
    plan: Plan, values: tuple[Value, ...], case: Point, name: str, points: Sequence[Point]
) -> list[Value]:
    """Return the values of a dimension that a list selects.

    Two numbers are a range over the values that were run. Of more numbers, those that were
    run are selected. Words are returned unchanged.
    """
    if any(isinstance(value, str) for value in values) or not plan.dimensions[name].is_run or len(values) < 2:
        return list(values)
    low, high = min(map(float, values)), max(map(float, values))
    numbers = [value for value in _available(plan, case, name, points) if not isinstance(value, str)]
    listed = {text(value) for value in values} if len(values) > 2 else None
    inside: list[Value] = [
        value for value in numbers if low <= value <= high and (listed is None or text(value) in listed)
    ]
    if not inside:
        raise Missing(f"nothing was run with {name} from {text(values[0])} to {text(values[1])}")
    return inside


def _available(plan: Plan, case: Point, name: str, points: Sequence[Point]) -> list[Value]:
    """Return the values of dimension `name` among points that share the case's other values."""
    distinct_values: dict[str, Value] = {}
    other_values = {other: value for other, value in case.items() if other != name}
    for point in matching(plan, other_values, points):
        distinct_values.setdefault(text(point[name]), point[name])
    return sorted(distinct_values.values(), key=rank)


def rank(value: Value) -> tuple[int, float, str]:
    """Return a sort key for values of a dimension: numbers by size, then words."""
    try:
        return (0, float(value), "")
    except ValueError:
        return (1, 0.0, str(value))


def label_point(label: str, plan: Plan, vary: Sequence[str]) -> dict[str, Value] | None:
    """Return the values that a label of an order names, or None.

    Labels are ``vegas``, ``1000`` or ``maxdat9000_vegas``.
    """
    candidates = [[label]] if len(vary) < 2 else [[label], label.split("_")]
    for words in candidates:
        values: dict[str, Value] = {}
        for word in words:
            if (named := _label_word(word, plan, vary)) is None:
                break
            values.update([named])
        else:
            return values
    return None


def _label_word(word: str, plan: Plan, vary: Sequence[str]) -> tuple[str, Value] | None:
    """Return the dimension and the value that a word of a label names, or None.

    The word is the value, also with ``_`` for its decimal point. Before the value there may be the
    name of the dimension, a part of the name before or after its last ``_``, or its first letter:
    ``max_dat9``, ``max9``, ``dat9`` and ``m9`` name the value 9 of ``max_dat``.
    """
    for name in vary:
        for value in _known_values(plan, name):
            value_text = text(value)
            stems = ("", name, name.rsplit("_", 1)[0], name.rsplit("_", 1)[-1], name[0])
            forms = {f"{stem}{form}" for stem in stems for form in (value_text, value_text.replace(".", "_"))}
            if word in forms:
                return name, value
    return None


def _known_values(plan: Plan, name: str) -> list[Value]:
    """Return the values of a dimension that the plan runs or defines."""
    listed = [value for sweep in plan.sweeps for value in sweep.grid.get(name, ())]
    dimension = plan.dimensions[name]
    return [
        *listed,
        *dimension.values,
        *dimension.missing,
        *(metric.when[name] for metric in plan.metrics if name in metric.when),
        *([plan.defaults[name]] if name in plan.defaults else []),
    ]


def side_point(side: str, plan: Plan) -> dict[str, Value]:
    """Return the values that a side of a ratio names (``vegas``; ``bler 0.1``; ``user1, part 2``).

    Raises
    ------
    Missing
        If the plan does not define a word.
    """
    values: dict[str, Value] = {}
    for item in side.split(","):
        words = item.strip().removesuffix(" total")
        if words == "both users":
            values["user"] = "all"
        elif (match := re.fullmatch(r"user\s?(\d+)", words)) is not None:
            values["user"] = int(match[1])
        elif (match := re.fullmatch(r"(\w+) (\S+)", words)) is not None and match[1] in plan.dimensions:
            known_values = _known_values(plan, match[1])
            values[match[1]] = next((value for value in known_values if text(value) == match[2]), match[2])
        elif (size := _with_unit(words, plan)) is not None:
            values.update([size])
        elif (named := _label_word(words, plan, list(plan.dimensions))) is not None:
            values.update([named])
        else:
            raise Missing(f"the plan does not know {item.strip()!r}")
    return values


def _with_unit(words: str, plan: Plan) -> tuple[str, Value] | None:
    """Parse a value with the unit that a dimension's name ends with.

    ``file 200 kB`` is the value 200 of ``file_kbytes``.
    """
    match = re.fullmatch(r"(\w+) ([\d.]+) (\S+)", words)
    if match is None or (name := f"{match[1]}_{_UNITS.get(match[3], match[3])}") not in plan.dimensions:
        return None
    return name, float(match[2])


_UNITS = {"kB": "kbytes", "kbit/s": "kbps", "%": "pct"}
"""Spelling of units in names of quantities."""


def _as_tuple(value: object) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (str(value),)


def _equal(condition: object, value: Value) -> bool:
    """Whether a condition is this one value, and not a list of values."""
    return not isinstance(condition, list) and same(condition, value)  # type: ignore[arg-type]

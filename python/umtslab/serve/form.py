"""A scenario as a form of ``umts serve``: each key with value, help, and a slider or a list of choices.

A stop is a value at which a slider can stand. The stops are texts as they are written in a scenario
file, such as ``200 ms``, so the page computes no values. Descriptions, ranges and choices come from
the core's list of scenario keys (``umts params``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from umtslab import _core
from umtslab.quantity import Quantity, quantity
from umtslab.scenario import Scenario

FIRST_KEYS = (
    "duration",
    "radio.bler",
    "rlc.max_dat",
    "rlc.timer_poll",
    "rlc.timer_status_prohibit",
    "rlc.buffer",
    "tcp.variant",
    "tcp.initial_window",
    "tcp.advertised_window",
    "tcp.rto_min",
    "tcp.delayed_ack",
    "rrc.upswitch_threshold",
    "rrc.inactivity",
    "cell.fach.rate",
)
"""Keys shown at first, where the scenario has them. A visitor searches for the other keys."""

_GROUPS = {
    "rlc": "RLC",
    "tcp": "TCP",
    "rrc": "RRC",
    "pdcp": "PDCP",
    "ue": "UE",
    "duration": "Run",
    "seed": "Run",
    "measure": "Run",
}
"""Heading for the keys of a table of the scenario. Other tables have their name as heading."""

_REPEATED_PREFIXES = (
    "ue.rlc.",
    "ue.rrc.",
    "ue.radio.",
    "flow.tcp.",
    "proxy.server_side.",
    "proxy.radio_side.",
)
"""Beginnings of keys that set a key of another table for single UEs, flows or sides of a proxy.

They are not in the form.
"""

_NOT_IN_FORM = frozenset({"extends", "name", "title", "source", "version", "seed"})

_USUAL_STOPS = {
    "duration": ("10 s", "20 s", "30 s", "60 s", "120 s", "300 s", "600 s", "1200 s", "1800 s"),
    "rlc.max_dat": ("1", "2", "3", "4", "6", "8", "10", "15", "20", "30", "40"),
}
"""Stops that do not depend on the current value: around an odd duration, round numbers would be odd."""

_ROUND_MANTISSAS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
"""Stops of other keys are these numbers times powers of ten."""

_PROBABILITY_STEPS = 30
"""Number of equal steps between the stops of a probability."""

_USUAL_MAX_PROBABILITY = 0.3
"""Last stop of a probability. If the current value is above 0.15, the last stop is twice that value."""


@dataclass(frozen=True)
class Choice:
    """One of the values of a key, with a description."""

    value: str
    help: str


@dataclass(frozen=True)
class Key:
    """A key of the form."""

    key: str
    label: str
    group: str
    """Heading under which the form shows the key."""
    is_first: bool
    """Whether the form shows the key at first (`FIRST_KEYS`)."""
    value: str | None
    """Text of the value in the scenario, or None if the key is not set."""
    stops: tuple[str, ...]
    """Values of the slider, in order. Empty for keys without a slider."""
    choices: tuple[Choice, ...]
    words: tuple[str, ...]
    """Words that the key accepts besides numbers, such as ``off``."""
    unit: str
    """Unit of `value` as written. Empty if it has none."""
    help: str


def form(scenario: Scenario) -> tuple[Key, ...]:
    """Return the keys of a scenario that a form can show: `FIRST_KEYS` in their order, then the others."""
    content = json.loads(scenario.to_json())
    keys = {row["key"]: key for row in _core.params() if (key := _key(row, content)) is not None}
    first = [_without_impossible_stops(scenario, keys[name]) for name in FIRST_KEYS if name in keys]
    return (*first, *(key for name, key in keys.items() if name not in FIRST_KEYS))


def _without_impossible_stops(scenario: Scenario, key: Key) -> Key:
    """Return a key without the stops that are errors together with the scenario's other keys."""

    def is_possible(stop: str) -> bool:
        try:
            scenario.with_overrides({key.key: stop})
        except _core.ScenarioError:
            return False
        return True

    return replace(key, stops=tuple(stop for stop in key.stops if is_possible(stop)))


def unit_of(value: str | None) -> str:
    """Return the unit of a value as written, or an empty text."""
    written = None if value is None else quantity(value)
    return "" if written is None else written.unit


def _key(row: dict[str, str], content: dict[str, Any]) -> Key | None:
    """Return the form's entry for a row of the core's list, or None if a form cannot show the key."""
    name = row["key"]
    if (
        name in _NOT_IN_FORM
        or name.startswith(_REPEATED_PREFIXES)
        or "table" in row["kind"]
        or "list" in row["kind"]
    ):
        return None
    if not _has_table(content, name.split(".")[:-1]):
        return None
    value = _value(content, name.split("."))
    choices = tuple(_choices(row, value))
    return Key(
        key=name,
        label=row["label"],
        group=_group(name),
        is_first=name in FIRST_KEYS and value is not None,
        value=value,
        stops=() if choices else _stops(row, value),
        choices=choices,
        words=tuple(re.findall(r' or "(\w+)"', row["kind"])),
        unit=unit_of(value),
        help=_help(row),
    )


def _has_table(content: Any, path: list[str]) -> bool:
    """Whether the scenario has the table at `path` exactly once: a form cannot show several tables.

    `content` is the parsed scenario. A list with one table, as ``[[ue]]``, counts as the table.
    """
    for name in path:
        content = content[0] if isinstance(content, list) and len(content) == 1 else content
        if not isinstance(content, dict) or name not in content:
            return False
        content = content[name]
    return not isinstance(content, list) or len(content) == 1


def _value(content: Any, path: list[str]) -> str | None:
    """Return the text of the value at `path`, or None if there is none or it is a list."""
    for name in path:
        content = content[0] if isinstance(content, list) and len(content) == 1 else content
        content = content.get(name) if isinstance(content, dict) else None
    if content is None or isinstance(content, dict | list):
        return None
    if isinstance(content, bool):
        return "true" if content else "false"
    return f"{content:.12g}" if isinstance(content, float) else str(content)


def _group(name: str) -> str:
    table = name.split(".")[0]
    return _GROUPS.get(table) or table.replace("_", " ").capitalize()


def _help(row: dict[str, str]) -> str:
    """Return description, range and source of a key as sentences."""
    description = row["description"].replace("`", "").replace('"', "")
    limits = f"{row['range'][0].upper()}{row['range'][1:]}" if row["range"] else ""
    sentences = [description, limits, row["source"]]
    return " ".join(
        sentence if sentence.endswith(".") else f"{sentence}." for sentence in sentences if sentence
    )


def _choices(row: dict[str, str], value: str | None) -> Iterator[Choice]:
    for line in row["choices"].splitlines():
        name, _, meaning = line.partition(": ")
        # The variant `python` needs a class, which only the file can name.
        if name != "python" or value == "python":
            yield Choice(name, meaning.replace("`", ""))
    if row["kind"] == "true or false":
        yield Choice("true", "On.")
        yield Choice("false", "Off.")


# ── Sliders ─────────────────────────────────────────────────────────────────────────────────────────


def _stops(row: dict[str, str], value: str | None) -> tuple[str, ...]:
    """Return the stops of a key's slider. Empty for keys without a slider.

    The current value is one of the stops and keeps its spelling. All stops have its unit.
    """
    current = None if value is None else quantity(value)
    # A key that accepts bytes or packets has no common scale.
    if current is None or current.number < 0 or " or packets" in row["kind"]:
        return ()
    if row["kind"].startswith("a probability"):
        return _probabilities(current.number, str(value))
    if (usual_stops := _USUAL_STOPS.get(row["key"])) is not None:
        return tuple(sorted({*usual_stops, str(value)}, key=_in_base_unit))
    # There are no powers of ten around 0.
    if current.number == 0:
        return ()
    numbers = _round_numbers_around(current, is_whole=_is_whole(row["kind"], current))
    low, high = _range_limits(row["range"], current)
    texts = {n: f"{n:.6g} {current.unit}".strip() for n in numbers if low <= n <= high}
    texts[current.number] = str(value)
    return tuple(texts[n] for n in sorted(texts))


def _in_base_unit(value: str) -> float:
    """Return the number of a value in the base unit, such as 0.2 for ``200 ms``. Words come last."""
    number = quantity(value)
    return math.inf if number is None else number.base


def _is_whole(kind: str, current: Quantity) -> bool:
    return "whole number" in kind or current.unit in ("B", "packets", "segments", "PDUs", "frames", "octets")


def _probabilities(value: float, text: str) -> tuple[str, ...]:
    """Return equally spaced probabilities from 0, and the current one with its spelling."""
    last = min(1.0, max(_USUAL_MAX_PROBABILITY, 2 * value))
    numbers = {round(last * step / _PROBABILITY_STEPS, 6) for step in range(_PROBABILITY_STEPS + 1)}
    texts = {n: f"{n:.6g}" for n in numbers}
    texts[value] = text
    return tuple(texts[n] for n in sorted(texts))


def _round_numbers_around(current: Quantity, *, is_whole: bool) -> list[float]:
    """Return round numbers between a tenth of the current number and ten times that number."""
    exponent = math.floor(math.log10(current.number))
    numbers = [
        mantissa * 10.0**power for power in range(exponent - 1, exponent + 2) for mantissa in _ROUND_MANTISSAS
    ]
    in_range = [n for n in numbers if current.number / 10 <= n <= current.number * 10]
    return sorted({float(round(n)) for n in in_range if n >= 1}) if is_whole else in_range


def _range_limits(text: str, current: Quantity) -> tuple[float, float]:
    """Parse a range such as ``1 ms to 1 h``. Returns both limits in the unit of `current`."""
    base_units_per_unit = current.base / current.number
    low, high = 0.0, math.inf
    if (span := re.fullmatch(r"(.+) to (.+)", text)) is not None:
        low, high = _base_limit(span[1], current, low), _base_limit(span[2], current, high)
    elif (minimum := re.fullmatch(r"at least (.+)", text)) is not None:
        low = _base_limit(minimum[1], current, low)
    elif (maximum := re.fullmatch(r"at most (.+)", text)) is not None:
        high = _base_limit(maximum[1], current, high)
    return low / base_units_per_unit, high / base_units_per_unit


def _base_limit(text: str, current: Quantity, default: float) -> float:
    """Return a limit in the base unit, or `default` if it is not of the same kind as `current`.

    Kinds are times, rates, sizes and so on: a limit in bytes says nothing about a value in packets.
    """
    bound = quantity(text)
    return bound.base if bound is not None and bound.kind == current.kind else default

"""A scenario as a form of the page: keys with value, help, choices, and the stops of a slider.

A stop is a value at which the slider can stand. Everything is derived from the core's list of keys.
Stops are texts as written in a scenario file, so the page computes no values.
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

FIRST = (
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
"""Keys shown before a search, where the scenario has them."""

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
_REPEATED = ("ue.rlc.", "ue.rrc.", "ue.radio.", "flow.tcp.", "proxy.server_side.", "proxy.radio_side.")
"""Beginnings of keys that repeat the keys of another table for some users."""

_NOT_IN_FORM = frozenset({"extends", "name", "title", "source", "version", "seed"})
_USUAL_STOPS = {
    "duration": ("10 s", "20 s", "30 s", "60 s", "120 s", "300 s", "600 s", "1200 s", "1800 s"),
    "rlc.max_dat": ("1", "2", "3", "4", "6", "8", "10", "15", "20", "30", "40"),
}
"""Fixed stops. Round numbers around the current value would be odd if a scenario has an odd value."""

_ROUND_MANTISSAS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
_PROBABILITY_STEPS = 30
_USUAL_MAX_PROBABILITY = 0.3
"""Last stop of a probability, unless the current value is more than half of it."""


@dataclass(frozen=True)
class Choice:
    """One of the values of a key, with a description."""

    value: str
    help: str


@dataclass(frozen=True)
class Key:
    """A key of the form. `value` is its text in the scenario, or None if the key is not set."""

    key: str
    label: str
    group: str
    is_first: bool
    value: str | None
    stops: tuple[str, ...]
    """Values of the slider, in order. Empty for keys without a slider."""
    choices: tuple[Choice, ...]
    words: tuple[str, ...]
    """Words that the key takes besides numbers, such as ``off``."""
    unit: str
    help: str


def form(scenario: Scenario) -> tuple[Key, ...]:
    """Return the keys of a scenario that a form can show, the first ones in the order of `FIRST`."""
    content = json.loads(scenario.to_json())
    keys = {row["key"]: key for row in _core.params() if (key := _key(row, content)) is not None}
    first = [_without_impossible_stops(scenario, keys[name]) for name in FIRST if name in keys]
    return (*first, *(key for name, key in keys.items() if name not in FIRST))


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
    if name in _NOT_IN_FORM or name.startswith(_REPEATED) or "table" in row["kind"] or "list" in row["kind"]:
        return None
    if not _has_table(content, name.split(".")[:-1]):
        return None
    value = _value(content, name.split("."))
    choices = tuple(_choices(row, value))
    return Key(
        key=name,
        label=row["label"],
        group=_group(name),
        is_first=name in FIRST and value is not None,
        value=value,
        stops=() if choices else _stops(row, value),
        choices=choices,
        words=tuple(re.findall(r' or "(\w+)"', row["kind"])),
        unit=unit_of(value),
        help=_help(row),
    )


def _has_table(content: Any, path: list[str]) -> bool:
    """Whether the scenario has the table of a key exactly once. A form cannot show several."""
    for name in path:
        content = content[0] if isinstance(content, list) and len(content) == 1 else content
        if not isinstance(content, dict) or name not in content:
            return False
        content = content[name]
    return not isinstance(content, list) or len(content) == 1


def _value(content: Any, path: list[str]) -> str | None:
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
    """Return description, range and source as sentences."""
    text = row["description"].replace("`", "").replace('"', "")
    limits = f"{row['range'][0].upper()}{row['range'][1:]}" if row["range"] else ""
    parts = [text, limits, row["source"]]
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)


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
    """Return the values of a slider around the current one, within the key's range."""
    current = None if value is None else quantity(value)
    if current is None or current.number < 0 or " or packets" in row["kind"]:
        return ()
    if row["kind"].startswith("a probability"):
        return _probabilities(current.number, str(value))
    if (usual := _USUAL_STOPS.get(row["key"])) is not None:
        return tuple(sorted({*usual, str(value)}, key=_in_base_unit))
    if current.number == 0:
        return ()
    numbers = _around(current, is_whole=_is_whole(row["kind"], current))
    low, high = _limits(row["range"], current)
    texts = {n: f"{n:.6g} {current.unit}".strip() for n in numbers if low <= n <= high}
    # The current value keeps its spelling.
    texts[current.number] = str(value)
    return tuple(texts[n] for n in sorted(texts))


def _in_base_unit(value: str) -> float:
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


def _around(current: Quantity, *, is_whole: bool) -> list[float]:
    """Return round numbers from a tenth to ten times the current one."""
    exponent = math.floor(math.log10(current.number))
    numbers = [
        mantissa * 10.0**power for power in range(exponent - 1, exponent + 2) for mantissa in _ROUND_MANTISSAS
    ]
    in_range = [n for n in numbers if current.number / 10 <= n <= current.number * 10]
    return sorted({float(round(n)) for n in in_range if n >= 1}) if is_whole else in_range


def _limits(text: str, current: Quantity) -> tuple[float, float]:
    """Parse a range such as ``1 ms to 1 h``. Returns both limits in the unit of `current`."""
    scale = current.base / current.number
    low, high = 0.0, math.inf
    if (span := re.fullmatch(r"(.+) to (.+)", text)) is not None:
        low, high = _bound(span[1], current, low) / scale, _bound(span[2], current, high) / scale
    elif (minimum := re.fullmatch(r"at least (.+)", text)) is not None:
        low = _bound(minimum[1], current, low) / scale
    elif (maximum := re.fullmatch(r"at most (.+)", text)) is not None:
        high = _bound(maximum[1], current, high) / scale
    return low, high


def _bound(text: str, current: Quantity, default: float) -> float:
    """Return a limit in the base unit, or `default` if it is of another kind than `current`."""
    bound = quantity(text)
    return bound.base if bound is not None and bound.kind == current.kind else default

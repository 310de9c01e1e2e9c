"""JSON with one value per line, with the same bytes as ``json.dumps(value, indent=1)``.

With an indent the standard library encodes in Python, with a call per value. For a run with
hundreds of connections this takes half as long as the simulation. This module encodes the innermost
objects and lists by the C encoder, whose separators may contain line ends. The core writes tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """An object or list that is written by a function."""

    text: Callable[[int], str]
    """Returns the JSON with one value per line, given the depth of the container."""


_CONTAINERS = (dict, list, tuple)


def indented(value: object, depth: int = 0) -> str:
    """Return ``json.dumps(value, indent=1, allow_nan=False)``. Objects must have texts as keys.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
    if isinstance(value, Written):
        return value.text(depth)
    if not isinstance(value, _CONTAINERS) or not value:
        return json.dumps(value, allow_nan=False)
    line = "\n" + " " * (depth + 1)
    if not _holds_containers(value.values() if isinstance(value, dict) else value):
        flat = json.dumps(value, allow_nan=False, separators=("," + line, ": "))
        content, brackets = flat[1:-1], flat[0] + flat[-1]
    elif isinstance(value, dict):
        items = (f"{json.dumps(key)}: {indented(one, depth + 1)}" for key, one in value.items())
        content, brackets = ("," + line).join(items), "{}"
    else:
        content, brackets = ("," + line).join(indented(one, depth + 1) for one in value), "[]"
    return f"{brackets[0]}{line}{content}{line[:-1]}{brackets[1]}"


def _holds_containers(values: Iterable[object]) -> bool:
    return any(isinstance(one, (*_CONTAINERS, Written)) for one in values)

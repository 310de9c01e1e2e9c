"""JSON with a line for each value, octet by octet as the standard library indents it.

That does so in Python, a call for each value; of a run with hundreds of connections it takes half as long as
the simulation. Here innermost objects and lists are written by its encoder in C, whose separators may
hold line ends, and tables by the core.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """An object or a list that writes itself."""

    text: Callable[[int], str]
    """As JSON with a line for each value, given how deep it stands."""


_CONTAINERS = (dict, list, tuple)


def indented(value: object, depth: int = 0) -> str:
    """A value of JSON whose objects have texts as keys, as ``json.dumps(value, indent=1, allow_nan=False)``.

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

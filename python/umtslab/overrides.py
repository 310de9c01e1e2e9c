"""Overrides of a scenario, as shown in tables and figures."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from itertools import pairwise

OverridePairs = tuple[tuple[str, str], ...]
"""Pairs of dotted key and value. Each key occurs once."""

RECORDING_KEYS = (
    "measure.budget",
    "measure.dsch",
    "measure.rlc_pdus",
    "measure.slots",
    "measure.timeline",
    "measure.waterfall",
)
"""Keys that select what a run records and do not change the run."""


def changes(overrides: Iterable[tuple[str, str]]) -> OverridePairs:
    """Return the overrides that change the run. The last value of each key counts."""
    last_values = dict(overrides)
    return tuple((key, value) for key, value in last_values.items() if key not in RECORDING_KEYS)


def changes_of_command(command: str) -> OverridePairs:
    """Return the changes made by the ``--set`` options of a command in the catalogue."""
    if "--set" not in command:
        return ()
    words = shlex.split(command)
    pairs = (value.partition("=") for option, value in pairwise(words) if option == "--set")
    return changes((key, value) for key, _, value in pairs)


def shared_changes(changes: Iterable[OverridePairs]) -> OverridePairs:
    """Return the changes that all lists have, in the order of the first. Empty if there are no lists."""
    first, *others = [*changes] or [()]
    return tuple(pair for pair in first if all(pair in other for other in others))


def changes_text(applied: OverridePairs) -> str:
    """Return changes as text: ``with ue.bearer = ps-384, radio.bler = 0.1``. Empty without changes."""
    return "with " + ", ".join(f"{key} = {value}" for key, value in applied) if applied else ""


def source_text(source: str, applied: OverridePairs) -> str:
    """Describe the source of a scenario, and mark it as changed if there are changes."""
    return f"after {source}, changed" if source and applied else source

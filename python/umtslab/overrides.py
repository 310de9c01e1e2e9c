"""Overrides of a scenario, as shown in tables and figures."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from itertools import pairwise

OverridePairs = tuple[tuple[str, str], ...]
"""Pairs of dotted key and value. Each key occurs once."""

RECORDED_ONLY = ("measure.budget", "measure.dsch", "measure.rlc_pdus", "measure.slots", "measure.waterfall")
"""Keys that select the records of a run and do not change the run."""


def changes(overrides: Iterable[tuple[str, str]]) -> OverridePairs:
    """Return the overrides that change the run. The last value of each key counts."""
    last = dict(overrides)
    return tuple((key, value) for key, value in last.items() if key not in RECORDED_ONLY)


def changes_of_command(command: str) -> OverridePairs:
    """Return the changes made by the ``--set`` options of a command in the catalogue."""
    if "--set" not in command:
        return ()
    words = shlex.split(command)
    pairs = (after.partition("=") for word, after in pairwise(words) if word == "--set")
    return changes((key, value) for key, _, value in pairs)


def shared_changes(changes: Iterable[OverridePairs]) -> OverridePairs:
    """Return the changes common to all lists, in the order of the first list.

    Empty without lists.
    """
    first, *others = [*changes] or [()]
    return tuple(pair for pair in first if all(pair in other for other in others))


def in_words(made: OverridePairs) -> str:
    """Write changes as text: ``with ue.bearer = ps-384, radio.bler = 0.1``.

    Empty without changes.
    """
    return "with " + ", ".join(f"{key} = {value}" for key, value in made) if made else ""


def after(source: str, made: OverridePairs) -> str:
    """Describe the source of a scenario, and mark it as changed if there are changes."""
    return f"after {source}, changed" if source and made else source

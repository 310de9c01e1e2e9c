"""What was changed in a scenario before it ran, as tables and figures tell it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from itertools import pairwise

OverridePairs = tuple[tuple[str, str], ...]
"""Dotted key and value, each key once."""

_RECORDED_ONLY = ("measure.budget", "measure.dsch", "measure.rlc_pdus", "measure.slots", "measure.waterfall")
"""Keys that decide what is kept of a run, and nothing of what happens in it."""


def changes(overrides: Iterable[tuple[str, str]]) -> OverridePairs:
    """Overrides that change the network or what is measured of it: of each key the last one."""
    last = dict(overrides)
    return tuple((key, value) for key, value in last.items() if key not in _RECORDED_ONLY)


def changes_of_command(command: str) -> OverridePairs:
    """The changes that a command of the catalogue makes."""
    if "--set" not in command:
        return ()
    words = shlex.split(command)
    pairs = (after.partition("=") for word, after in pairwise(words) if word == "--set")
    return changes((key, value) for key, _, value in pairs)


def shared_changes(changes: Iterable[OverridePairs]) -> OverridePairs:
    """The changes that all lists have in common, in the order of the first; empty without lists."""
    first, *others = [*changes] or [()]
    return tuple(pair for pair in first if all(pair in other for other in others))


def in_words(made: OverridePairs) -> str:
    """The changes as a line has them: ``with ue.bearer = ps-384, radio.bler = 0.1``; nothing of none."""
    return "with " + ", ".join(f"{key} = {value}" for key, value in made) if made else ""


def after(source: str, made: OverridePairs) -> str:
    """Where a scenario's numbers are from: the source itself, or what was changed of it."""
    return f"after {source}, changed" if source and made else source

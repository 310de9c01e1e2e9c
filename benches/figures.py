"""What a bench measured, kept for the one table that `make bench` ends with.

A bench prints what it finds for whoever runs it alone, and tells `add` the figures that somebody asks for.
They go into the file that the environment variable `UMTS_FIGURES` names, a line of JSON for each; without it
nowhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "UMTS_FIGURES"

SECTIONS = (
    "instructions",
    "start",
    "memory",
    "time",
)
"""In the order of the table: first what is the same on a busy machine."""


@dataclass(frozen=True)
class Figure:
    """A line of the table; texts, since units differ."""

    section: str
    name: str
    ours: str
    goal: str = ""
    peer: str = ""
    """What another tool needs for the same, or another version, measured in turn with ours; often a ratio."""


def add(section: str, name: str, ours: str, *, goal: str = "", peer: str = "") -> None:
    """Keep a figure, if anybody collects them."""
    assert section in SECTIONS, section
    if (file := os.environ.get(FILE)) is not None:
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(Figure(section, name, ours, goal, peer))) + "\n")


def read(file: Path) -> list[Figure]:
    """The figures that were kept, by section, in the order in which they came."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return sorted((Figure(**json.loads(line)) for line in lines), key=lambda one: SECTIONS.index(one.section))


def print_table(figures: Iterable[Figure]) -> None:
    """Print them, as wide as they are."""
    rows = [("figure", "ours", "goal", "beside it")]
    section = ""
    for one in figures:
        if one.section != section:
            section = one.section
            rows.append((section.upper(), "", "", ""))
        rows.append((f"  {one.name}", one.ours, one.goal, one.peer))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for name, ours, goal, peer in rows:
        print(f"{name:<{widths[0]}}  {ours:>{widths[1]}}  {goal:>{widths[2]}}  {peer}".rstrip())

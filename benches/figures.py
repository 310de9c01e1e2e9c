"""Figures of the benches, collected for the table at the end of `make bench`.

A bench prints its results and also passes the important figures to `add`. `add` appends each one as
a line of JSON to the file that the environment variable `UMTS_FIGURES` names. Without the variable
it does nothing.
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
    "size",
    "memory",
    "time",
)
"""Sections in the order of the table. The first ones do not depend on the load of the machine."""


@dataclass(frozen=True)
class Figure:
    """A line of the table. Values are text because units differ."""

    section: str
    name: str
    ours: str
    goal: str = ""
    peer: str = ""
    """Value of another tool or another version, measured in turn with ours; often a ratio."""


def add(section: str, name: str, ours: str, *, goal: str = "", peer: str = "") -> None:
    """Append a figure to the file of `UMTS_FIGURES`, if the variable is set."""
    assert section in SECTIONS, section
    if (file := os.environ.get(FILE)) is not None:
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(Figure(section, name, ours, goal, peer))) + "\n")


def read(file: Path) -> list[Figure]:
    """Read the figures of a file, sorted by section. Figures of a section keep their order."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    loaded = (Figure(**json.loads(line)) for line in lines)
    return sorted(loaded, key=lambda figure: SECTIONS.index(figure.section))


def print_table(figures: Iterable[Figure]) -> None:
    """Print a table with columns as wide as their content."""
    rows = [("figure", "ours", "goal", "beside it")]
    section = ""
    for figure in figures:
        if figure.section != section:
            section = figure.section
            rows.append((section.upper(), "", "", ""))
        rows.append((f"  {figure.name}", figure.ours, figure.goal, figure.peer))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for name, ours, goal, peer in rows:
        print(f"{name:<{widths[0]}}  {ours:>{widths[1]}}  {goal:>{widths[2]}}  {peer}".rstrip())

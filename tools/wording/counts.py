"""Counts of habits by area and kind of text, and their limits."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from texts import Text

WHOLE = "whole tree"
"""The area of all files."""
MIN_LIMIT = 2
"""Number of hits of a habit that every area may have, because rates of short texts mean little."""
PER_WORDS = 10_000


@dataclass(frozen=True)
class Habit:
    """Words that make a text hard to read if they are frequent."""

    name: str
    pattern: re.Pattern[str]
    limit: float
    """Hits per 10,000 words."""


@dataclass(frozen=True)
class Allowed:
    """A phrase that is no hit in files whose path begins with `path`."""

    path: str
    phrase: str


@dataclass(frozen=True)
class Rules:
    """Content of `limits.toml`."""

    habits: tuple[Habit, ...]
    allowed: tuple[Allowed, ...]
    excluded: frozenset[str]

    @classmethod
    def load(cls, path: Path) -> Rules:
        """Read the rules from a file."""
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        habits = (
            Habit(name, re.compile(habit["pattern"], re.IGNORECASE), habit["limit"])
            for name, habit in content["habits"].items()
        )
        allowed = (Allowed(entry["path"], entry["phrase"]) for entry in content["allowed"])
        return cls(tuple(habits), tuple(allowed), frozenset(content["excluded"]))


@dataclass(frozen=True)
class AreaAndKind:
    """An area of the tree, and a kind of text."""

    area: str
    kind: str


@dataclass
class Counts:
    """Words and hits of a place, and the lines with hits."""

    words: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    lines: list[tuple[Text, Counter[str]]] = field(default_factory=list)


@dataclass(frozen=True)
class Excess:
    """A habit that is more frequent in a place than it may be."""

    place: AreaAndKind
    habit: str
    hits: int
    allowed: int


def area(path: str) -> str:
    """Return the crate, the Python package, or the folder of a file."""
    folders = PurePosixPath(path).parts[:-1]
    depth = {"crates": 2, "tools": 2, "tests": 2, "python": 3}
    return "/".join(folders[: depth.get(folders[0], 1)]) if folders else "."


def hits_of(text: Text, rules: Rules) -> Counter[str]:
    """Count the habits in a line, without its allowed phrases."""
    words = text.words
    for allowed in rules.allowed:
        if text.path.startswith(allowed.path):
            words = words.replace(allowed.phrase, " ")
    counts = ((habit.name, len(habit.pattern.findall(words))) for habit in rules.habits)
    return Counter({name: count for name, count in counts if count})


def count(lines: Iterable[Text], rules: Rules) -> dict[AreaAndKind, Counts]:
    """Count words and hits by area, and of the whole tree."""
    counts: dict[AreaAndKind, Counts] = {}
    for text in lines:
        hits = hits_of(text, rules)
        for name in (area(text.path), WHOLE):
            counted = counts.setdefault(AreaAndKind(name, text.kind), Counts())
            counted.words += len(text.words.split())
            counted.hits += hits
            if hits:
                counted.lines.append((text, hits))
    return counts


def limit(habit: Habit, words: int) -> int:
    """Return the number of hits that a text of `words` words may have if it has no ceiling."""
    return max(MIN_LIMIT, int(habit.limit * words / PER_WORDS))


Ceilings = Mapping[AreaAndKind, Mapping[str, int]]
"""Number of hits that a place may have until its text is rewritten, by habit. They may only fall."""


def excesses(counts: Mapping[AreaAndKind, Counts], rules: Rules, ceilings: Ceilings) -> Iterator[Excess]:
    """Return the counts above their limit, or above their ceiling if there is one."""
    for place, counted in counts.items():
        for habit in rules.habits:
            ceiling = ceilings.get(place, {}).get(habit.name, 0)
            allowed = max(ceiling, limit(habit, counted.words))
            if counted.hits[habit.name] > allowed:
                yield Excess(place, habit.name, counted.hits[habit.name], allowed)


def tightened(
    counts: Mapping[AreaAndKind, Counts], rules: Rules, ceilings: Ceilings
) -> dict[AreaAndKind, dict[str, int]]:
    """Return ceilings lowered to the current hits. Ceilings that are not needed any more are left out."""
    lower: dict[AreaAndKind, dict[str, int]] = {}
    for place, by_habit in ceilings.items():
        counted = counts.get(place, Counts())
        for habit in rules.habits:
            hits = min(by_habit.get(habit.name, 0), counted.hits[habit.name])
            if hits > limit(habit, counted.words):
                lower.setdefault(place, {})[habit.name] = hits
    return lower


def load_ceilings(path: Path) -> dict[AreaAndKind, dict[str, int]]:
    """Read ceilings from a file. Without the file, there are none."""
    if not path.exists():
        return {}
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return {AreaAndKind(area, kind): hits for area, kinds in content.items() for kind, hits in kinds.items()}


def write_ceilings(ceilings: Ceilings) -> str:
    """Return the text of a file of ceilings."""
    head = "# Hits allowed until a text is rewritten. They may only fall: check.py --tighten lowers them.\n"
    tables = []
    for place in sorted(ceilings, key=lambda place: (place.area, place.kind)):
        rows = "".join(f'"{habit}" = {hits}\n' for habit, hits in ceilings[place].items())
        tables.append(f'\n["{place.area}"."{place.kind}"]\n{rows}')
    return head + "".join(tables)

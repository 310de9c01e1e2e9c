"""Check the wording of comments, docstrings, strings, Markdown and names of functions.

usage: python tools/wording/check.py [--worst N] [--tighten] [PATH...]

Counts the matches ("hits") of the patterns of `limits.toml` by crate and package. Prints each area
that is above a limit, with the lines that have the most hits, and exits with status 1 if there is
one. With a PATH, prints such lines of the files below it instead. `--tighten` lowers the ceilings
of `ceilings.toml` to the current hits.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from counts import (
    WHOLE,
    AreaAndKind,
    Counts,
    Excess,
    Rules,
    count,
    excesses,
    load_ceilings,
    tightened,
    write_ceilings,
)
from texts import Text, texts

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CEILINGS = HERE / "ceilings.toml"
WIDTH = 160
"""Characters of a line that are printed."""
FREQUENT = "it, its"
"""Habit that does not count for the order of lines, because nearly every line has a hit."""


def files() -> Iterator[str]:
    """Return the files of the repository, also those that are not committed yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in sorted(set(names.split("\0")) - {""}):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            yield name


def prose(rules: Rules) -> Iterator[Text]:
    """Return the prose of the repository, without excluded files."""
    for name in files():
        if name not in rules.excluded and Path(name).suffix in (".rs", ".py", ".md"):
            yield from texts(name, (ROOT / name).read_text(encoding="utf-8"))


def worst(lines: Iterable[tuple[Text, Counter[str]]], number: int, habits: Iterable[str]) -> list[str]:
    """Return the lines with the most hits of these habits."""
    names = set(habits)

    def weight(hits: Counter[str]) -> int:
        return sum(count for name, count in hits.items() if name in names)

    ordered = sorted(lines, key=lambda line: (-weight(line[1]), line[0]))
    return [f"{text.path}:{text.line}: {text.words.strip()[:WIDTH]}" for text, _ in ordered[:number]]


def report(too_frequent: Sequence[Excess], counts: dict[AreaAndKind, Counts], number: int) -> None:
    """Print the counts above their limits, and the worst lines of each place."""
    for excess in too_frequent:
        place = excess.place
        print(f"{place.area}, {place.kind}: {excess.habit}: {excess.hits} hits, {excess.allowed} allowed")
    for place in dict.fromkeys(excess.place for excess in too_frequent):
        habits = {excess.habit for excess in too_frequent if excess.place == place}
        lines = ((text, hits) for text, hits in counts[place].lines if habits & set(hits))
        print(f"\n{place.area}, {place.kind}, worst lines:")
        print("\n".join(worst(lines, number, habits)))


def main() -> int:
    """Check the tree, show lines, or lower the ceilings."""
    parser = argparse.ArgumentParser(
        prog="tools/wording/check.py", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="print the worst lines below these paths")
    parser.add_argument("--worst", type=int, default=10, metavar="N", help="lines to print for each area")
    parser.add_argument("--tighten", action="store_true", help="lower the ceilings to the current hits")
    options = parser.parse_args()
    rules = Rules.load(HERE / "limits.toml")
    counts = count(prose(rules), rules)
    if options.paths:
        lines = [line for place, counted in counts.items() if place.area != WHOLE for line in counted.lines]
        chosen = (line for line in lines if line[0].path.startswith(tuple(options.paths)))
        habits = [habit.name for habit in rules.habits if habit.name != FREQUENT]
        print("\n".join(worst(chosen, options.worst, habits)))
        return 0
    ceilings = load_ceilings(CEILINGS)
    if options.tighten:
        CEILINGS.write_text(write_ceilings(tightened(counts, rules, ceilings)), encoding="utf-8")
        return 0
    too_frequent = list(excesses(counts, rules, ceilings))
    report(too_frequent, counts, options.worst)
    words = sum(counted.words for place, counted in counts.items() if place.area == WHOLE)
    print(f"wording: {words:,} words, {len(too_frequent)} counts above their limits")
    return 1 if too_frequent else 0


if __name__ == "__main__":
    sys.exit(main())

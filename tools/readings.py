"""The verdicts on a document's claims under each reading of what it leaves open, as a table in Markdown.

    python tools/readings.py baiocchi2002 --out results/readings

``reproductions/PAPER/readings.toml`` lists the readings: each is what ``umts reproduce PAPER --quick --set
KEY=VALUE`` tells. Runs are kept in the output folder, and what is there already is not made again.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from umtslab.reproduce.report import turned
from umtslab.reproduce.reproduction import Chapter, reproduce
from umtslab.reproduce.selection import select
from umtslab.store import open_store

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Run every reading, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paper")
    parser.add_argument("--out", type=Path, default=Path("results/readings"), help="where the runs are kept")
    parser.add_argument("--jobs", type=int, default=2, help="workers")
    words = parser.parse_args()
    print("| what is open | reading | verdicts that turn |\n|---|---|---|", flush=True)
    with open_store(words.out) as store:
        for reading in readings(words.paper):
            parts = select(ROOT / "reproductions", places(words.paper, reading))
            changes = list(reading["set"].items())
            chapters = reproduce(parts, store=store, data=ROOT, quick=True, jobs=words.jobs, changes=changes)
            print(row(reading, chapters), flush=True)


def readings(paper: str) -> list[dict[str, Any]]:
    """The readings of a document, in the order of its file."""
    path = ROOT / "reproductions" / paper / "readings.toml"
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["reading"]
    return rows


def places(paper: str, reading: dict[str, Any]) -> list[str]:
    """What of the document one of them is about."""
    return [f"{paper}/{place}" for place in reading.get("only", [])] or [paper]


def row(reading: dict[str, Any], chapters: Iterable[Chapter]) -> str:
    """A line of the table: the claims whose verdict is not the scored one, by the way they turn."""
    ways: dict[str, dict[str, None]] = {}
    for chapter in chapters:
        for scored, changed in turned(chapter):
            name = scored.claim.id.removeprefix(f"{chapter.paper}.")
            ways.setdefault(f"{scored.verdict} → {changed.verdict}", {})[f"`{name}`"] = None
    words = [f"{way}: {', '.join(names)}" for way, names in sorted(ways.items())]
    return f"| {reading['of']} | {reading['is']} | {'; '.join(words) or 'none'} |"


if __name__ == "__main__":
    main()

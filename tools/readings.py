"""The verdicts on a document's claims under each reading of what it leaves open, as a table in Markdown.

    python tools/readings.py baiocchi2002 --out results/readings

``reproductions/PAPER/readings.toml`` lists the readings: each is one ``umts reproduce --quick --set``. Runs are kept in the
output folder, and what is there already is not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Run every reading, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper")
    parser.add_argument("--out", default="results/readings", help="where the runs are kept")
    parser.add_argument("--jobs", help="workers (default: one for each processor)")
    words = parser.parse_args()
    print("| what is open | reading | verdicts that turn |\n|---|---|---|", flush=True)
    for reading in readings(words.paper):
        jobs = ["--jobs", words.jobs] if words.jobs else []
        print(row(reading, _ask([*command(words.paper, reading), "--out", words.out, *jobs])), flush=True)


def readings(paper: str) -> list[dict[str, Any]]:
    """The readings of a document, in the order of its file."""
    path = ROOT / "reproductions" / paper / "readings.toml"
    rows: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["reading"]
    return rows


def command(paper: str, reading: dict[str, Any]) -> list[str]:
    """What is typed behind ``umts`` for one of them."""
    places = [f"{paper}/{place}" for place in reading.get("only", [])] or [paper]
    changes = [word for key, value in reading["set"].items() for word in ("--set", f"{key}={value}")]
    return ["reproduce", *places, "--quick", *changes]


def row(reading: dict[str, Any], told: dict[str, Any]) -> str:
    """A line of the table: the claims whose verdict is another one than the one that is scored, by the way they turn."""
    turned: dict[str, list[str]] = {}
    for chapter in told["chapters"]:
        for scored, changed in zip(chapter["claims"], chapter["changed"], strict=True):
            if scored["verdict"] != changed["verdict"]:
                name = scored["id"].removeprefix(f"{chapter['paper']}.")
                names = turned.setdefault(f"{scored['verdict']} → {changed['verdict']}", [])
                names += [name] if name not in names else []
    words = [f"{way}: {', '.join(f'`{name}`' for name in names)}" for way, names in sorted(turned.items())]
    return f"| {reading['of']} | {reading['is']} | {'; '.join(words) or 'none'} |"


def _ask(words: list[str]) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "umtslab", *words, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"umts {' '.join(words)}\n{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


if __name__ == "__main__":
    main()

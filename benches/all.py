"""Runs all benches and prints a table of their figures, as `make bench` does.

Each bench prints its own results. If a bench fails, the table names it and the others continue.
Usage: all.py [NAME …]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parents[1]
BENCHES = (
    "instructions",
    "commands",
    "startup",
    "speed",
    "analyse",
    "ns2",
    "emulate",
    "proxy",
)


def main() -> int:
    """Run the benches, print the table, and return 1 if one failed."""
    chosen = sys.argv[1:] or BENCHES
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "figures"
        environment = {**os.environ, figures.FILE: str(kept)}
        for name in chosen:
            print(f"\n== {name}", flush=True)
            words = (sys.executable, str(ROOT / "benches" / f"{name}.py"))
            if subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode != 0:
                failed.append(name)
        print("\n== All figures; times depend on the machine; references were measured in alternation\n")
        figures.print_table(figures.read(kept))
    for name in failed:
        print(f"{name} failed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

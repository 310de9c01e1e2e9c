"""Runs all benches and prints a table of their figures, as `make bench` does.

Each bench prints its own results. If a bench fails, the others continue, and it is named at the
end. Usage: all.py [NAME …]
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
    "page",
)


def main() -> int:
    """Run the benches, print the table, and name the benches that failed. Returns 0 in any case."""
    chosen = sys.argv[1:] or BENCHES
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures"
        environment = {**os.environ, figures.FILE: str(file)}
        for name in chosen:
            print(f"\n== {name}", flush=True)
            command = (sys.executable, str(ROOT / "benches" / f"{name}.py"))
            if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode != 0:
                failed.append(name)
        print("\n== All figures; times depend on the machine; references were measured in alternation\n")
        figures.print_table(figures.read(file))
    for name in failed:
        print(f"{name} failed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

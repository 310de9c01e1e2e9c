"""`umts proxy` beside its peers on one path: `python benches/proxy.py [CHECK …] [--seconds N]`.

Client, proxy and server are networks of their own, joined by veth. Each proxy has one thread, and its turn
several times. Figures are of one machine at one time: compare those of a table, best the ratios below it,
which are of one turn each. All has the priority of real time, so what else the machine does takes little
part. A peer that is not installed is left out and told: haproxy is looked for in PATH, or where the variable
HAPROXY says. pepsal is not among the peers: no registry that this project takes programs from has it.
Nothing passes or fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

NETWORKS = Path(__file__).parents[1] / "tests" / "python"
"""Where the path is made, for tests too."""

CHECKS = {
    "peers": "throughput, processor time, delay and connections of each",
    "floods": "how long honest clients wait beside hostile ones",
}


def main() -> None:
    """Measure, as root."""
    parser = argparse.ArgumentParser(description=__doc__)
    told = "; ".join(f"{name}: {what}" for name, what in CHECKS.items())
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=told)
    parser.add_argument("--seconds", type=float, help="for each figure; peers take 5, floods 1")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        _measure(chosen.checks[0], chosen.seconds)
        return
    if os.geteuid() != 0:
        print("benches/proxy.py takes root: it makes three networks")
        return
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(NETWORKS), *([before] if before else [])])
    for name in chosen.checks or CHECKS:
        unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        words = ["--inside", name, *(("--seconds", str(chosen.seconds)) if chosen.seconds else ())]
        subprocess.run([*unshare, sys.executable, __file__, *words], check=True)


def _measure(name: str, seconds: float | None) -> None:
    from proxying import floods, path

    if name == "peers":
        path.measure(seconds or 5.0)
    else:
        floods.measure(seconds or 1.0)


if __name__ == "__main__":
    main()

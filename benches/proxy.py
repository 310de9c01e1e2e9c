"""`umts proxy` beside its peers on one path: `python benches/proxy.py [--seconds N]`. Nothing passes.

Client, proxy and server are networks of their own, joined by veth. Each proxy has one thread, and its turn
several times. Figures are of one machine at one time: compare those of a table, best the ratios below it,
which are of one turn each. All has the priority of real time, so what else the machine does takes little
part. A peer that is not installed is left out and told: haproxy is looked for in PATH, or where the variable
HAPROXY says. pepsal is not among the peers: no registry that this project takes programs from has it.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

NETWORKS = Path(__file__).parents[1] / "tests" / "python"
"""Where the path is made, for tests too."""


def main() -> None:
    """Measure, as root."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        from proxying import path

        path.measure(chosen.seconds)
        return
    if os.geteuid() != 0:
        print("benches/proxy.py takes root: it makes three networks")
        return
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(NETWORKS), *([before] if before else [])])
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    os.execvp(unshare[0], [*unshare, sys.executable, __file__, "--inside", "--seconds", str(chosen.seconds)])


if __name__ == "__main__":
    main()

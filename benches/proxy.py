"""`umts proxy` and other proxies on one path: `python benches/proxy.py [CHECK …] [--seconds N]`.

Client, proxy and server are separate network namespaces, joined by veth. Each proxy has one thread
and is measured several times, in turn with the others. Compare only figures of the same table,
preferably the ratios below it, which are formed within a turn. Everything has a real-time priority,
which reduces the influence of other processes. Proxies that are not installed are left out with a
message: haproxy is searched in PATH, or is the program that the variable HAPROXY names. pepsal is
not included, because no registry that this project uses has it. Nothing passes or fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

NETWORKS = Path(__file__).parents[1] / "tests" / "python"
"""Folder of `proxied_path`, which creates the namespaces and is shared with the tests."""

CHECKS = {
    "peers": "throughput, processor time, delay and connections of each",
    "floods": "how long honest clients wait beside hostile ones",
}


def main() -> None:
    """Run the checks. Needs root."""
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

"""`umts proxy` and other proxies on one path: `python benches/proxy.py [CHECK …] [--seconds N]`.

Client, proxy and server are in separate network namespaces that veth pairs connect. Each proxy has
one thread and is measured several times, in turn with the others. Compare only figures of the same
table, preferably the ratios below it, each of which compares measurements of the same turn. All
processes have a real-time priority, which reduces the influence of other processes. Proxies that
are not installed are left out with a message. haproxy is the program that the variable HAPROXY
names, or is searched in PATH. pepsal is not included, because no registry that this project uses
has it. There is no pass or fail.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests" / "python"
"""Folder of `proxied_path`, which creates the namespaces and is shared with the tests."""

CHECKS = {
    "peers": "throughput, processor time, delay and connections of each",
    "floods": "how long honest clients wait beside hostile ones",
}


def main() -> None:
    """Run the checks, each in namespaces of its own. Needs root."""
    parser = argparse.ArgumentParser(description=__doc__)
    descriptions = "; ".join(f"{name}: {description}" for name, description in CHECKS.items())
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=descriptions)
    parser.add_argument("--seconds", type=float, help="for each figure; peers take 5, floods 1")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        _measure(chosen.checks[0], chosen.seconds)
        return
    if os.geteuid() != 0:
        print("benches/proxy.py needs root: it creates three networks")
        return
    old_path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS), *([old_path] if old_path else [])])
    for name in chosen.checks or CHECKS:
        unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        arguments = ["--inside", name, *(("--seconds", str(chosen.seconds)) if chosen.seconds else ())]
        subprocess.run([*unshare, sys.executable, __file__, *arguments], check=True)


def _measure(name: str, seconds: float | None) -> None:
    """Run one of the benches, each for `seconds` or its default."""
    from proxying import floods, path

    if name == "peers":
        path.measure(seconds or 5.0)
    else:
        floods.measure(seconds or 1.0)


if __name__ == "__main__":
    main()

"""Emulation of a program among the 1,800 users and 864 calls of `dsch-5km`, with a replay."""

from __future__ import annotations

import subprocess
from pathlib import Path

import figures

from emulation.cell import cost
from emulation.lateness import bare_timer, lateness_of
from emulation.session import UMTS, Emulation, emulations

SCENARIO = Path(__file__).parents[2] / "scenarios" / "dsch-5km.toml"
DOWNLOADS = "while curl -sS -o /dev/null http://a.example/bytes/200000; do sleep 3; done"


def check(seconds: float) -> None:
    """Print lateness beside a bare timer, CPU time, and whether the replay is equal."""
    command = ["sh", "-c", f'timeout {seconds:g} sh -c "{DOWNLOADS}"; true']
    bare = bare_timer(seconds)
    with emulations(["--record", "--scenario", str(SCENARIO), "--", *command]) as (done,):
        timer = lateness_of(bare)
        replayed = subprocess.run([UMTS, "replay", str(done.folder)], capture_output=True, text=True)
    print(f"a program in the system of 36 cells over {seconds:g} s")
    print(f"  {cost(done)}")
    print(f"  packets released late by {_ms(done, 'released')}; work between two sleeps {_ms(done, 'work')}")
    print("  bare timer: p50 {:.3f}, p99 {:.3f}, max {:.3f} ms".format(*timer))
    print(f"  replay: {(replayed.stdout + replayed.stderr).strip().splitlines()[-1]}")
    share = 100 * done.fidelity["cpu_s"] / done.fidelity["duration_s"]
    figures.add("time", "umts emulate among 1,800 users, % of a core", f"{share:.1f}", goal="≤ 8")


def _ms(done: Emulation, quantity: str) -> str:
    """Return the 99th percentile and the maximum of a quantity, in milliseconds, as text."""
    p99, maximum = (1000 * done.fidelity[f"{quantity}_{name}_s"] for name in ("p99", "max"))
    return f"p99 {p99:.3f}, max {maximum:.3f} ms"

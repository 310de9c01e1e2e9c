"""What an event of a TDD cell costs with 48 users, with 480 in ten cells, and with 480 in one.

Instructions per event, start-up left out by the difference of two lengths, so a busy machine counts the
same as a quiet one. Users are those of `scenarios/tdd-mixed.toml`: a third uploads, the others have the
web. In one cell with 480 users hardly anybody gets capacity at once: memory must not follow the time that
passes. Nothing here passes or fails. Usage: tdd_cells.py
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import figures
import instructions

ROOT = Path(__file__).resolve().parents[1]
MIXED = ROOT / "scenarios" / "tdd-mixed.toml"
UPLOADS, WEB = 16, 32
"""Users of a cell."""

CELL = """
[[cell]]
name = "{name}"
duplex = "tdd"
iub = {{ rate = "unlimited", delay = "0 ms" }}
tdd = {tdd}

[[ue]]
name = "ftp-{name}"
cell = "{name}"
count = {uploads}
bearer = "granted"

[[ue]]
name = "www-{name}"
cell = "{name}"
count = {web}
bearer = "granted"

[[flow]]
ue = "ftp-{name}"
traffic = "ftp"
direction = "uplink"
start = "0.5 s"

[[flow]]
ue = "www-{name}"
traffic = "pareto_www"
direction = "downlink"
pareto_www = {pareto}
tcp = {{ connection = "full_duplex" }}
"""


@dataclass(frozen=True)
class Network:
    """A network, and two lengths of run in seconds."""

    name: str
    scenario: Path
    lengths: tuple[int, int]


def inline(value: object) -> str:
    """A value of TOML on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def many_cells(folder: Path, cells: int) -> Path:
    """The users of the mixed cell, in so many of its kind."""
    ftp, mixed = (
        tomllib.loads((ROOT / "scenarios" / name).read_text()) for name in ("tdd-ftp.toml", "tdd-mixed.toml")
    )
    tdd, pareto = inline(ftp["cell"][0]["tdd"]), inline(mixed["flow"][1]["pareto_www"])
    further = (
        CELL.format(name=f"cell-{number}", tdd=tdd, pareto=pareto, uploads=UPLOADS, web=WEB)
        for number in range(1, cells)
    )
    path = folder / f"{cells}-cells.toml"
    head = f'version = 1\nextends = "{MIXED}"\nname = "tdd-{cells}-cells"\n'
    first = "".join(f'[[ue]]\nname = "{name}"\ncell = "tdd"\n' for name in ("ftp", "www"))
    path.write_text(head + first + "".join(further))
    return path


def one_cell(folder: Path, times: int) -> Path:
    """The mixed cell with so many times its users."""
    path = folder / "one-cell.toml"
    counts = "".join(
        f'[[ue]]\nname = "{name}"\ncount = {times * count}\n'
        for name, count in (("ftp", UPLOADS), ("www", WEB))
    )
    path.write_text(f'version = 1\nextends = "{MIXED}"\nname = "tdd-one-cell"\n{counts}')
    return path


def per_event(network: Network) -> float:
    """Instructions of an event, starting up left out."""
    counted = [
        (instructions.instructions([*command(network, length_s)]), events(network, length_s))
        for length_s in network.lengths
    ]
    (early, few), (late, many) = counted
    return (late - early) / (many - few)


def command(network: Network, length_s: int) -> list[str | Path]:
    """The program that runs a scenario and nothing else."""
    return [instructions.PLAIN, network.scenario, "metrics", f"duration={length_s} s"]


def events(network: Network, length_s: int) -> int:
    """How many events a run has."""
    done = subprocess.run(command(network, length_s), check=True, capture_output=True, text=True)
    return int(re.findall(r"\d+", done.stdout)[0])


def peak_mib(network: Network, length_s: int) -> float:
    """The most memory that a run holds."""
    process = subprocess.Popen(command(network, length_s), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{network.name}: exit status {process.returncode}")
    return usage.ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    instructions.build()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        networks = (
            Network("48 users in a TDD cell", MIXED, (30, 60)),
            Network("480 users in ten TDD cells", many_cells(folder, 10), (21, 24)),
            Network("480 users in one TDD cell", one_cell(folder, 10), (30, 60)),
        )
        smallest = per_event(networks[0])
        print(f"{'instructions of an event':<34}{'':>8}{'ratio':>8}{'MiB':>8}{'of ten times the time':>24}")
        for network in networks:
            cost = smallest if network is networks[0] else per_event(network)
            short, long = (peak_mib(network, times * network.lengths[1]) for times in (1, 10))
            print(f"{network.name:<34}{cost:>8,.0f}{cost / smallest:>8.2f}{short:>8.1f}{long:>24.1f}")
            name, goal = f"{network.name}, an event", f"{1.2 * smallest:,.0f}"
            figures.add("instructions", name, f"{cost:,.0f}", goal=goal)
            figures.add("memory", f"{network.name}, MiB", f"{long:.1f}")


if __name__ == "__main__":
    main()

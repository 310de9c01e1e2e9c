"""Draws the pictures of these pages from runs of the scenarios that the pages name.

Run by `make pictures`. The pictures have few colours: all together are smaller than one photograph.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LOOK = ("--width", "150mm")
COLOURS = 48


@dataclass(frozen=True)
class Picture:
    """A file of this folder, with its command and its figure."""

    name: str
    run: tuple[str, ...]
    plot: tuple[str, ...]
    colours: int = COLOURS


_FACH = ("run", "scenarios/ftp-on-fach-3gpp.toml", "--series", "--out", "results/fach")
_SWITCHED = ("run", "scenarios/ftp-fach-dch.toml", "--series", "--out", "results/switched")
_ONE = (
    "run",
    "scenarios/ftp-fach-dch.toml",
    "--duration",
    "40 s",
    "--waterfall",
    "3",
    "--out",
    "results/one",
)
_SLOTS = (
    *("run", "scenarios/tdd-mixed.toml", "--duration", "12 s", "--series", "--out", "results/slots"),
    *("--set", "measure.slots=true", "--set", "measure.from=0 s"),
)
_CELLS = ("run", "scenarios/dsch-5km.toml", "--duration", "60 s", "--series", "--out", "results/cells")
_STREETS = ("run", "scenarios/manhattan.toml", "--series", "--out", "results/streets")
_SWEEP = ("sweep", "scenarios/ftp-on-fach.toml", "-P", "radio.bler=0.01,0.05,0.1")

PICTURES = (
    Picture(
        "sweep.png",
        (*_SWEEP, "-P", "tcp.variant=reno,newreno", "--runs", "10"),
        ("ftp-on-fach-by-radio.bler-tcp.variant", "goodput_kbps"),
    ),
    Picture("rtt.png", _FACH, ("results/fach", "rtt", "--until", "60 s")),
    Picture("rrc.png", _SWITCHED, ("results/switched", "rrc", "--until", "60 s")),
    Picture("waterfall.png", _ONE, ("results/one", "waterfall", "--from", "5.4", "--until", "6.2")),
    Picture("slots.png", _SLOTS, ("results/slots", "slots", "--from", "8", "--until", "8.12")),
    Picture("budget.png", _ONE, ("results/one", "budget", "--connection", "7,9,13,15")),
    Picture("map.png", _CELLS, ("results/cells", "map"), colours=192),
    Picture("streets.png", _STREETS, ("results/streets", "map"), colours=192),
)


def draw(pictures: tuple[Picture, ...], folder: Path) -> None:
    """Runs the commands of each picture once, and writes the pictures into a folder."""
    with tempfile.TemporaryDirectory() as work:
        for name in ("scenarios", "traces"):
            (Path(work) / name).symlink_to(ROOT / name)
        for words in dict.fromkeys(picture.run for picture in pictures):
            _umts(Path(work), *words)
        for picture in pictures:
            _umts(Path(work), "plot", *picture.plot, *LOOK, "-o", picture.name)
            few = Image.open(Path(work) / picture.name).convert("RGB").quantize(picture.colours)
            few.save(folder / picture.name, optimize=True)


def _umts(work: Path, *words: str) -> None:
    # The checkout's own package, also where another one is installed.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", "umtslab", *words, *(() if words[0] == "plot" else ("--quiet",))]
    subprocess.run(command, cwd=work, env=environment, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--into", type=Path, default=HERE, help="The folder they are written into.")
    draw(PICTURES, options.parse_args().into)

"""The gallery: every kind of figure, each with the commands that draw it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Figure:
    """A figure: kind, sentence, names of its data in `SOURCES`, and the words of ``umts plot``."""

    kind: str
    sentence: str
    source: str
    words: str

    @property
    def file(self) -> str:
        """The name of the picture."""
        return f"{self.kind.replace(' ', '-')}.png"

    @property
    def command(self) -> str:
        """The command that draws the figure."""
        return f"umts plot {self.words} -o {self.file}"

    @property
    def preparations(self) -> list[str]:
        """The commands that make the data."""
        return [SOURCES[name] for name in self.source.split()]


SOURCES = {
    "losses": 'umts run scenarios/three-losses.toml --duration "20 s" --series --budget --waterfall 0 '
    "--set measure.rlc_pdus=true --out losses",
    "reno": 'umts run scenarios/three-losses.toml --duration "20 s" --series --budget --out reno',
    "newreno": 'umts run scenarios/three-losses.toml --duration "20 s" --set tcp.variant=newreno --series '
    "--budget --out newreno",
    "several": 'umts run scenarios/ftp-on-fach.toml --duration "60 s" --set radio.bler=0.2 --runs 3 --series '
    "--out several",
    "switched": 'umts run scenarios/ftp-fach-dch.toml --duration "60 s" --series --budget --out switched',
    "web": 'umts run scenarios/web-cell.toml --duration "120 s" --series --set "measure.from=0 s" --out web',
    "slots": 'umts run scenarios/tdd-mixed.toml --duration "9 s" --series --set measure.slots=true '
    '--set "measure.from=0 s" --out slots',
    "cells": 'umts run scenarios/dsch-5km.toml --duration "10 s" --series --set measure.dsch=true '
    '--set "measure.from=1 s" --out cells',
    "sweep": "umts sweep scenarios/ftp-on-fach.toml -P radio.bler=0.01,0.1,0.2 -P rlc.max_dat=2,3,9 "
    '--set "duration=60 s" --set measure.budget=true --runs 3 --name sweep --out campaign',
    "best": "umts optimise campaigns/rlc-best-goodput.toml --trials 12 --out studies",
    "matters": "umts sensitivity campaigns/rlc-sensitivity.toml --out studies",
}
"""Commands that make the data of the figures, by name."""

FIGURES = (
    Figure("timeseq", "sequence numbers, losses and acknowledgments", "losses", "losses timeseq --until 4"),
    Figure(
        "cwnd",
        "congestion window and slow start threshold of two results",
        "reno newreno",
        "reno newreno cwnd",
    ),
    Figure(
        "annotated",
        "slow start, recovery, fast retransmits and timeouts of a connection",
        "losses",
        "losses cwnd --annotate",
    ),
    Figure("rtt", "round-trip times and the retransmission timeout", "several", "several rtt"),
    Figure("outstanding", "data in flight", "losses", "losses outstanding --until 6"),
    Figure("goodput", "acknowledged payload over time", "several", "several goodput"),
    Figure("throughput", "payload sent over time", "several", "several throughput"),
    Figure("rlc_buffer", "octets in the RLC buffer", "several", "several rlc_buffer"),
    Figure("mean", "mean over runs with its 95 % band", "several", "several goodput --mean"),
    Figure("pdus", "RLC PDUs as a message sequence", "losses", "losses pdus --from 1 --until 1.4"),
    Figure(
        "waterfall", "one connection from TCP down to PDUs", "losses", "losses waterfall --from 1.5 --until 4"
    ),
    Figure("budget", "the time of a connection by cause", "reno newreno", "reno newreno budget"),
    Figure("rrc", "RRC states of switched users", "switched", "switched rrc"),
    Figure("cell", "DCHs in use, and efficiency", "switched", "switched cell"),
    Figure("rtt_cdf", "distribution of round-trip times", "web", "web rtt_cdf"),
    Figure("delay_cdf", "distribution of SDU delays", "web", "web delay_cdf"),
    Figure("page_cdf", "distribution of page times", "web", "web page_cdf"),
    Figure("user_delay_cdf", "mean SDU delay of each user", "web", "web user_delay_cdf"),
    Figure("user_rate_cdf", "SDU rate of each user, with Jain's index", "web", "web user_rate_cdf"),
    Figure("slots", "slots and codes of a TDD cell", "slots", "slots slots --from 8 --until 8.12"),
    Figure("sir", "signal-to-interference ratio of TDD blocks", "slots", "slots sir --from 8 --until 8.5"),
    Figure("map", "a layout of cells from above", "cells", "cells map"),
    Figure("load", "load, power and postponed requests of cells", "cells", "cells load"),
    Figure("codes", "codes of a DSCH by user and TTI", "cells", "cells codes --from 5 --until 6"),
    Figure("campaign metric", "a metric over a parameter", "sweep", "sweep goodput_kbps --out campaign"),
    Figure(
        "campaign map",
        "a metric over two parameters",
        "sweep",
        "sweep goodput_kbps --against rlc.max_dat --out campaign",
    ),
    Figure("campaign budget", "time budgets of the points", "sweep", "sweep budget --out campaign"),
    Figure("history", "the trials of an optimisation", "best", "rlc-best-goodput history --out studies"),
    Figure("pareto", "the objective against the constraint", "best", "rlc-best-goodput pareto --out studies"),
    Figure(
        "importance", "the influence of each parameter", "best", "rlc-best-goodput importance --out studies"
    ),
    Figure(
        "effects", "the effects of a sensitivity study", "matters", "rlc-sensitivity effects --out studies"
    ),
)


def write(into: Path) -> None:
    """Run every source, draw every figure, and write the page below a folder."""
    pictures = into / "gallery"
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        for name in ("scenarios", "campaigns", "traces"):
            (Path(work) / name).symlink_to(ROOT / name)
        for command in SOURCES.values():
            umts(Path(work), f"{command} --quiet")
        for figure in FIGURES:
            umts(Path(work), figure.command)
            (Path(work) / figure.file).rename(pictures / figure.file)
    (into / "gallery.md").write_text(page(), encoding="utf-8")


def umts(work: Path, command: str) -> None:
    """Run a command line of ``umts`` in a folder, with the package of this tree."""
    words = shlex.split(command)[1:]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        [sys.executable, "-m", "umtslab", *words],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"gallery: {command}\n{done.stdout}{done.stderr}")


def page() -> str:
    """Return the page of the gallery."""
    parts = [
        "# Gallery",
        "Every kind of figure, with the commands that draw it: first the run, the campaign or the study, "
        "then the figure. [figures.md](figures.md) has all options. The commands run when the site is built.",
    ]
    for figure in FIGURES:
        parts += [
            f"## {figure.kind}",
            f"{figure.sentence[0].upper()}{figure.sentence[1:]}.",
            f"![{figure.sentence}](gallery/{figure.file})",
            "\n".join(["```sh", *figure.preparations, figure.command, "```"]),
        ]
    return "\n\n".join(parts) + "\n"

"""CPU time and peak memory of whole commands, start-up included.

The commands run in turn with an interpreter that does nothing, because on a shared machine only
interleaved runs are comparable. The table shows medians of user and system time. With `--against
FOLDER`, a built checkout of another version, its commands run in turn with ours. A first round
caches byte code in a separate folder, so the cache of the environment has no influence. There is no
pass or fail.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import figures
from environment import with_byte_code

ROOT = Path(__file__).resolve().parents[1]
FTP = str(ROOT / "scenarios" / "ftp-on-fach.toml")
POINTS = (FTP, "-P", "radio.bler=0.1,0.2", "--set", "duration=1 s", "--jobs", "1")


@dataclass(frozen=True)
class Command:
    """Arguments of `umts`, the goal for CPU time in ms, and the expected exit status."""

    arguments: tuple[str, ...]
    goal_ms: int
    status: int = 0
    name: str = ""

    def __str__(self) -> str:
        return self.name or "umts " + " ".join(Path(argument).name for argument in self.arguments)


MOST_MB = 35
"""Goal for the peak memory in MB of the first command, a run that prints JSON."""

COMMANDS = (
    Command(("run", FTP, "--json"), 130),
    Command(("run", FTP), 130),
    Command(("run", FTP, "--duration", "1 s", "--json"), 90),
    Command(("run", FTP, "--runs", "2", "--duration", "1 s", "--json", "-j", "1"), 100),
    Command(("--help",), 40),
    Command(("--version",), 40),
    *(Command((verb, "--help"), 50) for verb in ("run", "sweep", "emulate", "plot", "analyse", "export")),
    Command(("analyse", "captures/server.pcapng"), 55, name="umts analyse of 1.4 MB"),
    Command(("analyse", "captures/server.pcapng", "--json"), 55, name="umts analyse of 1.4 MB, --json"),
    Command(("run", FTP, "--sed", "1"), goal_ms=70, status=2),
    Command(("rnu", FTP), goal_ms=70, status=2),
    Command(("run", "nofile.toml"), goal_ms=70, status=2),
    Command(("sweep", *POINTS, "--out", "swept"), 100, name="umts sweep, all points there"),
    Command(("params",), 50),
)


@dataclass
class Measured:
    """CPU times of the rounds in ms, and the largest peak memory in MB."""

    cpu_ms: list[float] = field(default_factory=list)
    peak_mb: float = 0.0

    def add(self, command: Sequence[str], folder: Path, package: Path | None, status: int) -> None:
        """Run a command once in a folder and add its measurements."""
        environment = with_byte_code(folder / "byte-code", package)
        silent = subprocess.DEVNULL
        child = subprocess.Popen(command, cwd=folder, env=environment, stdout=silent, stderr=silent)
        _, wait_status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(wait_status)
        if child.returncode != status:
            raise SystemExit(f"{' '.join(command)} ended with status {child.returncode}")
        self.cpu_ms.append(1000 * (usage.ru_utime + usage.ru_stime))
        self.peak_mb = max(self.peak_mb, usage.ru_maxrss / 1000)

    def __str__(self) -> str:
        return f"{statistics.median(self.cpu_ms):6.0f} ({min(self.cpu_ms):.0f} to {max(self.cpu_ms):.0f})"


def prepare(folder: Path, package: Path) -> None:
    """Create a capture of about 1.4 MB, and run a campaign."""
    umts = [sys.executable, "-m", "umtslab"]
    environment = with_byte_code(folder / "byte-code", package)
    for arguments in (
        ("run", FTP, "--pcap", "--duration", "1450 s", "--out", "recorded"),
        ("sweep", *POINTS, "--out", "swept"),
    ):
        subprocess.run([*umts, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    [captures] = (folder / "recorded" / "runs").glob("*/captures")
    shutil.copytree(captures, folder / "captures")
    size = (folder / "captures" / "server.pcapng").stat().st_size
    print(f"the capture has {size / 1e6:.2f} MB\n")


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", metavar="FOLDER", type=Path, help="a built checkout of another version")
    parser.add_argument(
        "--rounds", metavar="N", type=int, default=11, help="how often each runs (default: 11)"
    )
    options = parser.parse_args()
    packages = [folder / "python" for folder in (ROOT, *([options.against] if options.against else []))]
    bare = Measured()
    measured = {command: [Measured() for _ in packages] for command in COMMANDS}
    with tempfile.TemporaryDirectory() as temporary:
        folders = [Path(temporary) / str(number) for number in range(len(packages))]
        for folder, package in zip(folders, packages, strict=True):
            folder.mkdir()
            prepare(folder, package)
        for number in range(options.rounds + 1):
            if number == 1:  # The first round, which writes byte code, is dropped.
                bare = Measured()
                measured = {command: [Measured() for _ in packages] for command in COMMANDS}
            bare.add([sys.executable, "-c", "pass"], folders[0], None, 0)
            for command, versions in measured.items():
                line = [sys.executable, "-m", "umtslab", *command.arguments]
                for version, folder, package in zip(versions, folders, packages, strict=True):
                    version.add(line, folder, package, command.status)
    _print(bare, measured)
    return 0


def _print(bare: Measured, measured: dict[Command, list[Measured]]) -> None:
    """Print the medians and ranges of the commands' CPU times, with their goals."""
    print(f"{'CPU time in ms, median (least to most)':<58}{'at most':>8}   here")
    print(f"{'python -c pass':<58}{'':>8} {bare}")
    for command, (here, *there) in measured.items():
        median = statistics.median(here.cpu_ms)
        share = f"{median / statistics.median(bare.cpu_ms):.1f} times python -c pass"
        figures.add("start", f"{command}, ms", f"{median:.0f}", goal=str(command.goal_ms), peer=share)
        against = "".join(f"  the other {other}, {other.peak_mb:.0f} MB" for other in there)
        print(f"{command!s:<58}{command.goal_ms:>8} {here}, {here.peak_mb:.0f} MB{against}")
    plain, *_ = measured[COMMANDS[0]]
    figures.add("memory", f"{COMMANDS[0]}, MB", f"{plain.peak_mb:.0f}", goal=str(MOST_MB))


if __name__ == "__main__":
    sys.exit(main())

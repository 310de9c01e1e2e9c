"""Causes of retransmissions as `umts analyse` tells them, against the counters of the kernel that sent them.

Linux sends over the emulator: random bearers, losses, queues and outages, bulk and in bursts, with reno,
cubic and BBR, with and without selective acknowledgments, timestamps, D-SACK, F-RTO, RACK and tail loss
probes. The server's capture is analysed, and its counts are held against `/proc/net/netstat` and
`/proc/net/snmp` of the server's namespace. Bearers follow from their numbers; what the kernel and the machine
do in real time does not, so that a run is never repeated exactly.

A row is shown for each bearer, ours and in brackets the kernel's where they differ; below it, every
repetition of a bearer that differs. Nothing passes or fails. One difference is to be expected: where probes
are switched off (`tcp_early_retrans=0`), the only segment that is repeated as soon as a probe would be is
taken for one, since nothing in the packet tells. (Linux 6.17 and later go by RACK whatever `tcp_recovery`
says.)

Usage: causes.py [--count N] [--first N] [--keep FOLDER]; needs what `umts emulate` needs.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulation.session import SERVER, UMTS, emulations
from umtslab.captures import CaptureAnalysis, analyse_captures

PROGRAM = str(Path(__file__).parent / "emulation" / "bursts.py")
AT_ONCE = 4

COUNTERS = {
    "tcp_retransmissions": ("RetransSegs",),
    "rto_count": ("TCPTimeouts",),
    "fast_retransmissions": ("TCPSackRecovery", "TCPRenoRecovery"),
    "tail_loss_probes": ("TCPLossProbes",),
    "tail_loss_probe_repairs": ("TCPLossProbeRecovery",),
}
"""Metrics, and the counters that are added up for each. `tail_loss_probes` are those with new data too."""

HEADINGS = ("again", "timeouts", "recovered", "probes", "repairs")

MUST_BE_EQUAL = ("tcp_retransmissions", "rto_count", "fast_retransmissions")

SCENARIO = """
version = 1
name = "causes"
[rlc]
buffer = "{buffer} kB"
[radio]
model = "independent"
bler = {bler}
[[bearer]]
name = "dch"
downlink = {{ rate = "{rate} kbit/s", tti = "{tti} ms" }}
uplink = {{ rate = "64 kbit/s", tti = "20 ms" }}
[[link]]
from = "server"
to = "ggsn"
delay = "{delay} ms"
loss = {loss}
{outage}
[[link]]
from = "ggsn"
to = "sgsn"
[[link]]
from = "sgsn"
to = "rnc"
[[ue]]
name = "ue"
bearer = "dch"
"""

OUTAGE = """[[link.outage]]
from = "{begin} s"
to = "{end} s"
"""


@dataclass(frozen=True)
class Case:
    """A bearer and what is sent over it, by a TCP with these settings."""

    name: str
    scenario: str
    control: str
    settings: dict[str, int]
    bursts: list[str]


@dataclass(frozen=True)
class Outcome:
    """What both say."""

    ours: dict[str, float]
    kernel: dict[str, int]
    analysis: CaptureAnalysis

    @property
    def differing(self) -> list[str]:
        """Metrics that are not as they must be: equal, and no more probes than there were."""
        wrong = [name for name in MUST_BE_EQUAL if self.ours[name] != self.kernel[name]]
        return wrong + [
            name for name in COUNTERS if name not in MUST_BE_EQUAL and self.ours[name] > self.kernel[name]
        ]


def case(number: int, *, has_rack: bool) -> Case:
    """The case with this number; all but RACK follows from it."""
    rng = random.Random(number)
    begin = round(rng.uniform(2, 6), 1)
    outage = OUTAGE.format(begin=begin, end=round(begin + rng.uniform(0.2, 2.5), 1))
    scenario = SCENARIO.format(
        buffer=rng.choice((15, 30, 60, 100)),
        bler=rng.choice((0.0, 0.01, 0.1)),
        rate=rng.choice((64, 128, 256, 384, 384)),
        tti=rng.choice((10, 20)),
        delay=rng.choice((5, 20, 50, 90)),
        loss=rng.choice((0.0, 0.01, 0.03, 0.08, 0.15)),
        outage=outage if rng.random() < 0.25 else "",
    )
    settings = {
        "tcp_recovery": int(has_rack),
        "tcp_early_retrans": 3 if rng.random() < 0.75 else 0,
        "tcp_sack": int(rng.random() < 0.85),
        "tcp_timestamps": int(rng.random() < 0.75),
        "tcp_dsack": int(rng.random() < 0.8),
        "tcp_frto": 2 if rng.random() < 0.8 else 0,
    }
    control = rng.choice(("reno", "cubic", "cubic", "bbr"))
    if rng.random() < 0.4:
        bursts = [f"{rng.randrange(50_000, 250_000)}:0"]
    else:
        sizes = (rng.choice((200, 1_000, 4_000, 15_000, 40_000)) for _ in range(rng.randrange(4, 16)))
        bursts = [f"{size}:{rng.uniform(0.05, 1.5):.2f}" for size in sizes]
    name = f"{number} RACK {'on' if has_rack else 'off'}"
    return Case(name, scenario, control, settings, bursts)


def options(chosen: Case, folder: Path) -> list[str]:
    """Options and command of its emulation."""
    scenario = folder / "scenario.toml"
    scenario.write_text(chosen.scenario)
    (folder / "settings.json").write_text(json.dumps({"tcp": chosen.control, **chosen.settings}))
    counters = str(folder / "counters.json")
    server = [sys.executable, PROGRAM, "serve", counters, *chosen.bursts]
    told = [word for name, value in chosen.settings.items() for word in ("--tcp-set", f"{name}={value}")]
    command = [sys.executable, PROGRAM, "fetch", counters, SERVER[4]]
    words = ["--pcap", "--scenario", str(scenario), "--tcp", chosen.control, *told]
    return [*words, "--server", " ".join(server), "--", *command]


def outcomes(cases: list[Case], root: Path) -> Iterator[tuple[Case, Outcome]]:
    """Each case, emulated."""
    for first in range(0, len(cases), AT_ONCE):
        some = cases[first : first + AT_ONCE]
        folders = [root / chosen.name.replace(" ", "-") for chosen in some]
        for folder in folders:
            folder.mkdir(parents=True)
        every = [options(chosen, folder) for chosen, folder in zip(some, folders, strict=True)]
        with emulations(*every) as finished:
            for chosen, folder, done in zip(some, folders, finished, strict=True):
                capture = folder / "server.pcapng"
                capture.write_bytes((done.folder / "captures" / "server.pcapng").read_bytes())
                yield chosen, outcome(folder)


def outcome(folder: Path) -> Outcome:
    """What the kernel and the analysis of its capture say."""
    counted = json.loads((folder / "counters.json").read_text())
    (analysis,) = analyse_captures([folder / "server.pcapng"], time_sequence=0)
    ours: dict[str, float] = {name: analysis.metrics[name] or 0 for name in COUNTERS}
    ours["tail_loss_probes"] += analysis.metrics["tail_loss_probes_of_new_data"] or 0
    kernel = {name: sum(counted[counter] for counter in COUNTERS[name]) for name in COUNTERS}
    return Outcome(ours, kernel, analysis)


def show(chosen: Case, found: Outcome) -> None:
    """One row, and why."""
    pairs = [(found.ours[name], found.kernel[name]) for name in COUNTERS]
    cells = [f"{ours:.0f}" if ours == kernel else f"{ours:.0f} ({kernel})" for ours, kernel in pairs]
    verdict = "differs" if found.differing else "equal"
    row = "".join(f"{cell:>11}" for cell in cells)
    print(f"{chosen.name:13}{chosen.control:6}{row}  {verdict}", flush=True)
    if found.differing:
        print("   ", ", ".join(f"{name}={value}" for name, value in chosen.settings.items()))
        for sent in repetitions(found.analysis):
            print(f"    {sent['time_s']:10.4f} s  {sent['seq']:>8} to {sent['end']:<8} {sent['cause']}")


def repetitions(analysis: CaptureAnalysis) -> list[dict[str, Any]]:
    """What was sent for another reason than to be sent."""
    sent = analysis.series("sent")
    return [row for row in sent.iter_rows(named=True) if row["cause"] != "new"]


def main() -> None:
    """Run the cases, RACK on and off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="how many bearers")
    parser.add_argument("--first", type=int, default=1, help="number of the first one")
    parser.add_argument("--keep", type=Path, help="keep captures, scenarios and counters in this new folder")
    chosen = parser.parse_args()
    if not Path(UMTS).exists():
        raise SystemExit("there is no command umts beside this interpreter: make setup")
    numbers = range(chosen.first, chosen.first + chosen.count)
    cases = [case(number, has_rack=has_rack) for number in numbers for has_rack in (True, False)]
    print(f"{'bearer':19}" + "".join(f"{name:>11}" for name in HEADINGS))
    equal = 0
    with nullcontext(chosen.keep) if chosen.keep else tempfile.TemporaryDirectory() as folder:
        for one, found in outcomes(cases, Path(folder)):
            show(one, found)
            equal += not found.differing
    print(f"{equal} of {len(cases)} equal")


if __name__ == "__main__":
    main()

"""Retransmissions, timeouts and recoveries in ``umts analyse`` equal the counters of the sender's kernel.

Linux sends over the emulator: random bearers, losses, queues and outages, in bulk and in bursts, with
Reno, CUBIC and BBR, with and without SACK, timestamps, DSACK, F-RTO, RACK and tail loss probes. The
analysis of the server's capture is compared with ``/proc/net/netstat`` and ``/proc/net/snmp`` of the
server's namespace. The number of a case determines its bearer, its traffic and the TCP settings. The
kernel's timing varies.

``UMTS_CAUSES=40`` runs that many cases instead of four.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import command
from umtslab.captures import CaptureAnalysis, analyse_captures

PROGRAM = str(Path(__file__).with_name("bursts.py"))
SERVER_ADDRESS = "10.45.0.1"
CASES = range(1, 1 + int(os.environ.get("UMTS_CAUSES", "4")))

AT_ONCE = 4
"""Number of simultaneous emulations."""

Outcome = tuple[CaptureAnalysis, dict[str, int]]
"""The analysis of the server's capture, and the counters of the server's kernel."""

Outcomes = dict[tuple[int, bool], Future[Outcome]]
"""The outcome of each case, by its number and whether the kernel uses RACK."""

COUNTERS = {
    "tcp_retransmissions": ("RetransSegs",),
    "rto_count": ("TCPTimeouts",),
    "fast_retransmissions": ("TCPSackRecovery", "TCPRenoRecovery"),
}
"""Metrics of the analysis, each with the kernel's counters whose sum it must equal."""

PROBES = {"tail_loss_probes": "TCPLossProbes", "tail_loss_probe_repairs": "TCPLossProbeRecovery"}
"""Metrics that may be smaller than the kernel's counter: some probes cannot be recognised in a
capture."""

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
    """A network, the bursts that are sent over it, and the settings of the TCP that sends them."""

    scenario: str
    control: str
    settings: dict[str, int]
    bursts: list[str]


def make_case(number: int, *, has_rack: bool) -> Case:
    """Return the case with this number, which determines everything except RACK."""
    rng = random.Random(number)
    begin_s = round(rng.uniform(2, 6), 1)
    outage = OUTAGE.format(begin=begin_s, end=round(begin_s + rng.uniform(0.2, 2.5), 1))
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
    return Case(scenario, control, settings, bursts)


def emulate(case: Case, folder: Path) -> Outcome:
    """Run the case."""
    scenario = folder / "scenario.toml"
    scenario.write_text(case.scenario)
    counters = folder / "counters.json"
    server = [sys.executable, PROGRAM, "serve", str(counters), *case.bursts]
    settings = [word for name, value in case.settings.items() for word in ("--tcp-set", f"{name}={value}")]
    options = ["-q", "--pcap", "--scenario", str(scenario), "--tcp", case.control, *settings]
    client = [sys.executable, PROGRAM, "fetch", str(counters), SERVER_ADDRESS]
    words = command("emulate", *options, "--server", " ".join(server), "--", *client)
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    [capture] = (folder / "results" / "runs").glob("*/captures/server.pcapng")
    [analysis] = analyse_captures([capture], time_sequence=0)
    return analysis, json.loads(counters.read_text())


@pytest.fixture(scope="module")
def outcomes(may_emulate: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcomes]:
    """The outcomes of all cases with and without RACK. An emulation waits most of its time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            (number, has_rack): pool.submit(
                emulate, make_case(number, has_rack=has_rack), tmp_path_factory.mktemp(f"case-{number}")
            )
            for number in CASES
            for has_rack in (True, False)
        }


@pytest.mark.slow
@pytest.mark.parametrize("has_rack", [True, False], ids=["rack", "no-rack"])
@pytest.mark.parametrize("number", CASES)
def test_counts_equal_the_kernels(number: int, has_rack: bool, outcomes: Outcomes) -> None:
    analysis, kernel = outcomes[number, has_rack].result()
    for name, counters in COUNTERS.items():
        assert (analysis.metrics[name] or 0) == sum(kernel[counter] for counter in counters), name
    # The kernel counts probes that retransmit and probes with new data together.
    probes = {name: analysis.metrics[name] or 0 for name in PROBES}
    probes["tail_loss_probes"] += analysis.metrics["tail_loss_probes_of_new_data"] or 0
    for name, counter in PROBES.items():
        assert probes[name] <= kernel[counter], name

"""Delays of datagrams over a lossy DCH: emulated and simulated distribution.

Prints the two-sample Kolmogorov-Smirnov distance.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from scipy.stats import ks_2samp
from umtslab import Scenario, open_store, simulate

from emulation import recording
from emulation.session import SERVER, emulations, probe, scenario

INTERVAL_MS = 23.7
"""Not a multiple of the TTI, so that datagrams arrive in all phases of the TTI."""
PAYLOAD = 200
TTI_S = 0.010
SIMULATED = 20_000
"""Number of simulated datagrams, so large that their chance variation hardly affects the distance."""
IDENTIFICATION = slice(4, 6)

NETWORK = """
version = 1
name = "datagrams"
duration = "{duration} s"
[[bearer]]
name = "dch"
downlink = {{ rate = "128 kbit/s", tti = "10 ms" }}
uplink = {{ rate = "64 kbit/s", tti = "10 ms" }}
[radio]
model = "independent"
bler = 0.1
[[ue]]
name = "ue"
bearer = "dch"
"""

SOURCE = f"""
[[flow]]
ue = "ue"
traffic = "cbr"
[flow.cbr]
payload = "{PAYLOAD} B"
interval = "{INTERVAL_MS} ms"
"""


def check(seconds: float) -> None:
    """Print the distance of the two distributions."""
    count = int(1000 * seconds / INTERVAL_MS)
    simulated = _simulated()
    source = probe("datagrams", "--count", count, "--interval", INTERVAL_MS / 1000, "--size", PAYLOAD)
    with scenario(NETWORK.format(duration=1)) as file:
        options = [
            "--scenario",
            file,
            "--server",
            " ".join(source),
            "--",
            *probe("collect", SERVER[4], "--count", count),
        ]
        with emulations(options) as (done,):
            emulated = done.answer["delays_s"]
    test = ks_2samp(emulated, simulated)
    is_punctual = done.fidelity["lateness_p99_s"] < TTI_S / 10
    print(f"delays of datagrams of {PAYLOAD} octets every {INTERVAL_MS} ms, one PDU in ten lost")
    print(
        f"  {len(emulated)} emulated (mean {_mean_ms(emulated):.2f} ms), {len(simulated)} simulated (mean "
        f"{_mean_ms(simulated):.2f} ms): KS distance {test.statistic:.4f}; lateness p99 "
        f"{'below' if is_punctual else 'NOT below'} a tenth of the TTI; {done.verdict()}"
    )


def _simulated() -> list[float]:
    """Return the simulated delays in seconds, from the captures at both ends."""
    duration = SIMULATED * INTERVAL_MS / 1000
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder)) as store:
        (run,) = simulate(Scenario.parse(NETWORK.format(duration=duration) + SOURCE), store=store, pcap=True)
        files = {file.name: file for file in run.captures()}
        sent = {
            packet.data[IDENTIFICATION]: packet.at_ns for packet in recording.read(files["server.pcapng"])
        }
        arrived = [
            (packet.data[IDENTIFICATION], packet.at_ns) for packet in recording.read(files["ue.pcapng"])
        ]
    return [(arrival_ns - sent[identification]) / 1e9 for identification, arrival_ns in arrived]


def _mean_ms(values: list[float]) -> float:
    """Return the mean of times in seconds, in milliseconds."""
    return 1000 * sum(values) / len(values)

"""Maximum packet rate of the event loop: a bearer with PDUs of 1,500 bytes, up to 128 per TTI."""

from __future__ import annotations

import figures

from emulation.cell import cost
from emulation.session import SERVER, WIDE_CORE, emulations, probe, scenario

RATES_MBPS = (48, 120, 150)

TEXT = """
version = 1
name = "fast"
[[bearer]]
name = "dch"
downlink = {{ rate = "{rate} Mbit/s", tti = "10 ms" }}
uplink = {{ rate = "12 Mbit/s", tti = "10 ms" }}
[rlc]
pdu_payload = "1500 B"
buffer = "unlimited"
window = 2047
poll_pdu = 512
{wide}[[ue]]
name = "ue"
bearer = "dch"
"""


def check(seconds: float) -> None:
    """Print the throughput at each rate."""
    print("one bearer with PDUs of 1,500 octets")
    for rate in RATES_MBPS:
        serve = probe("serve", "--seconds", seconds, "--buffer", 0)
        fetch = probe("fetch", SERVER[4], "--seconds", seconds)
        with (
            scenario(TEXT.format(rate=rate, wide=WIDE_CORE)) as file,
            emulations(["--scenario", file, "--server", " ".join(serve), "--", *fetch]) as (done,),
        ):
            measured_rate = f"{done.answer['bits_per_s'] / 1e6:.1f}"
            print(f"  {rate} Mbit/s: {measured_rate} Mbit/s of goodput; {cost(done)}")
            figures.add("time", f"umts emulate, goodput, Mbit/s of {rate}", measured_rate)

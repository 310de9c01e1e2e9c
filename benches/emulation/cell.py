"""Sixty-four users download at 384 kbit/s at the same time, to see whether two cores keep up."""

from __future__ import annotations

from emulation.session import WIDE_CORE, Emulation, emulations, scenario

USERS = 64
RATE_BPS = 384_000

TEXT = f"""
version = 1
name = "full-cell"
{WIDE_CORE}[[ue]]
name = "ue"
count = {USERS}
bearer = "ps-384"
"""


def check(seconds: float) -> None:
    """Print throughput, lateness and CPU time."""
    octets = int(seconds * RATE_BPS / 8)
    curl = f"curl --silent --show-error --retry-connrefused --retry 9 -o /dev/null http://10.45.0.1/bytes/{octets}"
    others = [argument for _ in range(USERS - 1) for argument in ("--ue", curl)]
    with scenario(TEXT) as file, emulations(["--scenario", file, *others, "--", *curl.split()]) as (done,):
        print(f"{USERS} users at {RATE_BPS // 1000} kbit/s")
        print(
            f"  {done.metrics['goodput_kbps']:.0f} kbit/s of goodput in {done.metrics['packets']:.0f} packets"
            f"; {cost(done)}"
        )


def cost(done: Emulation) -> str:
    """Format the emulator's CPU time per incoming packet, and the verdict about the machine."""
    packets = done.card["packets"]["packets_in"]
    cpu_s = done.fidelity["cpu_s"]
    duration = max(1e-9, done.fidelity["duration_s"])
    share = f"{100 * cpu_s / duration:.1f} % of a core"
    return f"{1e6 * cpu_s / packets:.1f} µs of CPU a packet, {share}; {done.verdict()}"

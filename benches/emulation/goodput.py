"""Goodput of kernel TCP over an error-free DCH, compared with the block rate minus headers.

Both directions, IPv4 and IPv6. A packet of 1,500 bytes carries 1,448 bytes of TCP payload over IPv4
and 1,428 over IPv6 (timestamps on). RLC adds one byte, the length indicator of its last PDU (TS
25.322 §9.2.2.8, PDUs of up to 126 bytes). The data share the bearer with the STATUS PDUs for the TCP
acknowledgments of the other direction, each of which takes a whole block; their share is measured.
"""

from __future__ import annotations

import itertools

from emulation.session import SERVER, Emulation, emulations, probe, scenario

PACKET = 1500
LENGTH_INDICATOR = 1
HEADERS = {4: 20 + 32, 6: 40 + 32}
RATE_BPS = 384_000
TTI = "10 ms"

SCENARIO = f"""
version = 1
name = "error-free-dch"
[[bearer]]
name = "dch"
downlink = {{ rate = "{RATE_BPS // 1000} kbit/s", tti = "{TTI}" }}
uplink = {{ rate = "{RATE_BPS // 1000} kbit/s", tti = "{TTI}" }}
[rlc]
buffer = "unlimited"             # no loss: the sockets limit the waiting data
[[ue]]
name = "ue"
bearer = "dch"
"""


def expected_bps(version: int) -> float:
    """Return the payload rate of full packets without gaps and without STATUS PDUs, in bit/s."""
    return RATE_BPS * (PACKET - HEADERS[version]) / (PACKET + LENGTH_INDICATOR)


def arguments(scenario: str, control: str, direction: str, version: int, seconds: float) -> list[str]:
    """Return the options and the command of a transfer."""
    programs = {"down": ("serve", "fetch"), "up": ("sink", "source")}[direction]
    server = probe(programs[0], "--seconds", seconds)
    command = probe(programs[1], SERVER[version], "--seconds", seconds)
    # Windows of 64 kB suffice for the bearer. With larger ones, data would wait in RLC for seconds,
    # and the timer of reno, which has no HyStart, would expire.
    window = ["--tcp-set", "tcp_window_scaling=0"]
    return ["--scenario", scenario, "--tcp", control, *window, "--server", " ".join(server), "--", *command]


def check(seconds: float) -> None:
    """Print the goodput of each case."""
    cases = list(itertools.product(("reno", "cubic"), ("down", "up"), (4, 6)))
    print(f"goodput of kernel TCP, error-free DCH of {RATE_BPS // 1000} kbit/s both ways, {seconds:g} s each")
    with (
        scenario(SCENARIO) as file,
        emulations(*(arguments(file, *case, seconds) for case in cases)) as finished,
    ):
        for (control, direction, version), done in zip(cases, finished, strict=True):
            _show(control, direction, version, done)


def _show(control: str, direction: str, version: int, done: Emulation) -> None:
    """Print a measured goodput and its bound."""
    measured, bound = done.answer["bits_per_s"], expected_bps(version)
    # The metrics count STATUS PDUs by the direction on which they report. Those that share the
    # channel with the data report on the direction of the acknowledgments.
    data, acks = ("", "_uplink") if direction == "down" else ("_uplink", "")
    status, pdus = done.metrics[f"status_pdus_sent{acks}"], done.metrics[f"pdu_transmissions{data}"]
    share = status / (status + pdus) if status and pdus else 0.0
    print(
        f"  {control:5} {direction:4} IPv{version}: {measured / 1000:7.2f} kbit/s, "
        f"{100 * measured / bound - 100:+.2f} % of {bound / 1000:.2f}; "
        f"STATUS PDUs took {100 * share:.2f} % of the blocks; {done.verdict()}"
    )

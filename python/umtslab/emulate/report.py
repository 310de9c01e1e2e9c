"""The summary at the end of an emulation, on standard error: standard output is the command's."""

from __future__ import annotations

import sys

from umtslab import _core
from umtslab.run import Run

_SHOWN = (
    ("goodput_kbps", "goodput of the programs' TCP", "kbit/s", 1.0),
    ("tcp_retransmissions", "TCP retransmissions", "", 1.0),
    ("mean_rtt_s", "mean round-trip time of TCP", "ms", 1000.0),
    ("mean_sdu_delay_s", "mean RLC SDU delay", "ms", 1000.0),
)


def print_summary(result: _core.EmulationResult, run: Run) -> None:
    """What was measured, and how far it can be trusted."""
    lines = [f"emulated {result.duration_s:.1f} s of {run.scenario}"]
    packets = result.packets
    lines.append(
        f"  packets: {packets['packets_in']} in, {packets['packets_out']} out, "
        f"{packets['malformed']} malformed, {packets['unroutable']} for nobody"
    )
    for name, label, unit, scale in _SHOWN:
        value = run.metrics.get(name)
        if value is not None:
            lines.append(f"  {label}: {value * scale:.4g} {unit}".rstrip())
    lines += fidelity_lines(result)
    if run.folder is not None:
        lines.append(f"  kept in {run.folder}")
    print("\n".join(lines), file=sys.stderr)


def fidelity_lines(result: _core.EmulationResult) -> list[str]:
    """The fidelity block."""
    found = result.fidelity
    p50, p99, largest, limit = (1000 * found[f"lateness_{name}_s"] for name in ("p50", "p99", "max", "limit"))
    priority = "real-time priority" if found["real_time"] else "no real-time priority"
    verdict = "DEGRADED: the machine was too slow" if result.degraded else "ok"
    return [
        f"  fidelity: {verdict} ({priority})",
        f"    events late by p50 {p50:.3f} ms, p99 {p99:.3f} ms, at most {largest:.3f} ms",
        f"    {found['late_instants']:.0f} of {found['instants']:.0f} instants late by more than a TTI "
        f"({limit:.0f} ms), {found['released_late']:.0f} packets released that late",
        f"    {found['tun_drops']:.0f} packets dropped in front of the network, "
        f"{result.packets['refused']} behind it",
    ]

"""The summary at the end of an emulation, on standard error: standard output is the command's."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from umtslab import _core
from umtslab.emulate.results import SIMULATED
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
    lines += packet_lines(result.packets)
    for name, label, unit, scale in _SHOWN:
        value = run.metrics.get(name)
        if value is not None:
            lines.append(f"  {label}: {value * scale:.4g} {unit}".rstrip())
    lines += fidelity_lines(result)
    if run.folder is not None:
        lines.append(f"  kept in {run.folder}")
    print("\n".join(lines), file=sys.stderr)
    _print_budgets(run)


def print_json(became: Mapping[str, Any], run: Run, file: TextIO) -> None:
    """The object that ``umts run --json`` prints, with what `became` of the emulation."""
    from umtslab.export import runs_object

    content = {**runs_object(run.scenario, [run]), "emulation": dict(became)}
    print(json.dumps(content, indent=1, allow_nan=False), file=file, flush=True)


def _print_budgets(run: Run) -> None:
    """Where the time of the programs' connections went, and of the simulated users' beside them."""
    from umtslab.budget import has_budget

    if not has_budget(run.metrics):
        return
    from umtslab.analyse.statistics import summarise_metrics
    from umtslab.columns import heading, show
    from umtslab.terminal import budget_table

    for whose, metrics in (("programs", run.metrics), ("simulated users", simulated_budget(run))):
        if metrics:
            print(file=sys.stderr)
            heading(whose, sys.stderr)
            show(budget_table(summarise_metrics([metrics])), sys.stderr)


def simulated_budget(run: Run) -> dict[str, float | None]:
    """Seconds and shares by cause, of all simulated connections together; empty if there were none."""
    from umtslab.budget import causes, seconds

    if SIMULATED not in run.series_kinds():
        return {}
    rows = run.series(SIMULATED)
    names = [seconds(cause) for cause in causes() if seconds(cause) in rows.columns]
    sums: dict[str, float | None] = {name: float(rows[name].sum()) for name in names}
    total = sum(value or 0.0 for value in sums.values())
    if not total:
        return {}
    shares = {name.removesuffix("_s") + "_pct": 100 * (value or 0.0) / total for name, value in sums.items()}
    absent = {seconds(cause): 0.0 for cause in causes()}
    return {**absent, **sums, **shares, seconds("total"): total}


_NOT_CARRIED = (
    ("malformed", "malformed"),
    ("unroutable", "for nobody"),
    ("too_large", "too large, and not to be cut"),
    ("lost_in_core", "lost in the fixed network"),
    ("buffer_full", "without room in front of the radio"),
    ("lost_on_air", "lost on the air"),
    ("refused", "not taken by the kernel"),
    ("inside_at_end", "on their way at the end"),
)


def packet_lines(packets: Mapping[str, int]) -> list[str]:
    """What became of the packets: every one that came in went out, or stands under one reason."""
    lines = [f"  packets: {packets['packets_in']} in, {packets['packets_out']} out"]
    reasons = [f"{packets[name]} {words}" for name, words in _NOT_CARRIED if packets[name]]
    if reasons:
        lines.append(f"    not carried: {', '.join(reasons)}")
    if packets["frames_aside"] or packets["frames_aside_lost"]:
        lines.append(
            f"    {packets['frames_aside']} frames beside the radio (ARP, multicast and the like), "
            f"{packets['frames_aside_lost']} more lost there"
        )
    return lines


def fidelity_lines(result: _core.EmulationResult) -> list[str]:
    """The fidelity block."""
    found = result.fidelity
    p50, p99, largest, limit = (1000 * found[f"lateness_{name}_s"] for name in ("p50", "p99", "max", "limit"))
    priority = "real-time priority" if found["real_time"] else "no real-time priority"
    verdict = "DEGRADED: the machine was too slow" if result.degraded else "ok"
    lines = [
        f"  fidelity: {verdict} ({priority})",
        f"    events late by p50 {p50:.3f} ms, p99 {p99:.3f} ms, at most {largest:.3f} ms",
        f"    {found['late_instants']:.0f} of {found['instants']:.0f} instants late by more than a TTI "
        f"({limit:.0f} ms), {found['released_late']:.0f} packets released that late",
        f"    {found['tun_drops']:.0f} packets dropped in front of the network, "
        f"{result.packets['refused']} behind it",
    ]
    if found["devices_lost"]:
        lines.append(f"    {found['devices_lost']:.0f} devices were taken away or renamed meanwhile")
    return lines

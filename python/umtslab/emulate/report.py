"""The summary at the end of an emulation, on standard error: standard output is the command's."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from umtslab import _core
from umtslab.emulate.faults import Order
from umtslab.emulate.network import dch_of
from umtslab.emulate.sandbox import ue_label
from umtslab.emulate.session import RECORDING, Session
from umtslab.emulate.traffic import SIMULATED_CONNECTIONS
from umtslab.run import Run
from umtslab.scenario import Scenario

_SUMMARY_METRICS = (
    ("goodput_kbps", "goodput of the programs' TCP", "kbit/s", 1.0),
    ("tcp_retransmissions", "TCP retransmissions", "", 1.0),
    ("mean_rtt_s", "mean round-trip time of TCP", "ms", 1000.0),
    ("sdu_delay_ms", "mean RLC SDU delay, down", "ms", 1.0),
)
"""Metrics of the summary: name, label, unit, and the factor from the metric's unit to this unit.

Metrics without a value are not shown.
"""


def print_summary(
    session: Session,
    scenario: Scenario,
    result: _core.EmulationResult,
    run: Run,
    program_metrics: Mapping[str, float],
    orders: Sequence[Order] = (),
) -> None:
    """Print metrics, faults, fidelity and folder of an emulation.

    `program_metrics` are metrics that programs of the emulation measured and reported. `orders` are
    the orders about faults.
    """
    lines = [f"emulated {result.duration_s:.1f} s of {run.scenario}"]
    if (dch := dch_of(scenario)) is not None:
        lines.append(f"  DCH of switched users: {dch}; change it with rrc.dch or --bearer fach-dch@ps-384")
    lines += [f"  {line}" for line in cut_off(session, result)]
    lines += packet_lines(result.packets)
    if result.before_connection is not None:
        lines.append(f"  {first_connection_line(*result.before_connection)}")
    for name, label, unit, scale in _SUMMARY_METRICS:
        value = run.metrics.get(name)
        if value is not None:
            lines.append(f"  {label}: {value * scale:.4g} {unit}".rstrip())
    lines += recovery_lines(run.metrics)
    lines += datagram_lines(run.metrics)
    lines += [
        f"  {name}, reported by a program: {value:.6g}"
        for name, value in program_metrics.items()
        if name in run.metrics
    ]
    lines += fault_lines(orders)
    lines += fidelity_lines(result)
    if run.folder is not None:
        lines.append(f"  stored in {run.folder}")
    print("\n".join(lines), file=sys.stderr)
    _print_budgets(run)
    for line in next_commands(run):
        print(line, file=sys.stderr)


def cut_off(session: Session, result: _core.EmulationResult) -> list[str]:
    """Return a line for each program of a UE that was stopped because the command ended."""
    lines = [
        f"{ue_label(1 + number)} was still running and was stopped with the command: {shlex.quote(words)}"
        for number, (words, status) in enumerate(zip(session.ues, result.ues, strict=False))
        if status is None
    ]
    if lines and not session.waits:
        lines[-1] += " (--wait waits for the programs of all UEs)"
    return lines


def datagram_lines(metrics: Mapping[str, float | None]) -> list[str]:
    """Return the counts of UDP datagrams that programs sent and that did not arrive; empty without any."""
    sent_up, sent_down, received_up, received_down = (
        metrics.get(name) or 0.0
        for name in ("udp_sent_uplink", "udp_sent", "udp_received_uplink", "udp_received")
    )
    if not sent_up and not sent_down:
        return []
    missing = sent_up + sent_down - (received_up + received_down)
    return [f"  UDP datagrams: {sent_up:.0f} up, {sent_down:.0f} down, {missing:.0f} of them did not arrive"]


MAX_FAULT_LINES = 20
"""Maximum number of faults in the summary. ``emulation.json`` has all."""


def fault_lines(orders: Sequence[Order]) -> list[str]:
    """The faults that were added, changed and removed, with their times; empty without any."""
    if not orders:
        return []
    lines = ["  faults set during the emulation:"]
    for order in orders[:MAX_FAULT_LINES]:
        values = ", ".join(f"{key} = {json.dumps(value)}" for key, value in (order.set or {}).items())
        detail = f": {values}" if values else ""
        lines.append(f"    {order.at_ns / 1e9:.3f} s  {order.name} {order.action}{detail}")
    if len(orders) > MAX_FAULT_LINES:
        lines.append(f"    and {len(orders) - MAX_FAULT_LINES} more in emulation.json")
    return lines


def recovery_lines(metrics: Mapping[str, float | None]) -> list[str]:
    """Return the counts of RLC unrecoverable errors and of cell updates; empty if there were none."""
    errors, updates = (metrics.get(name) or 0.0 for name in ("rlc_unrecoverable_errors", "cell_updates"))
    if not errors and not updates:
        return []
    return [f"  RLC unrecoverable errors: {errors:.0f}, cell updates: {updates:.0f}"]


def first_connection_line(waited_s: float, promotion_s: float, used_dns: bool) -> str:
    """Describe the time from the command's first packet until its first connection can send.

    The connection is over TCP or UDP. The time includes `promotion_s`, the time of a promotion that
    the first packet of the connection triggers. `used_dns` is whether names were looked up before.
    """
    promotion = f", of which {promotion_s:.2f} s promotion" if promotion_s else ""
    names = " (DNS)" if used_dns else ""
    return f"before the first connection: {waited_s:.2f} s{promotion}{names}"


def next_commands(run: Run) -> Iterator[str]:
    """Yield the commands that use a stored emulation: figures, captures, replay."""
    from umtslab.plot import proposed_kind

    if run.folder is None:
        return
    place = shlex.quote(str(run.folder))
    if (kind := proposed_kind(run)) is not None:
        yield f"figures:  umts plot {place} {kind}"
    if captures := run.captures():
        yield f"captures: {', '.join(file.name for file in captures)} in {run.folder}/captures"
    if (run.folder / RECORDING).is_file():
        yield f"replay:   umts replay {place}"


def print_json(account: Mapping[str, Any], run: Run, file: TextIO) -> None:
    """Write the object of ``umts run --json``, with `account` (`results.account_of`) under ``emulation``."""
    from umtslab.export import runs_object

    content = {**runs_object(run.scenario, [run]), "emulation": dict(account)}
    print(json.dumps(content, indent=1, allow_nan=False), file=file, flush=True)


def _print_budgets(run: Run) -> None:
    """Print the time budgets of the programs' and of the simulated users' connections."""
    from umtslab.budget import has_budget

    if not has_budget(run.metrics):
        return
    from umtslab.analyse.statistics import summarise_metrics
    from umtslab.terminal import show_budget, transfers_table
    from umtslab.text_table import heading, show

    for owner, metrics in (("programs", run.metrics), ("simulated users", simulated_budget(run))):
        if metrics:
            print(file=sys.stderr)
            heading(owner, sys.stderr)
            summaries = summarise_metrics([metrics])
            show_budget(summaries, sys.stderr)
            if (transfers := transfers_table(summaries)) is not None:
                print(file=sys.stderr)
                show(transfers, sys.stderr)


def simulated_budget(run: Run) -> dict[str, float | None]:
    """Return seconds and shares by cause, summed over all simulated connections; empty without any."""
    from umtslab.budget import causes, seconds

    if SIMULATED_CONNECTIONS not in run.series_kinds():
        return {}
    rows = run.series(SIMULATED_CONNECTIONS)
    names = [seconds(cause) for cause in causes() if seconds(cause) in rows.columns]
    sums: dict[str, float | None] = {name: float(rows[name].sum()) for name in names}
    total = sum(value or 0.0 for value in sums.values())
    if not total:
        return {}
    shares = {name.removesuffix("_s") + "_pct": 100 * (value or 0.0) / total for name, value in sums.items()}
    absent = {seconds(cause): 0.0 for cause in causes()}
    return {**absent, **sums, **shares, seconds("total"): total}


_LOSS_REASONS = (  # key of the packet counts, and its words in the summary
    ("malformed", "malformed"),
    ("unroutable", "without a receiver"),
    ("too_large", "too large, fragmentation not allowed"),
    ("lost_in_core", "lost in the fixed network"),
    ("buffer_full", "dropped by the full RLC buffer"),
    ("lost_on_air", "lost on the air"),
    ("refused", "refused by the kernel"),
    ("inside_at_end", "in flight at the end"),
)


def packet_lines(packets: Mapping[str, int]) -> list[str]:
    """Return the packet counts. Each packet that came in either went out or counts under one reason."""
    lines = [f"  packets: {packets['packets_in']} in, {packets['packets_out']} out"]
    reasons = [f"{packets[name]} {reason}" for name, reason in _LOSS_REASONS if packets[name]]
    if reasons:
        lines.append(f"    not carried: {', '.join(reasons)}")
    if packets["frames_aside"] or packets["frames_aside_lost"]:
        lines.append(
            f"    {packets['frames_aside']} frames passed beside the radio (ARP, multicast and the "
            f"like), {packets['frames_aside_lost']} lost"
        )
    return lines


def degraded_by(result: _core.EmulationResult) -> str:
    """Return why an emulation is degraded."""
    fidelity = result.fidelity
    if fidelity["devices_lost"]:
        return "a device was removed or renamed"
    packets = result.packets
    if fidelity["tun_drops"] or packets["refused"] or packets["frames_aside_lost"]:
        return "packets were lost outside the model"
    return "the machine was too slow"


SHORTEST_S = 1.0
"""In a shorter emulation, starting and ending take most of the CPU time."""


def core_share(fidelity: Mapping[str, float]) -> float | None:
    """CPU time of the emulator divided by its duration; None below `SHORTEST_S`."""
    duration_s = fidelity["duration_s"]
    return fidelity["cpu_s"] / duration_s if duration_s >= SHORTEST_S else None


def _share(share: float | None) -> str:
    return "too short to measure CPU time" if share is None else f"{100 * share:.1f} % of a core"


def fidelity_lines(result: _core.EmulationResult) -> list[str]:
    """Return the lines about the fidelity of the emulation: whether the machine kept up."""
    fidelity = result.fidelity
    p50_ms, p99_ms, largest_ms, limit_ms = (
        1000 * fidelity[f"lateness_{name}_s"] for name in ("p50", "p99", "max", "limit")
    )
    priority = "real-time priority" if fidelity["real_time"] else "no real-time priority"
    verdict = f"DEGRADED: {degraded_by(result)}" if result.degraded else "ok"
    lines = [
        f"  fidelity: {verdict} ({priority})",
        f"    events late by p50 {p50_ms:.3f} ms, p99 {p99_ms:.3f} ms, at most {largest_ms:.3f} ms; "
        f"{_share(core_share(fidelity))}",
        f"    {fidelity['late_instants']:.0f} of {fidelity['instants']:.0f} instants late by more than a TTI "
        f"({limit_ms:.0f} ms), {fidelity['released_late']:.0f} packets released that late",
        f"    {fidelity['tun_drops']:.0f} packets dropped in front of the network, "
        f"{result.packets['refused']} behind it",
    ]
    if fidelity["devices_lost"]:
        lines.append(f"    {fidelity['devices_lost']:.0f} devices were removed or renamed")
    return lines

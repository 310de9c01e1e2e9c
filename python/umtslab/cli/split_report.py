"""Output of ``umts analyse A B --split``: transfers with a connection in both captures."""

from __future__ import annotations

import json as json_text
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from umtslab.captures import MAX_CONNECTIONS
from umtslab.cli.failures import UsageError
from umtslab.numbers import number
from umtslab.split_captures import SplitTransfer, split_transfers
from umtslab.text_table import Table, show

_OF_LEGS = ("goodput_active_kbps", "mean_rtt_s", "tcp_retransmissions", "rto_count")


def split_report(
    captures: Sequence[Path], *, limit: int = MAX_CONNECTIONS, json: bool = False, quiet: bool = False
) -> int:
    """Pair the connections of two captures on both sides of a proxy, and print the transfers."""
    if len(captures) != 2:
        raise UsageError(f"--split compares the two sides of a proxy: give two captures, not {len(captures)}")
    if any(str(capture) == "-" for capture in captures):
        raise UsageError("--split reads its captures more than once, so standard input cannot be used")
    warnings: list[str] = []
    found = split_transfers((captures[0], captures[1]), most_connections=limit, warnings=warnings)
    if not quiet:
        for warning in warnings:
            print(f"warning: {warning}", file=sys.stderr)
    if json:
        _write_json(found, sys.stdout)
        return 0
    print(f"{captures[0]} and {captures[1]}: {len(found)} transfer{'' if len(found) == 1 else 's'}")
    if found:
        print()
        show(_transfers(found), sys.stdout)
        print()
        _show_legs(found, sys.stdout)
    return 0


def _write_json(found: Sequence[SplitTransfer], out: TextIO) -> None:
    """Write transfers one by one, because the rows of both connections contain all metrics."""
    out.write('{\n "transfers": [')
    for place, transfer in enumerate(found):
        text = json_text.dumps(_plain(transfer.as_json()), indent=1, allow_nan=False)
        out.write("," if place else "")
        out.write("\n  " + text.replace("\n", "\n  "))
    out.write("\n ]\n}\n" if found else "]\n}\n")


def _transfers(found: Sequence[SplitTransfer]) -> Table:
    headings = (">octets", ">mean delay (ms)", ">longest (ms)", ">most ahead (B)", "ended")
    table = Table(">transfer", "from", "to", *headings)
    for place, transfer in enumerate(found):
        ends = ("client", "server")
        first, second = transfer.first, transfer.second
        sender = first["sender"] if first["sender"] in ends else "client"
        other = ends[1 - ends.index(sender)]
        table.add_row(
            str(place),
            str(first[sender]),
            str(second[other]),
            str(transfer.octets),
            number(_ms(transfer.delay_s)),
            number(_ms(transfer.longest_delay_s)),
            number(transfer.ahead_octets),
            f"{first['ended']}, {second['ended']}",
        )
    return table


def _show_legs(found: Sequence[SplitTransfer], out: TextIO) -> None:
    """Print both connections of each transfer.

    Round-trip times not measured at the sender are marked.
    """
    headings = (f">{name}" for name in _OF_LEGS)
    table = Table(">transfer", "capture", ">connection", "captured at", *headings)
    is_doubtful = False
    for place, transfer in enumerate(found):
        for capture, row in zip(transfer.captures, (transfer.first, transfer.second), strict=True):
            is_elsewhere = row["position"] != "sender"
            is_doubtful |= is_elsewhere and row["mean_rtt_s"] is not None
            values = (number(row[name]) + _mark(name, is_elsewhere, row[name]) for name in _OF_LEGS)
            identity = (str(place), Path(capture).name, str(row["connection"]), row["position"])
            table.add_row(*identity, *values)
    show(table, out)
    if is_doubtful:
        print("\n* not captured at the sender: round-trip times are not the sender's", file=out)


def _mark(name: str, is_elsewhere: bool, value: float | None) -> str:
    return "*" if name == "mean_rtt_s" and is_elsewhere and value is not None else ""


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


def _plain(value: Any) -> Any:
    """Replace numbers that are not finite by None, as JSON lacks them."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

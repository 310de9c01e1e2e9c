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

_CONNECTION_METRICS = ("goodput_active_kbps", "mean_rtt_s", "tcp_retransmissions", "rto_count")


def split_report(
    captures: Sequence[Path], *, limit: int = MAX_CONNECTIONS, json: bool = False, quiet: bool = False
) -> int:
    """Pair the connections of two captures on both sides of a proxy, and print the transfers."""
    if len(captures) != 2:
        raise UsageError(f"--split compares the two sides of a proxy: give two captures, not {len(captures)}")
    if any(str(capture) == "-" for capture in captures):
        raise UsageError("--split reads its captures more than once, so standard input cannot be used")
    warnings: list[str] = []
    transfers = split_transfers((captures[0], captures[1]), most_connections=limit, warnings=warnings)
    if not quiet:
        for warning in warnings:
            print(f"warning: {warning}", file=sys.stderr)
    if json:
        _write_json(transfers, sys.stdout)
        return 0
    print(f"{captures[0]} and {captures[1]}: {len(transfers)} transfer{'' if len(transfers) == 1 else 's'}")
    if transfers:
        print()
        show(_transfers_table(transfers), sys.stdout)
        print()
        _show_legs(transfers, sys.stdout)
    return 0


def _write_json(transfers: Sequence[SplitTransfer], out: TextIO) -> None:
    """Write transfers one by one, because the rows of both connections contain all metrics."""
    out.write('{\n "transfers": [')
    for index, transfer in enumerate(transfers):
        text = json_text.dumps(_plain(transfer.as_json()), indent=1, allow_nan=False)
        out.write("," if index else "")
        out.write("\n  " + text.replace("\n", "\n  "))
    out.write("\n ]\n}\n" if transfers else "]\n}\n")


def _transfers_table(transfers: Sequence[SplitTransfer]) -> Table:
    headings = (">octets", ">mean delay (ms)", ">longest (ms)", ">most ahead (B)", "ended")
    table = Table(">transfer", "from", "to", *headings)
    for index, transfer in enumerate(transfers):
        first, second = transfer.first, transfer.second
        sender, receiver = ("server", "client") if first["sender"] == "server" else ("client", "server")
        table.add_row(
            str(index),
            str(first[sender]),
            str(second[receiver]),
            str(transfer.octets),
            number(_ms(transfer.delay_s)),
            number(_ms(transfer.longest_delay_s)),
            number(transfer.ahead_octets),
            f"{first['ended']}, {second['ended']}",
        )
    return table


def _show_legs(transfers: Sequence[SplitTransfer], out: TextIO) -> None:
    """Print both connections of each transfer.

    Round-trip times not measured at the sender are marked.
    """
    headings = (f">{name}" for name in _CONNECTION_METRICS)
    table = Table(">transfer", "capture", ">connection", "captured at", *headings)
    has_marks = False
    for index, transfer in enumerate(transfers):
        for capture, row in zip(transfer.captures, (transfer.first, transfer.second), strict=True):
            is_marked = row["position"] != "sender" and row["mean_rtt_s"] is not None
            has_marks |= is_marked
            values = (
                f"{number(row[name])}*" if name == "mean_rtt_s" and is_marked else number(row[name])
                for name in _CONNECTION_METRICS
            )
            identity = (str(index), Path(capture).name, str(row["connection"]), row["position"])
            table.add_row(*identity, *values)
    show(table, out)
    if has_marks:
        print("\n* not captured at the sender: round-trip times are not the sender's", file=out)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


def _plain(value: Any) -> Any:
    """Replace numbers that are not finite by None, as JSON lacks them."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""What ``umts analyse A B --split`` prints: transfers of which both captures have a connection."""

from __future__ import annotations

import json as json_text
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from umtslab.cli.failures import UsageError
from umtslab.columns import Table, show
from umtslab.numbers import number
from umtslab.split_captures import SplitTransfer, split_transfers

_OF_LEGS = ("goodput_active_kbps", "mean_rtt_s", "tcp_retransmissions", "rto_count")


def split_report(captures: Sequence[Path], *, json: bool) -> int:
    """Pair the connections of two captures, and print what lies between them."""
    if len(captures) != 2:
        raise UsageError(f"--split compares the two sides of a proxy: name two captures, not {len(captures)}")
    if any(str(capture) == "-" for capture in captures):
        raise UsageError("--split reads its captures more than once, and standard input can be read once")
    found = split_transfers((captures[0], captures[1]))
    if json:
        told = [_plain(transfer.as_json()) for transfer in found]
        print(json_text.dumps({"transfers": told}, indent=1, allow_nan=False))
        return 0
    print(f"{captures[0]} and {captures[1]}: {len(found)} transfer{'' if len(found) == 1 else 's'}")
    if found:
        print()
        show(_transfers(found), sys.stdout)
        print()
        show(_legs(found), sys.stdout)
    return 0


def _transfers(found: Sequence[SplitTransfer]) -> Table:
    headings = (">octets", ">mean delay (ms)", ">longest (ms)", ">most ahead (B)", "ended")
    table = Table(">transfer", "from", "to", *headings)
    for place, transfer in enumerate(found):
        ends = ("client", "server")
        sender = transfer.first["sender"] if transfer.first["sender"] in ends else "client"
        other = ends[1 - ends.index(sender)]
        table.add_row(
            str(place),
            str(transfer.first[sender]),
            str(transfer.second[other]),
            str(transfer.octets),
            number(_ms(transfer.delay_s)),
            number(_ms(transfer.longest_delay_s)),
            number(transfer.ahead_octets),
            f"{transfer.first['ended']}, {transfer.second['ended']}",
        )
    return table


def _legs(found: Sequence[SplitTransfer]) -> Table:
    table = Table(">transfer", "capture", ">connection", *(f">{name}" for name in _OF_LEGS))
    for place, transfer in enumerate(found):
        for capture, row in zip(transfer.captures, (transfer.first, transfer.second), strict=True):
            values = (number(row[name]) for name in _OF_LEGS)
            table.add_row(str(place), Path(capture).name, str(row["connection"]), *values)
    return table


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


def _plain(value: Any) -> Any:
    """Without numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

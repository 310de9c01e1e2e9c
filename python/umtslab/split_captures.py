"""Two captures of a proxy that splits connections, one on each side.

Which connections belong together, and what the proxy does: octets of both connections of a transfer are the
same, so that times and acknowledgments of one number can be compared. Each capture is read once.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from umtslab import _core

Row = Mapping[str, Any]

Course = list[tuple[float, int]]
"""When (seconds since 1970) a number of octets was first reached."""

_SAME = 256
"""Octets that two connections begin with if they carry the same: what requests have in common is shorter."""

_PROXY_SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
"""What a PROXY protocol header of version 2 begins with."""


@dataclass(frozen=True)
class SplitTransfer:
    """Two connections of a transfer: rows of the tables of connections, in the order in which its data pass.

    ``delay_s`` is the mean time from the first sight of an octet on the first to that on the second,
    ``longest_delay_s`` the longest; ``ahead_octets`` the most that was acknowledged on the first and not on
    the second. None where nothing was sent.
    """

    first: Row
    second: Row
    captures: tuple[str, str]
    octets: int
    delay_s: float | None
    longest_delay_s: float | None
    ahead_octets: int | None

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: the two connections under the names of their captures' places."""
        return {
            "connections": [dict(self.first), dict(self.second)],
            "captures": list(self.captures),
            "octets": self.octets,
            "delay_s": self.delay_s,
            "longest_delay_s": self.longest_delay_s,
            "ahead_octets": self.ahead_octets,
            "ended": [self.first["ended"], self.second["ended"]],
        }


@dataclass(frozen=True)
class _Seen:
    """A connection of one capture."""

    path: str
    row: Row
    begins: tuple[bytes, bytes]
    """What the client's data begin with, and the server's, without words to or of the proxy."""
    sent: Course
    acked: Course

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(str(self.row[end]).rpartition(":")[0] for end in ("client", "server"))

    @property
    def ends(self) -> frozenset[str]:
        return frozenset((self.row["client"], self.row["server"]))

    @property
    def content(self) -> tuple[bytes, bytes] | None:
        """What tells it from others; None if the capture has no payload."""
        client, server = (begin[:_SAME] for begin in self.begins)
        return (client, server) if client or server else None


def split_transfers(paths: tuple[str | os.PathLike[str], str | os.PathLike[str]]) -> list[SplitTransfer]:
    """The transfers of which both captures have a connection, in the order of the first capture.

    Connections are paired by their addresses and ports, then by their hosts. Where no host is shared (an
    explicit proxy has an address of its own on each side), they are paired by what their data begin with, and
    where captures are cut behind the headers, by their openings. Of several that fit, the one that opened
    nearest is taken.

    Raises
    ------
    umtslab.CaptureReadError
        If a file cannot be read or is no capture.
    """
    first, second = ([*_connections(os.fspath(path))] for path in paths)
    return [_transfer(one, other) for one, other in _pairs(first, second)]


def _connections(path: str) -> list[_Seen]:
    """The connections of a capture with their courses, their openings as seconds since 1970."""
    import polars as pl

    from umtslab import _core

    found = _core.analyse_courses(path)
    start = found.start_s or 0.0
    table = pl.DataFrame(found.connections).sort("connection")
    # FIN takes a sequence number and is no octet.
    most = table.select("connection", (pl.col("distinct_bytes") + pl.col("unseen_bytes")).alias("most"))
    sent = _courses(found, "sent", "end", most, start)
    acked = _courses(found, "acked", "ack", most, start)
    # Once: each look makes it anew.
    all_begins = found.begins
    seen = []
    for row in table.iter_rows(named=True):
        number = row["connection"]
        ways = [sent.get(number, []), acked.get(number, [])]
        begins = all_begins.get(number, (b"", b""))
        told = _told_the_proxy(begins)
        if row["sender"] in ("client", "server"):
            before = told[("client", "server").index(row["sender"])]
            ways = [[(at, octets - before) for at, octets in way if octets > before] for way in ways]
        rest = (begins[0][told[0] :], begins[1][told[1] :])
        seen.append(_Seen(path, {**row, "at_s": start + row["opened_s"]}, rest, *ways))
    return seen


def _courses(
    found: _core.Analysis, series: str, column: str, most: pl.DataFrame, start: float
) -> dict[int, Course]:
    """How far data or acknowledgments of each connection had come, where that rises."""
    import polars as pl

    octets = pl.min_horizontal(pl.col(column), pl.col("most").cast(pl.Int64))
    so_far = pl.col("octets").cum_max().over("connection")
    before = so_far.shift(1, fill_value=0).over("connection")
    rising = (
        pl.DataFrame(found.series[series])
        .join(most, on="connection", how="left")
        .sort("time_s", maintain_order=True)
        .select("connection", pl.col("time_s") + start, octets.alias("octets"))
        .filter(pl.col("octets") > before.clip(0))
        .group_by("connection", maintain_order=True)
        .agg("time_s", "octets")
    )
    return {number: list(zip(times, reached, strict=True)) for number, times, reached in rising.iter_rows()}


def _told_the_proxy(begins: tuple[bytes, bytes]) -> tuple[int, int]:
    """Octets in front of the client's data and of the server's that are for the proxy, or the proxy's.

    That is a request of SOCKS5 without a password and its answers (RFC 1928), or a header of the PROXY
    protocol.
    """
    client, server = begins
    if client.startswith(_PROXY_SIGNATURE) and len(client) >= 16:
        return 16 + int.from_bytes(client[14:16]), 0
    if client[:1] == b"\x05" and server[:2] == b"\x05\x00":
        asked = 2 + client[1]
        return asked + _socks_words(client[asked:]), 2 + _socks_words(server[2:])
    return 0, 0


def _socks_words(words: bytes) -> int:
    """Octets of a request or an answer: what it is about ends with an address of one of three kinds."""
    if len(words) < 5:
        return 0
    address = {1: 4, 3: 1 + words[4], 4: 16}.get(words[3])
    return 0 if address is None else 6 + address


def _pairs(first: Sequence[_Seen], second: Sequence[_Seen]) -> list[tuple[_Seen, _Seen]]:
    found: dict[int, tuple[_Seen, _Seen]] = {}
    shared = {host for seen in first for host in seen.hosts} & {
        host for seen in second for host in seen.hosts
    }

    def of_strangers(seen: _Seen) -> Hashable | None:
        # Whose two hosts are both on the other side has no partner there: the proxy is transparent.
        return "cut" if seen.content is None and not seen.hosts <= shared else None

    free = list(second)
    for key in (
        lambda seen: seen.ends,
        lambda seen: (seen.hosts, seen.content),
        lambda seen: seen.hosts,
        lambda seen: seen.content,
        lambda seen: (seen.content and seen.content[1]) or None,
        lambda seen: (seen.content and seen.content[0]) or None,
        of_strangers,
    ):
        left = [seen for seen in first if id(seen) not in found]
        paired = _nearest(left, free, key)
        found |= {id(one): (one, other) for one, other in paired}
        taken = {id(other) for _, other in paired}
        free = [seen for seen in free if id(seen) not in taken]
    return [found[id(seen)] for seen in first if id(seen) in found]


def _nearest(
    first: Sequence[_Seen], second: Sequence[_Seen], key: Callable[[_Seen], Hashable | None]
) -> list[tuple[_Seen, _Seen]]:
    """Pairs of those with the same key, by their openings; who has none is left alone."""
    groups: defaultdict[Hashable, list[_Seen]] = defaultdict(list)
    for seen in sorted(second, key=_opened):
        if (of := key(seen)) is not None:
            groups[of].append(seen)
    pairs = []
    for seen in first:
        of = key(seen)
        likely = groups.get(of) if of is not None else None
        if not likely:
            continue
        at = bisect_left(likely, _opened(seen), key=_opened)
        nearest = min(range(max(0, at - 1), min(at + 1, len(likely))), key=lambda n: _apart(seen, likely[n]))
        pairs.append((seen, likely.pop(nearest)))
    return pairs


def _opened(seen: _Seen) -> float:
    return float(seen.row["at_s"])


def _apart(one: _Seen, other: _Seen) -> float:
    return abs(_opened(one) - _opened(other))


def _transfer(one: _Seen, other: _Seen) -> SplitTransfer:
    never = (float("inf"), float("inf"))
    # Data pass first where they are seen first, or where the last of them are.
    first, second = sorted(
        (one, other), key=lambda leg: (leg.sent[0][0], leg.sent[-1][0]) if leg.sent else never
    )
    delays = _delays(first.sent, second.sent)
    weights = sum(size for _, size in delays)
    return SplitTransfer(
        first=first.row,
        second=second.row,
        captures=(first.path, second.path),
        octets=min(first.sent[-1][1], second.sent[-1][1]) if first.sent and second.sent else 0,
        delay_s=sum(delay * size for delay, size in delays) / weights if weights else None,
        longest_delay_s=max((delay for delay, _ in delays), default=None),
        ahead_octets=_ahead(first.acked, second.acked) if first.acked else None,
    )


def _delays(sent: Course, sent_on: Course) -> list[tuple[float, int]]:
    """Of each step of the second course: how long after the first, and how many octets."""
    found: list[tuple[float, int]] = []
    place, before = 0, 0
    for time_s, octets in sent_on:
        while place < len(sent) and sent[place][1] < octets:
            place += 1
        if place == len(sent):
            break
        found.append((max(0.0, time_s - sent[place][0]), octets - before))
        before = octets
    return found


def _ahead(acked: Course, acked_on: Course) -> int:
    most, place, on = 0, 0, 0
    for time_s, octets in acked:
        while place < len(acked_on) and acked_on[place][0] <= time_s:
            on = acked_on[place][1]
            place += 1
        most = max(most, octets - on)
    return most

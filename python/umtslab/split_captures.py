"""Analysis of two captures on both sides of a proxy that splits connections.

Connections are paired into transfers. Both connections of a transfer carry the same bytes, so the
times and acknowledgments of a byte can be compared. Each capture is read once.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from umtslab.captures import MOST_CONNECTIONS, check_most_connections

if TYPE_CHECKING:
    from umtslab import _core

Row = Mapping[str, Any]

Course = list[tuple[float, int]]
"""Time in seconds since 1970 at which each number of bytes was first reached."""

_SAME = 256
"""Number of initial bytes that identify equal content.

The common beginning of requests is shorter.
"""

_PROXY_SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
"""First bytes of a PROXY protocol header, version 2."""


@dataclass(frozen=True, slots=True)
class SplitTransfer:
    """The two connections of a transfer, in the order in which its data pass.

    ``delay_s`` is the mean time between the first transmission of a byte on the first connection
    and on the second; ``longest_delay_s`` is the maximum. ``ahead_octets`` is the maximum number of
    bytes acknowledged on the first but not yet on the second. They are None if there are no data.
    Rows are created on access, because captures may have many.
    """

    legs: tuple[_Seen, _Seen]
    octets: int
    delay_s: float | None
    longest_delay_s: float | None
    ahead_octets: int | None

    @property
    def first(self) -> Row:
        """The row of the connection that the data pass first."""
        return self.legs[0].row()

    @property
    def second(self) -> Row:
        """The row of the other connection."""
        return self.legs[1].row()

    @property
    def captures(self) -> tuple[str, str]:
        """The captures of the two connections."""
        return self.legs[0].core.file, self.legs[1].core.file

    def as_json(self) -> dict[str, Any]:
        """Return the object for ``--json``.

        Connections and captures are in the order of the data.
        """
        rows = [dict(self.first), dict(self.second)]
        return {
            "connections": rows,
            "captures": list(self.captures),
            "octets": self.octets,
            "delay_s": self.delay_s,
            "longest_delay_s": self.longest_delay_s,
            "ahead_octets": self.ahead_octets,
            "ended": [row["ended"] for row in rows],
        }


@dataclass(frozen=True, slots=True)
class _Seen:
    """A connection of one capture."""

    core: _core.Analysis
    number: int
    opened_s: float
    """In seconds since 1970."""
    ends: frozenset[str]
    content: tuple[bytes, bytes] | None
    """Digests of the first data bytes of client and server. None if the capture has no payload."""
    before: int
    """Bytes before the sender's data that are addressed to the proxy, or come from the proxy."""
    most: int
    """Bytes of the sender's data. A FIN takes a sequence number but is not a byte of data."""

    def row(self) -> Row:
        row: Row = json.loads(self.core.connection_lines(self.number, 1))
        return row

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(end.rpartition(":")[0] for end in self.ends)

    def courses(self) -> tuple[Course, Course]:
        """Return the progress of the data and of their acknowledgments."""
        sent, acked = self.core.course(self.number, self.most)
        return _without(sent, self.before), _without(acked, self.before)


def split_transfers(
    paths: tuple[str | os.PathLike[str], str | os.PathLike[str]],
    *,
    most_connections: int = MOST_CONNECTIONS,
    warnings: list[str] | None = None,
) -> list[SplitTransfer]:
    """Return the transfers with a connection in both captures, in the order of the first capture.

    Connections are paired by addresses and ports, then by hosts. An explicit proxy has different
    addresses on its sides, so no host may be shared. Connections are then paired by their first
    data, or, if the captures contain only headers, by their opening times. Of several candidates,
    the one with the nearest opening time is used.

    Parameters
    ----------
    paths : two path-likes
        The captures.
    most_connections : int
        Maximum number of connections of each capture that are paired: the first ones.
    warnings : list of str, optional
        Warnings of the analysis are appended to this list.

    Raises
    ------
    umtslab.CaptureReadError
        If a file cannot be read or is not a capture.
    ValueError
        If `most_connections` is out of range.
    """
    from umtslab import _core

    check_most_connections(most_connections)
    found = [_core.analyse_courses(os.fspath(path), most_connections) for path in paths]
    if warnings is not None:
        warnings.extend(f"{core.file}: {warning}" for core in found for warning in core.warnings)
    first, second = ([*_connections(core)] for core in found)
    return [_transfer(one, other) for one, other in _pairs(first, second)]


def _connections(core: _core.Analysis) -> Iterator[_Seen]:
    """Yield the connections that have rows, ordered by number."""
    start = core.start_s or 0.0
    for number in core.connection_numbers():
        row = json.loads(core.connection_lines(number, 1))
        begins = core.beginnings(number)
        preamble = _proxy_preamble(begins)
        before = 0
        if row["sender"] in ("client", "server"):
            before = preamble[("client", "server").index(row["sender"])]
        content = (_digest(begins[0][preamble[0] :][:_SAME]), _digest(begins[1][preamble[1] :][:_SAME]))
        yield _Seen(
            core,
            number,
            start + row["opened_s"],
            frozenset((row["client"], row["server"])),
            content if any(content) else None,
            before,
            int((row["distinct_bytes"] or 0) + (row["unseen_bytes"] or 0)),
        )


def _digest(begin: bytes) -> bytes:
    """Return a digest of the first data. Empty if there are none."""
    return blake2b(begin, digest_size=12).digest() if begin else b""


def _without(course: Course, before: int) -> Course:
    return [(at, octets - before) for at, octets in course if octets > before] if before else course


def _proxy_preamble(begins: tuple[bytes, bytes]) -> tuple[int, int]:
    """Return the length of the proxy protocol before the data, from the client and from the server.

    Recognises a SOCKS5 request without a password and its replies (RFC 1928), and a header of the
    PROXY protocol.
    """
    client, server = begins
    if client.startswith(_PROXY_SIGNATURE) and len(client) >= 16:
        return 16 + int.from_bytes(client[14:16]), 0
    if client[:1] == b"\x05" and server[:2] == b"\x05\x00":
        start = 2 + client[1]
        return start + _socks_words(client[start:]), 2 + _socks_words(server[2:])
    return 0, 0


def _socks_words(words: bytes) -> int:
    """Return the length of a SOCKS5 request or reply, which ends with an address."""
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
        # If both hosts of a connection also occur in the other capture, the proxy is transparent.
        # Its partner would have been found by address, so the opening time is not used.
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
    """Pair connections with the same key by their opening times.

    Connections without a key are left out.
    """
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
    return seen.opened_s


def _apart(one: _Seen, other: _Seen) -> float:
    return abs(_opened(one) - _opened(other))


def _transfer(one: _Seen, other: _Seen) -> SplitTransfer:
    never = (float("inf"), float("inf"))
    legs = [(one, *one.courses()), (other, *other.courses())]
    # The first connection of a transfer is the one with the earlier first byte, or earlier last
    # byte.
    legs.sort(key=lambda leg: (leg[1][0][0], leg[1][-1][0]) if leg[1] else never)
    (first, sent, acked), (second, sent_on, acked_on) = legs
    delays = _delays(sent, sent_on)
    weights = sum(size for _, size in delays)
    return SplitTransfer(
        legs=(first, second),
        octets=min(sent[-1][1], sent_on[-1][1]) if sent and sent_on else 0,
        delay_s=sum(delay * size for delay, size in delays) / weights if weights else None,
        longest_delay_s=max((delay for delay, _ in delays), default=None),
        ahead_octets=_ahead(acked, acked_on) if acked else None,
    )


def _delays(sent: Course, sent_on: Course) -> list[tuple[float, int]]:
    """Return the delay and the number of bytes of each step of the second connection."""
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

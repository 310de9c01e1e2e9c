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
from typing import TYPE_CHECKING, Any, NamedTuple

from umtslab.captures import MAX_CONNECTIONS, check_most_connections

if TYPE_CHECKING:
    from umtslab import _core

Row = Mapping[str, Any]

Progress = list[tuple[float, int]]
"""Steps of a connection: a time in seconds since 1970, and the number of bytes reached then.

The bytes were sent for the first time, or acknowledged, by that time.
"""

_IDENTIFYING_BYTES = 256
"""Number of first data bytes by which connections with the same data are recognised.

Different requests usually differ within these bytes, although many begin alike.
"""

_PROXY_SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
"""First bytes of a PROXY protocol header, version 2."""

_PROXY_HEADER_LENGTH = 16


@dataclass(frozen=True, slots=True)
class SplitTransfer:
    """The two connections of a transfer, in the order in which its data pass.

    ``delay_s`` is the mean time between the first transmission of a byte on the first connection
    and on the second; ``longest_delay_s`` is the maximum. ``ahead_octets`` is the maximum number of
    bytes acknowledged on the first but not yet on the second. They are None if there are no data.
    Rows are created on access, because captures may have many.
    """

    legs: tuple[_Connection, _Connection]
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
class _Connection:
    """A connection of one capture."""

    core: _core.Analysis
    number: int
    opened_s: float
    """In seconds since 1970."""
    addresses: frozenset[str]
    content: tuple[bytes, bytes] | None
    """Digests of the first data bytes of client and server. None if the capture has no payload."""
    preamble_bytes: int
    """Bytes of the proxy protocol before the sender's data (`_proxy_preamble`)."""
    data_bytes: int
    """Bytes of the sender's data. A FIN takes a sequence number but is not a byte of data."""

    def row(self) -> Row:
        """Return the row of the connection in the table of its capture."""
        row: Row = json.loads(self.core.connection_lines(self.number, 1))
        return row

    @property
    def hosts(self) -> frozenset[str]:
        """The addresses without ports."""
        return frozenset(address.rpartition(":")[0] for address in self.addresses)

    def progress(self) -> tuple[Progress, Progress]:
        """Return the progress of the data and of their acknowledgments."""
        sent, acked = self.core.course(self.number, self.data_bytes)
        return _skip_first_bytes(sent, self.preamble_bytes), _skip_first_bytes(acked, self.preamble_bytes)


def split_transfers(
    paths: tuple[str | os.PathLike[str], str | os.PathLike[str]],
    *,
    most_connections: int = MAX_CONNECTIONS,
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
    analyses = [_core.analyse_courses(os.fspath(path), most_connections) for path in paths]
    if warnings is not None:
        warnings.extend(f"{core.file}: {warning}" for core in analyses for warning in core.warnings)
    first, second = ([*_connections(core)] for core in analyses)
    return [_transfer(*pair) for pair in _pairs(first, second)]


def _connections(core: _core.Analysis) -> Iterator[_Connection]:
    """Yield the connections that have rows, ordered by number."""
    start = core.start_s or 0.0
    for number in core.connection_numbers():
        row = json.loads(core.connection_lines(number, 1))
        first_bytes = core.beginnings(number)
        preamble = _proxy_preamble(first_bytes)
        preamble_bytes = 0
        if row["sender"] in ("client", "server"):
            preamble_bytes = preamble[("client", "server").index(row["sender"])]
        content = (
            _digest(first_bytes[0][preamble[0] :][:_IDENTIFYING_BYTES]),
            _digest(first_bytes[1][preamble[1] :][:_IDENTIFYING_BYTES]),
        )
        yield _Connection(
            core=core,
            number=number,
            opened_s=start + row["opened_s"],
            addresses=frozenset((row["client"], row["server"])),
            content=content if any(content) else None,
            preamble_bytes=preamble_bytes,
            data_bytes=int((row["distinct_bytes"] or 0) + (row["unseen_bytes"] or 0)),
        )


def _digest(data: bytes) -> bytes:
    """Return a digest of the first data. Empty if there are none."""
    return blake2b(data, digest_size=12).digest() if data else b""


def _skip_first_bytes(progress: Progress, count: int) -> Progress:
    """Return the progress of the bytes after the first `count`."""
    return [(time_s, octets - count) for time_s, octets in progress if octets > count] if count else progress


def _proxy_preamble(first_bytes: tuple[bytes, bytes]) -> tuple[int, int]:
    """Return the length of the proxy protocol before the data, from the client and from the server.

    Recognises a SOCKS5 request without a password and its replies (RFC 1928), and a header of the
    PROXY protocol.
    """
    client, server = first_bytes
    if client.startswith(_PROXY_SIGNATURE) and len(client) >= _PROXY_HEADER_LENGTH:
        # The last two bytes of the header are the length of the addresses after it.
        return _PROXY_HEADER_LENGTH + int.from_bytes(client[14:16]), 0
    if client[:1] == b"\x05" and server[:2] == b"\x05\x00":
        start = 2 + client[1]
        return start + _socks_message_length(client[start:]), 2 + _socks_message_length(server[2:])
    return 0, 0


def _socks_message_length(message: bytes) -> int:
    """Return the length of the SOCKS5 request or reply with which `message` begins, or 0.

    Such a message has a header of four bytes, an address and a port of two bytes. The last byte of
    the header is the type of the address: IPv4, a name with its length, or IPv6.
    """
    if len(message) < 5:
        return 0
    address_length = {1: 4, 3: 1 + message[4], 4: 16}.get(message[3])
    return 0 if address_length is None else 6 + address_length


def _pairs(
    first: Sequence[_Connection], second: Sequence[_Connection]
) -> list[tuple[_Connection, _Connection]]:
    """Pair the connections of two captures, in the order of the first capture.

    The keys below are tried one after the other, from the most to the least reliable. Each key
    pairs only connections that the previous keys left unpaired.
    """
    pair_of_first: dict[int, tuple[_Connection, _Connection]] = {}  # by `id` of the first one
    shared_hosts = {host for connection in first for host in connection.hosts} & {
        host for connection in second for host in connection.hosts
    }

    def client_content(connection: _Connection) -> Hashable | None:
        client, _ = connection.content or (b"", b"")
        return client or None

    def server_content(connection: _Connection) -> Hashable | None:
        _, server = connection.content or (b"", b"")
        return server or None

    def headers_only_key(connection: _Connection) -> Hashable | None:
        # Without payload, connections are paired by opening time alone, so all have the same key.
        # This applies only if a host is absent from the other capture: otherwise the proxy is
        # transparent, and the addresses would have matched.
        has_other_host = not connection.hosts <= shared_hosts
        return "headers only" if connection.content is None and has_other_host else None

    unpaired_second = list(second)
    for key in (
        lambda connection: connection.addresses,
        lambda connection: (connection.hosts, connection.content),
        lambda connection: connection.hosts,
        lambda connection: connection.content,
        server_content,
        client_content,
        headers_only_key,
    ):
        unpaired_first = [connection for connection in first if id(connection) not in pair_of_first]
        new_pairs = _nearest(unpaired_first, unpaired_second, key)
        pair_of_first |= {id(of_first): (of_first, of_second) for of_first, of_second in new_pairs}
        paired_second = {id(of_second) for _, of_second in new_pairs}
        unpaired_second = [
            connection for connection in unpaired_second if id(connection) not in paired_second
        ]
    return [pair_of_first[id(connection)] for connection in first if id(connection) in pair_of_first]


def _nearest(
    first: Sequence[_Connection], second: Sequence[_Connection], key: Callable[[_Connection], Hashable | None]
) -> list[tuple[_Connection, _Connection]]:
    """Pair each connection with the one of the same key that opened nearest in time.

    Connections with the key None are left out.
    """
    groups: defaultdict[Hashable, list[_Connection]] = defaultdict(list)
    for connection in sorted(second, key=_opened):
        if (connection_key := key(connection)) is not None:
            groups[connection_key].append(connection)
    pairs = []
    for connection in first:
        connection_key = key(connection)
        candidates = groups.get(connection_key) if connection_key is not None else None
        if not candidates:
            continue
        # The nearest is the last candidate that opened earlier, or the first that opened later.
        later = bisect_left(candidates, _opened(connection), key=_opened)
        nearest = min(
            range(max(0, later - 1), min(later + 1, len(candidates))),
            key=lambda index: abs(_opened(connection) - _opened(candidates[index])),
        )
        pairs.append((connection, candidates.pop(nearest)))
    return pairs


def _opened(connection: _Connection) -> float:
    return connection.opened_s


class _Leg(NamedTuple):
    """A connection of a transfer, with the progress of its data and of their acknowledgments."""

    connection: _Connection
    sent: Progress
    acked: Progress

    def first_and_last_byte_s(self) -> tuple[float, float]:
        """Return when the first and the last byte were sent. Infinite without data."""
        if not self.sent:
            return float("inf"), float("inf")
        (first_s, _), (last_s, _) = self.sent[0], self.sent[-1]
        return first_s, last_s

    def octets(self) -> int:
        """Return the number of bytes sent."""
        return self.sent[-1][1] if self.sent else 0


def _transfer(first: _Connection, second: _Connection) -> SplitTransfer:
    """Join two connections into a transfer, in the order in which data pass them."""
    legs = [_Leg(connection, *connection.progress()) for connection in (first, second)]
    # The data pass first through the connection with the earlier first byte. If the first bytes
    # have the same time, the last bytes decide.
    incoming, outgoing = sorted(legs, key=_Leg.first_and_last_byte_s)
    delays = _delays(incoming.sent, outgoing.sent)
    delayed_octets = sum(octets for _, octets in delays)
    return SplitTransfer(
        legs=(incoming.connection, outgoing.connection),
        octets=min(incoming.octets(), outgoing.octets()),
        delay_s=sum(delay_s * octets for delay_s, octets in delays) / delayed_octets
        if delayed_octets
        else None,
        longest_delay_s=max((delay_s for delay_s, _ in delays), default=None),
        ahead_octets=_ahead(incoming.acked, outgoing.acked) if incoming.acked else None,
    )


def _delays(incoming: Progress, outgoing: Progress) -> list[tuple[float, int]]:
    """Return for each step of the outgoing connection its delay in seconds and its number of bytes.

    The delay is the time since the incoming connection had carried the last of these bytes.
    """
    delays: list[tuple[float, int]] = []
    step, previous_octets = 0, 0
    for time_s, octets in outgoing:
        while step < len(incoming) and incoming[step][1] < octets:
            step += 1
        if step == len(incoming):
            break
        arrived_s, _ = incoming[step]
        delays.append((max(0.0, time_s - arrived_s), octets - previous_octets))
        previous_octets = octets
    return delays


def _ahead(incoming: Progress, outgoing: Progress) -> int:
    """Return the maximum number of bytes acknowledged on the incoming connection only."""
    max_ahead, step, outgoing_octets = 0, 0, 0
    for time_s, octets in incoming:
        while step < len(outgoing) and outgoing[step][0] <= time_s:
            _, outgoing_octets = outgoing[step]
            step += 1
        max_ahead = max(max_ahead, octets - outgoing_octets)
    return max_ahead

"""Two captures of a proxy that splits connections, one on each side.

Which connections belong together, and what the proxy does: octets of both connections of a transfer are the
same, so that times and acknowledgments of one number can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from umtslab.captures import CaptureAnalysis, analyse_captures

if TYPE_CHECKING:
    import os

    import polars as pl

Row = Mapping[str, Any]


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


def split_transfers(paths: tuple[str | os.PathLike[str], str | os.PathLike[str]]) -> list[SplitTransfer]:
    """The transfers of which both captures have a connection, in the order of the first capture.

    Connections are paired by their addresses, those with more equal ports and nearer openings first; where no
    addresses are shared (an explicit proxy has one of its own on each side), by their openings.

    Raises
    ------
    umtslab.CaptureReadError
        If a file cannot be read or is no capture.
    """
    both = [analyse_captures(path)[0] for path in paths]
    tables = [_opened(analysis) for analysis in both]
    return [_transfer(paths, a, b) for a, b in _pairs(*tables)]


def _opened(analysis: CaptureAnalysis) -> list[Row]:
    """The connections of a capture, with their openings as seconds since 1970."""
    start = analysis.start_s or 0.0
    return [{**row, "at_s": start + row["opened_s"]} for row in analysis.connections().to_dicts()]


def _pairs(first: Sequence[Row], second: Sequence[Row]) -> list[tuple[Row, Row]]:
    free = list(second)
    found: list[tuple[Row, Row]] = []
    for row in first:
        likely = [other for other in free if _hosts(other) == _hosts(row)]
        likely = likely or [other for other in free if not _hosts(other) & _hosts(row) or len(free) == 1]
        if likely:
            best = min(likely, key=lambda other: (-_equal_ends(row, other), abs(other["at_s"] - row["at_s"])))
            free.remove(best)
            found.append((row, best))
    return found


def _hosts(row: Row) -> frozenset[str]:
    return frozenset(str(row[end]).rpartition(":")[0] for end in ("client", "server"))


def _equal_ends(row: Row, other: Row) -> int:
    return len({row["client"], row["server"]} & {other["client"], other["server"]})


def _transfer(paths: Sequence[str | os.PathLike[str]], a: Row, b: Row) -> SplitTransfer:
    legs = [(str(path), row, *_course(path, row)) for path, row in zip(paths, (a, b), strict=True)]
    # Data pass first where they are seen first, or where the last of them are.
    legs.sort(key=lambda leg: (leg[2][0][0], leg[2][-1][0]) if leg[2] else (float("inf"), float("inf")))
    (first_path, first, sent, acked), (second_path, second, sent_on, acked_on) = legs
    delays = _delays(sent, sent_on)
    octets = min(sent[-1][1], sent_on[-1][1]) if sent and sent_on else 0
    weights = sum(size for _, size in delays)
    return SplitTransfer(
        first=first,
        second=second,
        captures=(first_path, second_path),
        octets=octets,
        delay_s=sum(delay * size for delay, size in delays) / weights if weights else None,
        longest_delay_s=max((delay for delay, _ in delays), default=None),
        ahead_octets=_ahead(acked, acked_on) if acked else None,
    )


Course = list[tuple[float, int]]
"""When (seconds since 1970) a number of octets was first reached."""


def _course(path: str | os.PathLike[str], row: Row) -> tuple[Course, Course]:
    """How far data and acknowledgments of a connection had come."""
    analysis = analyse_captures(path, time_sequence=row["connection"])[0]
    start = analysis.start_s or 0.0
    # FIN takes a sequence number and is no octet.
    most = int(row["distinct_bytes"] + row["unseen_bytes"])
    return (
        _rising(analysis.series("sent"), "end", start, most),
        _rising(analysis.series("acked"), "ack", start, most),
    )


def _rising(table: pl.DataFrame, column: str, start: float, most: int) -> Course:
    course: Course = []
    for time_s, number in table.select("time_s", column).sort("time_s", maintain_order=True).rows():
        octets = min(number, most)
        if octets > (course[-1][1] if course else 0):
            course.append((start + time_s, octets))
    return course


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

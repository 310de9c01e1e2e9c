"""The tables of a run's timeline, indexed by their identities."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import Any

from umtslab.run import Run

Row = dict[str, Any]

SEQUENCE_NUMBERS = 4096
"""Number of sequence numbers of RLC's acknowledged mode."""


class MissingTimeline(LookupError):
    """The run recorded no timeline."""


def recording_command(run: Run) -> str:
    """Return the command that makes a run again and records its timeline."""
    command = run.command or f"umts run {run.scenario}.toml --seed {run.seed}"
    before, separator, program = command.partition(" -- ")
    return f"{before} --timeline{separator}{program}"


def _grouped(table: str, *columns: str) -> cached_property[dict[Any, list[Row]]]:
    """Declare the rows of a table by the value of a column, or by the values of several columns."""

    def groups(timeline: Timeline) -> dict[Any, list[Row]]:
        key = itemgetter(*columns)
        found: dict[Any, list[Row]] = defaultdict(list)
        for row in timeline.rows(table):
            found[key(row)].append(row)
        return found

    return cached_property(groups)


def _by_packet(table: str) -> cached_property[dict[int, Row]]:
    """Declare the rows of a table with one row per packet, by packet."""
    return cached_property(lambda timeline: {row["packet"]: row for row in timeline.rows(table)})


class Timeline:
    """The timeline of a run.

    Raises
    ------
    MissingTimeline
        If the run recorded no timeline. The message contains the command that records it.
    """

    def __init__(self, run: Run) -> None:
        if "timeline_segments" not in run.series_kinds():
            raise MissingTimeline(f"this run recorded no timeline. Record it: {recording_command(run)}")
        self.run = run
        self.duration_s = run.duration_s

    def rows(self, table: str) -> list[Row]:
        """Return all rows of a table in order of time. Empty if the run has no such table."""
        if table not in self.run.series_kinds():
            return []
        return self.run.series(table).to_dicts()

    @cached_property
    def connections(self) -> dict[int, Row]:
        """Rows of the table of connections, by number."""
        return {row["connection"]: row for row in self.run.connection_rows()}

    @cached_property
    def segments(self) -> dict[int, Segments]:
        """Segments by connection."""
        return {number: Segments(rows) for number, rows in self._segment_rows.items()}

    _segment_rows = _grouped("timeline_segments", "connection")
    pdus = _grouped("timeline_pdus", "ue", "direction")
    """PDUs by UE and direction."""
    statuses = _grouped("timeline_status", "ue", "direction")
    """STATUS reports by UE and their own direction."""
    rrc = _grouped("timeline_rrc", "ue")
    """RRC states and switches by UE."""
    dch_requests = _grouped("timeline_dch_requests", "ue")
    """Requests for a DCH by UE."""
    ue_events = _grouped("timeline_events", "ue")
    """Events by UE."""
    connection_events = _grouped("timeline_events", "connection")
    """Events by connection."""
    intervals = _grouped("budget_intervals", "connection")
    """Intervals of the time budget by connection."""
    timeouts = _grouped("budget_rtos", "connection")
    """Retransmission timeouts by connection."""
    sdus = _by_packet("timeline_sdus")
    discards = _by_packet("timeline_discards")
    """Discarded SDUs."""
    losses = _by_packet("timeline_losses")
    """Losses outside RLC."""

    def waits(self, connection: int, start_s: float, end_s: float) -> list[Row]:
        """Return the intervals of the time budget in this time, clipped to it."""
        clipped = []
        rows = self.intervals.get(connection, [])
        first = bisect_left(rows, start_s, key=lambda row: row["end_s"])
        for row in rows[first:]:
            if row["start_s"] >= end_s:
                break
            start, end = max(row["start_s"], start_s), min(row["end_s"], end_s)
            if end > start:
                clipped.append({**row, "start_s": start, "end_s": end})
        return clipped


@dataclass
class Acknowledgments:
    """The arrivals of acknowledgments in order of time, as columns of equal length."""

    times_s: list[float]
    """Time of each arrival."""
    numbers: list[int]
    """The highest acknowledgment number that has arrived until then."""
    since_s: list[float]
    """Time at which this number first arrived."""


class Segments:
    """The segments of one connection in order of time."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.by_packet = {row["packet"]: row for row in rows}
        self._by_direction: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self._by_direction[row["direction"]].append(row)
        self._acknowledgments: dict[str, Acknowledgments] = {}
        self._by_seq: dict[str, _ByNumber] = {}

    def of(self, direction: str) -> list[Row]:
        """Return the segments of one direction."""
        return self._by_direction[direction]

    def acknowledged(self, direction: str, time_s: float) -> tuple[int, float | None]:
        """Return the cumulative acknowledgment of data in `direction`, and when it first arrived.

        The number is 0, and the time None, before the first acknowledgment.
        """
        acks = self.acknowledgments(direction)
        arrived = bisect_right(acks.times_s, time_s)
        return (acks.numbers[arrived - 1], acks.since_s[arrived - 1]) if arrived else (0, None)

    def acknowledgments(self, direction: str) -> Acknowledgments:
        """Return the acknowledgments of data in `direction`, which come from the other direction."""
        if direction not in self._acknowledgments:
            arrived = [
                row
                for row in self.rows
                if row["direction"] != direction
                and row["end_s"] is not None
                and not row["lost"]
                and row["kind"] != "reset"
            ]
            arrived.sort(key=lambda row: row["end_s"])
            acks = Acknowledgments([], [], [])
            for row in arrived:
                number = max(row["ack"], acks.numbers[-1] if acks.numbers else 0)
                is_new = not acks.numbers or number > acks.numbers[-1]
                acks.since_s.append(row["end_s"] if is_new else acks.since_s[-1])
                acks.times_s.append(row["end_s"])
                acks.numbers.append(number)
            self._acknowledgments[direction] = acks
        return self._acknowledgments[direction]

    def copies(self, direction: str, byte: int, until_s: float) -> list[Row]:
        """Return the copies of the segment with this byte, or SYN or FIN, sent until then."""
        by_number = self._by_number(direction)
        last = bisect_right(by_number.rows, byte, key=_seq)
        rows = by_number.rows[by_number.first_that_may_contain(byte) : last]
        copies = [row for row in rows if byte < row["end"] and row["time_s"] <= until_s]
        return sorted(copies, key=lambda row: (row["time_s"], row["packet"]))

    def _by_number(self, direction: str) -> _ByNumber:
        if direction not in self._by_seq:
            self._by_seq[direction] = _ByNumber(self._by_direction[direction])
        return self._by_seq[direction]

    def between(self, start_s: float, end_s: float) -> list[Row]:
        """Return the segments of both directions that were sent in this time, both ends included."""
        first = bisect_left(self.rows, start_s, key=lambda row: row["time_s"])
        return self.rows[first : bisect_right(self.rows, end_s, key=lambda row: row["time_s"])]

    def in_flight(self, direction: str, time_s: float) -> int:
        """Return the number of unacknowledged distinct segments sent until then."""
        una, _ = self.acknowledged(direction, time_s)
        by_number = self._by_number(direction)
        sent: set[int] = set()
        for index in range(by_number.first_that_may_contain(una), len(by_number.rows)):
            if by_number.earliest_s[index] > time_s:
                break
            row = by_number.rows[index]
            if row["end"] > max(una, row["seq"]) and row["time_s"] <= time_s:
                sent.add(row["seq"])
        return len(sent)


class _ByNumber:
    """Segments of one direction in order of sequence number, then of time."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = sorted(rows, key=lambda row: (row["seq"], row["time_s"]))
        self._longest = max((row["end"] - row["seq"] for row in rows), default=0)
        earliest = list(accumulate((row["time_s"] for row in reversed(self.rows)), min))
        self.earliest_s: list[float] = earliest[::-1]
        """Earliest time of a row and all rows after it."""

    def first_that_may_contain(self, byte: int) -> int:
        """Return the index of the first row that is not certainly below this byte."""
        return bisect_left(self.rows, byte - self._longest, key=_seq)


def _seq(row: Row) -> int:
    return int(row["seq"])

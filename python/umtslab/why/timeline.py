"""The tables of a run's timeline, indexed by their identities."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import cached_property
from itertools import accumulate
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

    def _by(self, table: str, *keys: str) -> dict[Any, list[Row]]:
        """Return the rows of a table by the values of one or several columns."""
        found: dict[Any, list[Row]] = defaultdict(list)
        for row in self.rows(table):
            found[row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys)].append(row)
        return found

    @cached_property
    def connections(self) -> dict[int, Row]:
        """Rows of the table of connections, by number."""
        return {row["connection"]: row for row in self.run.connection_rows()}

    @cached_property
    def segments(self) -> dict[int, Segments]:
        """Segments by connection."""
        return {
            number: Segments(rows) for number, rows in self._by("timeline_segments", "connection").items()
        }

    @cached_property
    def sdus(self) -> dict[int, Row]:
        """SDUs by packet."""
        return {row["packet"]: row for row in self.rows("timeline_sdus")}

    @cached_property
    def pdus(self) -> dict[tuple[int, str], list[Row]]:
        """PDUs by UE and direction."""
        return self._by("timeline_pdus", "ue", "direction")

    @cached_property
    def statuses(self) -> dict[tuple[int, str], list[Row]]:
        """STATUS reports by UE and their own direction."""
        return self._by("timeline_status", "ue", "direction")

    @cached_property
    def discards(self) -> dict[int, Row]:
        """Discarded SDUs by packet."""
        return {row["packet"]: row for row in self.rows("timeline_discards")}

    @cached_property
    def losses(self) -> dict[int, Row]:
        """Lost packets."""
        return {row["packet"]: row for row in self.rows("timeline_losses")}

    @cached_property
    def rrc(self) -> dict[int, list[Row]]:
        """RRC states and switches by UE."""
        return self._by("timeline_rrc", "ue")

    @cached_property
    def dch_requests(self) -> dict[int, list[Row]]:
        """Requests for a DCH by UE."""
        return self._by("timeline_dch_requests", "ue")

    @cached_property
    def ue_events(self) -> dict[int, list[Row]]:
        """Events by UE."""
        return self._by("timeline_events", "ue")

    @cached_property
    def connection_events(self) -> dict[int, list[Row]]:
        """Events by connection."""
        return self._by("timeline_events", "connection")

    @cached_property
    def intervals(self) -> dict[int, list[Row]]:
        """Intervals of the time budget by connection."""
        return self._by("budget_intervals", "connection")

    @cached_property
    def timeouts(self) -> dict[int, list[Row]]:
        """Retransmission timeouts by connection."""
        return self._by("budget_rtos", "connection")

    def waits(self, connection: int, start_s: float, end_s: float) -> list[Row]:
        """Return the intervals of the time budget in this time, clipped to it."""
        found = []
        rows = self.intervals.get(connection, [])
        first = bisect_left(rows, start_s, key=lambda row: row["end_s"])
        for row in rows[first:]:
            if row["start_s"] >= end_s:
                break
            start, end = max(row["start_s"], start_s), min(row["end_s"], end_s)
            if end > start:
                found.append({**row, "start_s": start, "end_s": end})
        return found


class Segments:
    """The segments of one connection in order of time."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.by_packet = {row["packet"]: row for row in rows}
        self._of: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self._of[row["direction"]].append(row)
        self._arrivals: dict[str, tuple[list[float], list[int], list[float]]] = {}
        self._by_seq: dict[str, _ByNumber] = {}

    def of(self, direction: str) -> list[Row]:
        """Return the segments of one direction."""
        return self._of[direction]

    def acknowledged(self, direction: str, time_s: float) -> tuple[int, float]:
        """Return the cumulative acknowledgment of data in `direction`, and when it arrived.

        The time is -1 before the first acknowledgment.
        """
        times, numbers, since = self.acknowledgments(direction)
        index = bisect_right(times, time_s) - 1
        return (0, -1.0) if index < 0 else (numbers[index], since[index])

    def acknowledgments(self, direction: str) -> tuple[list[float], list[int], list[float]]:
        """Return times of arrival, cumulative acknowledgment, and since when it holds."""
        if direction not in self._arrivals:
            arrived = [
                row
                for row in self.rows
                if row["direction"] != direction
                and row["end_s"] is not None
                and not row["lost"]
                and row["kind"] != "reset"
            ]
            arrived.sort(key=lambda row: row["end_s"])
            times: list[float] = []
            numbers: list[int] = []
            since: list[float] = []
            for row in arrived:
                number = max(row["ack"], numbers[-1] if numbers else 0)
                is_new = not numbers or number > numbers[-1]
                since.append(row["end_s"] if is_new else since[-1])
                times.append(row["end_s"])
                numbers.append(number)
            self._arrivals[direction] = (times, numbers, since)
        return self._arrivals[direction]

    def copies(self, direction: str, byte: int, until_s: float) -> list[Row]:
        """Return the copies of the segment with this byte, or SYN or FIN, sent until then."""
        by_number = self._by_number(direction)
        last = bisect_right(by_number.rows, byte, key=_seq)
        rows = by_number.rows[by_number.first_that_may_contain(byte) : last]
        copies = [row for row in rows if byte < row["end"] and row["time_s"] <= until_s]
        return sorted(copies, key=lambda row: (row["time_s"], row["packet"]))

    def _by_number(self, direction: str) -> _ByNumber:
        if direction not in self._by_seq:
            self._by_seq[direction] = _ByNumber(self._of[direction])
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

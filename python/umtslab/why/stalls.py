"""Stalls: times without a new acknowledgment at the sender while data is in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from umtslab.atomic_files import stored_text
from umtslab.quantity import quantity
from umtslab.run import Run
from umtslab.why.timeline import Timeline

DEFAULT_LIMIT_S = 0.5

_FIRST_BYTE = 1
"""Sequence number of the first byte of data. The SYN has number 0."""

_EPSILON_S = 1e-9
"""Tolerance for rounding when times are compared."""


@dataclass(frozen=True)
class Stall:
    """A stall of one connection."""

    connection: int
    ue: int
    direction: str
    start_s: float
    end_s: float
    timeouts: int
    """Expiries of the sender's retransmission timer in the stall."""

    @property
    def length_s(self) -> float:
        """Length in seconds."""
        return self.end_s - self.start_s

    def as_dict(self) -> dict[str, Any]:
        """Return the stall for JSON."""
        return {
            "connection": self.connection,
            "ue": self.ue,
            "start_s": self.start_s,
            "end_s": self.end_s,
            "length_s": self.length_s,
            "timeouts": self.timeouts,
        }


def limit_s(run: Run) -> float:
    """Return the minimum length of a stall, the scenario's ``measure.stall``."""
    import tomllib

    if run.folder is None:
        text = dict(run.overrides or ()).get("measure.stall")
    else:
        scenario = tomllib.loads(stored_text(run.folder / "scenario.toml"))
        text = scenario.get("measure", {}).get("stall")
    limit = quantity(text)
    return DEFAULT_LIMIT_S if limit is None else limit.base


def data_direction(timeline: Timeline, connection: int) -> str:
    """Return the direction in which the sender of the connection's data sends."""
    for event in timeline.connection_events.get(connection, ()):
        if event["kind"] == "connection_opened" and event["direction"]:
            return str(event["direction"])
    return "downlink"


def stalls(timeline: Timeline, least_s: float) -> list[Stall]:
    """Return the stalls of all connections, the longest first."""
    stalls_of_all = [
        stall
        for connection in sorted(timeline.segments)
        for stall in _stalls_of(timeline, connection, least_s)
    ]
    return sorted(stalls_of_all, key=lambda stall: (-stall.length_s, stall.start_s, stall.connection))


def _stalls_of(timeline: Timeline, connection: int, least_s: float) -> list[Stall]:
    """Return the stalls of a connection that last at least `least_s`."""
    row = timeline.connections.get(connection)
    if row is None:
        return []
    segments = timeline.segments[connection]
    direction = data_direction(timeline, connection)
    # In an emulation, the datagrams of a name lookup precede the SYN. They are not data of the connection.
    opened_s = next((sent["time_s"] for sent in segments.of(direction) if sent["kind"] == "syn"), 0.0)
    closed_s = timeline.duration_s if row.get("closed_s") is None else row["closed_s"]
    # Time, whether data is sent (or an acknowledgment arrives), and the sequence number behind the
    # data, or the acknowledged number. At the same time acknowledgments come first.
    events: list[tuple[float, bool, int]] = [
        (sent["time_s"], True, sent["seq"] + sent["payload"])
        for sent in segments.of(direction)
        if sent["payload"] > 0 and opened_s <= sent["time_s"] <= closed_s
    ]
    acks = segments.acknowledgments(direction)
    events += [
        (time_s, False, number)
        for time_s, number, since_s in zip(acks.times_s, acks.numbers, acks.since_s, strict=True)
        if since_s == time_s and time_s <= closed_s
    ]
    periods: list[tuple[float, float]] = []
    sent_up_to, acked_up_to, start = _FIRST_BYTE, _FIRST_BYTE, None
    for time_s, is_sent, number in sorted(events):
        if is_sent:
            sent_up_to = max(sent_up_to, number)
            if sent_up_to > acked_up_to and start is None:
                start = time_s
            continue
        if number <= acked_up_to:
            continue
        acked_up_to = number
        if start is not None and time_s - start >= least_s - _EPSILON_S:
            periods.append((start, time_s))
        start = time_s if sent_up_to > acked_up_to else None
    if start is not None and closed_s - start >= least_s - _EPSILON_S:
        periods.append((start, closed_s))
    end = "server" if direction == "downlink" else "ue"
    timeouts = [rto["time_s"] for rto in timeline.timeouts.get(connection, ()) if rto["end"] == end]
    return [
        Stall(
            connection=connection,
            ue=row["ue"],
            direction=direction,
            start_s=start_s,
            end_s=end_s,
            timeouts=sum(start_s <= time_s <= end_s for time_s in timeouts),
        )
        for start_s, end_s in periods
    ]

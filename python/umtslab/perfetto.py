"""A run's timeline as a trace for Perfetto and Chrome: the lanes that `umts lanes` lists.

A UE is a process of the trace, and each lane of a connection or a direction is a thread of it. Rows
that overlap in a lane are asynchronous events, which a viewer draws below each other. Lanes of values,
such as the congestion window, are counters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from umtslab.lanes import Lane, lanes
from umtslab.run import Run
from umtslab.why.timeline import Timeline

_US = 1e6
"""Times of the format are in microseconds."""

Event = dict[str, Any]


def write_trace(run: Run, file: IO[bytes]) -> int:
    """Write the trace of a run as JSON. Returns the number of events.

    Raises
    ------
    umtslab.why.MissingTimeline
        If the run recorded no timeline.
    """
    timeline = Timeline(run)
    count = 0
    file.write(b'{"displayTimeUnit": "ms", "traceEvents": [\n')
    for event in _events(timeline):
        file.write((b",\n" if count else b"") + json.dumps(event).encode())
        count += 1
    file.write(b"\n]}\n")
    return count


def _events(timeline: Timeline) -> Iterator[Event]:
    """Yield the events of all lanes, each thread and its process named before their first event."""
    ue_of = {number: row["ue"] for number, row in timeline.connections.items()}
    directions = _directions(timeline)
    threads: dict[tuple[int, str], int] = {}
    serial = 0
    for lane in lanes():
        for row in timeline.rows(lane.table):
            connection = row.get("connection")
            if not lane.has(row) or not _is_in_direction(lane, row, directions):
                continue
            ue = row.get("ue")
            if ue is None:
                ue = ue_of.get(connection, 0) if connection is not None else 0
            name = _thread_name(lane, row)
            if (ue, name) not in threads:
                threads[ue, name] = len(threads) + 1
                yield _metadata("process_name", ue, 0, f"UE {ue}")
                yield _metadata("thread_name", ue, threads[ue, name], name)
            if lane.cells == "maximum":
                yield _counter(lane, row, ue, name)
                continue
            serial += 1
            ids = _EventIds(ue=ue, thread=threads[ue, name], serial=serial)
            yield from _of_row(lane, row, ids, timeline.duration_s)


def _directions(timeline: Timeline) -> dict[int, str]:
    """Return the direction of the data of each connection."""
    return {
        row["connection"]: row["direction"]
        for row in timeline.rows("timeline_events")
        if row["kind"] == "connection_opened" and row["direction"]
    }


def _is_in_direction(lane: Lane, row: dict[str, Any], directions: dict[int, str]) -> bool:
    """Return whether a row of a connection has the direction of the lane. Lanes of UEs show both."""
    if lane.owner != "connection" or not lane.direction or row["connection"] is None:
        return True
    is_data = str(row["direction"]) == directions.get(row["connection"], "downlink")
    return is_data == (lane.direction == "data")


def _thread_name(lane: Lane, row: dict[str, Any]) -> str:
    words = [lane.layer, lane.label]
    if row.get("connection") is not None:
        words.append(f"connection {row['connection']}")
    if row.get("direction"):
        words.append(row["direction"])
    return ", ".join(words)


def _metadata(kind: str, ue: int, thread: int, name: str) -> Event:
    """Return an event that names a process or a thread."""
    return {"ph": "M", "name": kind, "pid": ue, "tid": thread, "args": {"name": name}}


def _counter(lane: Lane, row: dict[str, Any], ue: int, name: str) -> Event:
    """Return an event with a value of a counter."""
    time_us = round(row[lane.start] * _US, 3)
    return {
        "ph": "C",
        "name": name,
        "cat": lane.name,
        "pid": ue,
        "ts": time_us,
        "args": {lane.unit: row[lane.high]},
    }


class _EventIds(NamedTuple):
    """The process (UE) and the thread of an event, and the serial number that joins begin and end."""

    ue: int
    thread: int
    serial: int


def _of_row(lane: Lane, row: dict[str, Any], ids: _EventIds, duration_s: float) -> Iterator[Event]:
    """Yield an instant event, or the begin and the end of an asynchronous event."""
    content = {name: value for name, value in row.items() if value not in (None, "")}
    name = str(row[lane.text] or lane.name)
    common = {"name": name, "cat": lane.name, "pid": ids.ue, "tid": ids.thread}
    begin_us = round(row[lane.start] * _US, 3)
    if lane.end == lane.start:
        yield {**common, "ph": "i", "s": "t", "ts": begin_us, "args": content}
        return
    end_s = duration_s if row[lane.end] is None else row[lane.end]
    yield {**common, "ph": "b", "id": ids.serial, "ts": begin_us, "args": content}
    yield {**common, "ph": "e", "id": ids.serial, "ts": max(begin_us, round(end_s * _US, 3))}

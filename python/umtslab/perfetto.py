"""A run's timeline as a trace for Perfetto and Chrome: the lanes that `umts lanes` lists.

A UE is a process of the trace, and each lane of a connection or a direction is a thread of it. Rows
that overlap in a lane are asynchronous events, which a viewer draws below each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from umtslab import _core
from umtslab.run import Run
from umtslab.why.timeline import Timeline

_US = 1e6
"""Times of the format are in microseconds."""

_START = {"budget_intervals": "start_s"}
"""Column of the start, where it is not ``time_s``."""

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
    ue_of = {number: row["ue"] for number, row in timeline.connections.items()}
    threads: dict[tuple[int, str], int] = {}
    serial = 0
    for lane in _core.lanes():
        start = _START.get(lane["table"], "time_s")
        for row in timeline.rows(lane["table"]):
            if lane["column"] and row[lane["column"]] != lane["value"]:
                continue
            connection = row.get("connection")
            ue = row.get("ue")
            if ue is None:
                ue = ue_of.get(connection, 0) if connection is not None else 0
            name = _thread_name(lane, row)
            if (ue, name) not in threads:
                threads[ue, name] = len(threads) + 1
                yield _metadata("process_name", ue, 0, f"UE {ue}")
                yield _metadata("thread_name", ue, threads[ue, name], name)
            thread = threads[ue, name]
            serial += 1
            yield from _of_row(lane, row, (ue, thread, serial), start, timeline.duration_s)


def _thread_name(lane: dict[str, str], row: dict[str, Any]) -> str:
    words = [lane["layer"], lane["name"].replace("_", " ")]
    if row.get("connection") is not None:
        words.append(f"connection {row['connection']}")
    if row.get("direction"):
        words.append(row["direction"])
    return ", ".join(words)


def _metadata(kind: str, ue: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": ue, "tid": thread, "args": {"name": name}}


def _of_row(
    lane: dict[str, str], row: dict[str, Any], ids: tuple[int, int, int], start: str, duration_s: float
) -> Iterator[Event]:
    ue, thread, serial = ids
    content = {name: value for name, value in row.items() if value not in (None, "")}
    name = str(row[lane["text"]] or lane["name"])
    common = {"name": name, "cat": lane["name"], "pid": ue, "tid": thread}
    begin_us = round(row[start] * _US, 3)
    if "end_s" not in row:
        yield {**common, "ph": "i", "s": "t", "ts": begin_us, "args": content}
        return
    end_s = duration_s if row["end_s"] is None else row["end_s"]
    yield {**common, "ph": "b", "id": serial, "ts": begin_us, "args": content}
    yield {**common, "ph": "e", "id": serial, "ts": max(begin_us, round(end_s * _US, 3))}

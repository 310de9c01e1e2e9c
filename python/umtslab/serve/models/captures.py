"""Captures: an analysis, the TCP graphs of a connection, and an uploaded file."""

from __future__ import annotations

from umtslab.serve.models.common import Column, Curve, Metric, Model


class CaptureMetric(Metric):
    """A metric of a capture."""

    # Shown in the first table. The page folds the others.
    is_first: bool
    meaning: str


class CaptureConnection(Model):
    """A connection of a capture."""

    connection: int
    client: str
    server: str
    position: str
    values: list[str]


class Capture(Model):
    """An analysed capture."""

    name: str
    duration: str
    warnings: list[str]
    connections: int
    metrics: list[CaptureMetric]
    columns: list[Column]
    rows: list[CaptureConnection]


class Segments(Model):
    """Segments by the number of their last byte."""

    new: Curve
    again: Curve
    segments: int
    retransmissions: int


class Graphs(Model):
    """TCP graphs of one connection: sequence numbers and `in_flight` in bytes, `round_trips` in seconds."""

    connection: int
    sent: Segments
    acked: Curve
    throughput: Curve
    window: str
    round_trips: Curve
    in_flight: Curve


class Uploaded(Model):
    """An uploaded capture, with the id to query."""

    id: str
    name: str

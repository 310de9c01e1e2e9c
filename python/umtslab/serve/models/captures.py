"""Captures: an uploaded file, its analysis, and the TCP graphs of one of its connections."""

from __future__ import annotations

from umtslab.serve.models.common import Column, Curve, Metric, Model


class Uploaded(Model):
    """An uploaded capture, with the id to query."""

    id: str
    name: str


# ── The analysis ────────────────────────────────────────────────────────────────────────────────────


class CaptureMetric(Metric):
    """A metric of a capture."""

    # Shown in the first table. The page folds the others.
    is_first: bool
    meaning: str


class CaptureConnection(Model):
    """A connection of a capture."""

    # Number of the connection.
    connection: int
    # Address and port of both ends.
    client: str
    server: str
    # Where on the path the capture was taken, such as at the sender of the data.
    position: str
    # Metrics in the order of `Capture.columns`.
    values: list[str]


class Capture(Model):
    """An analysed capture."""

    name: str
    duration: str
    warnings: list[str]
    # Number of all connections. `rows` has only the first ones.
    connections: int
    metrics: list[CaptureMetric]
    columns: list[Column]
    rows: list[CaptureConnection]


# ── The graphs of a connection ──────────────────────────────────────────────────────────────────────


class Segments(Model):
    """Segments by the number of their last byte."""

    # The first transmissions, thinned to the pixels of the figure.
    new: Curve
    # The first retransmissions.
    again: Curve
    # Numbers of all transmissions, and of all retransmissions among them.
    segments: int
    retransmissions: int


class Graphs(Model):
    """TCP graphs of one connection: sequence numbers and `in_flight` in bytes, `round_trips` in seconds."""

    connection: int
    sent: Segments
    # Acknowledgment numbers.
    acked: Curve
    # Mean rate in kbit/s in consecutive windows, and the length of a window.
    throughput: Curve
    window: str
    round_trips: Curve
    in_flight: Curve

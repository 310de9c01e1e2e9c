"""Captures: an uploaded file, its analysis, the TCP graphs and the ladder of one of its connections."""

from __future__ import annotations

from typing import Literal

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
    """TCP graphs of one connection: sequence numbers, `in_flight` in bytes, `round_trips` in seconds."""

    connection: int
    sent: Segments
    # Acknowledgment numbers.
    acked: Curve
    # Mean rate in kbit/s in consecutive windows, and the length of a window.
    throughput: Curve
    window: str
    round_trips: Curve
    in_flight: Curve
    # Advertised window of the receiver in bytes. Empty if its scale is unknown.
    receive_window: Curve
    # Why `receive_window` is empty or incomplete. Empty if nothing is missing.
    receive_window_note: str


# ── The ladder of a connection ──────────────────────────────────────────────────────────────────────


class LadderPacket(Model):
    """A packet: an arrow of the ladder."""

    # Number in the connection, from 1.
    packet: int
    # Seconds since the first packet of the connection, and since the packet before.
    time: str
    since: str
    is_from_client: bool
    # The kind, as in `umtslab.ladder`, and the hue of the arrow.
    kind: str
    hue: str
    # Short text for the arrow.
    label: str
    flags: str
    # Numbers and sizes in bytes. `ack` is empty without the flag ACK.
    seq: str
    payload: str
    ack: str
    window: str
    note: str


class LadderKind(Model):
    """A kind of packet in the legend."""

    hue: str
    label: str


class Ladder(Model):
    """Packets of one connection. The first one is the first packet of the page."""

    connection: int
    client: str
    server: str
    # The end at which the packets were captured. None: at neither end, or unknown.
    captured_at: Literal["client", "server"] | None
    notes: list[str]
    kinds: list[LadderKind]
    # Counts of all packets of the connection.
    packets: int
    retransmissions: int
    duplicate_acks: int
    # Numbers of the first packets of the pages before and after, and of the last page.
    previous: int | None
    next: int | None
    last: int
    # Numbers of the nearest retransmissions before and after this page.
    retransmission_before: int | None
    retransmission_after: int | None
    rows: list[LadderPacket]
    command: str

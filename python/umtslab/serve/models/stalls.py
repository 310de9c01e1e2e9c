"""Stalls, timeouts and retransmissions of a run, with their chains of causes."""

from __future__ import annotations

from typing import Any, Literal

from umtslab.serve.models.common import Model, Part


class Link(Model):
    """A link of a chain of causes."""

    kind: str
    time_s: float
    end_s: float
    instant: str
    text: str
    cause: str | None
    clause: str | None
    identity: dict[str, Any]
    identity_text: str
    is_first_cause: bool
    from_s: float
    to_s: float


class Chain(Model):
    """The causes of a stall, timeout or retransmission: the effect first, its first cause last."""

    id: str
    kind: Literal["stall", "rto", "retransmission"]
    title: str
    # Title, UE, connection, label and effect in one text, for screen readers.
    spoken: str
    time_s: float
    connection: int
    ue: int
    # Name in the time budget: reason of a timeout, loss of a packet, or cause of a wait.
    label: str
    label_text: str
    # Name of the cause of the link closest to the first cause that has one.
    cause: str
    packet: int | None
    links: list[Link]
    also: list[str]
    from_s: float
    to_s: float
    command: str


class StallRow(Model):
    """A stall with its time by cause."""

    id: str
    start_s: float
    end_s: float
    length_s: float
    start: str
    length: str
    connection: int
    # Position of the connection among the connections of `ue`, such as "2nd of 2".
    of_ue: str
    ue: int
    timeouts: int
    # As in `Chain`.
    label: str
    # Text for `label`, unlike `Chain.cause`.
    cause: str
    parts: list[Part]
    # Length of the bar, in per cent of the longest stall of the run.
    scale_pct: float


class EventRow(Model):
    """A timeout or retransmission."""

    id: str
    kind: Literal["rto", "retransmission"]
    title: str
    time_s: float
    connection: int
    ue: int
    label_text: str


class Stalls(Model):
    """The longest stalls of a run, and the first timeouts and retransmissions."""

    limit_s: float
    limit: str
    stall_count: int
    stalls: list[StallRow]
    timeouts: int
    event_count: int
    events: list[EventRow]

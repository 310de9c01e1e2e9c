"""Stalls, timeouts and retransmissions of a run, with their chains of causes.

`from_s` and `to_s` are the part of the time line that shows a link or a chain, with a margin.
"""

from __future__ import annotations

from typing import Any, Literal

from umtslab.serve.models.common import Model, Part

# ── Chains of causes ────────────────────────────────────────────────────────────────────────────────


class Link(Model):
    """A link of a chain of causes."""

    # The event, such as "rto" or "block_lost".
    kind: str
    # Begin and end. Equal for an event without duration.
    time_s: float
    end_s: float
    # `time_s` as text.
    instant: str
    # The event in one or two sentences.
    text: str
    # Cause in the time budget, if the link has one.
    cause: str | None
    # Clause of a standard, or the scenario key that decides.
    clause: str | None
    # Numbers of the packets, PDUs, block sets and users of the link.
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
    # `Link.cause` of the last link in which it is not None.
    cause: str
    # Number of the packet in the last link with a packet. None if no link has a packet.
    packet: int | None
    links: list[Link]
    # Waits that only added to the delay, as sentences.
    also: list[str]
    from_s: float
    to_s: float
    # Shell command that prints the same chain.
    command: str


# ── The table of stalls and events ──────────────────────────────────────────────────────────────────


class StallRow(Model):
    """A stall with its time by cause."""

    # Identity of the stall, and of its chain.
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
    # Number of retransmission timeouts in the stall.
    timeouts: int
    # As in `Chain`.
    label: str
    # `label` as text, which is `label_text` in `Chain`. `Chain.cause` is a name, and belongs to a
    # link.
    cause: str
    # Causes of the stall's time, longest first.
    parts: list[Part]
    # Length of the bar, in per cent of the longest stall of the run.
    scale_pct: float


class EventRow(Model):
    """A timeout or retransmission."""

    # Identity of the event, and of its chain. All fields are as in `Chain`.
    id: str
    kind: Literal["rto", "retransmission"]
    title: str
    time_s: float
    connection: int
    ue: int
    label_text: str


class Stalls(Model):
    """The longest stalls of a run, and the first timeouts and retransmissions."""

    # Minimum length of a stall.
    limit_s: float
    limit: str
    # Number of all stalls. `stalls` has only some.
    stall_count: int
    stalls: list[StallRow]
    # Number of all timeouts.
    timeouts: int
    # Number of all timeouts and retransmissions. `events` has only some.
    event_count: int
    events: list[EventRow]

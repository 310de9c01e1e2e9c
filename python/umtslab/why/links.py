"""Links and chains: the effect first, the first cause last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_LABELS = {
    "channel_switch": "channel_switch",
    "dch_refused": "dch_refused",
    "handover": "handover",
    "capacity_request": "capacity",
    "capacity_wait": "capacity",
    "rlc_reset": "rlc_reset",
    "rlc_reestablishment": "rlc_reset",
    "ack_channel": "rlc_recovery",
    "status_prohibited": "rlc_recovery",
    "nodeb_drop": "rlc_recovery",
    "rlc_recovery": "rlc_recovery",
    "rlc_window": "rlc_window",
    "ack_loss": "ack_loss",
    "core_queue": "core_delay",
    "propagation": "core_delay",
    "unexplained": "unknown",
    "not_visible": "unknown",
}
"""Label of a spurious timeout by the cause of the wait before it, as in the core (`TimeoutReason`).

Losses in the fixed network are ``core_delay`` (`label_of_wait`), all other causes ``radio_delay``.
"""

_CORE_LOSSES = ("core_drop", "core_outage", "core_loss")

UNKNOWN = "unknown"


def label_of_wait(cause: str, loss: str = "") -> str:
    """Return the label of a spurious timeout after a wait with this cause.

    >>> label_of_wait("status_prohibited"), label_of_wait("serialisation")
    ('rlc_recovery', 'radio_delay')
    """
    if cause in _LABELS:
        return _LABELS[cause]
    return "core_delay" if loss in _CORE_LOSSES else "radio_delay"


@dataclass(frozen=True)
class Link:
    """A step of a chain.

    Attributes
    ----------
    kind : str
        The event, such as ``rto`` or ``block_lost``.
    time_s, end_s : float
        Begin and end. Equal for an event without duration.
    text : str
        One or two sentences.
    cause : str
        Cause of the time budget, if the link has one.
    clause : str
        Clause of a standard, or the scenario key that decides.
    identity : dict
        Numbers that identify the packets, PDUs, block sets and users of the link.
    """

    kind: str
    time_s: float
    end_s: float
    text: str
    cause: str = ""
    clause: str = ""
    identity: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the link for JSON."""
        return {
            "kind": self.kind,
            "time_s": self.time_s,
            "end_s": self.end_s,
            "text": self.text,
            "cause": self.cause or None,
            "clause": self.clause or None,
            "identity": self.identity,
        }


@dataclass(frozen=True)
class Chain:
    """The causes of one stall, timeout or retransmission."""

    kind: str
    time_s: float
    connection: int
    ue: int
    label: str
    """Label of the time budget: of a timeout its reason, of a lost packet the loss, else the cause."""
    links: tuple[Link, ...]
    also: tuple[str, ...] = ()
    """Waits that only added to the delay."""

    @property
    def root(self) -> Link:
        """The first cause."""
        return self.links[-1]

    @property
    def cause(self) -> str:
        """Cause of the link closest to the first cause that has one."""
        return next((link.cause for link in reversed(self.links) if link.cause), UNKNOWN)

    @property
    def agrees(self) -> bool:
        """Whether the links name the same cause as the time budget."""
        return self.cause == self.label or label_of_wait(self.cause) == self.label

    def as_dict(self) -> dict[str, Any]:
        """Return the chain for JSON."""
        return {
            "kind": self.kind,
            "time_s": self.time_s,
            "connection": self.connection,
            "ue": self.ue,
            "label": self.label,
            "cause": self.cause,
            "links": [link.as_dict() for link in self.links],
            "also": list(self.also),
        }


def unknown_link(time_s: float, end_s: float) -> Link:
    """Return the link that ends a chain without a recorded cause."""
    return Link(UNKNOWN, time_s, end_s, "Nothing recorded explains this wait.", cause=UNKNOWN)


def seconds(time_s: float) -> str:
    """Format an instant.

    >>> seconds(27.04)
    '27.0400 s'
    """
    return f"{time_s:.4f} s"


def duration(length_s: float) -> str:
    """Format a length of time.

    >>> duration(1.25), duration(0.0123)
    ('1.250 s', '12.3 ms')
    """
    return f"{length_s:.3f} s" if length_s >= 0.1 else f"{1e3 * length_s:.1f} ms"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "segment"), count(2920, "byte")
    ('1 segment', '2,920 bytes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def joined(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    >>> joined(["3"]), joined(["3", "5", "9"])
    ('3', '3, 5 and 9')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

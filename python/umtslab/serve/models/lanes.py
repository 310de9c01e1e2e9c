"""Causes of waits and RRC states of the UEs of a run over time.

Each UE has a row: causes in its upper half, RRC states in its lower half.
"""

from __future__ import annotations

from umtslab.serve.models.common import Model


class Span(Model):
    """A time that is drawn."""

    from_s: float
    to_s: float


class Fold(Model):
    """Idle time before the span at an index."""

    # Index of the span, or the number of spans for the fold after the last.
    at: int
    # Length of the fold, as text.
    text: str


class Piece(Model):
    """A time with one cause or state, or a part of a cell: from `base` up, `share` of the height."""

    from_s: float
    to_s: float
    # Name of the cause or state.
    what: str
    # Lower edge and height, from 0 to 1. A piece that is no part of a cell has 0 and 1.
    base: float
    share: float


class Timeout(Model):
    """A retransmission timeout."""

    time_s: float
    # False for a spurious timeout.
    is_needed: bool


class LaneRow(Model):
    """The connections and the RRC states of one UE."""

    ue: int
    causes: list[Piece]
    states: list[Piece]
    timeouts: list[Timeout]
    # The row for screen readers: the three causes with the largest time.
    text: str


class Lanes(Model):
    """Connections over RRC state."""

    # Number of all UEs with connections. `rows` has only some.
    ues: int
    # Index of the first UE of `rows` among all UEs.
    first: int
    duration_s: float
    # The times that are drawn.
    spans: list[Span]
    # The idle times before, between and after the spans. They are not drawn.
    folds: list[Fold]
    # Length of a cell in which the causes are summed. None: each interval of a cause is drawn.
    cells_s: float | None
    rows: list[LaneRow]

"""Search on the time line of a connection in ``umts serve``.

A query is an instant (``66.28 s``), a numbered object (``byte 1001``, ``packet 70``, ``PDU 1423``,
``SN 1423``) or a cause of the time budget (``channel switch``). A match is an item of a lane: a row of
the segments, of the PDUs, or of the intervals by cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from umtslab.labels import cause_label
from umtslab.serve.selection import describe_item
from umtslab.serve.tiles import LANES, ConnectionTimeline

if TYPE_CHECKING:
    import polars as pl

MAX_LETTERS = 80
"""Maximum length of a query. Further characters are ignored."""

_MIN_PARTIAL_LETTERS = 3
"""Minimum length of a query that may be a part of a cause's label. Shorter ones must be the whole label."""

_INSTANT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?s?")
_NUMBERED = re.compile(r"(seg|segment|byte|packet|sn|pdu) ?(\d{1,12})")

SEQUENCE_NUMBERS = 4096
"""Number of sequence numbers (SN) of RLC's acknowledged mode: 12 bits. Numbers of PDUs do not wrap around."""

HELP = (
    "an instant such as 66.28 s, byte 1001, packet 70, PDU 1423, SN 1423, or a cause such as channel switch"
)


def search(timeline: ConnectionTimeline, query: str, at_s: float, *, backward: bool) -> dict[str, Any]:
    """Return the next item after `at_s` that matches, or the previous one, as `models.Found`.

    After the last item the search continues with the first, and backward before the first with the
    last. If nothing matches, the count is 0, and the text says which queries are possible.
    """
    text = " ".join(query[:MAX_LETTERS].split()).lower()
    if instant := _INSTANT.fullmatch(text):
        time_s = float(instant[1])
        if time_s > timeline.run.duration_s:
            return _nothing(at_s, f"The run ends at {timeline.run.duration_s:g} s.")
        return {"time_s": time_s, "end_s": time_s, "lane": None, "row": None, "text": "", "count": 1}
    matches = sorted(_matches(timeline, text))
    if not matches:
        return _nothing(at_s, f'Nothing of this connection matches "{query[:MAX_LETTERS]}". Search {HELP}.')
    later = [match for match in matches if match.start_s > at_s]
    earlier = [match for match in matches if match.start_s < at_s]
    found = (earlier or matches)[-1] if backward else (later or matches)[0]
    [item] = _rows(timeline, found.lane, lambda pl: pl.col("row") == found.row)
    end_s = item.get("end_s")
    return {
        "time_s": found.start_s,
        "end_s": found.start_s if end_s is None else end_s,
        "lane": found.lane,
        "row": found.row,
        "text": describe_item(found.lane, item),
        "count": len(matches),
    }


def _nothing(at_s: float, text: str) -> dict[str, Any]:
    """Return the answer to a query without a match, which stays at the instant `at_s`."""
    return {"time_s": at_s, "end_s": at_s, "lane": None, "row": None, "text": text, "count": 0}


class _Match(NamedTuple):
    """An item that matches a query. Matches are ordered by start."""

    start_s: float
    lane: str
    row: int
    """Number of the item's row in the table of its lane."""


def _matches(timeline: ConnectionTimeline, text: str) -> Iterator[_Match]:
    """Yield all items that match a numbered object or a cause."""
    numbered = _NUMBERED.fullmatch(text)
    if numbered is None:
        yield from _cause_matches(timeline, text)
        return
    kind, number = numbered[1], int(numbered[2])
    match kind:
        case "seg" | "segment" | "byte":
            lane, condition = "segments", lambda pl: (pl.col("seq") <= number) & (pl.col("end") > number)
        case "packet":
            lane, condition = "segments", lambda pl: pl.col("packet") == number
        case "pdu":
            lane, condition = "pdus", lambda pl: (pl.col("first") <= number) & (pl.col("last") >= number)
        case _:  # "sn"
            lane, condition = "pdus", lambda pl: _has_sn(pl, number)
    for row in _rows(timeline, lane, condition):
        yield _Match(row["time_s"], lane, row["row"])


def _has_sn(pl: Any, number: int) -> pl.Expr:
    """Return the condition that one of the PDUs of a row has the sequence number `number`.

    A row has `count` consecutive PDUs, numbered from `first` on. The sequence number of PDU n is n
    modulo 4096.
    """
    if number >= SEQUENCE_NUMBERS:
        return pl.lit(value=False)  # type: ignore[no-any-return]
    steps_from_first = (number - pl.col("first").cast(pl.Int64)) % SEQUENCE_NUMBERS
    return steps_from_first < pl.col("count").cast(pl.Int64)  # type: ignore[no-any-return]


def _cause_matches(timeline: ConnectionTimeline, text: str) -> Iterator[_Match]:
    """Yield the intervals of the causes that have this label or name, or else contain it in the label."""
    causes = [
        cause for cause in timeline.causes if text and text in (cause_label(cause).lower(), cause.lower())
    ]
    if not causes and len(text) >= _MIN_PARTIAL_LETTERS:
        causes = [cause for cause in timeline.causes if text in cause_label(cause).lower()]
    if causes:
        for row in _rows(timeline, "causes", lambda pl: pl.col("cause").is_in(causes)):
            yield _Match(row["start_s"], "causes", row["row"])


def _rows(
    timeline: ConnectionTimeline, lane_name: str, condition: Callable[[Any], pl.Expr]
) -> list[dict[str, Any]]:
    """Return the rows of a lane that meet a condition. `condition` receives the module ``polars``."""
    import polars as pl

    lane = next(lane for lane in LANES if lane.name == lane_name)
    rows = timeline.rows_of(lane)
    return rows.filter(condition(pl)).to_dicts() if rows.height else []

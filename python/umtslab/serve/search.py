"""Search on the time line: the next or previous item of an instant, byte, segment, PDU or cause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from umtslab.labels import cause_label
from umtslab.serve.selection import describe_item
from umtslab.serve.tiles import LANES, ConnectionTimeline

if TYPE_CHECKING:
    import polars as pl

MOST_LETTERS = 80
"""Length of a query."""

_LEAST_LETTERS = 3
"""Length of a query that may be a part of a cause's label."""

_INSTANT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?s?")
_NUMBERED = re.compile(r"(seg|segment|byte|packet|sn|pdu) ?(\d{1,12})")

SEQUENCE_NUMBERS = 4096
"""Number of sequence numbers of RLC's acknowledged mode."""

HELP = (
    "an instant such as 66.28 s, byte 1001, packet 70, PDU 1423, SN 1423, or a cause such as channel switch"
)


def search(timeline: ConnectionTimeline, query: str, at_s: float, *, backward: bool) -> dict[str, Any]:
    """Return the next item after `at_s` that matches, or the previous one, as `models.Found`.

    The search continues at the other end of the connection's time line. If nothing matches, the count
    is 0, and the text says which queries are possible.
    """
    text = " ".join(query[:MOST_LETTERS].split()).lower()
    if instant := _INSTANT.fullmatch(text):
        time_s = float(instant[1])
        if time_s > timeline.run.duration_s:
            return _nothing(at_s, f"The run ends at {timeline.run.duration_s:g} s.")
        return {"time_s": time_s, "end_s": time_s, "lane": None, "row": None, "text": "", "count": 1}
    matches = sorted(_matches(timeline, text))
    if not matches:
        return _nothing(at_s, f'Nothing of this connection matches "{query[:MOST_LETTERS]}". Search {HELP}.')
    later = [match for match in matches if match.start_s > at_s]
    earlier = [match for match in matches if match.start_s < at_s]
    start_s, lane, row = (earlier or matches)[-1] if backward else (later or matches)[0]
    [item] = _rows(timeline, lane, lambda pl: pl.col("row") == row)
    end_s = item.get("end_s")
    return {
        "time_s": start_s,
        "end_s": start_s if end_s is None else end_s,
        "lane": lane,
        "row": row,
        "text": describe_item(lane, item),
        "count": len(matches),
    }


def _nothing(at_s: float, text: str) -> dict[str, Any]:
    return {"time_s": at_s, "end_s": at_s, "lane": None, "row": None, "text": text, "count": 0}


class _Match(NamedTuple):
    """An item that matches a query."""

    start_s: float
    lane: str
    row: int


def _matches(timeline: ConnectionTimeline, text: str) -> Iterator[_Match]:
    """Yield all items that match."""
    numbered = _NUMBERED.fullmatch(text)
    if numbered is None:
        yield from _of_cause(timeline, text)
        return
    kind, number = numbered[1], int(numbered[2])
    match kind:
        case "seg" | "segment" | "byte":
            lane, condition = "segments", lambda pl: (pl.col("seq") <= number) & (pl.col("end") > number)
        case "packet":
            lane, condition = "segments", lambda pl: pl.col("packet") == number
        case "pdu":
            lane, condition = "pdus", lambda pl: (pl.col("first") <= number) & (pl.col("last") >= number)
        case _:
            lane, condition = "pdus", lambda pl: _has_sn(pl, number)
    for row in _rows(timeline, lane, condition):
        yield _Match(row["time_s"], lane, row["row"])


def _has_sn(pl: Any, number: int) -> pl.Expr:
    """Return whether the PDUs of a row have a sequence number, which wraps around."""
    if number >= SEQUENCE_NUMBERS:
        return pl.lit(value=False)  # type: ignore[no-any-return]
    steps_from_first = (number - pl.col("first").cast(pl.Int64)) % SEQUENCE_NUMBERS
    return steps_from_first < pl.col("count").cast(pl.Int64)  # type: ignore[no-any-return]


def _of_cause(timeline: ConnectionTimeline, text: str) -> Iterator[_Match]:
    causes = [
        cause for cause in timeline.causes if text and text in (cause_label(cause).lower(), cause.lower())
    ]
    if not causes and len(text) >= _LEAST_LETTERS:
        causes = [cause for cause in timeline.causes if text in cause_label(cause).lower()]
    if causes:
        for row in _rows(timeline, "causes", lambda pl: pl.col("cause").is_in(causes)):
            yield _Match(row["start_s"], "causes", row["row"])


def _rows(
    timeline: ConnectionTimeline, name: str, condition: Callable[[Any], pl.Expr]
) -> list[dict[str, Any]]:
    import polars as pl

    lane = next(lane for lane in LANES if lane.name == name)
    chosen = timeline.chosen(lane)
    return chosen.filter(condition(pl)).to_dicts() if chosen.height else []

"""Connections over RRC state: one row per UE, causes above and RRC states below, idle time folded.

Times of few intervals are returned as they are. Of many, each cell of the time axis has the exact
shares of the causes, so that a page never draws more than `MOST_SHAPES`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from umtslab.labels import cause_label
from umtslab.numbers import number
from umtslab.run import Run

MOST_SHAPES = 8000
ROWS = 32
"""UEs of one answer."""

_FOLDED_S = 5.0
"""Least idle time that is folded."""

_MARGIN_S = 0.5
"""Time that stays visible on both sides of a fold."""

_LEAST_CELLS, _MOST_CELLS = 60, 600

Interval = tuple[float, float, str]
"""Start, end, and cause or state."""


def lanes(run: Run, first: int = 0) -> dict[str, Any] | None:
    """Return the rows of `ROWS` UEs from the one at index `first`, or None without recorded intervals."""
    if "budget_intervals" not in run.series_kinds():
        return None
    ue_of = {row["connection"]: row["ue"] for row in run.connection_rows() if row.get("ue") is not None}
    ues = sorted(set(ue_of.values()))
    shown_ues = ues[first : first + ROWS]
    causes = _causes(run, ue_of, set(shown_ues))
    states = _states(run, set(shown_ues))
    spans = _spans(run, [one for of in causes.values() for one in of], _switches(states))
    cells = _cells(spans, len(shown_ues)) if sum(map(len, causes.values())) > MOST_SHAPES else None
    timeouts = _timeouts(run, ue_of, set(shown_ues))
    return {
        "ues": len(ues),
        "first": first,
        "duration_s": run.duration_s,
        "spans": [{"from_s": start, "to_s": end} for start, end in spans],
        "folds": _folds(spans, run.duration_s),
        "cells_s": None if cells is None else cells,
        "rows": [
            {
                "ue": ue,
                "causes": _intervals(causes[ue]) if cells is None else _shares(causes[ue], spans, cells),
                "states": _intervals(states[ue]),
                "timeouts": timeouts[ue],
                "text": _text(causes[ue]),
            }
            for ue in shown_ues
        ],
    }


def _causes(run: Run, ue_of: Mapping[int, int], shown: set[int]) -> dict[int, list[Interval]]:
    intervals: dict[int, list[Interval]] = defaultdict(list)
    table = run.series("budget_intervals").select("connection", "start_s", "end_s", "cause")
    for connection, start, end, cause in table.iter_rows():
        ue = ue_of.get(connection)
        if ue in shown:
            before = intervals[ue][-1] if intervals[ue] else None
            if before is not None and before[2] == cause and before[1] == start:
                intervals[ue][-1] = (before[0], end, cause)
            else:
                intervals[ue].append((start, end, cause))
    return intervals


def _states(run: Run, shown: set[int]) -> dict[int, list[Interval]]:
    """Return the RRC states of each UE. A switch has the name ``switch``."""
    intervals: dict[int, list[Interval]] = defaultdict(list)
    if "rrc_state" not in run.series_kinds():
        return intervals
    for time_s, ue, state, towards in run.series("rrc_state").sort("time_s").iter_rows():
        if ue in shown:
            if intervals[ue]:
                start, _, before = intervals[ue][-1]
                intervals[ue][-1] = (start, time_s, before)
            intervals[ue].append((time_s, run.duration_s, "switch" if towards else state))
    return intervals


def _switches(states: Mapping[int, Sequence[Interval]]) -> list[Interval]:
    return [one for of in states.values() for one in of if one[2] == "switch"]


def _spans(run: Run, busy: Iterable[Interval], switches: Iterable[Interval]) -> list[tuple[float, float]]:
    """Return the times to draw: all except idle times of at least `_FOLDED_S`."""
    spans: list[list[float]] = []
    for start, end, _ in sorted([*busy, *switches]):
        low, high = max(0.0, start - _MARGIN_S), min(run.duration_s, end + _MARGIN_S)
        if spans and low - spans[-1][1] < _FOLDED_S:
            spans[-1][1] = max(spans[-1][1], high)
        else:
            spans.append([low, high])
    if not spans:
        return [(0.0, run.duration_s)]
    if spans[0][0] < _FOLDED_S:
        spans[0][0] = 0.0
    if run.duration_s - spans[-1][1] < _FOLDED_S:
        spans[-1][1] = run.duration_s
    return [(start, end) for start, end in spans]


def _folds(spans: Sequence[tuple[float, float]], duration_s: float) -> list[dict[str, Any]]:
    """Return the idle time before each span and after the last, as text."""
    ends = [0.0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), duration_s]
    return [
        {"at": index, "text": f"{number(start - end, 3)} s idle"}
        for index, (end, start) in enumerate(zip(ends, starts, strict=True))
        if start > end
    ]


def _cells(spans: Sequence[tuple[float, float]], rows: int) -> float:
    """Return the length of a cell, so that all cells together stay below `MOST_SHAPES`."""
    length = sum(end - start for start, end in spans)
    count = min(_MOST_CELLS, max(_LEAST_CELLS, MOST_SHAPES // (4 * max(1, rows))))
    return length / count


def _shares(
    intervals: Sequence[Interval], spans: Sequence[tuple[float, float]], length: float
) -> list[dict[str, Any]]:
    """Return the shares of the causes in each cell. Shares of one cell are stacked."""
    rows = []
    for span_start, span_end in spans:
        time_in: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for start, end, cause in intervals:
            at = max(start, span_start)
            until = min(end, span_end)
            while at < until:
                cell = int((at - span_start) / length)
                edge = min(until, span_start + (cell + 1) * length)
                if edge <= at:  # rounding: the instant is the end of the cell
                    cell += 1
                    edge = min(until, span_start + (cell + 1) * length)
                time_in[cell][cause] += edge - at
                at = edge
        for cell, shares in sorted(time_in.items()):
            base = 0.0
            total = max(length, sum(shares.values()))
            for cause, time_s in sorted(shares.items(), key=lambda one: -one[1]):
                rows.append(
                    {
                        "from_s": span_start + cell * length,
                        "to_s": min(span_end, span_start + (cell + 1) * length),
                        "what": cause,
                        "base": base,
                        "share": time_s / total,
                    }
                )
                base += time_s / total
    return rows


def _intervals(intervals: Iterable[Interval]) -> list[dict[str, Any]]:
    return [
        {"from_s": start, "to_s": end, "what": what, "base": 0.0, "share": 1.0}
        for start, end, what in intervals
        if end > start
    ]


def _timeouts(run: Run, ue_of: Mapping[int, int], shown: set[int]) -> dict[int, list[dict[str, Any]]]:
    timeouts: dict[int, list[dict[str, Any]]] = defaultdict(list)
    if "budget_rtos" not in run.series_kinds():
        return timeouts
    for time_s, connection, kind in (
        run.series("budget_rtos").select("time_s", "connection", "kind").iter_rows()
    ):
        ue = ue_of.get(connection)
        if ue in shown:
            timeouts[ue].append({"time_s": time_s, "is_needed": kind == "needed"})
    return timeouts


def _text(intervals: Iterable[Interval]) -> str:
    """Describe a row for screen readers: the causes with largest time."""
    sums: dict[str, float] = defaultdict(float)
    for start, end, cause in intervals:
        sums[cause] += end - start
    largest = sorted(sums.items(), key=lambda one: -one[1])[:3]
    return ", ".join(f"{cause_label(cause)} {number(time_s, 3)} s" for cause, time_s in largest)

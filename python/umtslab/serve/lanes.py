"""Connections over RRC state: one row per UE, causes above and RRC states below, idle time folded.

Times of few intervals are returned as they are. Of many, each cell of the time axis has the exact
shares of the causes, so that a page never draws more than `MOST_SHAPES`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from umtslab.labels import cause_label
from umtslab.numbers import number
from umtslab.run import Run

MOST_SHAPES = 8000
"""Shapes of one answer."""

ROWS = 32
"""UEs of one answer."""

_FOLDED_S = 5.0
"""Least idle time that is folded."""

_MARGIN_S = 0.5
"""Time that stays visible on both sides of a fold."""

_LEAST_CELLS, _MOST_CELLS = 60, 600
_SHAPES_PER_CELL = 4
"""Causes that share a cell, as an estimate."""


class Interval(NamedTuple):
    """A time with one cause or RRC state."""

    start_s: float
    end_s: float
    what: str


def lanes(run: Run, first: int = 0) -> dict[str, Any] | None:
    """Return the rows of `ROWS` UEs from the one at index `first`, or None without recorded intervals."""
    if "budget_intervals" not in run.series_kinds():
        return None
    ue_of = {row["connection"]: row["ue"] for row in run.connection_rows() if row.get("ue") is not None}
    ues = sorted(set(ue_of.values()))
    shown_ues = ues[first : first + ROWS]
    causes = _causes(run, ue_of, set(shown_ues))
    states = _states(run, set(shown_ues))
    busy = [interval for intervals in causes.values() for interval in intervals]
    spans = _spans(run, busy, _switches(states))
    cell_s = _cell_length(spans, len(shown_ues)) if len(busy) > MOST_SHAPES else None
    timeouts = _timeouts(run, ue_of, set(shown_ues))
    return {
        "ues": len(ues),
        "first": first,
        "duration_s": run.duration_s,
        "spans": [{"from_s": start, "to_s": end} for start, end in spans],
        "folds": _folds(spans, run.duration_s),
        "cells_s": cell_s,
        "rows": [
            {
                "ue": ue,
                "causes": _intervals(causes[ue]) if cell_s is None else _shares(causes[ue], spans, cell_s),
                "states": _intervals(states[ue]),
                "timeouts": timeouts[ue],
                "text": _text(causes[ue]),
            }
            for ue in shown_ues
        ],
    }


def _causes(run: Run, ue_of: Mapping[int, int], shown: set[int]) -> dict[int, list[Interval]]:
    """Return the causes of each UE. Successive intervals of one cause become one."""
    intervals: dict[int, list[Interval]] = defaultdict(list)
    table = run.series("budget_intervals").select("connection", "start_s", "end_s", "cause")
    for connection, start, end, cause in table.iter_rows():
        ue = ue_of.get(connection)
        if ue in shown:
            before = intervals[ue][-1] if intervals[ue] else None
            if before is not None and before.what == cause and before.end_s == start:
                intervals[ue][-1] = before._replace(end_s=end)
            else:
                intervals[ue].append(Interval(start, end, cause))
    return intervals


def _states(run: Run, shown: set[int]) -> dict[int, list[Interval]]:
    """Return the RRC states of each UE. A switch has the name ``switch``."""
    intervals: dict[int, list[Interval]] = defaultdict(list)
    if "rrc_state" not in run.series_kinds():
        return intervals
    for time_s, ue, state, towards in run.series("rrc_state").sort("time_s").iter_rows():
        if ue in shown:
            if intervals[ue]:
                intervals[ue][-1] = intervals[ue][-1]._replace(end_s=time_s)
            intervals[ue].append(Interval(time_s, run.duration_s, "switch" if towards else state))
    return intervals


def _switches(states: Mapping[int, Sequence[Interval]]) -> list[Interval]:
    return [interval for intervals in states.values() for interval in intervals if interval.what == "switch"]


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


def _cell_length(spans: Sequence[tuple[float, float]], rows: int) -> float:
    """Return the length of a cell, so that all cells together stay below about `MOST_SHAPES`."""
    length_s = sum(end - start for start, end in spans)
    most_cells = MOST_SHAPES // (_SHAPES_PER_CELL * max(1, rows))
    return length_s / min(_MOST_CELLS, max(_LEAST_CELLS, most_cells))


def _shares(
    intervals: Sequence[Interval], spans: Sequence[tuple[float, float]], cell_s: float
) -> list[dict[str, Any]]:
    """Return the shares of the causes in each cell. Shares of one cell are stacked."""
    rows = []
    for span_start, span_end in spans:
        time_in: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for start, end, cause in intervals:
            at = max(start, span_start)
            until = min(end, span_end)
            while at < until:
                cell = int((at - span_start) / cell_s)
                edge = min(until, span_start + (cell + 1) * cell_s)
                if edge <= at:  # rounding: the instant is the end of the cell
                    cell += 1
                    edge = min(until, span_start + (cell + 1) * cell_s)
                time_in[cell][cause] += edge - at
                at = edge
        for cell, times in sorted(time_in.items()):
            base = 0.0
            # A UE's connections can overlap, so their causes may have more time than the cell.
            total = max(cell_s, sum(times.values()))
            for cause, time_s in sorted(times.items(), key=lambda item: -item[1]):
                rows.append(
                    {
                        "from_s": span_start + cell * cell_s,
                        "to_s": min(span_end, span_start + (cell + 1) * cell_s),
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
    largest = sorted(sums.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{cause_label(cause)} {number(time_s, 3)} s" for cause, time_s in largest)

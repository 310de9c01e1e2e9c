"""The view of all UEs of a run in ``umts serve``: one row per UE over the time of the run.

The upper half of a row has the causes of the time budget of the UE's connections, the lower half its
RRC states. Times in which all UEs of the view are idle are folded: the page draws only the spans
between the folds.

If the causes of the view have at most `MAX_SHAPES` intervals, the page draws each interval. Otherwise
the time axis is divided into cells of equal length, and each cell has the shares of the causes in its
time, stacked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from umtslab.labels import cause_label
from umtslab.numbers import number
from umtslab.run import Run

MAX_SHAPES = 8000
"""Maximum number of shapes that the page draws in the upper halves of the rows, approximately."""

MAX_UES = 32
"""Maximum number of UEs in one answer."""

_MIN_FOLD_S = 5.0
"""Minimum idle time that is folded."""

_MARGIN_S = 0.5
"""Time that stays visible on both sides of a fold."""

_MIN_CELLS, _MAX_CELLS = 60, 600
"""Limits on the number of cells of a row."""

_SHAPES_PER_CELL = 4
"""Number of causes that share a cell, as an estimate."""


class Interval(NamedTuple):
    """A time with one cause or RRC state, named by `label`."""

    start_s: float
    end_s: float
    label: str


def lanes(run: Run, first: int = 0) -> dict[str, Any] | None:
    """Return the rows of at most `MAX_UES` UEs, as `models.Lanes`.

    `first` is the index of the first of these UEs in the sorted list of all UEs. None if the run did
    not record the intervals of its time budget.
    """
    if "budget_intervals" not in run.series_kinds():
        return None
    ue_of = {row["connection"]: row["ue"] for row in run.connection_rows() if row.get("ue") is not None}
    ues = sorted(set(ue_of.values()))
    shown_ues = ues[first : first + MAX_UES]
    causes = _causes(run, ue_of, set(shown_ues))
    states = _states(run, set(shown_ues))
    cause_intervals = [interval for intervals in causes.values() for interval in intervals]
    spans = _busy_spans(run, cause_intervals, _switches(states))
    cell_s = _cell_length(spans, len(shown_ues)) if len(cause_intervals) > MAX_SHAPES else None
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
    """Return the intervals of causes of each shown UE. Adjacent intervals of one cause are merged.

    `ue_of` has the UE of each connection.
    """
    intervals: dict[int, list[Interval]] = defaultdict(list)
    table = run.series("budget_intervals").select("connection", "start_s", "end_s", "cause")
    for connection, start, end, cause in table.iter_rows():
        ue = ue_of.get(connection)
        if ue in shown:
            previous = intervals[ue][-1] if intervals[ue] else None
            if previous is not None and previous.label == cause and previous.end_s == start:
                intervals[ue][-1] = previous._replace(end_s=end)
            else:
                intervals[ue].append(Interval(start, end, cause))
    return intervals


def _states(run: Run, shown: set[int]) -> dict[int, list[Interval]]:
    """Return the intervals of RRC states of each shown UE.

    A row of the table is a change: the UE enters `state`, or begins a switch to the state `switch_to`.
    The time of a switch has the label ``switch``. Each interval ends with the next change of its UE.
    """
    intervals: dict[int, list[Interval]] = defaultdict(list)
    if "rrc_state" not in run.series_kinds():
        return intervals
    for time_s, ue, state, switch_to in run.series("rrc_state").sort("time_s").iter_rows():
        if ue in shown:
            if intervals[ue]:
                intervals[ue][-1] = intervals[ue][-1]._replace(end_s=time_s)
            intervals[ue].append(Interval(time_s, run.duration_s, "switch" if switch_to else state))
    return intervals


def _switches(states: Mapping[int, Sequence[Interval]]) -> list[Interval]:
    return [interval for intervals in states.values() for interval in intervals if interval.label == "switch"]


def _busy_spans(
    run: Run, causes: Iterable[Interval], switches: Iterable[Interval]
) -> list[tuple[float, float]]:
    """Return start and end of the times to draw: all except idle times of at least `_MIN_FOLD_S`.

    A time is idle if no UE of the view has a cause or an RRC switch. The whole run if all of it is idle.
    """
    starts: list[float] = []
    ends: list[float] = []
    for interval in sorted([*causes, *switches]):
        start_s = max(0.0, interval.start_s - _MARGIN_S)
        end_s = min(run.duration_s, interval.end_s + _MARGIN_S)
        if ends and start_s - ends[-1] < _MIN_FOLD_S:
            ends[-1] = max(ends[-1], end_s)
        else:
            starts.append(start_s)
            ends.append(end_s)
    if not starts:
        return [(0.0, run.duration_s)]
    if starts[0] < _MIN_FOLD_S:
        starts[0] = 0.0
    if run.duration_s - ends[-1] < _MIN_FOLD_S:
        ends[-1] = run.duration_s
    return list(zip(starts, ends, strict=True))


def _folds(spans: Sequence[tuple[float, float]], duration_s: float) -> list[dict[str, Any]]:
    """Return the folded time before each span and after the last, as text.

    ``at`` is the index of the span behind the fold, or the number of spans for the fold at the end.
    """
    fold_starts = [0.0, *(end for _, end in spans)]
    fold_ends = [*(start for start, _ in spans), duration_s]
    return [
        {"at": index, "text": f"{number(end - start, 3)} s idle"}
        for index, (start, end) in enumerate(zip(fold_starts, fold_ends, strict=True))
        if end > start
    ]


def _cell_length(spans: Sequence[tuple[float, float]], rows: int) -> float:
    """Return the length of a cell in seconds, so that all rows have about `MAX_SHAPES` shapes at most."""
    total_s = sum(end - start for start, end in spans)
    cells_per_row = MAX_SHAPES // (_SHAPES_PER_CELL * max(1, rows))
    return total_s / min(_MAX_CELLS, max(_MIN_CELLS, cells_per_row))


def _shares(
    intervals: Sequence[Interval], spans: Sequence[tuple[float, float]], cell_s: float
) -> list[dict[str, Any]]:
    """Return the shares of the causes in each cell of the spans, as shapes.

    The shapes of one cell are stacked, the largest share at the bottom: ``base`` is the sum of the
    shares below.
    """
    shapes = []
    for span_start, span_end in spans:
        for cell, times in sorted(_times_in_cells(intervals, span_start, span_end, cell_s).items()):
            base = 0.0
            # A UE's connections can overlap, so their causes may have more time than the cell.
            total_s = max(cell_s, sum(times.values()))
            for cause, time_s in sorted(times.items(), key=lambda item: -item[1]):
                shapes.append(
                    {
                        "from_s": span_start + cell * cell_s,
                        "to_s": min(span_end, span_start + (cell + 1) * cell_s),
                        "what": cause,
                        "base": base,
                        "share": time_s / total_s,
                    }
                )
                base += time_s / total_s
    return shapes


def _times_in_cells(
    intervals: Sequence[Interval], span_start: float, span_end: float, cell_s: float
) -> dict[int, dict[str, float]]:
    """Return the time of each cause in each cell of a span, in seconds, by index of the cell."""
    times: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for interval in intervals:
        part_start = max(interval.start_s, span_start)
        interval_end = min(interval.end_s, span_end)
        # Divide the interval at the borders of the cells.
        while part_start < interval_end:
            cell = int((part_start - span_start) / cell_s)
            part_end = min(interval_end, span_start + (cell + 1) * cell_s)
            if part_end <= part_start:  # rounding: the part begins at the end of this cell
                cell += 1
                part_end = min(interval_end, span_start + (cell + 1) * cell_s)
            times[cell][interval.label] += part_end - part_start
            part_start = part_end
    return times


def _intervals(intervals: Iterable[Interval]) -> list[dict[str, Any]]:
    """Return each interval as a shape of full height."""
    return [
        {"from_s": start, "to_s": end, "what": label, "base": 0.0, "share": 1.0}
        for start, end, label in intervals
        if end > start
    ]


def _timeouts(run: Run, ue_of: Mapping[int, int], shown: set[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the retransmission timeouts of each shown UE, and whether they were needed."""
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

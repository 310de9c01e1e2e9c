"""The time line of one connection and its UE, as tiles: single items, or counts in cells of equal length.

Cells begin at fixed instants and are 10 ms times a power of two long. A tile has `CELLS` cells. A lane
is drawn with counts at a level if one of its tiles would have more than `most` items. The core declares
the lanes (`umtslab.lanes`). Instants are rounded to nanoseconds before they are assigned to cells.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from umtslab.labels import cause_label
from umtslab.lanes import Cells as CellKind
from umtslab.lanes import Lane, areas, lanes
from umtslab.numbers import number
from umtslab.run import Run, with_last

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

CELLS = 64
"""Cells of a tile."""

MOST_ITEMS = {
    "line": 56,
    "bar": 32,
    "strip": 40,
    "mark": 40,
    "tick": 30,
    "steps": 26,
    "dashed_steps": 26,
    "filled": 26,
}
"""Items of one lane in a tile, by how the lane is drawn. If a tile of a level has more, all tiles of
the level have cells."""

MOST_PDUS = 150
"""Items of the lane of PDUs in a tile."""

LOWEST = -3
"""Level with the shortest cells, of 1.25 ms. Cells of the next level are twice as long."""

_CELL_NS = 10_000_000
"""Length of the cells of level 0: the shortest TTI of R99 channels."""

_NS = 1e9


class NoSuchTile(LookupError):
    """There is no connection, tile or item of this number."""


LANES = tuple(lane for lane in lanes() if lane.area)
"""The lanes of the page."""


def most(lane: Lane) -> int:
    """Return how many items of a lane a tile may have."""
    return MOST_PDUS if lane.name == "pdus" else MOST_ITEMS[lane.draw]


@dataclass(frozen=True)
class Items:
    """The rows of a lane in order of time, as arrays.

    `row` is the number of a row in its table, and `weight` the number of PDUs in it. `middle_ns` is the first
    transmission of an SDU, or the instant of a segment at the RNC; negative if there is none.
    """

    row: Integers
    start_ns: Integers
    end_ns: Integers
    low: Floats
    high: Floats
    middle_ns: Integers
    category: Integers
    weight: Integers

    def __len__(self) -> int:
        return len(self.row)


def cell_ns(level: int) -> int:
    """Return the length of a cell.

    >>> cell_ns(0), cell_ns(2), cell_ns(-3)
    (10000000, 40000000, 1250000)
    """
    return _CELL_NS << level if level >= 0 else _CELL_NS >> -level


class ConnectionTimeline:
    """The lanes of one connection and its UE.

    Raises
    ------
    NoSuchTile
        If the run has no such connection, or no timeline.
    """

    def __init__(self, run: Run, connection: int) -> None:
        from umtslab.page.run import HAS_TIMELINE

        row = next((row for row in run.connection_rows() if row["connection"] == connection), None)
        if row is None or row.get("ue") is None or HAS_TIMELINE not in run.series_kinds():
            raise NoSuchTile("the run has no time line of this connection")
        self.run = run
        self.connection = connection
        self.ue = int(row["ue"])
        self.opened_s, self.closed_s = row.get("opened_s"), row.get("closed_s")
        self._tables: dict[str, pl.DataFrame] = {}
        self._lanes: dict[str, Items] = {}
        self._fullest: dict[tuple[str, int], int] = {}

    # ── Tables ──────────────────────────────────────────────────────────────────────────────────────

    def table(self, name: str) -> pl.DataFrame:
        """Return the rows of this UE, or else of this connection, with the number of each as ``row``."""
        import polars as pl

        if name not in self._tables:
            if name not in self.run.series_kinds():
                self._tables[name] = pl.DataFrame({"row": pl.Series([], dtype=pl.UInt32)})
            else:
                path = self.run.folder and self.run.folder / "series" / f"{name}.parquet"
                lazy = pl.scan_parquet(path) if path else self.run.series(name).lazy()
                numbered = with_last(lazy).with_row_index("row")
                owner = "ue" if "ue" in numbered.collect_schema() else "connection"
                number = self.ue if owner == "ue" else self.connection
                self._tables[name] = numbered.filter(pl.col(owner) == number).collect()
        return self._tables[name]

    @cached_property
    def direction(self) -> str:
        """Direction of the connection's data."""
        import polars as pl

        events = self.table("timeline_events")
        if not events.height:
            return "downlink"
        opened = events.filter(
            (pl.col("connection") == self.connection)
            & (pl.col("kind") == "connection_opened")
            & pl.col("direction").is_not_null()
        )
        return str(opened["direction"][0]) if opened.height else "downlink"

    @cached_property
    def causes(self) -> tuple[str, ...]:
        """Causes of the connection's time, in the order of their first instants."""
        table = self.table("budget_intervals")
        return tuple(dict.fromkeys(table["cause"].to_list())) if table.height else ()

    def categories(self, lane: Lane) -> tuple[tuple[str, str], ...]:
        """Return name and label of each category of a lane."""
        if lane.name == "causes":
            return tuple((cause, cause_label(cause)) for cause in self.causes)
        return tuple((category.name, category.label) for category in lane.categories)

    def chosen(self, lane: Lane) -> pl.DataFrame:
        """Return the rows of a lane, with the number of each as ``row``."""
        table = self.table(lane.table)
        return _chosen(self, lane, table) if table.height else table

    def items(self, lane: Lane) -> Items:
        """Return the items of a lane."""
        if lane.name not in self._lanes:
            rows = self.chosen(lane)
            self._lanes[lane.name] = _items(self, lane, rows) if rows.height else _no_items()
        return self._lanes[lane.name]

    # ── Levels ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def duration_ns(self) -> int:
        """Length of the run."""
        return _ns(self.run.duration_s)

    @cached_property
    def highest(self) -> int:
        """Level at which one tile has the whole run."""
        level = LOWEST
        while cell_ns(level) * CELLS < self.duration_ns:
            level += 1
        return level

    def is_counted(self, lane: Lane, level: int) -> bool:
        """Return whether the lane has cells instead of items at this level."""
        if (lane.name, level) not in self._fullest:
            self._fullest[lane.name, level] = _fullest(self.items(lane), cell_ns(level) * CELLS)
        return self._fullest[lane.name, level] > most(lane)

    def tile(self, level: int, index: int) -> dict[str, Any]:
        """Return a tile, as `models.Tile`.

        Raises
        ------
        NoSuchTile
            If there is no such level or tile.
        """
        length = cell_ns(level) * CELLS if LOWEST <= level <= self.highest else 0
        if not length or not 0 <= index * length <= self.duration_ns:
            raise NoSuchTile("the time line has no such tile")
        start = index * length
        lanes = []
        for lane in LANES:
            items = self.items(lane)
            content: dict[str, Any] = {"name": lane.name, "items": None, "cells": None}
            if self.is_counted(lane, level):
                content["cells"] = _CELL_VALUES[lane.cells](items, start, cell_ns(level))
            else:
                content["items"] = _rows(items, start, start + length)
            lanes.append(content)
        return {"level": level, "index": index, "lanes": lanes}

    def rows_between(self, lane: Lane, from_s: float, to_s: float) -> list[int]:
        """Return the row numbers of the items that begin between two instants."""
        items = self.items(lane)
        inside = (items.start_ns >= _ns(from_s)) & (items.start_ns < _ns(to_s))
        return [int(row) for row in items.row[inside]]

    def encoded(self, level: int, index: int) -> bytes:
        """Return a tile as JSON."""
        return json.dumps(self.tile(level, index), separators=(",", ":")).encode()


def _ns(time_s: float) -> int:
    return round(time_s * _NS)


def _no_items() -> Items:
    import numpy as np

    none, no_values = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Items(none, none, none, low=no_values, high=no_values, middle_ns=none, category=none, weight=none)


def _items(timeline: ConnectionTimeline, lane: Lane, chosen: pl.DataFrame) -> Items:
    """Describe the rows of a lane."""
    import polars as pl

    end = pl.col(lane.end) if lane.end else pl.col(lane.start).shift(-1)
    between = _BETWEEN.get(lane.name)
    middle = pl.col(between) if between else pl.lit(None, dtype=pl.Float64)
    weight = pl.col("count") if lane.high == "count" else pl.lit(1)
    # The value of a connection ends with the connection.
    ends_early = not lane.end and lane.owner == "connection" and timeline.closed_s is not None
    last_s = timeline.closed_s if ends_early else timeline.run.duration_s

    def nanoseconds(column: pl.Expr) -> pl.Expr:
        return (column * _NS).round().cast(pl.Int64)

    def value(name: str) -> pl.Expr:
        return (pl.col(name) if name else pl.lit(0)).fill_null(0).cast(pl.Float64)

    columns = chosen.select(
        pl.col("row").cast(pl.Int64),
        nanoseconds(pl.col(lane.start)).alias("start_ns"),
        nanoseconds(end.fill_null(last_s)).alias("end_ns"),
        value(lane.low).alias("low"),
        value("last" if lane.high == "count" else lane.high).alias("high"),
        nanoseconds(middle).fill_null(-1).alias("middle_ns"),
        _category(timeline, lane).cast(pl.Int64).alias("category"),
        weight.fill_null(1).cast(pl.Int64).alias("weight"),
    )
    # An initial slow start threshold may be infinite: the lane shows none.
    ordered = columns.filter(pl.col("high").is_finite()).sort("start_ns", "row")

    def integers(name: str) -> Integers:
        return ordered[name].to_numpy().astype("int64")

    def floats(name: str) -> Floats:
        return ordered[name].to_numpy().astype("float64")

    return Items(
        row=integers("row"),
        start_ns=integers("start_ns"),
        end_ns=integers("end_ns"),
        low=floats("low"),
        high=floats("high"),
        middle_ns=integers("middle_ns"),
        category=integers("category"),
        weight=integers("weight"),
    )


def _category(timeline: ConnectionTimeline, lane: Lane) -> pl.Expr:
    """Return an expression with the index of the first category that each row meets, else of the last."""
    import polars as pl

    if not lane.categories:
        index_of_cause = {name: index for index, name in enumerate(timeline.causes)}
        return pl.col("cause").replace_strict(index_of_cause, return_dtype=pl.Int64)
    index_of_row = pl.lit(len(lane.categories) - 1)
    # The first category comes last, so that it takes precedence.
    for index, category in reversed(list(enumerate(lane.categories))):
        if category.tests:
            meets = pl.all_horizontal(test.expression() for test in category.tests)
            index_of_row = pl.when(meets).then(pl.lit(index)).otherwise(index_of_row)
    return index_of_row


def _chosen(timeline: ConnectionTimeline, lane: Lane, table: pl.DataFrame) -> pl.DataFrame:
    """Select the rows of a lane from the rows of the UE."""
    import polars as pl

    conditions = [test.expression() for test in lane.tests]
    if lane.owner == "connection":
        conditions.append(pl.col("connection") == timeline.connection)
    if lane.direction:
        is_data = pl.col("direction") == timeline.direction
        conditions.append(is_data if lane.direction == "data" else ~is_data)
    chosen = table.filter(pl.all_horizontal(conditions)) if conditions else table
    return _with_rnc_instant(timeline, chosen) if _BETWEEN.get(lane.name) == "rnc_s" else chosen


def _with_rnc_instant(timeline: ConnectionTimeline, segments: pl.DataFrame) -> pl.DataFrame:
    """Add the instant at the RNC: downlink of the arrival in the buffer, uplink of the delivery by RLC."""
    import polars as pl

    sdus = timeline.table("timeline_sdus")
    if not sdus.height:
        return segments.with_columns(pl.col("radio_s").alias("rnc_s"))
    delivered = sdus.filter(pl.col("fate") == "delivered").unique("packet")
    joined = segments.join(
        delivered.select("packet", pl.col("end_s").alias("delivered_s")), on="packet", how="left"
    )
    is_down = pl.col("direction") == "downlink"
    return joined.with_columns(
        pl.when(is_down).then(pl.col("radio_s")).otherwise(pl.col("delivered_s")).alias("rnc_s")
    )


_BETWEEN = {"segments": "rnc_s", "acknowledgments": "rnc_s", "sdus": "first_sent_s"}
"""Columns with an instant between start and end."""


# ── Tiles ───────────────────────────────────────────────────────────────────────────────────────────


def _last_ns(items: Items) -> Integers:
    """Return the last nanosecond of each item. An item without duration has one."""
    import numpy as np

    last: Integers = np.maximum(items.start_ns, items.end_ns - 1)
    return last


def _fullest(items: Items, tile_ns: int) -> int:
    """Return the largest number of items in a tile."""
    import numpy as np

    if not len(items):
        return 0
    first, last = items.start_ns // tile_ns, _last_ns(items) // tile_ns
    changes = np.zeros(int(last.max()) + 2, dtype=np.int64)
    np.add.at(changes, first, 1)
    np.add.at(changes, last + 1, -1)
    return int(np.cumsum(changes).max())


def _rows(items: Items, start: int, end: int) -> list[list[float | int | None]]:
    """Return the items of a tile: row, start, end, low, high, an instant between, category."""
    import numpy as np

    inside = np.flatnonzero((items.start_ns < end) & (_last_ns(items) >= start))
    return [
        [
            int(items.row[i]),
            int(items.start_ns[i]) / _NS,
            int(items.end_ns[i]) / _NS,
            _rounded(items.low[i]),
            _rounded(items.high[i]),
            None if items.middle_ns[i] < 0 else int(items.middle_ns[i]) / _NS,
            int(items.category[i]),
        ]
        for i in inside
    ]


def _rounded(value: float) -> float | int:
    """Return a value of the vertical axis with at most six decimal places."""
    return int(value) if value == int(value) else round(float(value), 6)


Cells = list[list[float | int]]
"""Cell, category and value. Empty cells are left out."""


def _counts(items: Items, start: int, cell: int) -> Cells:
    """Return how many items of each category begin in each cell."""
    import numpy as np

    inside = (items.start_ns >= start) & (items.start_ns < start + CELLS * cell)
    cell_and_category = np.stack([(items.start_ns[inside] - start) // cell, items.category[inside]], axis=1)
    pairs, pair_of_item = np.unique(cell_and_category, axis=0, return_inverse=True)
    counts = np.bincount(pair_of_item.ravel(), weights=items.weight[inside], minlength=len(pairs))
    return [[int(i), int(category), int(n)] for (i, category), n in zip(pairs, counts, strict=True)]


def _shares(items: Items, start: int, cell: int) -> Cells:
    """Return the share of each category in the time of each cell."""
    import numpy as np

    inside = np.flatnonzero((items.start_ns < start + CELLS * cell) & (items.end_ns > start))
    times: dict[tuple[int, int], int] = {}
    for i in inside:
        at, until = max(int(items.start_ns[i]), start), min(int(items.end_ns[i]), start + CELLS * cell)
        while at < until:
            index = (at - start) // cell
            edge = min(until, start + (index + 1) * cell)
            cell_and_category = (index, int(items.category[i]))
            times[cell_and_category] = times.get(cell_and_category, 0) + edge - at
            at = edge
    return [[index, category, time_ns / cell] for (index, category), time_ns in sorted(times.items())]


def _maxima(items: Items, start: int, cell: int) -> Cells:
    """Return the largest value in each cell."""
    import numpy as np

    inside = np.flatnonzero((items.start_ns < start + CELLS * cell) & (_last_ns(items) >= start))
    largest: dict[int, float] = {}
    for i in inside:
        first = max(0, int(items.start_ns[i] - start) // cell)
        last = min(CELLS - 1, int(max(items.start_ns[i], items.end_ns[i] - 1) - start) // cell)
        for index in range(first, last + 1):
            largest[index] = max(largest.get(index, 0.0), float(items.high[i]))
    return [[index, 0, _rounded(value)] for index, value in sorted(largest.items())]


_CELL_VALUES: dict[CellKind, Callable[[Items, int, int], Cells]] = {
    "count": _counts,
    "share": _shares,
    "maximum": _maxima,
}


def head(timeline: ConnectionTimeline, connections: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return lanes and levels of a connection's time line, as `models.TimelineHead`."""
    opened = timeline.opened_s or 0.0
    closed = timeline.run.duration_s if timeline.closed_s is None else timeline.closed_s
    margin = max(0.05 * (closed - opened), 0.05)
    return {
        "connection": timeline.connection,
        "ue": timeline.ue,
        "direction": timeline.direction,
        "duration_s": timeline.run.duration_s,
        "from_s": max(0.0, opened - margin),
        "to_s": min(timeline.run.duration_s, closed + margin),
        "cells": CELLS,
        "levels": [
            {
                "level": level,
                "cell_s": cell_ns(level) / _NS,
                "tile_s": cell_ns(level) * CELLS / _NS,
                "cell": f"{number(cell_ns(level) / 1e6)} ms",
            }
            for level in range(LOWEST, timeline.highest + 1)
        ],
        "areas": [
            {"name": area.name, "label": area.label, "note": area.note, "height": area.height}
            for area in areas()
        ],
        "lanes": [
            {
                "name": lane.name,
                "label": lane.label,
                "area": lane.area,
                "unit": lane.unit,
                "draw": lane.draw,
                "kind": lane.cells,
                "categories": _categories(timeline, lane),
            }
            for lane in LANES
            if len(timeline.items(lane))
        ],
        "connections": [
            {"connection": row["connection"], "ue": row["ue"]}
            for row in connections
            if row.get("ue") is not None
        ],
    }


def _categories(timeline: ConnectionTimeline, lane: Lane) -> list[dict[str, str]]:
    colours = {category.name: category.colour for category in lane.categories}
    return [
        {"name": name, "label": label, "colour": colours.get(name, "")}
        for name, label in timeline.categories(lane)
    ]

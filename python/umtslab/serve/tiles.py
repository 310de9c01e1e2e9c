"""The time line of one connection and its UE, cut into tiles that the page of ``umts serve`` loads.

The time line has lanes, as the core declares them (`umtslab.lanes`). The items of a lane are the rows
of one table of the run: segments, PDUs, RRC states and so on. The visitor zooms and scrolls, so the
page loads the time line in tiles, as maps do. Each zoom level cuts the run into tiles of equal length,
and each tile into `CELLS_PER_TILE` cells. A cell of level n is 10 ms * 2^n long.

A tile has for each lane either its items one by one, or, where they are too dense, one value per cell:
the number of items, the shares of the categories, or the largest value. A lane has cells in all tiles
of a level if one of these tiles would have more than `max_items` items. Times are integers in
nanoseconds (``_ns``), so that rounding never moves an item to another cell.
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

CELLS_PER_TILE = 64

MAX_ITEMS = {
    "line": 56,
    "bar": 32,
    "strip": 40,
    "mark": 40,
    "tick": 30,
    "steps": 26,
    "dashed_steps": 26,
    "filled": 26,
}
"""Maximum number of items of one lane in a tile, by how the lane is drawn (`Lane.draw`)."""

MAX_PDUS = 150
"""Maximum number of items in a tile of the lane of PDUs, however it is drawn."""

LOWEST_LEVEL = -3
"""Level with the shortest cells, of 10 ms / 2^3 = 1.25 ms."""

_CELL_NS = 10_000_000
"""Length of the cells of level 0: 10 ms, the shortest TTI of R99 channels."""

_NS = 1e9
"""Nanoseconds per second."""


class NoSuchTile(LookupError):
    """There is no connection, tile or item of this number."""


LANES = tuple(lane for lane in lanes() if lane.area)
"""The lanes of the page. Lanes without an area have no place of their own there."""


def max_items(lane: Lane) -> int:
    """Return the maximum number of items of a lane in a tile."""
    return MAX_PDUS if lane.name == "pdus" else MAX_ITEMS[lane.draw]


@dataclass(frozen=True)
class Items:
    """The items of a lane in order of time, as arrays of equal length."""

    row: Integers
    """Number of the item's row in its table."""
    start_ns: Integers
    end_ns: Integers
    low: Floats
    """Lower end of the item on the vertical axis, in the unit of the lane."""
    high: Floats
    """Upper end on the vertical axis: the value, for lanes of sampled values."""
    middle_ns: Integers
    """First transmission of an SDU, or instant at which a segment is at the RNC. -1 if there is none."""
    category: Integers
    """Index of the category in `ConnectionTimeline.categories`."""
    weight: Integers
    """Number of PDUs that the row stands for. 1 in other lanes."""

    def __len__(self) -> int:
        return len(self.row)


def cell_ns(level: int) -> int:
    """Return the length of a cell of a level, in nanoseconds.

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
        self._items: dict[str, Items] = {}
        """Items by lane, kept for further tiles."""
        self._max_items_in_tile: dict[tuple[str, int], int] = {}
        """Largest number of items in a tile, by lane and level."""

    # ── Tables ──────────────────────────────────────────────────────────────────────────────────────

    def table(self, name: str) -> pl.DataFrame:
        """Return the rows of a table of the run that belong to this UE or connection.

        Tables with a column ``ue`` are filtered by UE, others by connection. The added column ``row`` is
        the number of the row in the whole table.
        """
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
        """Direction of the connection's data: ``downlink`` or ``uplink``."""
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
        """Causes in the time budget of the connection, in the order of their first occurrence."""
        table = self.table("budget_intervals")
        return tuple(dict.fromkeys(table["cause"].to_list())) if table.height else ()

    def categories(self, lane: Lane) -> tuple[tuple[str, str], ...]:
        """Return name and label of each category of a lane."""
        if lane.name == "causes":
            return tuple((cause, cause_label(cause)) for cause in self.causes)
        return tuple((category.name, category.label) for category in lane.categories)

    def rows_of(self, lane: Lane) -> pl.DataFrame:
        """Return the rows of a lane. The added column ``row`` is the number of the row in its table."""
        table = self.table(lane.table)
        return _rows_of_lane(self, lane, table) if table.height else table

    def items(self, lane: Lane) -> Items:
        """Return the items of a lane."""
        if lane.name not in self._items:
            rows = self.rows_of(lane)
            self._items[lane.name] = _items(self, lane, rows) if rows.height else _no_items()
        return self._items[lane.name]

    # ── Levels ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def duration_ns(self) -> int:
        """Length of the run in nanoseconds."""
        return _ns(self.run.duration_s)

    @cached_property
    def highest_level(self) -> int:
        """Level at which one tile has the whole run."""
        level = LOWEST_LEVEL
        while cell_ns(level) * CELLS_PER_TILE < self.duration_ns:
            level += 1
        return level

    def has_cells(self, lane: Lane, level: int) -> bool:
        """Return whether the lane has cells instead of items at this level."""
        if (lane.name, level) not in self._max_items_in_tile:
            self._max_items_in_tile[lane.name, level] = _max_items_in_tile(
                self.items(lane), cell_ns(level) * CELLS_PER_TILE
            )
        return self._max_items_in_tile[lane.name, level] > max_items(lane)

    def tile(self, level: int, index: int) -> dict[str, Any]:
        """Return a tile, as `models.Tile`.

        Raises
        ------
        NoSuchTile
            If there is no such level or tile.
        """
        if not LOWEST_LEVEL <= level <= self.highest_level:
            raise NoSuchTile("the time line has no such tile")
        tile_ns = cell_ns(level) * CELLS_PER_TILE
        start_ns = index * tile_ns
        if not 0 <= start_ns <= self.duration_ns:
            raise NoSuchTile("the time line has no such tile")
        lanes = []
        for lane in LANES:
            items = self.items(lane)
            content: dict[str, Any] = {"name": lane.name, "items": None, "cells": None}
            if self.has_cells(lane, level):
                content["cells"] = _CELL_VALUES[lane.cells](items, start_ns, cell_ns(level))
            else:
                content["items"] = _items_in_tile(items, start_ns, start_ns + tile_ns)
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

    no_integers, no_floats = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Items(
        row=no_integers,
        start_ns=no_integers,
        end_ns=no_integers,
        low=no_floats,
        high=no_floats,
        middle_ns=no_integers,
        category=no_integers,
        weight=no_integers,
    )


def _items(timeline: ConnectionTimeline, lane: Lane, rows: pl.DataFrame) -> Items:
    """Convert the rows of a lane to arrays."""
    import polars as pl

    # A lane without a column for the end has values that last until the next row.
    end = pl.col(lane.end) if lane.end else pl.col(lane.start).shift(-1)
    middle_column = _MIDDLE_COLUMNS.get(lane.name)
    middle = pl.col(middle_column) if middle_column else pl.lit(None, dtype=pl.Float64)
    # A row of the lane of PDUs stands for `count` consecutive PDUs, numbered up to `last`.
    has_pdus = lane.high == "count"
    weight = pl.col("count") if has_pdus else pl.lit(1)
    # The last row lasts until the end of the run, or, for a value of a connection, until the
    # connection closes.
    ends_early = not lane.end and lane.owner == "connection" and timeline.closed_s is not None
    last_end_s = timeline.closed_s if ends_early else timeline.run.duration_s

    def nanoseconds(column: pl.Expr) -> pl.Expr:
        return (column * _NS).round().cast(pl.Int64)

    def value(name: str) -> pl.Expr:
        """Return the column of this name as numbers: 0 if the name is empty or there is no value."""
        return (pl.col(name) if name else pl.lit(0)).fill_null(0).cast(pl.Float64)

    columns = rows.select(
        pl.col("row").cast(pl.Int64),
        nanoseconds(pl.col(lane.start)).alias("start_ns"),
        nanoseconds(end.fill_null(last_end_s)).alias("end_ns"),
        value(lane.low).alias("low"),
        value("last" if has_pdus else lane.high).alias("high"),
        nanoseconds(middle).fill_null(-1).alias("middle_ns"),
        _category(timeline, lane).cast(pl.Int64).alias("category"),
        weight.fill_null(1).cast(pl.Int64).alias("weight"),
    )
    # The initial slow start threshold may be infinite. Rows with an infinite value are not drawn.
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
    """Return an expression with the index of each row's category.

    This is the first category of which the row meets all tests, or the last category if it meets none.
    """
    import polars as pl

    if not lane.categories:
        index_of_cause = {name: index for index, name in enumerate(timeline.causes)}
        return pl.col("cause").replace_strict(index_of_cause, return_dtype=pl.Int64)
    index_of_row = pl.lit(len(lane.categories) - 1)
    # Each turn of the loop overrides the earlier ones, so the first category takes precedence.
    for index, category in reversed(list(enumerate(lane.categories))):
        if category.tests:
            meets = pl.all_horizontal(test.expression() for test in category.tests)
            index_of_row = pl.when(meets).then(pl.lit(index)).otherwise(index_of_row)
    return index_of_row


def _rows_of_lane(timeline: ConnectionTimeline, lane: Lane, table: pl.DataFrame) -> pl.DataFrame:
    """Select the rows of a lane from the UE's rows of its table."""
    import polars as pl

    conditions = [test.expression() for test in lane.tests]
    if lane.owner == "connection":
        conditions.append(pl.col("connection") == timeline.connection)
    if lane.direction:
        is_data = pl.col("direction") == timeline.direction
        conditions.append(is_data if lane.direction == "data" else ~is_data)
    rows = table.filter(pl.all_horizontal(conditions)) if conditions else table
    return _with_rnc_instant(timeline, rows) if _MIDDLE_COLUMNS.get(lane.name) == "rnc_s" else rows


def _with_rnc_instant(timeline: ConnectionTimeline, segments: pl.DataFrame) -> pl.DataFrame:
    """Add the column ``rnc_s``: the instant at which a segment is at the RNC.

    In the downlink this is the arrival in the buffer of RLC, in the uplink the delivery by RLC.
    """
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


_MIDDLE_COLUMNS = {"segments": "rnc_s", "acknowledgments": "rnc_s", "sdus": "first_sent_s"}
"""Columns with an instant between the start and the end of an item, by lane (`Items.middle_ns`)."""


# ── Tiles ───────────────────────────────────────────────────────────────────────────────────────────


def _last_ns(items: Items) -> Integers:
    """Return the last nanosecond of each item. An item without duration lasts one nanosecond."""
    import numpy as np

    last_ns: Integers = np.maximum(items.start_ns, items.end_ns - 1)
    return last_ns


def _max_items_in_tile(items: Items, tile_ns: int) -> int:
    """Return the largest number of items in a tile of this length.

    An item counts in each tile that it meets.
    """
    import numpy as np

    if not len(items):
        return 0
    first_tile, last_tile = items.start_ns // tile_ns, _last_ns(items) // tile_ns
    # Entry i: items that begin in tile i, minus items that end in tile i - 1. The running sum of the
    # entries up to i is the number of items in tile i.
    changes = np.zeros(int(last_tile.max()) + 2, dtype=np.int64)
    np.add.at(changes, first_tile, 1)
    np.add.at(changes, last_tile + 1, -1)
    return int(np.cumsum(changes).max())


def _items_in_tile(items: Items, start_ns: int, end_ns: int) -> list[list[float | int | None]]:
    """Return the items of a tile: row, start, end, low, high, middle, category. Times are in seconds."""
    import numpy as np

    inside = np.flatnonzero((items.start_ns < end_ns) & (_last_ns(items) >= start_ns))
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
"""A list for each cell with a value: index of the cell in its tile, index of the category, value.

Empty cells are left out.
"""


def _counts(items: Items, tile_start_ns: int, cell_length_ns: int) -> Cells:
    """Return how many items of each category begin in each cell."""
    import numpy as np

    since_start_ns = items.start_ns - tile_start_ns
    inside = (since_start_ns >= 0) & (since_start_ns < CELLS_PER_TILE * cell_length_ns)
    cell_and_category = np.stack([since_start_ns[inside] // cell_length_ns, items.category[inside]], axis=1)
    pairs, pair_of_item = np.unique(cell_and_category, axis=0, return_inverse=True)
    counts = np.bincount(pair_of_item.ravel(), weights=items.weight[inside], minlength=len(pairs))
    return [
        [int(cell), int(category), int(items_in_cell)]
        for (cell, category), items_in_cell in zip(pairs, counts, strict=True)
    ]


def _shares(items: Items, tile_start_ns: int, cell_length_ns: int) -> Cells:
    """Return the share of each category in the time of each cell."""
    import numpy as np

    tile_end_ns = tile_start_ns + CELLS_PER_TILE * cell_length_ns
    inside = np.flatnonzero((items.start_ns < tile_end_ns) & (items.end_ns > tile_start_ns))
    time_ns_of: dict[tuple[int, int], int] = {}
    for i in inside:
        category = int(items.category[i])
        part_start_ns = max(int(items.start_ns[i]), tile_start_ns)
        item_end_ns = min(int(items.end_ns[i]), tile_end_ns)
        # Divide the item at the borders of the cells.
        while part_start_ns < item_end_ns:
            cell = (part_start_ns - tile_start_ns) // cell_length_ns
            part_end_ns = min(item_end_ns, tile_start_ns + (cell + 1) * cell_length_ns)
            time_ns_of[cell, category] = time_ns_of.get((cell, category), 0) + part_end_ns - part_start_ns
            part_start_ns = part_end_ns
    return [
        [cell, category, time_ns / cell_length_ns] for (cell, category), time_ns in sorted(time_ns_of.items())
    ]


def _maxima(items: Items, tile_start_ns: int, cell_length_ns: int) -> Cells:
    """Return the largest value in each cell. The category is always 0."""
    import numpy as np

    tile_end_ns = tile_start_ns + CELLS_PER_TILE * cell_length_ns
    last_ns = _last_ns(items)
    inside = np.flatnonzero((items.start_ns < tile_end_ns) & (last_ns >= tile_start_ns))
    largest: dict[int, float] = {}
    for i in inside:
        first_cell = max(0, int(items.start_ns[i] - tile_start_ns) // cell_length_ns)
        last_cell = min(CELLS_PER_TILE - 1, int(last_ns[i] - tile_start_ns) // cell_length_ns)
        for cell in range(first_cell, last_cell + 1):
            largest[cell] = max(largest.get(cell, 0.0), float(items.high[i]))
    return [[cell, 0, _rounded(value)] for cell, value in sorted(largest.items())]


_CELL_VALUES: dict[CellKind, Callable[[Items, int, int], Cells]] = {
    "count": _counts,
    "share": _shares,
    "maximum": _maxima,
}
"""Functions for the values of cells.

Arguments: items of a lane, start of the tile, length of a cell, in ns.
"""


def head(timeline: ConnectionTimeline, connections: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return lanes and levels of a connection's time line, as `models.TimelineHead`.

    `connections` are all connections of the run. The initial view, ``from_s`` to ``to_s``, is the life
    of this connection with a margin of 5 % of its length, at least 0.05 s.
    """
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
        "cells": CELLS_PER_TILE,
        "levels": [
            {
                "level": level,
                "cell_s": cell_ns(level) / _NS,
                "tile_s": cell_ns(level) * CELLS_PER_TILE / _NS,
                "cell": f"{number(cell_ns(level) / 1e6)} ms",
            }
            for level in range(LOWEST_LEVEL, timeline.highest_level + 1)
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

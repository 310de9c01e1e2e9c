"""The time line of a connection: its lanes, its tiles, and answers about single items and times.

The items of a lane are the rows of one table of the run, such as segments or PDUs. The page loads the
time line in tiles. Each level of zoom cuts the run into tiles of equal length, and each tile into
cells. Where the items of a lane are too dense, the tile has one value per cell and category instead.
"""

from __future__ import annotations

from typing import Literal

from umtslab.serve.models.common import Model

# ── Lanes and levels ────────────────────────────────────────────────────────────────────────────────


class TimelineConnection(Model):
    """A connection that the time line can show."""

    connection: int
    ue: int


class Level(Model):
    """A level of the time line: the length of cells and tiles."""

    # Each level has cells twice as long as the level below. Level 0 has cells of 10 ms.
    level: int
    cell_s: float
    tile_s: float
    # Length of a cell as text.
    cell: str


class Category(Model):
    """A category of the items of a lane. Causes have a look instead of a colour."""

    name: str
    label: str
    # Empty for causes.
    colour: str


class TimelineArea(Model):
    """A strip of the time line with one vertical axis. The height is in CSS pixels."""

    name: str
    label: str
    # Remark on the axis. Can be empty.
    note: str
    height: int


class TimelineLane(Model):
    """A lane of the time line. Its cells hold counts or shares by category, or the largest value."""

    name: str
    label: str
    # Name of the `TimelineArea` in which the lane is drawn.
    area: str
    # Unit of the vertical axis. Can be empty.
    unit: str
    # Shape of an item, such as "line" or "bar".
    draw: str
    # Content of the cells.
    kind: Literal["count", "share", "maximum"]
    categories: list[Category]


class TimelineHead(Model):
    """Lanes and levels of the time line of a connection, and the time of the connection."""

    connection: int
    ue: int
    # Direction of the data: "downlink" or "uplink".
    direction: str
    # Simulated time of the run.
    duration_s: float
    # Time that the page shows first: the life of the connection with a margin.
    from_s: float
    to_s: float
    # Number of cells per tile.
    cells: int
    levels: list[Level]
    areas: list[TimelineArea]
    # The lanes with items.
    lanes: list[TimelineLane]
    # All connections of the run that have a UE.
    connections: list[TimelineConnection]


# ── Tiles ───────────────────────────────────────────────────────────────────────────────────────────


class LaneTile(Model):
    """The part of a lane in a tile: items or cells.

    An item has row number, start, end, low, high, an instant between and category. The instant is the
    first transmission of an SDU, or of a segment at the RNC. A cell has index, category and value.
    """

    # Lists instead of models with names, because a tile has thousands of items. Times are in seconds,
    # low and high in the unit of the lane, and a category is an index into `TimelineLane.categories`.
    # One of the two members is None.
    name: str
    items: list[tuple[int, float, float, float, float, float | None, int]] | None
    cells: list[tuple[int, int, float]] | None


class Tile(Model):
    """All lanes in one tile of a level."""

    level: int
    # The first tile of the run has index 0.
    index: int
    lanes: list[LaneTile]


# ── Selected and found items ────────────────────────────────────────────────────────────────────────


class Selection(Model):
    """An item of the time line, and the rows of all lanes that belong to its packet."""

    # The item in a sentence.
    text: str
    # Number of the packet. None if the item carries no packet, such as a timer.
    packet: int | None
    start_s: float
    end_s: float
    # Row numbers by name of the lane.
    rows: dict[str, list[int]]
    # Identity of a chain with the packet (`stalls.Chain.id`), if there is one.
    chain: str | None


class Found(Model):
    """An item that a search found: its lane and row, unless the query is an instant, and the count of all."""

    time_s: float
    end_s: float
    lane: str | None
    row: int | None
    # The item in a sentence. If nothing was found: the queries that are possible.
    text: str
    # Number of items that match. 1 for an instant.
    count: int


class ViewRow(Model):
    """An item in a view."""

    # Start of the item.
    instant: str
    # Label of the lane.
    lane: str
    # The item in a sentence.
    text: str


class ViewRows(Model):
    """The first items of a view, and the count of all."""

    count: int
    rows: list[ViewRow]


# ── Measurements between two instants ───────────────────────────────────────────────────────────────


class MeasuredNumber(Model):
    """A number between two instants."""

    name: str
    label: str
    value: int
    # The value with its unit.
    text: str


class MeasuredCause(Model):
    """Time of a cause between two instants."""

    cause: str
    label: str
    seconds: float
    text: str


class Measured(Model):
    """What happens between two instants: numbers, and the causes with the largest time."""

    from_s: float
    to_s: float
    # `to_s` minus `from_s`, as text.
    duration: str
    # Sums over segments, payload, ACKs and RLC PDUs.
    numbers: list[MeasuredNumber]
    # Longest first.
    causes: list[MeasuredCause]


# ── Runs to compare with ────────────────────────────────────────────────────────────────────────────


class ComparableRun(Model):
    """A run with a time line, which can be drawn behind another one."""

    key: str
    label: str


class ComparableRuns(Model):
    """The newest runs with a time line."""

    # Runs of the same scenario precede the others.
    runs: list[ComparableRun]

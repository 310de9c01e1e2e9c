"""The time line of a connection: lanes, tiles, and the answers about one item or time."""

from __future__ import annotations

from typing import Literal

from umtslab.serve.models.common import Model


class TimelineConnection(Model):
    """A connection that the time line can show."""

    connection: int
    ue: int


class Level(Model):
    """A level of the time line: the length of cells and tiles."""

    level: int
    cell_s: float
    tile_s: float
    cell: str


class Category(Model):
    """A category of the items of a lane. Causes have a look instead of a colour."""

    name: str
    label: str
    colour: str


class TimelineArea(Model):
    """A strip of the time line with one vertical axis. The height is in CSS pixels."""

    name: str
    label: str
    note: str
    height: int


class TimelineLane(Model):
    """A lane of the time line. Its cells hold counts or shares by category, or the largest value."""

    name: str
    label: str
    area: str
    unit: str
    draw: str
    kind: Literal["count", "share", "maximum"]
    categories: list[Category]


class TimelineHead(Model):
    """Lanes and levels of the time line of a connection, and the time of the connection."""

    connection: int
    ue: int
    direction: str
    duration_s: float
    from_s: float
    to_s: float
    cells: int
    levels: list[Level]
    areas: list[TimelineArea]
    lanes: list[TimelineLane]
    connections: list[TimelineConnection]


class LaneTile(Model):
    """The part of a lane in a tile: items or cells.

    An item has row number, start, end, low, high, an instant between and category. The instant is the
    first transmission of an SDU, or of a segment at the RNC. A cell has index, category and value.
    """

    name: str
    items: list[tuple[int, float, float, float, float, float | None, int]] | None
    cells: list[tuple[int, int, float]] | None


class Tile(Model):
    """All lanes in one tile of a level."""

    level: int
    index: int
    lanes: list[LaneTile]


class Selection(Model):
    """An item of the time line, and the rows of all lanes that belong to its packet."""

    text: str
    packet: int | None
    start_s: float
    end_s: float
    rows: dict[str, list[int]]
    chain: str | None


class Found(Model):
    """An item that a search found: its lane and row, unless the query is an instant, and the count of all."""

    time_s: float
    end_s: float
    lane: str | None
    row: int | None
    text: str
    count: int


class MeasuredNumber(Model):
    """A number between two instants."""

    name: str
    label: str
    value: int
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
    duration: str
    numbers: list[MeasuredNumber]
    causes: list[MeasuredCause]


class ComparableRun(Model):
    """A run with a time line, which can be drawn behind another one."""

    key: str
    label: str


class ComparableRuns(Model):
    """The newest runs with a time line."""

    runs: list[ComparableRun]


class ViewRow(Model):
    """An item in a view."""

    instant: str
    lane: str
    text: str


class ViewRows(Model):
    """The first items of a view, and the count of all."""

    count: int
    rows: list[ViewRow]

"""Map of a layout with several cells: the best cell of each place, tracks of users, and handovers.

The best cell of a place is the cell with the largest path gain, without shadowing. Positions are east
and north of the lower left corner of the area, in kilometres; the core returns metres.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from umtslab.plot.look import HOUSE, Look, canvas, dress, printable, scale
from umtslab.plot.palette import COLOURS, GREY, style
from umtslab.plot.style import put_legend
from umtslab.plot.tables import WHOLE, NobodyChosen, View
from umtslab.run import MissingSeries, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from umtslab import _core

GRID = 360
"""Number of points along the longer side of the area."""

MAX_TRACKS = 5
"""Number of users that are drawn if none are chosen."""

STEP_S = 0.1
"""Time between two points of a track."""

_MAX_POINTS = 20_000
"""Maximum number of points of a track."""

_MAX_NUMBERED = 120
"""With more cells than this, numbers would not fit."""

# Each site has one of a few pale hues, and each of its sectors a shade of it, so that neighbouring
# cells differ.
_HUES = (
    ("#cfe0ee", "#dde9f4", "#bfd5e8"),
    ("#f3dcc6", "#f8e8d8", "#eccfb3"),
    ("#d3e6d6", "#e2f0e4", "#c3dcc7"),
    ("#e6d9ea", "#f0e7f2", "#dacae0"),
)


_HOUSE_COLOUR = "#ececec"


@dataclass(frozen=True)
class _Layout:
    """The layout. Lengths and positions (east, north) are in kilometres."""

    size: tuple[float, float]
    """Width and height of the area."""
    sites: list[tuple[float, float]]
    centres: list[tuple[float, float]]
    """Position of each cell's number."""
    best: Any
    """Array with the index of the best cell at each point of a grid. Rows are from south to north."""
    houses: list[tuple[float, float, float, float]]
    """Left, bottom, right and top of each block of houses."""


def draw_map(run: Run, view: View = WHOLE, look: Look = HOUSE) -> Figure:
    """Draw the best cell of each place, and the tracks of users.

    Parameters
    ----------
    run : Run
        A run in a store, of a scenario with a layout. If it recorded series, handovers are marked.
    view : View, optional
        The time range and the UEs; by default the first users.
    look : Look, optional
        Appearance of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Axes are in kilometres from the corner of the area. The cells are computed without
        shadowing. The handovers are from the run.

    Raises
    ------
    umtslab.run.MissingSeries
        If there is no layout.
    umtslab.plot.NobodyChosen
        If a chosen user does not move in the layout.
    """
    from matplotlib.lines import Line2D

    scenario = _scenario(run)
    layout = _layout(scenario)
    tracks = _tracks(run, scenario, view)
    with printable(look):
        width, height = layout.size
        figure = canvas(5.6 * min(1.3, height / width))
        axes = figure.add_subplot()
        axes.set_title(run.heading, loc="left")
        axes.set_xlabel("east (km)")
        axes.set_ylabel("north (km)")
        _cells(axes, layout)
        handles = [
            _track(axes, f"UE {ue}", positions, layout.size, style(index + 1))
            for index, (ue, positions) in enumerate(tracks.items())
        ]
        marks = _handovers(axes, run, view, scenario, list(tracks))
        east, north = zip(*layout.sites, strict=True)
        site = axes.scatter(east, north, marker="^", s=26 * scale(), color=COLOURS[0], zorder=4)
        names = [f"UE {ue}" for ue in tracks]
        for mark, name in ((_start(tracks), "start"), (marks, "handover"), (site, "site")):
            if mark is not None:
                handles.append(mark)
                names.append(name)
        if not_drawn := _users_not_drawn(scenario, tracks):
            handles.append(Line2D([], [], linestyle="none"))
            names.append(f"{not_drawn} other user{'s' if not_drawn > 1 else ''} not drawn")
        axes.set_xlim(0, width)
        axes.set_ylim(0, height)
        axes.set_aspect("equal")
        axes.grid(visible=False)
        put_legend(figure, handles, names)
        return dress(figure, look)


def _scenario(run: Run) -> _core.Scenario:
    from umtslab import _core

    if run.folder is None:
        raise MissingSeries("a map needs the scenario of a stored run")
    return _core.Scenario.load(str(run.folder / "scenario.toml"))


def _layout(scenario: _core.Scenario) -> _Layout:
    """Return sites, cells, and the best cell at each point of a grid. Lengths are in km."""
    import numpy as np

    area = scenario.map(1, 1)
    if area is None:
        raise MissingSeries("there is no map: the scenario has no [layout]")
    (width, height), sites, cells, _ = area
    points_per_m = GRID / max(width, height)
    columns, rows = max(1, round(width * points_per_m)), max(1, round(height * points_per_m))
    grid = scenario.map(columns, rows)
    assert grid is not None, "the scenario has a layout"
    *_, best_cells = grid
    best = np.array(best_cells, dtype=np.int64).reshape(rows, columns)
    return _Layout(
        size=(width / 1e3, height / 1e3),
        sites=[(x / 1e3, y / 1e3) for x, y in sites],
        centres=[(x / 1e3, y / 1e3) for _, (x, y) in cells],
        best=best,
        houses=[
            (left / 1e3, bottom / 1e3, right / 1e3, top / 1e3)
            for left, bottom, right, top in scenario.houses()
        ],
    )


def _cells(axes: Axes, layout: _Layout) -> None:
    """Colour each place by its best cell, and number the cells from 1."""
    import numpy as np
    from matplotlib.colors import to_rgb

    sectors = len(layout.centres) // len(layout.sites)
    colours = np.array([to_rgb(_colour(cell, sectors)) for cell in range(len(layout.centres))])
    width, height = layout.size
    axes.imshow(
        colours[layout.best], origin="lower", extent=(0, width, 0, height), interpolation="nearest", zorder=0
    )
    _houses(axes, layout)
    if len(layout.centres) > _MAX_NUMBERED:
        return
    # In streets the centre of a cell is its site, so the number is drawn beside it.
    offset_pt = (5.0, 5.0) if layout.houses else (0.0, 0.0)
    for number, (x, y) in enumerate(layout.centres, start=1):
        axes.annotate(
            str(number),
            (x, y),
            offset_pt,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=6.5 * scale(),
            color="#555555",
            zorder=2,
        )


def _houses(axes: Axes, layout: _Layout) -> None:
    """Draw the blocks of houses between the streets in grey."""
    from matplotlib.collections import PolyCollection

    if layout.houses:
        corners = [
            [(left, bottom), (right, bottom), (right, top), (left, top)]
            for left, bottom, right, top in layout.houses
        ]
        axes.add_collection(PolyCollection(corners, facecolors=_HOUSE_COLOUR, edgecolors="none", zorder=1))


def _colour(cell: int, sectors: int) -> str:
    """Return the colour of a cell. Sites have `sectors` cells each, in order of their numbers."""
    site, sector = divmod(cell, sectors)
    shade = sector if sectors > 1 else site // len(_HUES) % len(_HUES[0])
    return _HUES[site % len(_HUES)][shade]


def _tracks(run: Run, scenario: _core.Scenario, view: View) -> dict[int, list[list[float]]]:
    """Return the positions of the users to draw, in metres."""
    begin = view.from_s or 0.0
    end = min(run.duration_s, run.duration_s if view.until_s is None else view.until_s)
    points = min(_MAX_POINTS, max(1, round((end - begin) / STEP_S)))
    times = [begin + (end - begin) * index / points for index in range(points + 1)]
    tracks: dict[int, list[list[float]]] = {}
    for ue in view.ues or range(MAX_TRACKS):
        positions = scenario.track(ue, times, run.seed, run.run)
        if positions is not None:
            tracks[ue] = positions
        elif view.ues:
            raise NobodyChosen(f"there is no UE {ue} in the layout")
    return tracks


def _users_not_drawn(scenario: _core.Scenario, tracks: Collection[int]) -> int:
    """Return the number of users in the layout that are not drawn."""
    count = 0
    while scenario.track(count, [0.0], 0, 0) is not None:
        count += 1
    return count - len(tracks)


def _start(tracks: Collection[int]) -> Any | None:
    """Return the legend entry of the mark at the start of a track."""
    from matplotlib.lines import Line2D

    if not tracks:
        return None
    return Line2D([], [], marker="o", markersize=4 * scale(), color=GREY, linestyle="none")


def _track(
    axes: Axes,
    name: str,
    positions: Sequence[Sequence[float]],
    size: tuple[float, float],
    look: Mapping[str, Any],
) -> Any:
    """Draw a track. It is interrupted where it crosses the border of a torus."""
    import numpy as np

    track = np.array(positions) / 1e3
    # A step by more than half of the area crosses the border.
    is_jump = np.any(np.abs(np.diff(track, axis=0)) > np.array(size) / 2, axis=1)
    for piece in np.split(track, np.flatnonzero(is_jump) + 1):
        [line] = axes.plot(piece[:, 0], piece[:, 1], linewidth=1.4 * scale(), zorder=3, label=name, **look)
    axes.plot(*track[0], marker="o", markersize=4 * scale(), color=look["color"], zorder=4)
    return line


def _handovers(axes: Axes, run: Run, view: View, scenario: _core.Scenario, ues: Sequence[int]) -> Any | None:
    """Mark the handovers, if they were recorded."""
    if "handovers" not in run.series_kinds():
        return None
    until = run.duration_s if view.until_s is None else view.until_s
    times_of: dict[int, list[float]] = {ue: [] for ue in ues}
    for row in run.series("handovers").to_dicts():
        if row["ue"] in times_of and (view.from_s or 0.0) <= row["time_s"] <= until:
            times_of[row["ue"]].append(float(row["time_s"]))
    positions = [
        position
        for ue, times in times_of.items()
        for position in scenario.track(ue, times, run.seed, run.run) or []
    ]
    if not positions:
        return None
    east, north = ([value_m / 1e3 for value_m in values_m] for values_m in zip(*positions, strict=True))
    mark: dict[str, Any] = {"facecolor": "white", "edgecolor": COLOURS[0], "linewidths": 0.7 * scale()}
    return axes.scatter(east, north, marker="o", s=8 * scale(), zorder=5, **mark)

"""Figures of a run, one kind per file.

`draw` takes a run and a kind's name; the functions behind it take tables and return a matplotlib figure,
without reading a file and without a window system.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.figure_kinds import KINDS, WATERFALL, Kind, UnknownFigure, known, most_telling
from umtslab.plot.differences import named_apart
from umtslab.plot.look import HOUSE, Look, UnknownFont, dress, printable
from umtslab.plot.programs import all_users, of_programs
from umtslab.plot.tables import WHOLE, NobodyChosen, View, tables
from umtslab.plot.titles import shared_title
from umtslab.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "KINDS",
    "WATERFALL",
    "Kind",
    "Look",
    "NobodyChosen",
    "UnknownFigure",
    "UnknownFont",
    "View",
    "draw",
    "draw_waterfall",
    "most_telling",
    "named_apart",
    "printable",
    "save",
]

FORMATS = (".png", ".svg", ".pdf")
"""What a figure can be saved as, told by the end of the file's name."""


def draw(run: Run | Mapping[str, Run], kind: str, view: View = WHOLE, look: Look = HOUSE) -> Figure:
    """Draw one figure of a run that recorded its series, or of several runs in one.

    Parameters
    ----------
    run : Run, or mapping of str to Run
        The run; or runs by what the figure calls them, see `named_apart`.
    kind : str
        A name of `KINDS`.
    view : View, optional
        The part of it to show, which decides both axes, and who is under study; by default the whole.
    look : Look, optional
        How it is printed: width, words, font, without colour.

    Raises
    ------
    UnknownFigure
        If there is no such kind. It is a KeyError whose message says which kinds there are.
    umtslab.run.MissingSeries
        If a run did not record what the figure shows, or has none of it.
    umtslab.plot.NobodyChosen
        If a run does not have those who are to be under study.
    """
    runs = {"": run} if isinstance(run, Run) else run
    wanted = known(KINDS, kind)
    chosen = _alike([of_programs(one, wanted) for one in runs.values()])

    def read(one: Run, name: str, part: View) -> pl.DataFrame:
        return all_users(one, chosen, name, part)

    shown = [tables(runs, name, view, read) for name in chosen.series]
    recorded = [set(one.series_kinds()) for one in runs.values()]
    more = {
        name: tables(runs, name, view) for name in chosen.also if all(name in kinds for kinds in recorded)
    }
    with printable(look):
        figure = dress(
            chosen.function()(*shown, **more, title=shared_title([[one] for one in runs.values()])), look
        )
    last_s = max(one.duration_s for one in runs.values())
    for axes in figure.axes:
        # A window, of which the end of the run may cut the last one short, is drawn whole.
        end_s = min(axes.get_xlim()[1], last_s) if view.until_s is None else view.until_s
        axes.set_xlim(left=view.from_s, right=end_s)
    return figure


def _alike(kinds: Sequence[Kind]) -> Kind:
    """What is drawn of all runs, which is not the same of simulated ones and of real programs."""
    from umtslab.run import MissingSeries

    if len({kind.name for kind in kinds}) > 1:
        raise MissingSeries(
            f"of simulated runs and of real programs {kinds[0].name} is not the same: draw them apart"
        )
    return kinds[0]


def draw_waterfall(
    run: Run,
    connection: int | None = None,
    *,
    from_s: float | None = None,
    until_s: float | None = None,
    look: Look = HOUSE,
) -> Figure:
    """Draw all that happened to one connection of a run that recorded its waterfall.

    Parameters
    ----------
    run : Run
        Made with the scenario key ``measure.waterfall`` and series.
    connection : int, optional
        Its number; not needed for a run in a store, which knows of which one it recorded.
    from_s, until_s : float, optional
        The part of the time to show; by default all of the connection's.
    look : Look, optional
        How it is printed.

    Raises
    ------
    umtslab.run.MissingSeries
        If the run recorded no waterfall, or that of another connection.
    """
    import polars as pl

    from umtslab.plot.waterfall import figure
    from umtslab.run import MissingSeries

    if WATERFALL not in run.series_kinds():
        number = "N" if connection is None else connection
        raise MissingSeries(
            f"the run recorded no waterfall: run it again with --waterfall {number} "
            "(a scenario's measure.waterfall, with --series)"
        )
    recorded = run.waterfall_connection()
    wanted = recorded if connection is None else connection
    if wanted is None:
        raise MissingSeries("the run is in no store: say of which connection it recorded the waterfall")
    if recorded is not None and recorded != wanted:
        raise MissingSeries(
            f"the run recorded the waterfall of connection {recorded}: run it again with --waterfall {wanted}"
        )
    if (lacking := run.lacks_connection(wanted)) is not None:
        raise MissingSeries(lacking)
    waterfall = run.series(WATERFALL)
    intervals = run.series("budget_intervals").filter(pl.col("connection") == wanted)
    title = f"{run.heading}, connection {wanted}"
    if (waterfall["layer"] == "tcp_server").any():
        # Connections of a transfer have two numbers, of which it has the even one's place.
        [transfer] = (row["transfer"] for row in run.connection_rows() if row["connection"] == wanted)
        intervals = run.series("transfer_budget_intervals").filter(pl.col("transfer") == transfer)
        title = f"{run.heading}, connections {transfer} and {transfer + 1}"
    with printable(look):
        drawing = figure(waterfall, intervals, title=title, from_s=from_s, until_s=until_s)
        return dress(drawing, look)


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as the format of the file's suffix; the file is there whole or not at all."""
    from umtslab.atomic_files import whole_file

    undated = {".png": None, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    place = Path(path)
    if place.suffix not in undated:
        raise ValueError(f"{place}: a figure's file ends in one of {', '.join(FORMATS)}")
    with printable(), whole_file(place) as file:
        figure.savefig(file, format=place.suffix[1:], metadata=undated[place.suffix])

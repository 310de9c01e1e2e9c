"""Figures of a run, one module per kind.

`draw` takes a run and the name of a kind. The functions behind it take tables and return a
matplotlib figure. They read no files and need no window system.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.figure_kinds import ANNOTATED, KINDS, WATERFALL, Kind, UnknownFigure, find_kind, proposed_kind
from umtslab.plot.annotations import annotate
from umtslab.plot.differences import named_apart
from umtslab.plot.look import HOUSE, Look, UnknownFont, dress, printable
from umtslab.plot.programs import all_users, kind_for_run
from umtslab.plot.tables import WHOLE, NobodyChosen, View, tables
from umtslab.plot.titles import shared_title
from umtslab.run import Run

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from umtslab.plot.phases import Phases

__all__ = [
    "ANNOTATED",
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
    "named_apart",
    "printable",
    "proposed_kind",
    "save",
]

FORMATS = (".png", ".svg", ".pdf")
"""Formats in which a figure can be saved, selected by the suffix of the file."""


def draw(
    run: Run | Mapping[str, Run],
    kind: str,
    view: View = WHOLE,
    look: Look = HOUSE,
    *,
    annotated: bool = False,
) -> Figure:
    """Draw a figure of one run or of several runs, which must have recorded series.

    Parameters
    ----------
    run : Run, or mapping of str to Run
        The run, or several runs by their name in the figure (see `named_apart`).
    kind : str
        A name in `KINDS`.
    view : View, optional
        The time range, which determines both axes, and the connections and UEs to highlight. By
        default the whole run.
    look : Look, optional
        Appearance: width, labels, font, grey.
    annotated : bool
        Whether to mark slow start, fast retransmits, timeouts, recovery and channel switches of one
        connection. For one run and the kinds of `ANNOTATED`.

    Raises
    ------
    ValueError
        If there are several runs to annotate, or the kind cannot be annotated.
    UnknownFigure
        If there is no such kind. It is a KeyError, and its message lists the kinds.
    umtslab.run.MissingSeries
        If a run did not record the series of the figure, or the series has no data.
    umtslab.plot.NobodyChosen
        If a run lacks a connection or UE to highlight.
    """
    runs = {"": run} if isinstance(run, Run) else run
    requested = find_kind(KINDS, kind)
    common_kind = _common_kind([kind_for_run(each_run, requested) for each_run in runs.values()])
    marks = _phases(runs, kind, view) if annotated else None

    def read(each_run: Run, name: str, part: View) -> pl.DataFrame:
        return all_users(each_run, common_kind, name, part)

    required = [tables(runs, name, view, read) for name in common_kind.series]
    recorded = [set(each_run.series_kinds()) for each_run in runs.values()]
    optional = {
        name: tables(runs, name, view)
        for name in common_kind.also
        if all(name in series_names for series_names in recorded)
    }
    title = shared_title([[each_run] for each_run in runs.values()])
    with printable(look):
        drawing = common_kind.function()(*required, **optional, title=title)
        if marks is not None:
            annotate(drawing, marks)
        figure = dress(drawing, look)
    last_s = max(each_run.duration_s for each_run in runs.values())
    for axes in figure.axes:
        # The last bin of a series may extend beyond the end of the run. It is drawn whole.
        end_s = min(axes.get_xlim()[1], last_s) if view.until_s is None else view.until_s
        axes.set_xlim(left=view.from_s, right=end_s)
    return figure


def _phases(runs: Mapping[str, Run], kind: str, view: View) -> Phases:
    """Return the phases to mark in a figure of this kind."""
    from umtslab.plot.phases import phases

    if kind not in ANNOTATED:
        raise ValueError(f"{kind} cannot be annotated: {', '.join(ANNOTATED)} can")
    if len(runs) != 1:
        raise ValueError(f"one result can be annotated, not {len(runs)}")
    return phases(next(iter(runs.values())), view)


def _common_kind(kinds: Sequence[Kind]) -> Kind:
    """Return the kind to draw for all runs. Simulations and emulations may need different kinds."""
    from umtslab.run import MissingSeries

    if len({kind.name for kind in kinds}) > 1:
        raise MissingSeries(
            f"{kinds[0].name} has other content for real programs than for simulated runs: draw them "
            "separately"
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
    """Draw the waterfall of one connection: its segments, PDUs and states on one time axis.

    Parameters
    ----------
    run : Run
        Made with the scenario key ``measure.waterfall`` and with series.
    connection : int, optional
        Number of the connection. A run in a store does not need it.
    from_s, until_s : float, optional
        The time range; by default the whole life of the connection.
    look : Look, optional
        Appearance of the figure.

    Raises
    ------
    umtslab.run.MissingSeries
        If the run recorded no waterfall, or one of another connection.
    """
    import polars as pl

    from umtslab.plot.waterfall import figure
    from umtslab.run import MissingSeries

    if WATERFALL not in run.series_kinds():
        hint = "N" if connection is None else connection
        raise MissingSeries(
            f"the run recorded no waterfall: run it again with --waterfall {hint} "
            "(measure.waterfall in a scenario, with --series)"
        )
    recorded = run.waterfall_connection()
    number = recorded if connection is None else connection
    if number is None:
        raise MissingSeries("the run is not in a results folder: give the connection of its waterfall")
    if recorded is not None and recorded != number:
        raise MissingSeries(
            f"the run recorded the waterfall of connection {recorded}: run it again with --waterfall {number}"
        )
    if (missing := run.lacks_connection(number)) is not None:
        raise MissingSeries(missing)
    waterfall = run.series(WATERFALL)
    intervals = run.series("budget_intervals").filter(pl.col("connection") == number)
    title = f"{run.heading}, connection {number}"
    if (waterfall["layer"] == "tcp_server").any():
        # The two connections of a transfer have adjacent numbers. The first one, which is even,
        # identifies the transfer.
        [transfer] = (row["transfer"] for row in run.connection_rows() if row["connection"] == number)
        intervals = run.series("transfer_budget_intervals").filter(pl.col("transfer") == transfer)
        title = f"{run.heading}, connections {transfer} and {transfer + 1}"
    with printable(look):
        drawing = figure(waterfall, intervals, title=title, from_s=from_s, until_s=until_s)
        return dress(drawing, look)


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure atomically, in the format of the file's suffix."""
    from umtslab.atomic_files import atomic_file

    metadata = {".png": None, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    file_path = Path(path)
    if file_path.suffix not in metadata:
        raise ValueError(f"{file_path}: the suffix must be one of {', '.join(FORMATS)}")
    with printable(), atomic_file(file_path) as file:
        figure.savefig(file, format=file_path.suffix[1:], metadata=metadata[file_path.suffix])

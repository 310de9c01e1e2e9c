"""How figures look: readable in print, at 160 mm of width, also without colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN, HEIGHT_IN = 6.3, 3.6

MOST_LINES = 8
"""More lines than this are not told apart: they are drawn alike, and counted in the legend."""

# Okabe and Ito's colours, which the colour-blind can tell apart, each with dashes of its own for grey prints.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#777777")
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (6, 2)),
    (0, (2, 1.5)),
    (0, (6, 2, 1.5, 2)),
    (0, (1, 1)),
    (0, (9, 2)),
    (0, (4, 1.5, 1, 1.5, 1, 1.5)),
    (0, (3, 4)),
)

_SETTINGS: Any = {
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "lines.linewidth": 1.1,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "savefig.dpi": 200,
    "svg.hashsalt": "umtslab",
    "pdf.fonttype": 42,
    "svg.fonttype": "none",  # text that can be searched, and edited
}


@contextmanager
def printable() -> Iterator[None]:
    """Within this, figures are made and saved in the house style."""
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):
        yield


def new_figure(title: str, y_label: str, x_label: str = "time (s)") -> tuple[Figure, Axes]:
    """An empty figure with units on its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    if title:
        axes.set_title(title, loc="left")
    return figure, axes


def lines(
    axes: Axes, table: pl.DataFrame, column: str, name: str, *, steps: bool = True, first: int = 0
) -> None:
    """One line per connection of a table with ``time_s`` and ``connection``.

    Values recorded on change hold until the next one, which `steps` draws. The first line takes style
    number `first`.
    """
    groups = _by_connection(table)
    for number, (connection, rows) in enumerate(groups):
        many = len(groups) > MOST_LINES
        look: dict[str, Any] = {"color": "#777777", "linewidth": 0.5} if many else style(first + number)
        axes.plot(
            rows["time_s"].to_numpy(),
            rows[column].to_numpy(),
            drawstyle="steps-post" if steps else "default",
            label=_label(name, connection, number, len(groups)),
            **look,
        )


def windows(axes: Axes, table: pl.DataFrame, column: str, name: str, window_s: float) -> None:
    """One line of steps per connection, of values that each hold for a window from their time on."""
    import polars as pl

    last = table.group_by("connection", maintain_order=True).last()
    ends = last.with_columns(pl.col("time_s") + window_s).select(table.columns)
    lines(axes, pl.concat([table, ends]), column, name)


def points(
    axes: Axes, table: pl.DataFrame, column: str, name: str, marker: str, colour: str, size: float
) -> None:
    """A mark per row; of no row none in the legend either."""
    if table.is_empty():
        return
    axes.plot(
        table["time_s"].to_numpy(),
        table[column].to_numpy(),
        linestyle="none",
        marker=marker,
        markersize=size,
        color=colour,
        label=name,
        # A vector for each of many thousand marks makes files that no viewer opens gladly.
        rasterized=len(table) > 5_000,
    )


def style(number: int) -> dict[str, Any]:
    """Colour and dashes of line `number`."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def finish(figure: Figure, axes: Axes, *, from_zero: bool = True) -> Figure:
    """Put the legend outside the data; the axes begin at zero, or the vertical one where the data do."""
    axes.margins(x=0)
    axes.set_ylim(bottom=0 if from_zero else max(0.0, axes.get_ylim()[0]))
    axes.set_xlim(left=0)
    handles, labels = axes.get_legend_handles_labels()
    shown = [
        (handle, label) for handle, label in zip(handles, labels, strict=True) if not label.startswith("_")
    ]
    if shown:
        put_legend(figure, [handle for handle, _ in shown], [label for _, label in shown])
    return figure


def put_legend(
    figure: Figure, handles: Sequence[Any], labels: Sequence[str], *, fontsize: float | None = None
) -> None:
    """Put a legend below a figure, in three columns, or in fewer where they are wider than the figure."""
    for columns in range(min(len(labels), 3), 0, -1):
        legend = figure.legend(
            handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=fontsize
        )
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def legend_below(figure: Figure, colours: Mapping[str, str], hatches: Mapping[str, str] = {}) -> Figure:
    """Put a legend of areas below a figure: a patch for each name."""
    from matplotlib.patches import Patch

    patches = [
        Patch(
            facecolor=colour, edgecolor="#333333", linewidth=0.4, hatch=hatches.get(name) or None, label=name
        )
        for name, colour in colours.items()
    ]
    put_legend(figure, patches, list(colours))
    return figure


def _by_connection(table: pl.DataFrame) -> list[tuple[object, pl.DataFrame]]:
    groups = table.partition_by("connection", as_dict=True, maintain_order=True)
    return sorted(((key[0], rows) for key, rows in groups.items()), key=lambda group: int(str(group[0])))


def _label(name: str, connection: object, number: int, count: int) -> str:
    if count == 1:
        return name
    if count <= MOST_LINES:
        return f"{name}, connection {connection}"
    return f"{name}, {count} connections" if number == 0 else "_"

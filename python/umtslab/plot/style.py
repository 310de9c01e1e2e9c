"""What figures have in common: colours and dashes that can be told apart; lines, marks, legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.plot.look import canvas, filled, letters_across, scale
from umtslab.plot.strands import Strand, several_results, strands

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

PALE = "#aaaaaa"
"""Marks behind a line."""

OTHERS = "#bbbbbb"
"""What is not under study."""

_MOST_ENTRIES = 9
"""More entries than this make a legend of smaller letters."""

_MOST_VECTORS = 5_000
"""A vector for each of many thousand marks makes files that no viewer opens gladly: pixels for more."""


def new_figure(title: str, y_label: str, x_label: str = "time (s)") -> tuple[Figure, Axes]:
    """An empty figure with units on its axes."""
    figure = canvas()
    axes = figure.add_subplot()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    if title:
        axes.set_title(title, loc="left")
    return figure, axes


def lines(
    axes: Axes,
    table: pl.DataFrame,
    column: str,
    name: str,
    *,
    steps: bool = True,
    first: int = 0,
    by: tuple[str, ...] = ("connection",),
    alike: str | None = None,
) -> None:
    """One line per connection of a table with ``time_s`` and ``connection``, or per what `by` tells apart.

    Values recorded on change hold until the next one, which `steps` draws. The first line takes style number
    `first`; the second quantity of several results is told from the first by thin dots. Where a table has
    ``chosen``, the others are grey. With `alike` all have this one colour, as more lines than can be told
    apart have grey.
    """
    found = strands(table, by)
    looks = _looks(found, first, alike)
    extra = halos([strand.values(column) for strand in found])
    for strand, look, wider in zip(found, looks, extra, strict=True):
        if wider:
            look = {**look, "linewidth": look.get("linewidth", 1.1 * scale()) + 1.8 * wider * scale()}
        axes.plot(
            strand.rows["time_s"].to_numpy(),
            strand.rows[column].to_numpy(),
            drawstyle="steps-post" if steps else "default",
            label=_label(name, strand, found, second=bool(first or alike), alike=alike is not None),
            **look,
        )


def halos(curves: Sequence[Any]) -> list[int]:
    """How many later curves hide each one, being equal: it is drawn so much wider, and seen beside them."""
    return [
        sum(curves[later] == curve for later in range(at + 1, len(curves))) for at, curve in enumerate(curves)
    ]


def windows(axes: Axes, table: pl.DataFrame, column: str, name: str, window_s: float) -> None:
    """One line of steps per connection, of values that each hold for a window from their time on."""
    import polars as pl

    keys = [key for key in ("result", "connection") if key in table.columns]
    last = table.group_by(keys, maintain_order=True).last()
    ends = last.with_columns(pl.col("time_s") + window_s).select(table.columns)
    lines(axes, pl.concat([table, ends]), column, name)


def points(
    axes: Axes, table: pl.DataFrame, column: str, name: str, marker: str, colour: str, size: float
) -> None:
    """A mark per row; of no row none in the legend either. Marks of what is not chosen are pale."""
    if "chosen" in table.columns:
        others, table = table.filter(~table["chosen"]), table.filter(table["chosen"])
        _points(axes, others, column, "_", marker, OTHERS, size)
        colour = COLOURS[1] if colour == PALE else colour
    if several_results(table):
        for number, rows in enumerate(table.partition_by("result", maintain_order=True)):
            shade = COLOURS[number % len(COLOURS)]
            # Colours are the results', which their lines name.
            _points(axes, rows, column, "_" if number else name, marker, shade, size)
        return
    _points(axes, table, column, name, marker, colour, size)


def style(number: int) -> dict[str, Any]:
    """Colour and dashes of line `number`."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def finish(figure: Figure, axes: Axes, *, from_zero: bool = True) -> Figure:
    """Put the legend outside the data; the axes begin at zero, or the vertical one where the data do."""
    axes.margins(x=0)
    low, high = axes.get_ylim()
    if from_zero:
        # Values that hardly change would lie on the upper edge.
        axes.set_ylim(0, max(high, 1.05 * float(axes.dataLim.y1)))
    else:
        axes.set_ylim(bottom=max(0.0, low))
    axes.set_xlim(left=0)
    legend_of(figure, [axes])
    return figure


def legend_of(figure: Figure, panels: Sequence[Axes], *, title: str = "") -> None:
    """Put one legend of all that is named in some panels below a figure."""
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        if not label.startswith("_")
    }
    if handles:
        put_legend(figure, list(handles.values()), list(handles), title=title)


def put_legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], *, title: str = "") -> None:
    """Put a legend below a figure, in four columns, or in fewer where they are wider than the figure.

    The figure grows by what the legend is higher than a line, so that axes keep their size.
    """
    for columns in range(min(len(labels), 4), 0, -1):
        legend = figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            title=filled(title, letters_across(figure)) or None,
            fontsize="small" if len(labels) > _MOST_ENTRIES else None,
            columnspacing=1.2,
            handlelength=1.8,
        )
        box = legend.get_window_extent()
        if columns == 1 or box.width <= 0.98 * figure.bbox.width:
            line_in = 0.25 * scale()
            figure.set_figheight(figure.get_figheight() + max(0.0, box.height / figure.dpi - line_in))
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


def _looks(found: Sequence[Strand], first: int, alike: str | None) -> list[dict[str, Any]]:
    """How each line is drawn: by whether it is chosen, by its result, by its number, or all alike."""
    thin = 0.5 * scale()
    if alike is not None:
        return [{"color": alike, "linewidth": thin if len(found) > 1 else 1.1 * scale()} for _ in found]
    if any(strand.chosen is not None for strand in found):
        chosen = [strand for strand in found if strand.chosen]
        return [
            {**style(chosen.index(strand) + first), "zorder": 2.5}
            if strand.chosen
            else {"color": OTHERS, "linewidth": thin}
            for strand in found
        ]
    results = list(dict.fromkeys(strand.result for strand in found))
    if len(results) > 1:
        many = len(found) > len(results)
        dots = {"linestyle": (0, (1, 1.5)), "linewidth": 0.8 * scale()} if first else {}
        return [
            {**style(results.index(strand.result)), **({"linewidth": 0.8 * scale()} if many else {}), **dots}
            for strand in found
        ]
    if len(found) > MOST_LINES:
        return [{"color": "#777777", "linewidth": thin} for _ in found]
    return [style(first + number) for number in range(len(found))]


def _label(name: str, strand: Strand, found: Sequence[Strand], *, second: bool, alike: bool) -> str:
    """What the legend says of a line; "_" for nothing."""
    kin = [other for other in found if (other.result, other.chosen) == (strand.result, strand.chosen)]
    is_first = kin[0] is strand
    if strand.chosen is False:
        return f"{len(kin)} others" if is_first and not second else "_"
    if strand.chosen is None and len({other.result for other in found}) > 1:
        # Colours are the results'; the second quantity of all of them is told once, by its dots.
        if second:
            return name if found[0] is strand else "_"
        return str(strand.result) if is_first else "_"
    if len(found) == 1:
        return name
    if not alike and (strand.chosen or len(found) <= MOST_LINES):
        return f"{name}, {strand.name}"
    return f"{name}, {len({other.number for other in found})} {strand.kind}s" if is_first else "_"


def _points(
    axes: Axes, table: pl.DataFrame, column: str, name: str, marker: str, colour: str, size: float
) -> None:
    if table.is_empty():
        return
    axes.plot(
        table["time_s"].to_numpy(),
        table[column].to_numpy(),
        linestyle="none",
        marker=marker,
        markersize=size * scale(),
        color=colour,
        label=name,
        rasterized=len(table) > _MOST_VECTORS,
    )

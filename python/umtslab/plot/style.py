"""What figures have in common: lines, marks, legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.plot.equal import equal_to, with_equal
from umtslab.plot.look import canvas, filled, letters_across, scale
from umtslab.plot.palette import COLOURS, GREY, style
from umtslab.plot.strands import Strand, strands

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 8
"""More lines than this are not told apart: they are drawn alike, and counted in the legend."""

PALE = "#aaaaaa"
"""Marks behind a line."""

OTHERS = "#bbbbbb"
"""What is not under study."""

_MOST_COLUMNS = 6
"""Most columns of a legend."""

_MOST_ENTRIES = 18
"""A legend with more entries has smaller letters."""

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
    explained: bool = False,
) -> None:
    """One line per connection of a table with ``time_s`` and ``connection``, or per what `by` tells apart.

    Values recorded on change hold until the next one, which `steps` draws. The first line takes style number
    `first`; the second quantity of several results is told from the first by thin dots. Where a table has
    ``chosen``, the others are grey. With `alike` all have this one colour, as more lines than can be told
    apart have grey. The legend states which lines are equal. With `explained` it also states what the lines
    of several results show; their entries name the results only.
    """
    found = strands(table, by)
    looks = _looks(found, first, alike)
    second = bool(first or alike)
    labels = [_label(name, strand, found, second=second, alike=alike is not None) for strand in found]
    labels = _with_equal(labels, found, column)
    for strand, look, label in zip(found, looks, labels, strict=True):
        axes.plot(
            strand.rows["time_s"].to_numpy(),
            strand.rows[column].to_numpy(),
            drawstyle="steps-post" if steps else "default",
            label=label,
            **look,
        )
    if found and len(_results(found)) > 1 and (explained or second):
        dots = {key: looks[-1][key] for key in ("linestyle", "linewidth")} if first else {}
        axes.plot([], [], label=name, **{"color": alike or GREY, **dots})


def _results(found: Sequence[Strand]) -> list[str | None]:
    """The results of some lines. If there are several, colours stand for them, and the legend names them."""
    return list(dict.fromkeys(strand.result for strand in found))


def _with_equal(labels: Sequence[str], found: Sequence[Strand], column: str) -> list[str]:
    """The labels, with the name of the first equal line behind those of lines that are named one by one."""
    is_named = [
        not label.startswith("_") and one.chosen is not False
        for label, one in zip(labels, found, strict=True)
    ]
    named = [at for at, is_so in enumerate(is_named) if is_so]
    if len(named) < 2:
        return list(labels)
    by_result = len(_results(found)) > 1

    def curve(strand: Strand) -> tuple[tuple[bytes, bytes], ...]:
        kin = [other for other in found if other.result == strand.result and other.chosen is not False]
        return tuple(one.values(column) for one in (kin if by_result else [strand]))

    names = [str(found[at].result) if by_result else found[at].name for at in named]
    others = equal_to(names, [curve(found[at]) for at in named])
    result = list(labels)
    for at, other in zip(named, others, strict=True):
        result[at] = with_equal(labels[at], other)
    return result


def windows(axes: Axes, table: pl.DataFrame, column: str, name: str, window_s: float) -> None:
    """One line of steps per connection, of values that each hold for a window from their time on."""
    import polars as pl

    keys = [key for key in ("result", "connection") if key in table.columns]
    last = table.group_by(keys, maintain_order=True).last()
    ends = last.with_columns(pl.col("time_s") + window_s).select(table.columns)
    lines(axes, pl.concat([table, ends]), column, name)


def points(
    axes: Axes,
    table: pl.DataFrame,
    column: str,
    name: str,
    marker: str,
    colour: str,
    size: float,
    *,
    results: Sequence[str] = (),
) -> None:
    """Draw a mark per row. The legend has no entry if there is no row. Marks of what is not chosen are pale.

    With several `results` a mark has the colour of its result, which is its place in `results`, and the
    legend shows the mark in grey.
    """
    if table.is_empty():
        return
    if "chosen" in table.columns:
        others, table = table.filter(~table["chosen"]), table.filter(table["chosen"])
        _points(axes, others, column, "_", marker, OTHERS, size)
        colour = COLOURS[1] if colour == PALE else colour
    if not results:
        _points(axes, table, column, name, marker, colour, size)
        return
    for number, result in enumerate(results):
        rows = table.filter(table["result"] == result)
        _points(axes, rows, column, "_", marker, str(style(number)["color"]), size)
    axes.plot([], [], linestyle="none", marker=marker, markersize=size * scale(), color=GREY, label=name)


def finish(figure: Figure, axes: Axes, *, from_zero: bool = True, note: str = "") -> Figure:
    """Put the legend outside the data; the axes begin at zero, or the vertical one where the data do.

    The heading of the legend is `note`.

    The vertical axis always holds all data: it begins below zero if an interval does.
    """
    axes.margins(x=0)
    low, high = axes.get_ylim()
    if from_zero:
        # Values that hardly change would lie on the upper edge. An interval may reach below zero.
        axes.set_ylim(low if float(axes.dataLim.y0) < 0 else 0, max(high, 1.05 * float(axes.dataLim.y1)))
    else:
        axes.set_ylim(bottom=max(0.0, low))
    axes.set_xlim(left=0)
    legend_of(figure, [axes], title=note)
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
    """Put a legend below a figure, in up to six columns, or in fewer where they are wider than the figure.

    The figure grows by what the legend is higher than a line, so that axes keep their size.
    """
    for columns in range(_columns(len(labels)), 0, -1):
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


def _columns(entries: int) -> int:
    """Most columns of a legend: four, or up to six if its rows would be more than two."""
    return min(entries, max(4, min(_MOST_COLUMNS, -(-entries // 2))))


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
    results = _results(found)
    coloured = [strand for strand in found if strand.chosen is not False]
    if len(results) == 1 and len(coloured) == len(found) > MOST_LINES:
        return [{"color": GREY, "linewidth": thin} for _ in found]
    looks: list[dict[str, Any]] = []
    for strand in found:
        if strand.chosen is False:
            looks.append({"color": OTHERS, "linewidth": thin})
            continue
        of_result = len(results) > 1
        look = style(results.index(strand.result) if of_result else coloured.index(strand) + first)
        if of_result and (first or len(coloured) > len(results)):
            look["linewidth"] = 0.8 * scale()
        if of_result and first:
            look["linestyle"] = (0, (1, 1.5))
        looks.append(look | ({} if strand.chosen is None else {"zorder": 2.5}))
    return looks


def _label(name: str, strand: Strand, found: Sequence[Strand], *, second: bool, alike: bool) -> str:
    """Legend entry of a line; "_" for none."""
    kin = [other for other in found if (other.result, other.chosen) == (strand.result, strand.chosen)]
    is_first = kin[0] is strand
    if strand.chosen is False:
        count = sum(other.chosen is False for other in found)
        return f"{count} others" if strand is found[0] and not second else "_"
    if len(_results(found)) > 1:
        # Colours are the results', which the first quantity names. `lines` explains the second one.
        return "_" if second or not is_first else str(strand.result)
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

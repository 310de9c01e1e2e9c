"""Common parts of figures: lines, marks and legends."""

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
    from matplotlib.legend import Legend

MOST_LINES = 8
"""More lines than this cannot be distinguished.

They share a style, and the legend gives their number.
"""

PALE = "#aaaaaa"
"""Colour of marks behind a line."""

OTHERS = "#bbbbbb"
"""Colour of connections and UEs that are not highlighted."""

_MOST_COLUMNS = 6
"""Maximum number of columns of a legend."""

_MOST_ENTRIES = 18
"""A legend with more entries has a smaller font."""

_MOST_VECTORS = 5_000
"""Maximum number of marks drawn as vectors. Vector files with more marks are slow to display."""


def new_figure(title: str, y_label: str, x_label: str = "time (s)") -> tuple[Figure, Axes]:
    """Create a figure with one pair of axes, labelled with units."""
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
    """Draw one line per connection, or per value of the columns `by`.

    With `steps`, a value holds until the next row. The first line has style number `first`. The
    second quantity of several results is drawn with thin dots. In a table with ``chosen``, lines
    that are not chosen are grey. `alike` is a colour for all lines; by default too many lines are
    grey. The legend states which lines are equal. With `explained` it also states the quantity if
    there are several results, because their entries contain only the result.
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
    """Return the results of the lines.

    If there are several, each has a colour and a legend entry.
    """
    return list(dict.fromkeys(strand.result for strand in found))


def _with_equal(labels: Sequence[str], found: Sequence[Strand], column: str) -> list[str]:
    """Append to the label of each line with its own entry the name of the first equal line."""
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
    """Draw one step line per connection. Each value holds for `window_s` from its time."""
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
    """Draw a mark per row. Without rows there is no legend entry.

    Marks that are not highlighted are pale. With several `results`, a mark has the colour of its
    result's position in `results`, and the legend shows the mark in grey.
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
    """Put the legend outside the data, and set the limits of the axes.

    The title of the legend is `note`. The horizontal axis begins at zero. With `from_zero`, the
    vertical axis begins at zero, or below if an interval is negative. Otherwise it begins at the
    data, and below zero only if the data are.
    """
    axes.margins(x=0)
    low, high = axes.get_ylim()
    if from_zero:
        # Without the margin, nearly constant values would lie on the upper edge. Intervals may be
        # negative.
        axes.set_ylim(low if float(axes.dataLim.y0) < 0 else 0, max(high, 1.05 * float(axes.dataLim.y1)))
    else:
        axes.set_ylim(bottom=low if float(axes.dataLim.y0) < 0 else max(0.0, low))
    axes.set_xlim(left=0)
    legend_of(figure, [axes], title=note)
    return figure


def legend_of(figure: Figure, panels: Sequence[Axes], *, title: str = "") -> None:
    """Put one legend with all labelled lines of some panels below a figure."""
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        if not label.startswith("_")
    }
    if handles:
        put_legend(figure, list(handles.values()), list(handles), title=title)


def put_legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], *, title: str = "") -> None:
    """Put a legend below a figure, in up to six columns, fewer if they are wider than the figure.

    The figure grows by the height of the legend beyond one line, so that the axes keep their size.
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
        width = legend.get_window_extent().width
        if columns == 1 or width <= 0.98 * figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + _growth_in(figure, legend))
            return
        legend.remove()


def renew_legend(figure: Figure, panels: Sequence[Axes]) -> None:
    """Replace the legend of a figure after lines or areas were added."""
    title = ""
    for legend in list(figure.legends):
        title = legend.get_title().get_text()
        figure.set_figheight(figure.get_figheight() - _growth_in(figure, legend))
        legend.remove()
    legend_of(figure, panels, title=title)


def _growth_in(figure: Figure, legend: Legend) -> float:
    """Return the height in inches of a legend beyond one line."""
    height_in: float = legend.get_window_extent().height / figure.dpi
    return max(0.0, height_in - 0.25 * scale())


def _columns(entries: int) -> int:
    """Return the maximum number of columns: four, or up to six for more than two rows."""
    return min(entries, max(4, min(_MOST_COLUMNS, -(-entries // 2))))


def legend_below(figure: Figure, colours: Mapping[str, str], hatches: Mapping[str, str] = {}) -> Figure:
    """Put a legend of areas below a figure, with a patch for each name."""
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
    """Return the style of each line: by highlighting, result and number, or the colour `alike`."""
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
    """Return the legend entry of a line, "_" for no entry."""
    kin = [other for other in found if (other.result, other.chosen) == (strand.result, strand.chosen)]
    is_first = kin[0] is strand
    if strand.chosen is False:
        count = sum(other.chosen is False for other in found)
        return f"{count} others" if strand is found[0] and not second else "_"
    if len(_results(found)) > 1:
        # Colours stand for results, and the entries of the first quantity name them. `lines`
        # explains the second quantity.
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

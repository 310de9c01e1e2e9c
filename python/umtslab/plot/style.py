"""Common parts of figures: lines, marks and legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.plot.equal import equal_to, with_equal
from umtslab.plot.look import canvas, letters_across, scale, wrapped
from umtslab.plot.palette import COLOURS, GREY, style
from umtslab.plot.row_groups import RowGroup, row_groups

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

MAX_LINES = 8
"""More lines than this cannot be distinguished.

They share a style, and the legend gives their number.
"""

PALE = "#aaaaaa"
"""Colour of marks behind a line."""

OTHERS = "#bbbbbb"
"""Colour of connections and UEs that are not highlighted."""

_MAX_COLUMNS = 6
"""Maximum number of columns of a legend."""

_MAX_ENTRIES = 18
"""A legend with more entries has a smaller font."""

MAX_VECTORS = 5_000
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
    shared_colour: str | None = None,
    name_in_legend: bool = False,
) -> None:
    """Draw one line per connection, or per value of the columns `by`.

    In a table with ``chosen``, lines that are not chosen are grey. With several results, each
    result has a colour, and the legend names the results. The legend also states which lines are
    equal.

    Parameters
    ----------
    table : polars.DataFrame
        ``time_s``, the columns of `by` and `column`.
    name : str
        The quantity, for the legend.
    steps : bool
        Whether a value holds until the next row.
    first : int
        Style number of the first line. It is above 0 for the second quantity of a figure, which is
        drawn with thin dots if there are several results.
    by : tuple of str
        Columns that identify a line.
    shared_colour : str, optional
        Colour of all lines. By default each has its own, unless there are too many lines.
    name_in_legend : bool
        Whether the legend states `name` even if its other entries contain only the results.
    """
    groups = row_groups(table, by)
    looks = _looks(groups, first, shared_colour)
    is_second_quantity = bool(first or shared_colour)
    labels = [
        _label(
            name,
            group,
            groups,
            is_second_quantity=is_second_quantity,
            has_shared_colour=shared_colour is not None,
        )
        for group in groups
    ]
    labels = _with_equal(labels, groups, column)
    for group, look, label in zip(groups, looks, labels, strict=True):
        axes.plot(
            group.rows["time_s"].to_numpy(),
            group.rows[column].to_numpy(),
            drawstyle="steps-post" if steps else "default",
            label=label,
            **look,
        )
    if groups and len(_results(groups)) > 1 and (name_in_legend or is_second_quantity):
        dotted = {key: looks[-1][key] for key in ("linestyle", "linewidth")} if first else {}
        axes.plot([], [], label=name, **{"color": shared_colour or GREY, **dotted})


def _results(groups: Sequence[RowGroup]) -> list[str | None]:
    """Return the results of the lines.

    If there are several, each has a colour and a legend entry.
    """
    return list(dict.fromkeys(group.result for group in groups))


def _with_equal(labels: Sequence[str], groups: Sequence[RowGroup], column: str) -> list[str]:
    """Append to each label that is shown in the legend the name of the first line that is equal.

    With several results, a legend entry stands for all lines of its result. Two results are equal
    if all their lines are.
    """
    in_legend = [
        index
        for index, (label, group) in enumerate(zip(labels, groups, strict=True))
        if not label.startswith("_") and group.chosen is not False
    ]
    if len(in_legend) < 2:
        return list(labels)
    by_result = len(_results(groups)) > 1

    def content(group: RowGroup) -> tuple[tuple[bytes, bytes], ...]:
        if not by_result:
            return (group.values(column),)
        return tuple(
            other.values(column)
            for other in groups
            if other.result == group.result and other.chosen is not False
        )

    names = [str(groups[index].result) if by_result else groups[index].name for index in in_legend]
    equal_names = equal_to(names, [content(groups[index]) for index in in_legend])
    extended = list(labels)
    for index, equal_name in zip(in_legend, equal_names, strict=True):
        extended[index] = with_equal(labels[index], equal_name)
    return extended


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
            title=wrapped(title, letters_across(figure)) or None,
            fontsize="small" if len(labels) > _MAX_ENTRIES else None,
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
    half_of_entries = -(-entries // 2)  # rounded up
    return min(entries, max(4, min(_MAX_COLUMNS, half_of_entries)))


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


def _looks(groups: Sequence[RowGroup], first: int, shared_colour: str | None) -> list[dict[str, Any]]:
    """Return the style of each line: by highlighting, result and number, or the colour `shared_colour`."""
    thin = 0.5 * scale()
    if shared_colour is not None:
        return [
            {"color": shared_colour, "linewidth": thin if len(groups) > 1 else 1.1 * scale()} for _ in groups
        ]
    results = _results(groups)
    coloured = [group for group in groups if group.chosen is not False]
    if len(results) == 1 and len(coloured) == len(groups) > MAX_LINES:
        return [{"color": GREY, "linewidth": thin} for _ in groups]
    looks: list[dict[str, Any]] = []
    for group in groups:
        if group.chosen is False:
            looks.append({"color": OTHERS, "linewidth": thin})
            continue
        of_result = len(results) > 1
        look = style(results.index(group.result) if of_result else coloured.index(group) + first)
        if of_result and (first or len(coloured) > len(results)):
            look["linewidth"] = 0.8 * scale()
        if of_result and first:
            look["linestyle"] = (0, (1, 1.5))
        looks.append(look | ({} if group.chosen is None else {"zorder": 2.5}))
    return looks


def _label(
    name: str,
    group: RowGroup,
    groups: Sequence[RowGroup],
    *,
    is_second_quantity: bool,
    has_shared_colour: bool,
) -> str:
    """Return the legend entry of a line, "_" for no entry."""
    similar = [other for other in groups if (other.result, other.chosen) == (group.result, group.chosen)]
    is_first = similar[0] is group
    if group.chosen is False:
        count = sum(other.chosen is False for other in groups)
        return f"{count} others" if group is groups[0] and not is_second_quantity else "_"
    if len(_results(groups)) > 1:
        # Colours stand for results, and the entries of the first quantity name them. `lines`
        # explains the second quantity.
        return "_" if is_second_quantity or not is_first else str(group.result)
    if len(groups) == 1:
        return name
    if not has_shared_colour and (group.chosen or len(groups) <= MAX_LINES):
        return f"{name}, {group.name}"
    return f"{name}, {len({other.number for other in groups})} {group.kind}s" if is_first else "_"


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
        rasterized=len(table) > MAX_VECTORS,
    )

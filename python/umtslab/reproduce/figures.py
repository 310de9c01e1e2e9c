"""Figures for print: measured curves, and the document's stated numbers as stars."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from umtslab.plot.campaign import runs_and_interval
from umtslab.plot.dots import Dot, draw_dots, limits
from umtslab.plot.equal import named_equal
from umtslab.plot.look import HEIGHT_IN, HOUSE, Look, canvas, dress, printable, scale
from umtslab.plot.palette import marker_of, style
from umtslab.plot.style import legend_of, put_legend
from umtslab.plot.ticks import value_ticks
from umtslab.reproduce.figuredata import FigureData, Line, Picture, StatedNumber
from umtslab.reproduce.phases import Phase
from umtslab.reproduce.plan import text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from umtslab.run import Run

_SCORED = "0.6"
"""Grey for scored curves and the document's numbers if other runs are drawn beside them."""

_PANEL_IN = 3.4
"""Height of each of several panels, in a figure of 6.3 inches width."""


def picture_of(data: FigureData) -> Picture:
    """Draw a figure once and save it in both forms. The layout takes half of the time."""
    from umtslab.page import data_url

    if not data.drawn:
        figure = draw(data)
        pixels = pixels_of(figure)
        figure.set_layout_engine("none")
        data.drawn.append(Picture(pixels, data_url(figure)))
    return data.drawn[0]


def pixels_of(figure: Figure) -> bytes:
    """Return a figure as a PNG file.

    Low compression, because high compression takes longer than drawing.
    """
    content = io.BytesIO()
    figure.savefig(content, format="png", pil_kwargs={"compress_level": 1})
    return content.getvalue()


def draw(data: FigureData, look: Look = HOUSE) -> Figure:
    """Draw a figure of a plan.

    Parameters
    ----------
    data : FigureData
        Content of the figure.
    look : Look, optional
        Appearance of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per quantity.
    """
    if data.pdus is not None:
        from umtslab.plot import pdus

        with printable(look):
            return dress(pdus.figure(data.pdus, title=data.figure.title), look)
    if data.run is not None:
        return _channels(data.run, data.figure.until_s, look)
    count = len(data.figure.y)
    with printable(look):
        figure = canvas(HEIGHT_IN if count == 1 else _PANEL_IN * count)
        panels = list(figure.subplots(count, 1, squeeze=False)[:, 0])
        for axes, quantity in zip(panels, data.figure.y, strict=True):
            _panel(axes, data, quantity)
        panels[0].set_title(data.figure.title, loc="left")
        legend_of(figure, panels, title=_heading(data))
        return dress(figure, look)


def _panel(axes: Axes, data: FigureData, quantity: str) -> None:
    """Draw one quantity: curves or clouds, and the document's numbers."""
    styles, kind = _label_styles(data), data.figure.kind
    lines = [line for line in data.lines if line.quantity == quantity or kind == "time"]
    # Several quantities can have stated numbers, each in its own panel.
    stated = [number for number in data.stated if number.quantity == quantity or kind == "time"]
    axes.set_xlabel(data.x_label)
    axes.set_ylabel(data.figure.label)
    if kind == "scatter":
        for line in lines:
            _draw_scatter(axes, line, styles[line.label])
    elif kind == "time":
        for line in lines:
            # The honest curve is close to its counterpart, so it has its own colour and dashes.
            index = list(styles).index(line.label) + len(styles)
            label_style = _LabelStyle(style(index), marker="") if line.honest else styles[line.label]
            _draw_time_course(axes, line, label_style)
        axes.margins(x=0)
        if float(axes.dataLim.y0) >= 0:
            axes.set_ylim(bottom=0)
    else:
        _curves(axes, lines, stated, styles, log=data.figure.log)
    if kind in ("scatter", "time"):
        for number in stated:
            _draw_stated(axes, number, styles[number.label], float(number.x))
    _draw_phases(axes, data.phases)


def _heading(data: FigureData) -> str:
    """Return the title of the legend: the labels' quantity, and the number of runs."""
    curves_label = [data.curves_label] if len({line.label for line in data.lines}) > 1 else []
    if data.figure.kind == "scatter":
        return "".join(curves_label)
    counts = runs_and_interval([dot.y for line in data.lines for dot in line.dots])
    return "; ".join(
        [*curves_label, counts.replace("interval", "band") if data.figure.kind == "time" else counts]
    )


@dataclass(frozen=True)
class _LabelStyle:
    """Style of all elements with one label: colour and dashes, and a marker."""

    line: Mapping[str, Any]
    marker: str

    @property
    def colour(self) -> str:
        return str(self.line["color"])


def _label_styles(data: FigureData) -> dict[str, _LabelStyle]:
    """Return the style of each label.

    If curves of runs with a change are drawn beside the scored curves, the scored ones are grey.
    """
    labels = [*(line.label for line in data.lines), *(number.label for number in data.stated)]
    styles = _distinct_styles(labels)
    changed = _distinct_styles([line.label for line in data.lines if line.change])
    if not changed:
        return styles
    grey = {
        label: _LabelStyle({**label_style.line, "color": _SCORED}, label_style.marker)
        for label, label_style in styles.items()
    }
    return grey | changed


def _distinct_styles(labels: Iterable[str]) -> dict[str, _LabelStyle]:
    """Return a different style for each label, in order of first appearance."""
    return {
        label: _LabelStyle(style(index), marker_of(index))
        for index, label in enumerate(dict.fromkeys(labels))
    }


def _curves(
    axes: Axes,
    lines: Sequence[Line],
    stated: Sequence[StatedNumber],
    styles: Mapping[str, _LabelStyle],
    *,
    log: bool,
) -> None:
    """Draw means with a tick at each value of x. Values that are words are in order of appearance."""
    values = dict.fromkeys(
        [*(dot.x for line in lines for dot in line.dots), *(number.x for number in stated)]
    )
    is_number = not any(isinstance(value, str) for value in values)
    positions = {value: float(value) if is_number else float(index) for index, value in enumerate(values)}
    line_dots = [_line_dots(line, positions) for line in lines]
    names = [f"{line.label}, 3GPP accounting" if line.honest else line.label for line in lines]
    labels = named_equal(names, [tuple(dots) for dots in line_dots])
    for index, (line, dots) in enumerate(zip(lines, line_dots, strict=True)):
        label_style = styles[line.label]
        dashes = {} if is_number else {"linestyle": "none"}
        if dots:
            draw_dots(
                axes,
                dots,
                labels[index],
                {**label_style.line, **dashes},
                marker=label_style.marker,
                number=index,
                count=len(lines),
                hollow=line.honest,
            )
    for number in stated:
        _draw_stated(axes, number, styles[number.label], positions[number.x])
    # Stated numbers must be inside the vertical axis too. `limits` does not use the value of x.
    stated_dots = [Dot(x=0.0, mean=number.y, half_width=0.0) for number in stated]
    axes.set_ylim(limits([*(dot for dots in line_dots for dot in dots), *stated_dots]))
    if log and is_number and min(positions.values(), default=0.0) > 0:
        axes.set_xscale("log")
    if positions:
        value_ticks(
            axes, list(positions.values()), [text(value) for value in positions], log=log, is_number=is_number
        )


def _line_dots(line: Line, positions: Mapping[Any, float]) -> list[Dot]:
    """Return position, mean and half width of each point of a curve."""
    return sorted(
        Dot(positions[dot.x], float(dot.y.mean), dot.y.ci95 or 0.0)
        for dot in line.dots
        if dot.y.mean is not None
    )


def _draw_time_course(axes: Axes, line: Line, label_style: _LabelStyle) -> None:
    """Draw a mean over time in its 95 % band, and one of the runs."""
    dots = [dot for dot in line.dots if dot.y.mean is not None]
    if not dots:
        return
    label = f"{line.label}, 3GPP accounting" if line.honest else line.label
    x = [float(dot.x) for dot in dots]
    y = [float(dot.y.mean or 0.0) for dot in dots]
    half_widths = [dot.y.ci95 or 0.0 for dot in dots]
    low = [mean - half_width for mean, half_width in zip(y, half_widths, strict=True)]
    high = [mean + half_width for mean, half_width in zip(y, half_widths, strict=True)]
    axes.fill_between(x, low, high, color=label_style.colour, alpha=0.25, linewidth=0)
    axes.plot(x, y, label=label, **label_style.line)
    if line.one_run and not line.honest:
        run: dict[str, Any] = {"color": label_style.colour, "alpha": 0.5, "linewidth": 0.5 * scale()}
        axes.plot(*zip(*line.one_run, strict=True), label=f"{label}: run 0", **run)


def _draw_scatter(axes: Axes, line: Line, label_style: _LabelStyle) -> None:
    x = [float(dot.x) for dot in line.dots]
    y = [float("nan") if dot.y.mean is None else dot.y.mean for dot in line.dots]
    axes.plot(
        x,
        y,
        label_style.marker,
        color=label_style.colour,
        markersize=3 * scale(),
        alpha=0.6,
        linestyle="none",
        label=line.label,
    )


def _draw_stated(axes: Axes, number: StatedNumber, label_style: _LabelStyle, x: float) -> None:
    """Draw a star, or a dotted line for a time span. Each label has one legend entry."""
    label = f"{number.label}: stated in the document"
    legend_labels: Iterable[str] = axes.get_legend_handles_labels()[1]
    # Matplotlib leaves labels that begin with an underscore out of the legend.
    legend_label = "_" if label in legend_labels else label
    if number.x_end is not None:
        dotted: dict[str, Any] = {"color": label_style.colour, "linestyle": ":", "linewidth": 2 * scale()}
        axes.plot([x, number.x_end], [number.y, number.y], label=legend_label, **dotted)
        return
    axes.plot(
        [x],
        [number.y],
        marker="*",
        markersize=11 * scale(),
        markerfacecolor=label_style.colour,
        markeredgecolor="white" if label_style.colour == "#000000" else "black",
        markeredgewidth=0.6 * scale(),
        linestyle="none",
        zorder=5,
        label=legend_label,
    )


def _channels(run: Run, until_s: float, look: Look) -> Figure:
    """Draw the RRC states of users, and the refused DCH requests."""
    from umtslab.plot import View, draw

    figure = draw(run, "rrc", View(until_s=until_s), look)
    requests = run.series("dch_requests")
    refused = requests.filter((requests["answer"] == "refused") & (requests["time_s"] < until_s))
    if len(refused):
        (crosses,) = figure.axes[0].plot(
            refused["time_s"].to_list(), refused["ue"].to_list(), "x", color="black", markersize=5 * scale(),
            linestyle="none", label="DCH refused",
        )  # fmt: skip
        handles = [handle for legend in figure.legends for handle in legend.legend_handles if handle]
        for legend in figure.legends:
            legend.remove()
        handles = [*handles, crosses]
        put_legend(figure, handles, [str(handle.get_label()) for handle in handles])
    return dress(figure, look)


def _draw_phases(axes: Axes, phases: Sequence[Phase]) -> None:
    """Draw the phases' names and limits behind the curves. Phases are clipped to the time axis."""
    left, right = axes.get_xlim()
    for number, phase in enumerate(phases):
        start, end = max(phase.start_s, left), min(phase.end_s, right)
        if number % 2:
            axes.axvspan(start, end, color="0.9", zorder=0)
        axes.text(
            (start + end) / 2, 0.99, phase.name, rotation=90, fontsize="small", color="0.35",
            horizontalalignment="center", verticalalignment="top", transform=axes.get_xaxis_transform(),
        )  # fmt: skip

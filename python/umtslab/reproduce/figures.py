"""Figures for print: our curves with intervals, the document's stated numbers as stars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.reproduce.figuredata import FigureData, Line, Stated
from umtslab.reproduce.phases import Phase

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from umtslab.run import Run

# Okabe and Ito's colours: colour-blind readers tell them apart; with the markers, so does a grey printer.
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
_SCORED = "0.6"
"""Grey: what is scored, and the document's numbers, where other runs are drawn beside them."""

_MARKERS = ["o", "s", "^", "D", "v", "P"]


def draw(data: FigureData) -> Figure:
    """Draw a figure of a plan.

    Parameters
    ----------
    data : FigureData
        What it shows.

    Returns
    -------
    matplotlib.figure.Figure
        With one panel for each quantity.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    if data.pdus is not None:
        from umtslab.plot import pdus

        return pdus.figure(data.pdus, title=data.figure.title)
    if data.run is not None:
        return _channels(data.run, data.figure.until_s)
    labels = list(
        dict.fromkeys([*(line.label for line in data.lines), *(mark.label for mark in data.stated)])
    )
    looks = {label: (_COLOURS[i % 6], _MARKERS[i % 6]) for i, label in enumerate(labels)}
    if any(line.change for line in data.lines):
        new = dict.fromkeys(line.label for line in data.lines if line.change)
        colours = {label: _COLOURS[i % 6] for i, label in enumerate(new)}
        looks = {label: (colours.get(label, _SCORED), marker) for label, (_, marker) in looks.items()}
    with mpl.rc_context(
        {
            "font.size": 10,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "legend.fontsize": 8,
        }
    ):
        figure = Figure(figsize=(6.4, 4.6 * len(data.figure.y)), dpi=200, layout="constrained")
        panels = figure.subplots(len(data.figure.y), 1, squeeze=False)
        for axes, quantity in zip(panels[:, 0], data.figure.y, strict=True):
            for line in data.lines:
                if line.quantity == quantity or data.figure.kind == "time":
                    if data.figure.kind == "scatter":
                        _cloud(axes, line, *looks[line.label])
                    else:
                        _line(axes, line, *looks[line.label])
            for mark in data.stated:
                _stated(axes, mark, looks[mark.label][0])
            _phases(axes, data.phases)
            axes.set_xlabel(data.x_label)
            axes.set_ylabel(data.figure.label)
            if data.figure.kind != "scatter":
                axes.set_ylim(bottom=0)
            if data.figure.log:
                axes.set_xscale("log")
        labelled = dict(zip(*reversed(panels[0, 0].get_legend_handles_labels()), strict=True))
        if labelled:
            figure.legend(labelled.values(), labelled.keys(), loc="outside lower center", ncols=2)
        panels[0, 0].set_title(data.figure.title, fontsize=10)
    return figure


def _channels(run: Run, until_s: float) -> Figure:
    """Who was on which channel, and when a DCH was refused."""
    from umtslab.plot import View, draw

    figure = draw(run, "rrc", View(until_s=until_s))
    asked = run.series("dch_requests")
    refused = asked.filter((asked["answer"] == "refused") & (asked["time_s"] < until_s))
    if len(refused):
        (crosses,) = figure.axes[0].plot(
            refused["time_s"].to_list(), refused["ue"].to_list(), "x", color="black", markersize=5,
            linestyle="none", label="DCH refused",
        )  # fmt: skip
        handles = [handle for legend in figure.legends for handle in legend.legend_handles if handle]
        for legend in figure.legends:
            legend.remove()
        figure.legend(handles=[*handles, crosses], loc="outside lower center", ncols=4, frameon=False)
    return figure


def _phases(axes: Axes, phases: Sequence[Phase]) -> None:
    """Their names and limits behind the curves; what is before the first data is not shown."""
    left, right = axes.get_xlim()
    for number, phase in enumerate(phases):
        start, end = max(phase.start_s, left), min(phase.end_s, right)
        if number % 2:
            axes.axvspan(start, end, color="0.9", zorder=0)
        axes.text(
            (start + end) / 2, 0.99, phase.word, rotation=90, fontsize=8, color="0.35",
            horizontalalignment="center", verticalalignment="top", transform=axes.get_xaxis_transform(),
        )  # fmt: skip


def _line(axes: Axes, line: Line, colour: str, marker: str) -> None:
    label = f"{line.label}, 3GPP accounting" if line.honest else line.label
    dots = [dot for dot in line.dots if dot.y.mean is not None]
    x = [float(dot.x) for dot in dots]
    y = [float(dot.y.mean) for dot in dots if dot.y.mean is not None]
    half = [dot.y.ci95 or 0.0 for dot in dots]
    if line.one_run:
        style = "--" if line.honest else "-"
        axes.plot(
            x, y, style, color=colour, linewidth=1.0, label=f"{label}: mean of {dots[0].y.n} runs, 95 %"
        )
        low, high = (
            [a - h for a, h in zip(y, half, strict=True)],
            [a + h for a, h in zip(y, half, strict=True)],
        )
        axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        if not line.honest:
            axes.plot(
                *zip(*line.one_run, strict=True),
                color=colour,
                alpha=0.5,
                linewidth=0.5,
                label=f"{label}: run 0",
            )
        return
    axes.errorbar(
        x, y, yerr=half, label=label, color=colour, marker=marker, markersize=4, capsize=2,
        linewidth=0.8 if line.honest else 1.2, linestyle="--" if line.honest else "-",
        markerfacecolor="white" if line.honest else colour,
    )  # fmt: skip


def _cloud(axes: Axes, line: Line, colour: str, marker: str) -> None:
    x = [float(dot.x) for dot in line.dots]
    y = [float("nan") if dot.y.mean is None else dot.y.mean for dot in line.dots]
    axes.plot(x, y, marker, color=colour, markersize=3, alpha=0.6, linestyle="none", label=line.label)


def _stated(axes: Axes, mark: Stated, colour: str) -> None:
    label = f"{mark.label}: stated in the document"
    known = axes.get_legend_handles_labels()[1]
    shown = "_nolegend_" if label in known else label
    if mark.x_end is not None:
        axes.plot(
            [float(mark.x), mark.x_end],
            [mark.y, mark.y],
            color=colour,
            linestyle=":",
            linewidth=2,
            label=shown,
        )
        return
    axes.plot(
        [float(mark.x)], [mark.y], marker="*", markersize=11, markerfacecolor=colour, markeredgecolor="black",
        markeredgewidth=0.6, linestyle="none", zorder=5, label=shown,
    )  # fmt: skip

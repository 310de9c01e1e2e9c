"""Marks of the phases of a connection in a figure over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.lanes import fill_of
from umtslab.plot.causes import LOOKS
from umtslab.plot.look import scale
from umtslab.plot.phases import Phases, Spans
from umtslab.plot.style import renew_legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure


def annotate(figure: Figure, phases: Phases) -> None:
    """Mark the phases as areas and the instants as vertical lines, with entries in the legend."""
    _areas(figure, phases.slow_start, "slow start", *LOOKS["slow_start"])
    _areas(figure, phases.recovery, "recovery from a loss", fill_of("rto"), "////")
    _areas(figure, phases.switches, "channel switch", *LOOKS["channel_switch"])
    _instants(figure, phases.fast_retransmits, "fast retransmit after duplicate ACKs", fill_of("prop"), ":")
    _instants(figure, phases.timeouts, "retransmission timeout", fill_of("rto"), "-")
    renew_legend(figure, figure.axes)


def _areas(figure: Figure, spans: Spans, name: str, colour: str, hatch: str) -> None:
    for axes in figure.axes:
        for number, (start_s, end_s) in enumerate(spans):
            axes.axvspan(
                start_s,
                end_s,
                facecolor=colour,
                edgecolor=colour,
                hatch=hatch,
                linewidth=0,
                alpha=0.3,
                zorder=0.5,
                label="_" if number else name,
            )


def _instants(figure: Figure, times: Sequence[float], name: str, colour: str, dashes: str) -> None:
    for axes in figure.axes:
        for number, at_s in enumerate(times):
            axes.axvline(
                at_s,
                color=colour,
                linestyle=dashes,
                linewidth=scale(),
                zorder=1.2,
                label="_" if number else name,
            )

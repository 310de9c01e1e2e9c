"""Effects of a sensitivity study: a bar per parameter, a panel per metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.metrics import units
from umtslab.plot.style import COLOURS, WIDTH_IN, printable
from umtslab.studies.sensitivity import Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_effects(findings: Findings) -> Figure:
    """Draw mu* (Morris) or first-order and total shares (Sobol), with 95 % intervals, the largest on top."""
    from matplotlib.figure import Figure

    sobol = findings.study.method == "sobol"
    with printable():
        height = 0.9 + 0.35 * len(findings.study.frame.parameters)
        figure = Figure(figsize=(WIDTH_IN, height * len(findings.effects)), layout="constrained")
        panels = figure.subplots(len(findings.effects), 1, squeeze=False)[:, 0]
        for axes, (metric, effects) in zip(panels, findings.effects.items(), strict=True):
            ordered = sorted(effects, key=lambda effect: effect.total if sobol else effect.first)
            places = list(range(len(ordered)))
            names = [effect.parameter for effect in ordered]
            first = [effect.first for effect in ordered]
            first_ci = [effect.first_ci95 or 0.0 for effect in ordered]
            shift = 0.2 if sobol else 0.0
            thickness = 0.38 if sobol else 0.6
            axes.barh([p - shift for p in places], first, thickness, xerr=first_ci, color=COLOURS[1],
                      capsize=2.5, label="first order")  # fmt: skip
            if sobol:
                total = [effect.total for effect in ordered]
                total_ci = [effect.total_ci95 or 0.0 for effect in ordered]
                axes.barh([p + shift for p in places], total, thickness, xerr=total_ci, color=COLOURS[5],
                          capsize=2.5, label="total")  # fmt: skip
                axes.legend(frameon=False)
            axes.set_yticks(places, names)
            unit = units().get(metric, "")
            label = "share of the variance" if sobol else "mean effect of crossing the range"
            axes.set_xlabel(f"{label} ({unit})" if unit and not sobol else label)
            axes.set_title(metric, loc="left")
    return figure

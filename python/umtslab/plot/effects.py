"""Effects of a sensitivity study: mu* and sigma (Morris), or shares of the variance (Sobol)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.labels import key_label, metric_label, with_unit
from umtslab.metrics import units
from umtslab.plot.look import HOUSE, Look, canvas, dress, printable, scale
from umtslab.plot.palette import COLOURS, DASHES, marker_of, style
from umtslab.plot.style import put_legend
from umtslab.plot.titles import study_title
from umtslab.studies.sensitivity import Effect, Findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_effects(findings: Findings, *, look: Look = HOUSE) -> Figure:
    """Draw the effects of a study with 95 % intervals, one panel per metric.

    Parameters
    ----------
    findings : Findings
        The study.
    look : Look, optional
        Appearance of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Morris: mu* (the size of a parameter's effect) against sigma (how much the effect depends on
        other parameters, or on the position in the range). Sobol: first-order and total shares of
        the variance, largest at the top. The axes contain every interval. Negative estimates are
        drawn as they are.
    """
    metrics = findings.effects
    with printable(look):
        if findings.study.method == "morris":
            figure = canvas(3.4 * len(metrics) + 0.5)
        else:
            figure = canvas((0.9 + 0.42 * len(findings.study.frame.parameters)) * len(metrics) + 0.4)
        panels = figure.subplots(len(metrics), 1, squeeze=False)[:, 0]
        for axes, (metric, effects) in zip(panels, metrics.items(), strict=True):
            if findings.study.method == "morris":
                _plane(axes, effects, units().get(metric, ""))
            else:
                _bars(axes, effects)
            axes.set_title(metric_label(metric), loc="left")
        figure.suptitle(study_title(findings.study.frame, findings.seed))
        handles, labels = panels[0].get_legend_handles_labels()
        put_legend(figure, handles, labels)
        return dress(figure, look)


def _plane(axes: Axes, effects: Sequence[Effect], unit: str) -> None:
    """Draw each parameter at mu* (`Effect.first`) and sigma (`Effect.total`).

    Far below the diagonal, the effect of the parameter is uniform over its range.
    """
    # If all effects are 0, the axes end at a tiny number, because an axis needs a length.
    low = min(0.0, *(effect.first - (effect.first_ci95 or 0.0) for effect in effects))
    high_x = max(1e-12, *(effect.first + (effect.first_ci95 or 0.0) for effect in effects))
    high_y = max(1e-12, *(effect.total for effect in effects))
    for number, effect in enumerate(effects):
        axes.errorbar(
            [effect.first],
            [effect.total],
            xerr=[effect.first_ci95 or 0.0],
            marker=marker_of(number),
            markersize=6 * scale(),
            linestyle="none",
            capsize=2.5 * scale(),
            color=style(number)["color"],
            label=key_label(effect.parameter),
        )
    # The diagonal ends at the nearer edge of the axes.
    end = min(1.1 * high_x, 1.2 * high_y)
    axes.plot([0, end], [0, end], color="#777777", linestyle=DASHES[4], label="sigma = mu*")
    axes.set_xlim(1.1 * low, 1.1 * high_x)
    axes.set_ylim(0, 1.2 * high_y)
    axes.set_xlabel(with_unit("mu*: mean effect over the range", unit))
    axes.set_ylabel(with_unit("sigma: standard deviation of the effect", unit))


def _bars(axes: Axes, effects: Sequence[Effect]) -> None:
    """Draw two bars for each parameter: its first-order and its total share of the variance."""
    ordered = sorted(effects, key=lambda effect: effect.total)
    kinds = (
        ("first order", -0.2, COLOURS[1], [(effect.first, effect.first_ci95) for effect in ordered]),
        ("total", 0.2, COLOURS[5], [(effect.total, effect.total_ci95) for effect in ordered]),
    )
    lowest = 0.0
    for name, shift, colour, estimates in kinds:
        shares = [share for share, _ in estimates]
        half_widths = [half_width or 0.0 for _, half_width in estimates]
        lowest = min(lowest, *(share - half for share, half in zip(shares, half_widths, strict=True)))
        positions = [row + shift for row in range(len(ordered))]
        axes.barh(positions, shares, 0.38, xerr=half_widths, color=colour, capsize=2.5 * scale(), label=name)
    axes.set_yticks(range(len(ordered)), [key_label(effect.parameter) for effect in ordered])
    # Estimates and their intervals may be negative.
    axes.set_xlim(left=1.05 * lowest)
    axes.axvline(0, color="#777777", linewidth=0.8 * scale())
    axes.set_xlabel("share of the variance")

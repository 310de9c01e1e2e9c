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
    """Draw each parameter by mu* and sigma. Far below the diagonal its effect is uniform."""
    ends = [(effect.first, effect.first_ci95 or 0.0) for effect in effects]
    least = min([0.0, *(mean - half for mean, half in ends)])
    most = max([1e-12, *(mean + half for mean, half in ends)])
    high = max([effect.total for effect in effects] + [1e-12])
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
    end = min(1.1 * most, 1.2 * high)
    axes.plot([0, end], [0, end], color="#777777", linestyle=DASHES[4], label="sigma = mu*")
    axes.set_xlim(1.1 * least, 1.1 * most)
    axes.set_ylim(0, 1.2 * high)
    axes.set_xlabel(with_unit("mu*: mean effect over the range", unit))
    axes.set_ylabel(with_unit("sigma: standard deviation of the effect", unit))


def _bars(axes: Axes, effects: Sequence[Effect]) -> None:
    ordered = sorted(effects, key=lambda effect: effect.total)
    kinds = (
        ("first order", -0.2, COLOURS[1], [(effect.first, effect.first_ci95) for effect in ordered]),
        ("total", 0.2, COLOURS[5], [(effect.total, effect.total_ci95) for effect in ordered]),
    )
    ends = [0.0]
    for name, shift, colour, found in kinds:
        shares, halves = [share for share, _ in found], [half or 0.0 for _, half in found]
        ends += [share + sign * half for share, half in zip(shares, halves, strict=True) for sign in (-1, 1)]
        places = [place + shift for place in range(len(ordered))]
        axes.barh(places, shares, 0.38, xerr=halves, color=colour, capsize=2.5 * scale(), label=name)
    axes.set_yticks(range(len(ordered)), [key_label(effect.parameter) for effect in ordered])
    # Estimates and their intervals may be negative.
    axes.set_xlim(left=1.05 * min(ends))
    axes.axvline(0, color="#777777", linewidth=0.8 * scale())
    axes.set_xlabel("share of the variance")

"""Figures of an optimisation: history, objective against constraints, importance of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from umtslab.campaign.errors import CampaignError
from umtslab.labels import key_label, metric_label, metric_with_unit
from umtslab.plot.look import HOUSE, Look, canvas, dress, printable, scale
from umtslab.plot.palette import COLOURS
from umtslab.plot.style import legend_of, new_figure
from umtslab.plot.titles import study_title
from umtslab.studies.importance import importance
from umtslab.studies.optimise import Constraint, Outcome, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEASIBLE_COLOUR, _INFEASIBLE_COLOUR, _BEST_COLOUR, _BASELINE_COLOUR = (
    COLOURS[1],
    "#999999",
    COLOURS[2],
    COLOURS[0],
)


def draw_history(outcome: Outcome, *, look: Look = HOUSE) -> Figure:
    """Draw the objective of each trial with its 95 % interval, the best so far, and the baseline.

    The baseline is the unchanged scenario.
    """
    study = outcome.study
    with printable(look):
        figure, axes = new_figure(_title(outcome), metric_with_unit(study.metric), "trial (number)")
        for is_feasible, label, colour, fill in (
            (True, "satisfies the constraints", _FEASIBLE_COLOUR, _FEASIBLE_COLOUR),
            (False, "violates a constraint", _INFEASIBLE_COLOUR, "white"),
        ):
            trials = [trial for trial in outcome.trials if trial.feasible == is_feasible]
            _dots(axes, trials, label, colour, fill)
        best = _best_so_far(outcome)
        if best:
            # The line ends at the last trial with the value of the best one.
            numbers = [number for number, _ in best] + [len(outcome.trials) - 1]
            values = [value for _, value in best]
            values.append(values[-1])
            axes.plot(numbers, values, drawstyle="steps-post", color=_BEST_COLOUR, label="best so far")
        baseline = outcome.baseline
        if baseline.objective.mean is not None:
            label = "unchanged scenario" if baseline.feasible else "unchanged scenario, violates a constraint"
            axes.axhline(baseline.objective.mean, color=_BASELINE_COLOUR, linestyle=(0, (6, 2)), label=label)
        axes.locator_params(axis="x", integer=True)
        axes.set_xlim(-0.5, len(outcome.trials) - 0.5)
        legend_of(figure, [axes])
        return dress(figure, look)


def draw_pareto(outcome: Outcome, *, look: Look = HOUSE) -> Figure:
    """Draw the objective against each constraint's metric, with the Pareto front.

    Raises
    ------
    CampaignError
        If the study has no constraint.
    """
    study = outcome.study
    if not study.constraints:
        raise CampaignError(f"{study.frame.name} has no constraint, so there is no Pareto front to draw")
    with printable(look):
        figure = canvas(3.3 * len(study.constraints) + 0.4)
        panels = figure.subplots(len(study.constraints), 1, squeeze=False)[:, 0]
        for axes, constraint in zip(panels, study.constraints, strict=True):
            _draw_against(axes, outcome, constraint)
        panels[0].set_title(_title(outcome), loc="left")
        legend_of(figure, panels.tolist())
        return dress(figure, look)


def draw_importance(outcome: Outcome, *, look: Look = HOUSE) -> Figure:
    """Draw the importance of each parameter for the objective, largest at the top."""
    shares = sorted(importance(outcome).items(), key=lambda pair: pair[1])
    with printable(look):
        figure = canvas(1.2 + 0.4 * len(shares))
        axes = figure.add_subplot()
        axes.barh(range(len(shares)), [share for _, share in shares], 0.6, color=_FEASIBLE_COLOUR)
        axes.set_yticks(range(len(shares)), [key_label(key) for key, _ in shares])
        axes.set_xlabel(f"share of the importance for {metric_label(outcome.study.metric)} (PED-ANOVA)")
        axes.set_ylabel("parameter")
        axes.set_xlim(0, 1)
        axes.grid(visible=False, axis="y")
        axes.set_title(_title(outcome), loc="left")
        return dress(figure, look)


def _title(outcome: Outcome) -> str:
    return study_title(outcome.study.frame, outcome.seed)


def _dots(axes: Axes, trials: Sequence[Trial], label: str, colour: str, fill: str) -> None:
    """Draw the objective of trials with its interval. Trials without a value are left out."""
    known = [trial for trial in trials if trial.objective.mean is not None]
    if known:
        axes.errorbar(
            [trial.number for trial in known],
            [trial.objective.mean or 0.0 for trial in known],
            yerr=[trial.objective.ci95 or 0.0 for trial in known],
            linestyle="none",
            marker="o",
            markersize=4.5 * scale(),
            color=colour,
            markerfacecolor=fill,
            elinewidth=0.8 * scale(),
            label=label,
        )


def _best_so_far(outcome: Outcome) -> list[tuple[int, float]]:
    """Return the trials with a new best feasible objective, and its value."""
    best: list[tuple[int, float]] = []
    for trial in outcome.trials:
        mean = trial.objective.mean
        if trial.feasible and mean is not None and (not best or _better(outcome, mean, best[-1][1])):
            best.append((trial.number, mean))
    return best


def _better(outcome: Outcome, objective: float, reference: float) -> bool:
    """Whether a value of the objective is better than a reference value."""
    return objective > reference if outcome.study.maximise else objective < reference


def _draw_against(axes: Axes, outcome: Outcome, constraint: Constraint) -> None:
    """Draw the trials by constraint metric and objective, with the forbidden side shaded."""
    points = [
        (mean, trial.objective.mean, trial)
        for trial in (*outcome.trials, outcome.baseline)
        if (mean := trial.limits[str(constraint)].mean) is not None and trial.objective.mean is not None
    ]
    for is_feasible, label, fill in (
        (True, "satisfies the constraints", _FEASIBLE_COLOUR),
        (False, "violates a constraint", "white"),
    ):
        dots = [
            (x, y)
            for x, y, trial in points
            if trial.feasible == is_feasible and trial is not outcome.baseline
        ]
        if dots:
            colour = _FEASIBLE_COLOUR if is_feasible else _INFEASIBLE_COLOUR
            axes.plot(*zip(*dots, strict=True), linestyle="none", marker="o", markersize=4.5 * scale(),
                      color=colour, markerfacecolor=fill, label=label)  # fmt: skip
    front = _front(outcome, constraint, [(x, y) for x, y, _ in points])
    if front:
        drawstyle = "steps-post" if constraint.least is None else "steps-pre"
        axes.plot(
            *zip(*front, strict=True),
            drawstyle=drawstyle,
            color=_BEST_COLOUR,
            zorder=1.5,
            label="Pareto front",
        )
    for x, y, trial in points:
        if trial is outcome.baseline:
            axes.plot(
                [x],
                [y],
                linestyle="none",
                marker="*",
                markersize=11 * scale(),
                color=_BASELINE_COLOUR,
                label="unchanged scenario",
            )
    _shade(axes, constraint)
    axes.set_xlabel(metric_with_unit(constraint.metric))
    axes.set_ylabel(metric_with_unit(outcome.study.metric))


def _shade(axes: Axes, constraint: Constraint) -> None:
    """Shade the side of the bound that the constraint forbids, and draw the bound."""
    bound = constraint.most if constraint.least is None else constraint.least
    assert bound is not None, "a constraint has one bound"
    low, high = axes.get_xlim()
    low, high = min(low, bound), max(high, bound)
    span = (bound, high) if constraint.least is None else (low, bound)
    if span[0] < span[1]:
        axes.axvspan(*span, color="#E69F00", alpha=0.15, linewidth=0, label="infeasible")
    axes.axvline(bound, color="#E69F00")
    axes.set_xlim(low, high)


def _front(
    outcome: Outcome, constraint: Constraint, dots: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return the Pareto front of points (metric of the constraint, objective).

    A point is on the front if no point with a better metric has an equal or better objective.
    """
    # From the best metric on: small values are best below an upper bound, large values above a
    # lower bound.
    ordered = sorted(set(dots), key=lambda dot: dot[0] if constraint.least is None else -dot[0])
    front: list[tuple[float, float]] = []
    best: float | None = None
    for metric, objective in ordered:
        if best is None or _better(outcome, objective, best):
            best = objective
            front.append((metric, objective))
    return sorted(front)

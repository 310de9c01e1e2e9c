"""A study as one HTML page of ``umts report``, with figures and tables.

An optimisation (`Outcome`) searches the parameters for the best value of a metric, in trials. A
sensitivity study (`Findings`) measures the effect of each parameter on some metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from umtslab.campaign.errors import CampaignError
from umtslab.labels import key_label, metric_label, metric_with_unit
from umtslab.numbers import with_interval
from umtslab.page import data_url, render
from umtslab.studies.optimise import Outcome
from umtslab.studies.sensitivity import Findings
from umtslab.studies.tables import effects_table, trials_table

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from umtslab.store import StoreReader


def html(study: Outcome | Findings, store: StoreReader) -> str:
    """Return the page.

    Parameters
    ----------
    study : Outcome or Findings
        An optimisation, or a sensitivity study.
    store : StoreReader
        Store of the study's runs, which has the command that repeats the runs of the best trial.
    """
    # Scenario, name, title and runs per point: the part that both kinds of study have in common.
    frame = study.study.frame
    is_optimisation = isinstance(study, Outcome)
    return render(
        "study.html",
        name=frame.name,
        title=frame.title or frame.name,
        about=about(study),
        sections=list(
            _optimisation_sections(study) if isinstance(study, Outcome) else _sensitivity_sections(study)
        ),
        command=command(study, store) if isinstance(study, Outcome) else "",
        table=_rows(trials_table(study) if isinstance(study, Outcome) else effects_table(study)),
        table_title="All trials" if is_optimisation else "All effects",
    )


def about(study: Outcome | Findings) -> str:
    """Describe goal, method and size of a study."""
    return _optimisation_sentence(study) if isinstance(study, Outcome) else _sensitivity_sentence(study)


def _optimisation_sentence(outcome: Outcome) -> str:
    study = outcome.study
    goal = "highest" if study.maximise else "lowest"
    bounds = "".join(
        f", {metric_label(constraint.metric).lower()} {constraint.bound}" for constraint in study.constraints
    )
    return (
        f"The {goal} {metric_with_unit(study.metric).lower()}{bounds}: {len(outcome.trials)} trials "
        f"of {study.frame.runs} runs, seed {outcome.seed}; {len(outcome.ranking())} different points "
        "satisfy the constraints."
    )


def _sensitivity_sentence(findings: Findings) -> str:
    study = findings.study
    return (
        f"{study.method.capitalize()}'s method: {findings.points} points of {study.frame.runs} runs, seed "
        f"{findings.seed}."
    )


def _optimisation_sections(outcome: Outcome) -> Iterator[dict[str, str]]:
    """Yield a section for each figure that the study's data allow."""
    from umtslab.plot.optimisation import draw_history, draw_importance, draw_pareto

    best = _best(outcome)
    figures: tuple[tuple[str, str, Callable[[Outcome], Figure]], ...] = (
        ("history", f"Objective of each trial. {best}".strip(), draw_history),
        ("front", "Objective and constrained metric of each trial. No other trial is better in both than a "
        "trial on the Pareto front.",
         draw_pareto),
        ("importance", "Parameters that distinguish the better trials from the others (PED-ANOVA).",
         draw_importance),
    )  # fmt: skip
    for anchor, text, draw in figures:
        try:
            picture = data_url(draw(outcome))
        except CampaignError:
            continue  # no constraint, or too few trials for it
        yield {"anchor": anchor, "title": anchor.capitalize(), "text": text, "picture": picture}


def _best(outcome: Outcome) -> str:
    ranking = outcome.ranking()
    if not ranking:
        return "No trial satisfies the constraints."
    first = ranking[0]
    values = ", ".join(f"{key_label(key)} {value}" for key, value in first.parameters.items())
    objective, name = first.objective, metric_with_unit(outcome.study.metric)
    objective_text = f"{name} {with_interval(objective.mean, objective.ci95, objective.n)}"
    baseline_note = (
        ""
        if outcome.baseline.feasible
        else f" The unchanged scenario violates {_violated_by_baseline(outcome)}."
    )
    return f"The best trial is {first.number}: {values}; {objective_text}.{baseline_note}"


def _violated_by_baseline(outcome: Outcome) -> str:
    """List the constraints that the unchanged scenario violates."""
    constraints = (str(constraint) for constraint in outcome.violated(outcome.baseline))
    return ", ".join(constraints) or "a constraint"


def _sensitivity_sections(findings: Findings) -> Iterator[dict[str, str]]:
    from umtslab.plot.effects import draw_effects

    text = (
        "Parameters on the right have a large effect. Parameters at the top act nonlinearly or "
        "together with others."
        if findings.study.method == "morris"
        else "First order: the parameter alone; total: with all interactions."
    ) + _few_samples(findings)
    yield {"anchor": "effects", "title": "Effects", "text": text, "picture": data_url(draw_effects(findings))}


def _few_samples(findings: Findings) -> str:
    """Name the parameters with too few samples, as a sentence."""
    keys = {
        key_label(effect.parameter)
        for effects in findings.effects.values()
        for effect in effects
        if findings.study.method == "sobol" and effect.has_too_few_samples
    }
    return (
        f" Too few samples for {', '.join(sorted(keys))}: the intervals are wider than the shares."
        if keys
        else ""
    )


def command(outcome: Outcome, store: StoreReader) -> str:
    """Return the command that repeats the runs of the best trial."""
    ranking = outcome.ranking()
    if not ranking or not ranking[0].runs:
        return ""
    return store.command(ranking[0].runs[0]).replace("--first-run 0", f"--runs {outcome.study.frame.runs}")


def _rows(table: pl.DataFrame) -> dict[str, Any]:
    """Format a table for a page."""

    def text(value: object) -> str:
        return f"{value:.5g}" if isinstance(value, float) else "–" if value is None else str(value)

    rows = [[text(value) for value in row] for row in table.iter_rows()]
    return {"heads": table.columns, "rows": rows}

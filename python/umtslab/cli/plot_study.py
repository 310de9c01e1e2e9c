"""``umts plot`` for studies: trials of an optimisation, effects of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.plot_kinds import OPTIMISATION_KINDS, SENSITIVITY_KINDS
from umtslab.studies.optimise import Outcome
from umtslab.studies.sensitivity import Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from umtslab.plot import Look


def draw_study(study: Outcome | Findings, kind: str, look: Look) -> Figure:
    """Draw a figure of an optimisation or of a sensitivity study."""
    from umtslab.plot import optimisation
    from umtslab.plot.effects import draw_effects

    kinds = OPTIMISATION_KINDS if isinstance(study, Outcome) else SENSITIVITY_KINDS
    if kind not in kinds:
        from umtslab.cli.mistyped import suggestion

        study_kind = "an optimisation" if isinstance(study, Outcome) else "a sensitivity study"
        raise UsageError(f"of {study_kind} there is no figure {kind!r}; {suggestion(kind, kinds)}")
    if isinstance(study, Findings):
        return draw_effects(study, look=look)
    draw = {
        "history": optimisation.draw_history,
        "pareto": optimisation.draw_pareto,
        "importance": optimisation.draw_importance,
    }[kind]
    return draw(study, look=look)

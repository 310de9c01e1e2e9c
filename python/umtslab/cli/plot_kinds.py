"""Names of the figures that ``umts plot`` draws.

Imports no plotting library, for help and completions.
"""

from __future__ import annotations

from umtslab.figure_kinds import KINDS, MAP, WATERFALL

BUDGET = "budget"

CDF_KINDS = ("rtt_cdf", "delay_cdf", "user_delay_cdf", "user_rate_cdf", "page_cdf")

RUN_KINDS = (*KINDS, *CDF_KINDS, WATERFALL, BUDGET, MAP)
"""Figures of runs."""

OPTIMISATION_KINDS = ("history", "pareto", "importance")
"""Figures of an optimisation."""

SENSITIVITY_KINDS = ("effects",)
"""Figures of a sensitivity study."""

STUDY_KINDS = (*OPTIMISATION_KINDS, *SENSITIVITY_KINDS)

"""What ``umts plot`` can draw, by names alone: help and completions read no library of figures for them."""

from __future__ import annotations

from umtslab.figure_kinds import KINDS, MAP, WATERFALL

BUDGET = "budget"

CDF_KINDS = ("rtt_cdf", "delay_cdf", "user_delay_cdf", "user_rate_cdf", "page_cdf")

RUN_KINDS = (*KINDS, *CDF_KINDS, WATERFALL, BUDGET, MAP)
"""What can be drawn of runs."""

OF_OUTCOME = ("history", "pareto", "importance")
"""What can be drawn of an optimisation."""

OF_FINDINGS = ("effects",)
"""What can be drawn of a sensitivity study."""

STUDY_KINDS = (*OF_OUTCOME, *OF_FINDINGS)

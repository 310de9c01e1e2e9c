"""Verdicts on claims, and labels that replace a pass."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """Result of comparing an experiment with a claim."""

    PASS = "pass"
    CALIBRATED = "calibrated"
    BY_CONSTRUCTION = "by construction"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_YET = "not yet"


LABELS = (Verdict.CALIBRATED, Verdict.BY_CONSTRUCTION)
"""Verdicts of claims with a label: the measurement agrees, but is weaker evidence than a pass."""

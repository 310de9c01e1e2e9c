"""The verdicts on a claim, and the labels that take the place of a pass."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What the experiment says about a claim."""

    PASS = "pass"
    CALIBRATED = "calibrated"
    BY_CONSTRUCTION = "by construction"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_YET = "not yet"


LABELS = (Verdict.CALIBRATED, Verdict.BY_CONSTRUCTION)
"""Verdicts on claims with a label. The measurement agrees, but that says less than a pass."""

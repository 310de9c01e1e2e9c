"""Points of a campaign."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from umtslab.campaign.errors import CampaignError
from umtslab.scenario import Scenario

Axes = Mapping[str, Sequence[object]]
"""Dotted key to its values: ``{"radio.bler": [0.01, 0.1], "tcp.variant": ["reno", "sack"]}``."""


@dataclass(frozen=True)
class Point:
    """One cell of the grid."""

    overrides: Mapping[str, object]
    scenario: Scenario


def grid(axes: Axes) -> list[dict[str, object]]:
    """Return every combination of the axes' values. The last axis varies fastest.

    Raises
    ------
    CampaignError
        If an axis has no values, so that there is nothing to run.
    """
    if (key := next((key for key, values in axes.items() if not values), None)) is not None:
        raise CampaignError(f"{key}: the list of values is empty: give at least one value")
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def points(scenario: Scenario, combinations: Iterable[Mapping[str, object]]) -> list[Point]:
    """Apply each combination to the scenario. Errors are found here, before anything runs."""
    return [Point(overrides, scenario.with_overrides(overrides)) for overrides in combinations]

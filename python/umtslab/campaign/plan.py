"""The plan that ``umts sweep --plan`` prints: the points of a campaign and how many runs the store lacks.

Nothing is run. For a very large campaign only the first points are examined.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.campaign.errors import CampaignError
from umtslab.campaign.file import Campaign
from umtslab.campaign.points import Point
from umtslab.campaign.study import check_name, common_seed, each_point, with_free_name
from umtslab.run import Identity
from umtslab.version import code_version

if TYPE_CHECKING:
    from umtslab.campaign.table import Value
    from umtslab.store import StoreReader

MAX_LISTED = 2_000
"""Maximum number of points for a complete list."""

_FIRST_LISTED = 100
"""Number of points that are listed if there are more than `MAX_LISTED`."""

_MAX_CANDIDATES = 100_000
"""Maximum number of combinations to which `where` is applied to find the points to list."""


@dataclass(frozen=True)
class PlannedPoint:
    """A point: its parameters, the number of runs required at first, and how many the store lacks."""

    parameters: Mapping[str, object]
    runs: int
    missing: int


@dataclass(frozen=True)
class Plan:
    """The plan of a campaign. It is incomplete for a very large campaign."""

    campaign: Campaign
    points: tuple[PlannedPoint, ...]
    """All points, or the first 100 if there are more than `MAX_LISTED`."""
    point_count: int | None
    """None if ``where`` would have to be applied to too many combinations."""
    missing: int | None
    """Number of missing runs of all points. None if counting would take too long."""

    @property
    def runs(self) -> int | None:
        """Number of required runs of all points, as far as known."""
        return None if self.point_count is None else self.point_count * runs_of_point(self.campaign)


def runs_of_point(campaign: Campaign) -> int:
    """Return the number of runs that each point requires initially."""
    return campaign.runs if campaign.precision is None else campaign.precision.next_total([])


def plan(campaign: Campaign, store: StoreReader | None) -> Plan:
    """Determine the runs that a campaign would make, given the runs in the store.

    Raises
    ------
    CampaignError
        If the campaign is wrong, or the scenario of a listed point is wrong.
    """
    count = campaign.combination_count()
    is_complete = count <= MAX_LISTED
    combinations = campaign.combinations() if is_complete else _first_points(campaign)
    points = list(each_point(campaign, combinations))
    if not points:
        location = campaign.location_of("where")
        raise CampaignError(
            f"{location}: the condition `where` excludes the first {_MAX_CANDIDATES:,} of {count:,} points"
        )
    seed = common_seed(campaign, points[0])
    if store is not None:
        campaign = with_free_name(campaign, seed, store)
        check_name(campaign, seed, store)
    missing_runs = _MissingRuns(campaign, seed, store)
    planned = tuple(
        PlannedPoint(dict(point.overrides), runs_of_point(campaign), missing_runs.count(point))
        for point in points
    )
    if is_complete:
        return Plan(campaign, planned, len(planned), missing_runs.total)
    # Too many points to apply `where` to all, or to look up the runs of all in the store. Without a
    # store all runs are missing.
    point_count = None if campaign.where else count
    missing = point_count * runs_of_point(campaign) if point_count is not None and store is None else None
    return Plan(campaign, planned, point_count, missing)


def _first_points(campaign: Campaign) -> Iterator[Mapping[str, Value]]:
    """Yield the first points that satisfy the condition."""
    candidates = itertools.islice(campaign.each_candidate(), _MAX_CANDIDATES)
    return itertools.islice((point for point in candidates if point is not None), _FIRST_LISTED)


class _MissingRuns:
    """Counts the runs that a store lacks. Points with equal scenarios are counted once."""

    def __init__(self, campaign: Campaign, seed: int, store: StoreReader | None) -> None:
        self._campaign = campaign
        self._seed = seed
        self._store = store
        self._missing_by_result: dict[str, int] = {}

    def count(self, point: Point) -> int:
        """Return the number of missing runs of a point."""
        result = Identity(point.scenario.content_hash, code_version(), self._seed, run=0).result
        if result not in self._missing_by_result:
            self._missing_by_result[result] = runs_of_point(self._campaign) - self._stored_count(result)
        return self._missing_by_result[result]

    @property
    def total(self) -> int:
        """Number of missing runs of all points passed to `count`."""
        return sum(self._missing_by_result.values())

    def _stored_count(self, result: str) -> int:
        runs = self._store.runs(result) if self._store is not None else []
        numbers = range(runs_of_point(self._campaign))
        return sum(
            run.seed == self._seed
            and run.run in numbers
            and (not self._campaign.series or bool(run.series_kinds()))
            for run in runs
        )

"""What a campaign would run: counted first, and listed as far as somebody would read."""

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

MOST_LISTED = 2_000
"""Points of a campaign that is listed whole."""

_FIRST = 100
"""Points that are listed of a larger one."""

_TRIED = 100_000
"""Combinations of a larger one that `where` is asked about."""


@dataclass(frozen=True)
class PlannedPoint:
    """A point: its parameters, the runs that it wants as far as is known, how many of them are missing."""

    parameters: Mapping[str, object]
    runs: int
    missing: int


@dataclass(frozen=True)
class Plan:
    """A campaign as it would be run. Of a very large one not all is known."""

    campaign: Campaign
    points: tuple[PlannedPoint, ...]
    """All of them, or the first ones."""
    point_count: int | None
    """None where only going through all combinations would tell what ``where`` leaves of them."""
    missing: int | None
    """Runs of all points together that the store lacks; None where it would take long to tell."""

    @property
    def runs(self) -> int | None:
        """Runs of all points that are wanted as far as is known now."""
        return None if self.point_count is None else self.point_count * runs_of_point(self.campaign)


def runs_of_point(campaign: Campaign) -> int:
    """How many runs each point of a campaign wants before anything is known of it."""
    return campaign.runs if campaign.precision is None else campaign.precision.next_total([])


def plan(campaign: Campaign, store: StoreReader | None) -> Plan:
    """See what a campaign would run, and what of it the store has, if there is one.

    Raises
    ------
    CampaignError
        If the campaign makes no sense, or one of the points that are listed makes no scenario.
    """
    count = campaign.combination_count()
    is_listed_whole = count <= MOST_LISTED
    wanted = campaign.combinations() if is_listed_whole else _first(campaign)
    points = list(each_point(campaign, wanted))
    if not points:
        place = campaign.place_of("where")
        raise CampaignError(f"{place}: where holds for none of the first {_TRIED:,} points of {count:,}")
    seed = common_seed(campaign, points[0])
    if store is not None:
        campaign = with_free_name(campaign, seed, store)
        check_name(campaign, seed, store)
    lacking = _Lacking(campaign, seed, store)
    planned = tuple(
        PlannedPoint(dict(point.overrides), runs_of_point(campaign), lacking.of(point)) for point in points
    )
    if is_listed_whole:
        return Plan(campaign, planned, len(planned), lacking.total)
    known = None if campaign.where else count
    missing = known * runs_of_point(campaign) if known is not None and store is None else None
    return Plan(campaign, planned, known, missing)


def _first(campaign: Campaign) -> Iterator[Mapping[str, Value]]:
    tried = itertools.islice(campaign.each_candidate(), _TRIED)
    return itertools.islice((point for point in tried if point is not None), _FIRST)


class _Lacking:
    """Counts the runs that a store lacks; those of points with equal scenarios once."""

    def __init__(self, campaign: Campaign, seed: int, store: StoreReader | None) -> None:
        self._campaign = campaign
        self._seed = seed
        self._store = store
        self._found: dict[str, int] = {}

    def of(self, point: Point) -> int:
        """How many of a point's runs there are not."""
        result = Identity(point.scenario.content_hash, code_version(), self._seed, 0).result
        if result not in self._found:
            self._found[result] = runs_of_point(self._campaign) - self._there(result)
        return self._found[result]

    @property
    def total(self) -> int:
        """How many are lacking of all points that were asked about."""
        return sum(self._found.values())

    def _there(self, result: str) -> int:
        runs = self._store.runs(result) if self._store is not None else []
        wanted = range(runs_of_point(self._campaign))
        return sum(
            run.seed == self._seed
            and run.run in wanted
            and (not self._campaign.series or bool(run.series_kinds()))
            for run in runs
        )

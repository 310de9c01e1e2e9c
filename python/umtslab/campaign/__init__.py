"""Campaigns: many points with many replications. Only runs that the store lacks are made.

`table` and `file` read a campaign file. `where` selects the points. `study` creates their scenarios
and determines the required runs. `engine` executes the missing runs. `record` stores which runs
belong to which point.
"""

from __future__ import annotations

from umtslab.campaign.engine import run_missing, sweep
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.file import Campaign, load_campaign
from umtslab.campaign.points import Axes, Point, grid, points
from umtslab.campaign.record import Cell, Record
from umtslab.campaign.results import PointResult, PointResults
from umtslab.campaign.study import Study, Workers, run_campaign

__all__ = [
    "Axes",
    "Campaign",
    "CampaignError",
    "Cell",
    "Point",
    "PointResult",
    "PointResults",
    "Record",
    "Study",
    "Workers",
    "grid",
    "load_campaign",
    "points",
    "run_campaign",
    "run_missing",
    "sweep",
]

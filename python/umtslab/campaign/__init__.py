"""Campaigns: many points times many replications, of which only what the store lacks is run.

The way through it: `table` and `file` read a campaign file, `where` decides which points are
wanted, `study` makes scenarios of them and says which runs are, `engine` runs those that the store lacks,
`record` keeps which runs belong to which point.
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

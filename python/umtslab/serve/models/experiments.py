"""Campaigns, studies and reproductions."""

from __future__ import annotations

from umtslab.serve.models.common import Model
from umtslab.serve.models.run import RunLink


class Axis(Model):
    """A varied key with all values."""

    key: str
    label: str
    values: list[str]


class PointMean(Model):
    """A metric at one point: mean over runs, with half width."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    n: int


class Point(Model):
    """A point of a campaign."""

    # Values of the varied keys, in the order of the axes.
    at: list[str]
    # Position on the horizontal axis. None if the values of the key are not comparable numbers.
    x: float | None
    # Values of all keys except the horizontal one. A curve connects the points of a group.
    group: str
    runs: list[RunLink]
    mean: PointMean


class CampaignMetric(Model):
    """A metric of a campaign."""

    name: str
    label: str
    unit: str
    meaning: str


class CampaignPage(Model):
    """A campaign, with one metric."""

    name: str
    title: str
    seed: int
    axes: list[Axis]
    metrics: list[CampaignMetric]
    metric: CampaignMetric
    over: Axis
    x_label: str
    points: list[Point]
    runs: int
    missing: int


class Table(Model):
    """A table as texts."""

    heads: list[str]
    rows: list[list[str]]


class FrontPoint(Model):
    """A trial: objective against a bounded metric."""

    trial: str
    x: float
    y: float
    is_feasible: bool
    is_on_front: bool


class Bar(Model):
    """A named number with an interval."""

    label: str
    value: float
    low: float | None
    high: float | None
    text: str


class BarChart(Model):
    """Bars of one metric."""

    title: str
    unit: str
    bars: list[Bar]


class StudyPage(Model):
    """A study."""

    name: str
    title: str
    method: str
    result: str
    charts: list[BarChart]
    front: list[FrontPoint]
    front_x: str
    front_y: str
    table: Table
    command: str


class ClaimRow(Model):
    """A claim of a document, with the verdict if there is one."""

    id: str
    where: str
    statement: str
    metric: str
    expected: str
    tolerance: str
    confidence: str
    verdict: str
    ours: str
    reason: str


class ReproductionPage(Model):
    """The claims of a document."""

    paper: str
    command: str
    has_verdicts: bool
    is_quick: bool
    totals: dict[str, int]
    claims: list[ClaimRow]

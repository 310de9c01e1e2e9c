"""Campaigns, studies and reproductions."""

from __future__ import annotations

from umtslab.serve.models.common import Model
from umtslab.serve.models.run import RunLink

# ── Campaigns ───────────────────────────────────────────────────────────────────────────────────────


class Axis(Model):
    """A varied key with all values."""

    key: str
    label: str
    values: list[str]


class PointMean(Model):
    """A metric at one point: mean over runs, with half width."""

    # Mean, and ends of its 95 % confidence interval.
    value: float | None
    low: float | None
    high: float | None
    text: str
    # Number of runs.
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
    # Mean of `CampaignPage.metric`.
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
    # The varied keys.
    axes: list[Axis]
    # The metrics to choose from, and the shown one.
    metrics: list[CampaignMetric]
    metric: CampaignMetric
    # The horizontal axis, and its label with unit.
    over: Axis
    x_label: str
    points: list[Point]
    # Number of runs at all points, and number of points without a run.
    runs: int
    missing: int


# ── Studies ─────────────────────────────────────────────────────────────────────────────────────────


class Table(Model):
    """A table as texts."""

    heads: list[str]
    rows: list[list[str]]


class FrontPoint(Model):
    """A trial: objective against a bounded metric."""

    # Number of the trial.
    trial: str
    # Mean of the bounded metric.
    x: float
    # Mean of the objective.
    y: float
    # Whether the trial keeps all constraints.
    is_feasible: bool
    # Whether the trial is on the Pareto front: no other trial is better in one metric and at least as
    # good in the other.
    is_on_front: bool


class Bar(Model):
    """A named number with an interval."""

    # Label of a parameter of the study.
    label: str
    value: float
    # Ends of the 95 % confidence interval, if there is one.
    low: float | None
    high: float | None
    text: str


class BarChart(Model):
    """Bars of one metric."""

    title: str
    # Unit of the values. Empty for shares.
    unit: str
    # Longest first.
    bars: list[Bar]


class StudyPage(Model):
    """A study."""

    name: str
    title: str
    method: str
    # The best trial or the strongest parameter, in a sentence.
    result: str
    # Effects or importance of the parameters.
    charts: list[BarChart]
    # The trials of an optimisation with a constraint, and the labels of both axes. Empty for others.
    front: list[FrontPoint]
    front_x: str
    front_y: str
    # Trials or effects.
    table: Table
    # Shell command that runs the best trial again. Empty for sensitivity studies.
    command: str


# ── Reproductions ───────────────────────────────────────────────────────────────────────────────────


class ClaimRow(Model):
    """A claim of a document, with the verdict if there is one."""

    id: str
    # Place in the document, such as a figure or table.
    where: str
    statement: str
    # Metric that is compared.
    metric: str
    # Value in the document, and relative tolerance. The tolerance can be empty.
    expected: str
    tolerance: str
    # How exactly the document states the value.
    confidence: str
    verdict: str
    # Measured values.
    ours: str
    # Reasons for the verdict. Empty without a verdict.
    reason: str


class ReproductionPage(Model):
    """The claims of a document."""

    paper: str
    # Shell command that reproduces the document.
    command: str
    # Whether a report in the store has verdicts, and whether they are from a quick reproduction.
    has_verdicts: bool
    is_quick: bool
    # Number of claims by verdict.
    totals: dict[str, int]
    claims: list[ClaimRow]

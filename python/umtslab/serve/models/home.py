"""The first view: everything in the store, and the scenarios."""

from __future__ import annotations

from umtslab.serve.models.common import Model, Part


class RunRow(Model):
    """A result: runs of one scenario that differ by their number only."""

    key: str
    scenario: str
    title: str
    made_at: str | None
    varied: str
    runs: int
    simulated: str
    goodput: str
    mean_rtt: str
    timeouts: str
    budget: list[Part]
    longest_wait: str | None
    is_emulated: bool


class CampaignRow(Model):
    """A campaign of the store."""

    name: str
    title: str
    points: int
    runs: int
    varied: str


class StudyRow(Model):
    """A study of the store."""

    name: str
    title: str
    method: str
    result: str


class ReproductionRow(Model):
    """A document whose claims can be reproduced, and the verdicts of the last reproduction."""

    paper: str
    claims: int
    verdicts: dict[str, int] | None


class ScenarioRow(Model):
    """A scenario of the served folder."""

    name: str
    title: str


class Report(Model):
    """A stored report."""

    name: str


class Home(Model):
    """Everything in the store, and the scenarios."""

    runs: list[RunRow]
    results: int
    campaigns: list[CampaignRow]
    studies: list[StudyRow]
    reproductions: list[ReproductionRow]
    scenarios: list[ScenarioRow]
    reports: list[Report]
    damage: list[str]

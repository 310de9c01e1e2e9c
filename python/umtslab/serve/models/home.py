"""The first view: everything in the store, and the scenarios."""

from __future__ import annotations

from umtslab.serve.models.common import Model, Part


class RunRow(Model):
    """A result: runs of one scenario that differ by their number only."""

    # Key of the first run, scenario name, title of the scenario's file (can be empty).
    key: str
    scenario: str
    title: str
    # Time at which the last run was made. None if the store has not recorded it.
    made_at: str | None
    # Changes of the scenario's file, as text.
    varied: str
    # Number of runs.
    runs: int
    # Simulated time in s, and means over the runs, as texts without units: goodput in kbit/s, mean
    # RTT in s, number of timeouts.
    simulated: str
    goodput: str
    mean_rtt: str
    timeouts: str
    # Means over the runs. Empty if the runs have no time budget.
    budget: list[Part]
    # The cause with the longest wait and its share.
    longest_wait: str | None
    is_emulated: bool


class CampaignRow(Model):
    """A campaign of the store."""

    name: str
    title: str
    points: int
    # Number of runs at all points.
    runs: int
    # Labels of the varied keys.
    varied: str


class StudyRow(Model):
    """A study of the store."""

    name: str
    title: str
    # Such as "optimisation, 40 trials of 3 runs".
    method: str
    # The best trial or the strongest parameter, in a sentence.
    result: str


class ReproductionRow(Model):
    """A document whose claims can be reproduced, and the verdicts of the last reproduction."""

    paper: str
    # Number of claims.
    claims: int
    # Number of claims by verdict. None if no claim was scored.
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

    # The newest results, and the number of all results.
    runs: list[RunRow]
    results: int
    campaigns: list[CampaignRow]
    studies: list[StudyRow]
    reproductions: list[ReproductionRow]
    scenarios: list[ScenarioRow]
    reports: list[Report]
    # One sentence for each damaged run of the store.
    damage: list[str]

"""A run of the store: its metrics, time budget, files and connections."""

from __future__ import annotations

from umtslab.serve.models.common import Column, Metric, Model, Part


class RunLink(Model):
    """A replication of a run."""

    key: str
    run: int


class Summary(Model):
    """A sample of runs, as in ``--json``."""

    n: int
    mean: float | None
    sd: float | None
    ci95: float | None


class Place(Model):
    """Positions between the smallest replication (0) and the largest (1)."""

    run: float
    low: float
    high: float


class Headline(Metric):
    """A metric beside the replications of the run."""

    # Scope of the number, such as "downlink, all users". Can be empty.
    of: str
    summary: Summary
    # `summary.mean` with the half width `summary.ci95` as text. None if there is one replication.
    interval: str | None
    place: Place | None


class RunMetric(Metric):
    """A metric with a description."""

    # Mean over the replications with the half width of its interval, as in `Headline`.
    interval: str | None
    meaning: str


class RunPart(Part):
    """One cause of a run's budget, with the share over the replications."""

    interval: str | None


class RunBudget(Model):
    """The time of all connections of a run."""

    total: str
    parts: list[RunPart]


class Change(Model):
    """A key that differs from the scenario's file."""

    key: str
    label: str
    value: str


class Figure(Model):
    """A figure that the run's series allow."""

    name: str
    shows: str


class CaptureFile(Model):
    """A capture of a run."""

    name: str
    bytes: int
    size: str


class RunPage(Model):
    """A run."""

    key: str
    scenario: str
    heading: str
    title: str
    seed: int
    run: int
    replications: int
    others: list[RunLink]
    duration: str
    duration_s: float
    is_emulated: bool
    code: str
    other_code: str | None
    changes: list[Change]
    command: str
    can_try: bool
    has_timeline: bool
    timeline_command: str
    can_record_timeline: bool
    headlines: list[Headline]
    metrics: list[RunMetric]
    budget: RunBudget | None
    series: list[str]
    figures: list[Figure]
    captures: list[CaptureFile]


class ConnectionRow(Model):
    """A connection of a run."""

    connection: int
    ue: int | None
    opened: str | None
    closed: str | None
    values: list[str]
    budget: list[Part]
    total: str | None


class Connections(Model):
    """The first connections of a run, and the count of all."""

    count: int
    columns: list[Column]
    rows: list[ConnectionRow]

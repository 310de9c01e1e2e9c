"""A run of the store: its metrics, time budget, files and connections.

Replications are the runs of the same scenario and code with other random numbers. An `interval` is a
text with the mean over the replications and the half width of its 95 % confidence interval, or None if
there is only one replication.
"""

from __future__ import annotations

from umtslab.serve.models.common import Column, Metric, Model, Part

# ── Metrics and time budget ─────────────────────────────────────────────────────────────────────────


class Summary(Model):
    """A sample of runs, as in ``--json``."""

    # Number of runs that have the metric.
    n: int
    mean: float | None
    # Standard deviation.
    sd: float | None
    # Half width of the 95 % confidence interval of the mean.
    ci95: float | None


class Place(Model):
    """Positions between the smallest replication (0) and the largest (1)."""

    # Position of the shown run.
    run: float
    # Positions of the ends of the 95 % interval.
    low: float
    high: float


class Headline(Metric):
    """A metric beside the replications of the run."""

    # Scope of the number, such as "downlink, all users". Can be empty.
    of: str
    # Statistics over the replications.
    summary: Summary
    interval: str | None
    # None if all replications are equal, or if there is no interval.
    place: Place | None


class RunMetric(Metric):
    """A metric with a description."""

    interval: str | None
    meaning: str


class RunPart(Part):
    """One cause of a run's budget, with the share over the replications."""

    # Interval of the share, in per cent.
    interval: str | None


class RunBudget(Model):
    """The time of all connections of a run."""

    total: str
    # The causes that took time, longest first.
    parts: list[RunPart]


# ── The run ─────────────────────────────────────────────────────────────────────────────────────────


class RunLink(Model):
    """A replication of a run."""

    # Key in the store.
    key: str
    # Number of the run.
    run: int


class Change(Model):
    """A key that differs from the scenario's file."""

    key: str
    label: str
    value: str


class Figure(Model):
    """A figure that the run's series allow."""

    # Kind of the figure, as in its address.
    name: str
    # What the figure shows, as text.
    shows: str


class CaptureFile(Model):
    """A capture of a run."""

    name: str
    bytes: int
    size: str


class RunPage(Model):
    """A run."""

    # Identity.
    key: str
    scenario: str
    heading: str
    title: str
    seed: int
    run: int
    # Number of replications, and their links. Both include this run.
    replications: int
    others: list[RunLink]
    # Simulated time.
    duration: str
    duration_s: float
    is_emulated: bool
    # Version of the code that made the run, and the version of the server if it is another one.
    code: str
    other_code: str | None
    changes: list[Change]
    # Shell command that repeats the run.
    command: str
    # Whether the scenario is in the served folder.
    can_try: bool
    # Whether the run has a time line. Otherwise: the shell command that records it, and whether the
    # server can record it.
    has_timeline: bool
    timeline_command: str
    can_record_timeline: bool
    # The metrics to show first, and all metrics except those of the time budget.
    headlines: list[Headline]
    metrics: list[RunMetric]
    # None if the run recorded no time budget.
    budget: RunBudget | None
    # Names of the recorded tables.
    series: list[str]
    figures: list[Figure]
    captures: list[CaptureFile]


# ── Connections of a run ────────────────────────────────────────────────────────────────────────────


class ConnectionRow(Model):
    """A connection of a run."""

    # Number of the connection, and of its UE.
    connection: int
    ue: int | None
    # Instants. None if the connection did not open or close in the run.
    opened: str | None
    closed: str | None
    # Metrics in the order of `Connections.columns`.
    values: list[str]
    # Time budget and its sum. Empty and None if the run recorded none.
    budget: list[Part]
    total: str | None


class Connections(Model):
    """The first connections of a run, and the count of all."""

    count: int
    columns: list[Column]
    rows: list[ConnectionRow]

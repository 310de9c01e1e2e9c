"""Requests and answers of the page's addresses. The page's TypeScript types are generated from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

# The server makes the texts of numbers and names, so that the page formats none of these. A number
# or name often has a second field with its text: `share_pct` and `share_text`, `label` and
# `label_text`, `length_s` and `length`, `value` and `text`.

Name = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(max_length=4000)]


class Model(BaseModel):
    """A model without unknown members."""

    model_config = ConfigDict(extra="forbid")


class Problem(Model):
    """Why a request failed, in one sentence."""

    detail: str


# ── Common parts ────────────────────────────────────────────────────────────────────────────────────


class CauseLook(Model):
    """Colour of a cause: names of a hue and of a hatch."""

    name: str
    label: str
    hue: str
    hatch: str


class About(Model):
    """The server."""

    version: str
    store: str
    has_store: bool
    read_only: bool
    allow_code: bool
    causes: list[CauseLook]


class Part(Model):
    """One cause of a time budget."""

    cause: str
    label: str
    seconds: float
    text: str
    share_pct: float
    share_text: str


class Metric(Model):
    """A metric with the value as text."""

    name: str
    label: str
    unit: str
    value: float | None
    text: str


class Column(Model):
    """Heading of a column of metrics."""

    name: str
    label: str
    unit: str


class Curve(Model):
    """Values over time."""

    time_s: list[float]
    value: list[float]


# ── Home ────────────────────────────────────────────────────────────────────────────────────────────


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


# ── A run ───────────────────────────────────────────────────────────────────────────────────────────


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


class RunLink(Model):
    """A replication of a run."""

    key: str
    run: int


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


class Span(Model):
    """A time that is drawn."""

    from_s: float
    to_s: float


class Fold(Model):
    """Idle time before the span at an index."""

    at: int
    text: str


class Piece(Model):
    """A time with one cause or state, or a part of a cell: from `base` up, `share` of the height."""

    from_s: float
    to_s: float
    what: str
    base: float
    share: float


class Timeout(Model):
    """A retransmission timeout."""

    time_s: float
    is_needed: bool


class LaneRow(Model):
    """The connections and the RRC states of one UE."""

    ue: int
    causes: list[Piece]
    states: list[Piece]
    timeouts: list[Timeout]
    text: str


class Link(Model):
    """A link of a chain of causes."""

    kind: str
    time_s: float
    end_s: float
    instant: str
    text: str
    cause: str | None
    clause: str | None
    identity: dict[str, Any]
    identity_text: str
    is_first_cause: bool
    from_s: float
    to_s: float


class Chain(Model):
    """The causes of a stall, timeout or retransmission: the effect first, its first cause last."""

    id: str
    kind: Literal["stall", "rto", "retransmission"]
    title: str
    # Title, UE, connection, label and effect in one text, for screen readers.
    spoken: str
    time_s: float
    connection: int
    ue: int
    # Name in the time budget: reason of a timeout, loss of a packet, or cause of a wait.
    label: str
    label_text: str
    # Name of the cause of the link closest to the first cause that has one.
    cause: str
    packet: int | None
    links: list[Link]
    also: list[str]
    from_s: float
    to_s: float
    command: str


class StallRow(Model):
    """A stall with its time by cause."""

    id: str
    start_s: float
    end_s: float
    length_s: float
    start: str
    length: str
    connection: int
    # Position of the connection among the connections of `ue`, such as "2nd of 2".
    of_ue: str
    ue: int
    timeouts: int
    # As in `Chain`.
    label: str
    # Text for `label`, unlike `Chain.cause`.
    cause: str
    parts: list[Part]
    # Length of the bar, in per cent of the longest stall of the run.
    scale_pct: float


class EventRow(Model):
    """A timeout or retransmission."""

    id: str
    kind: Literal["rto", "retransmission"]
    title: str
    time_s: float
    connection: int
    ue: int
    label_text: str


class Stalls(Model):
    """The longest stalls of a run, and the first timeouts and retransmissions."""

    limit_s: float
    limit: str
    stall_count: int
    stalls: list[StallRow]
    timeouts: int
    event_count: int
    events: list[EventRow]


class TimelineConnection(Model):
    """A connection that the time line can show."""

    connection: int
    ue: int


class Level(Model):
    """A level of the time line: the length of cells and tiles."""

    level: int
    cell_s: float
    tile_s: float
    cell: str


class Category(Model):
    """A category of the items of a lane. Causes have a look instead of a colour."""

    name: str
    label: str
    colour: str


class TimelineArea(Model):
    """A strip of the time line with one vertical axis. The height is in CSS pixels."""

    name: str
    label: str
    note: str
    height: int


class TimelineLane(Model):
    """A lane of the time line. Its cells hold counts or shares by category, or the largest value."""

    name: str
    label: str
    area: str
    unit: str
    draw: str
    kind: Literal["count", "share", "maximum"]
    categories: list[Category]


class TimelineHead(Model):
    """Lanes and levels of the time line of a connection, and the time of the connection."""

    connection: int
    ue: int
    direction: str
    duration_s: float
    from_s: float
    to_s: float
    cells: int
    levels: list[Level]
    areas: list[TimelineArea]
    lanes: list[TimelineLane]
    connections: list[TimelineConnection]


class LaneTile(Model):
    """The part of a lane in a tile: items or cells.

    An item has row number, start, end, low, high, an instant between and category. The instant is the
    first transmission of an SDU, or of a segment at the RNC. A cell has index, category and value.
    """

    name: str
    items: list[tuple[int, float, float, float, float, float | None, int]] | None
    cells: list[tuple[int, int, float]] | None


class Tile(Model):
    """All lanes in one tile of a level."""

    level: int
    index: int
    lanes: list[LaneTile]


class Selection(Model):
    """An item of the time line, and the rows of all lanes that belong to its packet."""

    text: str
    packet: int | None
    start_s: float
    end_s: float
    rows: dict[str, list[int]]
    chain: str | None


class Found(Model):
    """An item that a search found: its lane and row, unless the query is an instant, and the count of all."""

    time_s: float
    end_s: float
    lane: str | None
    row: int | None
    text: str
    count: int


class MeasuredNumber(Model):
    """A number between two instants."""

    name: str
    label: str
    value: int
    text: str


class MeasuredCause(Model):
    """Time of a cause between two instants."""

    cause: str
    label: str
    seconds: float
    text: str


class Measured(Model):
    """What happens between two instants: numbers, and the causes with the largest time."""

    from_s: float
    to_s: float
    duration: str
    numbers: list[MeasuredNumber]
    causes: list[MeasuredCause]


class ComparableRun(Model):
    """A run with a time line, which can be drawn behind another one."""

    key: str
    label: str


class ComparableRuns(Model):
    """The newest runs with a time line."""

    runs: list[ComparableRun]


class ViewRow(Model):
    """An item in a view."""

    instant: str
    lane: str
    text: str


class ViewRows(Model):
    """The first items of a view, and the count of all."""

    count: int
    rows: list[ViewRow]


class Lanes(Model):
    """Connections over RRC state."""

    # Number of all UEs with connections. `rows` has only some.
    ues: int
    # Index of the first UE of `rows` among all UEs.
    first: int
    duration_s: float
    # The times that are drawn.
    spans: list[Span]
    # The idle times before, between and after the spans. They are not drawn.
    folds: list[Fold]
    # Length of a cell in which the causes are summed. None: each interval of a cause is drawn.
    cells_s: float | None
    rows: list[LaneRow]


# ── Try it ──────────────────────────────────────────────────────────────────────────────────────────


class Choice(Model):
    """One of the values of a key."""

    value: str
    help: str


class Key(Model):
    """A key of a scenario, for a form."""

    key: str
    label: str
    group: str
    # Shown at first. Other keys are found by a search.
    is_first: bool
    value: str | None
    # Values at which the slider can stand. Empty: no slider.
    stops: list[str]
    # Values to choose from. Empty if the key accepts other values.
    choices: list[Choice]
    # Words that the key accepts besides numbers, such as "off".
    words: list[str]
    unit: str
    help: str


class ScenarioForm(Model):
    """A scenario as a form, and the text of the file."""

    name: str
    title: str
    source: str
    duration_s: float
    text: str
    keys: list[Key]


class Override(Model):
    """A key with another value."""

    key: Name
    value: Word


class TryRequest(Model):
    """A scenario to run without keeping the run."""

    scenario: Name
    text: Annotated[str, Field(max_length=200_000)] | None = None
    overrides: Annotated[list[Override], Field(max_length=200)] = []


class Mistake(Model):
    """A mistake in a scenario: at a key, or at a line of the text."""

    key: str | None
    line: int | None
    column: int | None
    message: str
    repair: str | None


class Acknowledged(Model):
    """Acknowledged data of all connections over time."""

    time_s: list[float]
    kilobytes: list[float]


class Tried(Model):
    """The result of a scenario."""

    title: str
    took: str
    duration_s: float
    seed: int
    warnings: list[str]
    metrics: list[Metric]
    acknowledged: Acknowledged
    timeouts_s: list[float]
    budget: list[Part]
    budget_total: str
    command: str


class TryResult(Model):
    """A result, or the mistakes that prevent it."""

    mistakes: list[Mistake]
    result: Tried | None


# ── Jobs ────────────────────────────────────────────────────────────────────────────────────────────


class RunRequest(Model):
    """A scenario to run and keep."""

    scenario: Name
    text: Annotated[str, Field(max_length=200_000)] | None = None
    overrides: Annotated[list[Override], Field(max_length=200)] = []
    runs: Annotated[int, Field(ge=1, le=100)] = 1
    captures: bool = False


class JobState(Model):
    """A job."""

    id: int
    title: str
    state: Literal["waiting", "running", "done", "failed", "stopped"]
    progress: float
    message: str
    result: str | None


class JobList(Model):
    """The jobs, newest last."""

    jobs: list[JobState]


# ── Live sessions ───────────────────────────────────────────────────────────────────────────────────


class LiveRequest(TryRequest):
    """A scenario to run live. With `beside`, a second run with these overrides has the same clock."""

    beside: Annotated[list[Override], Field(min_length=1, max_length=200)] | None = None


class LiveStarted(Model):
    """A session that was started."""

    id: str


class LivePlay(Model):
    """Let the clock move, or stop it."""

    action: Literal["play", "pause"]


class LiveSpeed(Model):
    """Simulated seconds per second. None: as fast as possible."""

    action: Literal["speed"]
    speed: Annotated[float, Field(ge=0.1, le=1000)] | None


class LiveStep(Model):
    """Advance to the next event, TTI or second, or to the next event of a kind."""

    action: Literal["step"]
    by: Literal["event", "tti", "second", "timeout", "loss", "block_error", "switch"]


class LiveGo(Model):
    """Go to an instant. An earlier one is reached by running again from the start."""

    action: Literal["go"]
    time_s: Annotated[float, Field(ge=0, le=1e9)]


class LiveSpan(Model):
    """Time that the charts cover, in seconds."""

    action: Literal["span"]
    span_s: Literal[6, 60, 600]


class LiveControl(Model):
    """An order to a session."""

    order: Annotated[LivePlay | LiveSpeed | LiveStep | LiveGo | LiveSpan, Field(discriminator="action")]


class LiveTotal(Model):
    """Rates in kbit/s and RLC buffers in octets, at the ends of the points."""

    # Value i of each list is for the point that ends at `LiveColumn.point_ends_s[i]`.
    rate_kbps: list[float]
    uplink_kbps: list[float]
    buffer: list[int]
    uplink_buffer: list[int]


class LiveHistory(LiveTotal):
    """The history of a user, with the congestion window in segments."""

    cwnd: list[float | None]


class LiveQueue(Model):
    """Data of a user at the Node B: MAC-d PDUs, their octets, and credits that the RNC has not used yet."""

    pdus: str
    octets: str
    credits: str


class LiveUe(Model):
    """A user. Rates in kbit/s, buffers in octets, lost downlink blocks in per cent.

    Timeouts and retransmissions are None for real programs, whose TCP is not visible.
    """

    ue: int
    name: str
    cell: str
    state: str | None
    towards: str | None
    downlink: str | None
    uplink: str | None
    request: str | None
    rate: str
    uplink_rate: str
    buffer: str
    uplink_buffer: str
    cwnd: str
    bler: str
    connections: int
    timeouts: int | None
    retransmissions: int | None
    nodeb_queue: LiveQueue | None
    history: LiveHistory


class LiveWaiting(Model):
    """A user that requested a DCH, with the answer."""

    ue: int
    answer: str


class LiveCell(Model):
    """DCHs of a cell. `share`: reserved part of the downlink limit."""

    name: str
    dchs: int
    most_dchs: int | None
    reserved: str
    uplink_reserved: str
    share: float | None
    is_full: bool
    holders: list[int]
    waiting: list[LiveWaiting]


class LiveLink(Model):
    """Queues of a link of the core network, in octets and seconds."""

    name: str
    downlink: str
    uplink: str


class LiveCount(Model):
    """Number of notable events of a kind."""

    label: str
    count: int


class LiveEvent(Model):
    """A notable event."""

    time_s: float
    time: str
    kind: Literal["timeout", "loss", "block_error", "switch"]
    ue: int | None
    text: str


class LiveColumn(Model):
    """The state of one run of a session."""

    label: str
    command: str
    users: int
    ues: list[LiveUe]
    has_cwnd: bool
    has_tcp: bool
    has_nodeb_queue: bool
    point_ends_s: list[float]
    total: LiveTotal
    cells: list[LiveCell]
    links: list[LiveLink]
    counts: list[LiveCount]
    notable: list[LiveEvent]
    metrics: list[Metric]


class Live(Model):
    """The state of a session: runs with one clock."""

    id: str
    scenario: str
    title: str
    seed: int
    state: Literal["paused", "playing", "working", "ended"]
    time_s: float
    time: str
    duration_s: float
    speed: float | None
    pace: str
    message: str
    span_s: int
    columns: list[LiveColumn]


class FidelityValue(Model):
    """A property of the machine that affects an emulation."""

    label: str
    value: str


class LiveFidelity(Model):
    """How far an emulation can be trusted so far. `reason` says why it is degraded."""

    is_degraded: bool
    summary: str
    reason: str
    values: list[FidelityValue]


class EmulationChoices(Model):
    """A control of an emulation. `note` says why there are no choices; `chosen` is the choice in force."""

    name: str
    label: str
    choices: list[str]
    chosen: int | None
    note: str


class LiveEmulation(Model):
    """The state of a running emulation. The first `programs` users have real programs."""

    id: str
    command: str
    scenario: str
    seed: int
    time_s: float
    time: str
    # Seconds since the last answer, if the emulation does not answer; otherwise 0.
    silent_s: int
    span_s: int
    programs: int
    rtt: str
    fidelity: LiveFidelity
    controls: list[EmulationChoices]
    # Faults that are not from the page, as text.
    faults: list[str]
    column: LiveColumn


class EmulationControl(Model):
    """A choice of a control of an emulation, by its position."""

    control: Annotated[str, Field(max_length=32)]
    choice: Annotated[int, Field(ge=0, lt=1000)]


class LiveRow(Model):
    """An open session, or a running emulation."""

    id: str
    title: str


class State(Model):
    """The latest state, sent to each tab after a change.

    `live` or `emulation` is the state of the session or emulation that the tab shows. The tab confirms it
    with its number, `live_number`, and gets the next one only then.
    """

    jobs: list[JobState]
    sessions: list[LiveRow]
    emulations: list[LiveRow]
    live: Live | None
    emulation: LiveEmulation | None
    live_number: int
    live_problem: str | None


class Watch(Model):
    """A message of a tab: the session that the tab shows, and the number of the last state shown."""

    watch: Annotated[str, Field(max_length=200)] | None
    shown: int = 0


class LiveSessions(Model):
    """The open sessions, and the running emulations."""

    sessions: list[LiveRow]
    emulations: list[LiveRow]


# ── Captures ────────────────────────────────────────────────────────────────────────────────────────


class CaptureMetric(Metric):
    """A metric of a capture."""

    # Shown in the first table. The page folds the others.
    is_first: bool
    meaning: str


class CaptureConnection(Model):
    """A connection of a capture."""

    connection: int
    client: str
    server: str
    position: str
    values: list[str]


class Capture(Model):
    """An analysed capture."""

    name: str
    duration: str
    warnings: list[str]
    connections: int
    metrics: list[CaptureMetric]
    columns: list[Column]
    rows: list[CaptureConnection]


class Segments(Model):
    """Segments by the number of their last byte."""

    new: Curve
    again: Curve
    segments: int
    retransmissions: int


class Graphs(Model):
    """TCP graphs of one connection: sequence numbers and `in_flight` in bytes, `round_trips` in seconds."""

    connection: int
    sent: Segments
    acked: Curve
    throughput: Curve
    window: str
    round_trips: Curve
    in_flight: Curve


class Uploaded(Model):
    """An uploaded capture, with the id to query."""

    id: str
    name: str


# ── Campaigns, studies, reproductions ───────────────────────────────────────────────────────────────


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


RunPage.model_rebuild()

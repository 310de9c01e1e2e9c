"""Live sessions: requests and orders of the page, and the state of a session."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from umtslab.serve.models.common import Metric, Model
from umtslab.serve.models.jobs import JobState
from umtslab.serve.models.scenarios import Override, TryRequest


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


class LiveSessions(Model):
    """The open sessions, and the running emulations."""

    sessions: list[LiveRow]
    emulations: list[LiveRow]


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
    # Key of the stored run of the emulation that the tab shows. None until it has ended and is stored.
    live_run: str | None


class Watch(Model):
    """A message of a tab: the session that the tab shows, and the number of the last state shown."""

    watch: Annotated[str, Field(max_length=200)] | None
    shown: int = 0

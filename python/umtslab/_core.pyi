"""The compiled core: scenarios, simulation, emulation, proxy, captures, and lists of parameters."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, final

__all__ = [
    "Analysis",
    "Candidate",
    "CaptureReadError",
    "Columns",
    "CongestionControlError",
    "DschAsk",
    "DschFormat",
    "EmulationError",
    "EmulationResult",
    "FaultControl",
    "LiveRuns",
    "LiveViewer",
    "OutputError",
    "Place",
    "ProxyError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SchedulerError",
    "Waiting",
    "analyse",
    "analyse_both_ends",
    "analyse_courses",
    "areas",
    "bearers",
    "capture_metric_definitions",
    "check_run",
    "check_runs",
    "clean_proxies",
    "count_rows",
    "digest",
    "digests",
    "emulate",
    "flat_profiles",
    "guard_proxy",
    "hues",
    "lanes",
    "leave_host",
    "looks",
    "measure_lateness",
    "metric_definitions",
    "params",
    "profiles",
    "proxies_at_work",
    "proxy",
    "read_table",
    "replay",
    "rrc_profiles",
    "rules_left",
    "schema",
    "settle",
    "simulate",
    "state_heights",
    "states",
    "t_quantile",
    "try_interception",
    "version",
]

class ScenarioError(ValueError):
    """A scenario is invalid; ``str(error)`` renders every mistake, without colour.

    `mistakes` has an error for each mistake, including the first; it is empty in these errors. The
    other attributes describe the first mistake.
    """

    message: str
    file: str
    line: int | None
    column: int | None
    key: str | None
    help: str | None
    mistakes: tuple[ScenarioError, ...]

class EmulationError(Exception):
    """An emulation failed; ``error.status`` is the exit status for it."""

    status: int

class ProxyError(Exception):
    """The proxy failed; ``error.status`` is the exit status for it."""

    status: int

class CongestionControlError(RuntimeError):
    """Congestion control in Python failed; ``__cause__`` is the exception that it raised."""

class SchedulerError(RuntimeError):
    """A scheduler in Python failed; ``__cause__`` is the exception that it raised."""

@final
class Candidate:
    """A user of a shared channel with waiting data; see `umtslab.Scheduler.order`."""

    ue: int
    backlog_octets: int | None
    backlog_blocks: int | None
    backlog_packets: int | None
    since_s: float
    possible_octets: int | None
    mean_octets: float | None
    cqi: int | None
    codes: int | None
    service_class: Literal["conversational", "streaming", "interactive", "background"]
    is_rate_met: bool
    guaranteed_kbps: float | None
    transfer_delay_s: float | None

@final
class DschFormat:
    """A transport format of the DSCH."""

    blocks: int
    spreading_factor: int

@final
class DschAsk:
    """A user of a DSCH with waiting data.

    `backlog` is in blocks. `since_s` is the arrival time of the oldest data. `gain` is the path
    gain from the cell. `outside_mw` is the power of noise and other cells divided by the gain.
    `power_mw` has for each format the power that the format adds to the cell, and None if no power
    is enough. `credit` is in blocks, and `mean_blocks` in blocks per TTI. `service_class`,
    `is_rate_met` and `transfer_delay_s` are from the quality of service of the user's bearer.
    """

    ue: int
    backlog: int
    since_s: float
    gain: float
    outside_mw: float
    power_mw: list[float | None]
    credit: float
    mean_blocks: float
    service_class: Literal["conversational", "streaming", "interactive", "background"]
    is_rate_met: bool
    transfer_delay_s: float | None

class OutputError(OSError):
    """The captures could not be written."""

class CaptureReadError(OSError):
    """A capture could not be read; ``str(error)`` names the file, the byte and the reason."""

    file: str
    offset: int

@final
class Scenario:
    """A validated scenario: defaults filled in, units checked."""

    name: str
    title: str
    source: str
    seed: int
    duration_s: float
    warnings: list[str]
    def capture_notes(self) -> list[str]: ...
    @staticmethod
    def load(path: str, overrides: Sequence[tuple[str, str]] = []) -> Scenario: ...
    @staticmethod
    def parse(
        text: str,
        name: str = "<text>",
        base_dir: str | None = None,
        overrides: Sequence[tuple[str, str]] = [],
    ) -> Scenario: ...
    def with_overrides(self, overrides: Sequence[tuple[str, str]]) -> Scenario: ...
    def to_toml(self) -> str: ...
    def to_json(self) -> str: ...
    def parameters(self) -> str: ...
    def draw_traffic(self, flow: int, calls: int, seed: int, run: int) -> dict[str, float | None] | None: ...
    def draw_errors(self, blocks: int, seed: int, run: int) -> dict[str, float | None]: ...
    def map(
        self, columns: int, rows: int
    ) -> tuple[list[float], list[list[float]], list[tuple[str, list[float]]], list[int]] | None: ...
    def houses(self) -> list[list[float]]: ...
    def track(self, ue: int, times_s: Sequence[float], seed: int, run: int) -> list[list[float]] | None: ...
    def dch_rates(self, ue: int) -> list[tuple[str, list[list[int]]]]: ...
    def content_hash(self) -> str: ...

@final
class Columns:
    """A table that libraries read as an Arrow stream: ``polars.DataFrame(columns)``."""

    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def write(self, folder: str, name: str) -> None: ...
    def json_lines(self) -> str: ...

def read_table(path: str) -> Columns: ...
def count_rows(path: str) -> int: ...

@final
class RunResult:
    """One finished run. ``connections`` and the values of ``series`` are Arrow streams."""

    seed: int
    run: int
    metrics: dict[str, float | None]
    connections: Columns
    series: dict[str, Columns]
    files: list[str]
    events: int

@final
class LiveRuns:
    """Runs of scenarios with one clock, advanced by the caller, with the results of ``simulate``."""

    def __new__(
        cls, scenarios: Sequence[Scenario], seed: int, run: int, *, series: bool = False
    ) -> LiveRuns: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def next_tti_ns(self) -> int: ...
    @property
    def is_over(self) -> bool: ...
    def advance(self, until_ns: int, real_s: float) -> bool: ...
    def advance_event(self) -> bool: ...
    def advance_to(self, kind: str, real_s: float) -> bool: ...
    def state(self, number: int, ues: int, bins: int, points: int) -> str: ...
    def finish(self) -> list[RunResult]: ...

@final
class Analysis:
    """One analysed capture. ``connections`` and the values of ``series`` are Arrow streams."""

    file: str
    metrics: dict[str, float | None]
    connections: Columns
    connection_count: int
    rest: tuple[int, dict[str, float | None]] | None
    counts: dict[str, int]
    start_s: float | None
    duration_s: float
    warnings: list[str]
    series: dict[str, Columns]
    packets: Columns | None
    packet_counts: dict[str, int | None]
    udp_flows: Columns
    udp_rest: tuple[int, int]
    passed_over: dict[str, int]

    def connection_lines(self, first: int, count: int) -> str: ...
    def connection_numbers(self) -> list[int]: ...
    def udp_flow_lines(self, first: int, count: int) -> str: ...
    def course(
        self, connection: int, most: int
    ) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]: ...
    def beginnings(self, connection: int) -> tuple[bytes, bytes]: ...

def analyse(
    paths: Sequence[str],
    *,
    time_sequence: int | None = None,
    packets: tuple[int, int | None, float | None, int] | None = None,
    connection: int | None = None,
    most_connections: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Analysis]: ...
def analyse_courses(path: str, most_connections: int) -> Analysis: ...
def analyse_both_ends(here: str, there: str, *, series: bool = False) -> Analysis: ...
def check_run(folder: str) -> list[tuple[str, str]]: ...
def check_runs(folders: Sequence[str]) -> list[list[tuple[str, str]]]: ...
def states(folders: Sequence[str]) -> list[str | None]: ...
def digest(content: bytes) -> str: ...
def digests(folder: str) -> dict[str, str]: ...
def capture_metric_definitions() -> list[dict[str, str]]: ...
def simulate(
    scenario: Scenario,
    seed: int,
    run: int,
    *,
    series: bool = False,
    pcap_dir: str | None = None,
    tables_dir: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> RunResult: ...

@final
class EmulationResult:
    """Measurements of an emulation or of its replay."""

    status: int | None
    ues: list[int | None]
    servers: list[int | None]
    internet: int | None
    proxy: int | None
    abandoned: bool
    duration_s: float
    metrics: dict[str, float | None]
    connections: Columns
    series: dict[str, Columns]
    files: list[str]
    lost: list[str]
    events: int
    before_connection: tuple[float, float, bool] | None
    digest: str | None
    packets: dict[str, int]
    fidelity: dict[str, float]
    degraded: bool
    tcp: dict[str, str]
    proxy_tcp: list[dict[str, str]]

@final
class Place:
    """A separate host for programs. See ``umtslab.emulate.sandbox`` for the order of calls."""

    def __new__(cls) -> Place: ...
    def build(self) -> None: ...
    def around(self, builder: int) -> None: ...

@final
class Waiting:
    """A program that waits for `emulate` to start it."""

    def __new__(
        cls, words: Sequence[str], variables: Sequence[tuple[str, str]], *, has_terminal: bool
    ) -> Waiting: ...
    def become(self, place: Place | None = None) -> None: ...
    def is_process(self, process: int) -> None: ...

@final
class FaultControl:
    """Sets and removes faults of one emulation, from any thread."""

    def __new__(cls) -> FaultControl: ...
    def set(self, scenario: Scenario, name: str, values: str) -> int: ...
    def remove(self, name: str) -> int: ...

@final
class LiveViewer:
    """Reads the state of one emulation, from any thread."""

    def __new__(cls) -> LiveViewer: ...
    def read(self, scenario: Scenario, ues: int, bins: int, points: int, patience_s: float) -> str: ...

def leave_host(keep_network: bool) -> None: ...
def settle(name_server: str | None = None) -> None: ...
def measure_lateness(period_s: float, duration_s: float) -> tuple[float, float, float]: ...
def emulate(
    scenario: Scenario,
    seed: int,
    command: Waiting,
    *,
    parent: int,
    places: Sequence[Place] = [],
    ues: Sequence[Waiting] = [],
    servers: Sequence[Waiting] = [],
    internet: Sequence[str] | None = None,
    resolver: Sequence[str] | None = None,
    host_services: bool = False,
    tcp: Sequence[tuple[str, str]] = [],
    wires: tuple[str, str] | None = None,
    proxy: Sequence[str] | None = None,
    proxy_sides: tuple[Sequence[tuple[str, str]], Sequence[tuple[str, str]]] = ([], []),
    faults: FaultControl | None = None,
    viewers: LiveViewer | None = None,
    recording: str | None = None,
    real_time: bool = False,
    waits: bool = False,
    keep_flows: bool = False,
    series: bool = False,
    pcap_dir: str | None = None,
    pdus: bool = False,
    started: Callable[[dict[str, str], list[dict[str, str]], list[str]], None] | None = None,
    meter: Callable[[dict[str, Any]], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> EmulationResult: ...
def replay(
    scenario: Scenario,
    seed: int,
    recording: str,
    *,
    real_ues: int | None,
    end_s: float,
    faults: Sequence[tuple[int, str, str | None]] = [],
    has_internet: bool = False,
    splits: bool = False,
    keep_flows: bool = False,
    series: bool = False,
    pcap_dir: str | None = None,
    pdus: bool = False,
) -> EmulationResult: ...
def proxy(
    options: Sequence[tuple[str, str]],
    started: Callable[[dict[str, Any]], None],
    *,
    guard: int | None = None,
) -> dict[str, Any]: ...
def guard_proxy() -> None: ...
def clean_proxies(keep_refusals: bool, waits: bool) -> tuple[int, int]: ...
def rules_left() -> int: ...
def proxies_at_work() -> int: ...
def try_interception(device: str) -> None: ...
def schema() -> str: ...
def bearers() -> list[dict[str, Any]]: ...
def profiles() -> list[dict[str, Any]]: ...
def rrc_profiles() -> list[dict[str, str]]: ...
def flat_profiles() -> list[dict[str, Any]]: ...
def params() -> list[dict[str, str]]: ...
def areas() -> list[dict[str, Any]]: ...
def lanes() -> list[dict[str, Any]]: ...
def hues() -> list[tuple[str, list[str], list[str]]]: ...
def looks() -> list[list[tuple[str, str, str]]]: ...
def state_heights() -> list[float]: ...
def metric_definitions() -> list[dict[str, str]]: ...
def t_quantile(freedom: float, outside: float) -> float: ...
def version() -> dict[str, str]: ...

"""Runs the points of a plan: as simulations, emulations in real time, or random draws.

Points become scenarios with overrides. The campaign engine simulates those runs that the store lacks,
`emulated` performs emulations, and random draws of the traffic or error model need no network. Scoring
reads the results from `StudyResults`, the implementation of `results.Results`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.reproduce.counts import Count
from umtslab.reproduce.errors import Missing
from umtslab.reproduce.pdus import PduTemplate, describe
from umtslab.reproduce.phases import Phase, phases
from umtslab.reproduce.plan import Draw, Key, Plan, Point, Sweep, key, text
from umtslab.reproduce.requests import Requests
from umtslab.reproduce.results import Sample, Series

if TYPE_CHECKING:
    from umtslab.reproduce.emulated import Download
    from umtslab.run import Run
    from umtslab.store import Store
    from umtslab.task import Task

Progress = Callable[[int, int], None]
"""Called with the number of finished runs and the total."""


@dataclass(frozen=True)
class PlannedPoint:
    """A point to run."""

    point: Point
    runs: int
    """Number of runs."""
    series: bool
    """Whether to record series."""
    is_set: bool = False
    """Whether the point is one of the parameter sets over which means are taken."""
    kernel: Mapping[str, str] | None = None
    """Kernel settings of TCP, for an emulated point."""
    draw: Draw | None = None
    """Random draws that replace runs of a network."""
    settings: tuple[tuple[str, str], ...] = ()
    """Scenario keys of all points. Keys of the point itself take precedence."""

    @property
    def is_emulated(self) -> bool:
        """Whether the point runs in real time."""
        return self.kernel is not None

    @property
    def network_runs(self) -> int:
        """Number of runs of a network: 0 if random draws replace them."""
        return self.runs if self.draw is None else 0


def wanted_points(
    plan: Plan, sweeps: Iterable[Sweep], *, quick: bool, real_time: bool = False
) -> list[PlannedPoint]:
    """Return every point of the sweeps once, with series if any of its sweeps records them.

    Emulated points are included only with `real_time`.
    """
    planned: dict[Key, PlannedPoint] = {}
    runs = plan.quick_runs if quick else plan.runs
    settings = {**plan.settings, **plan.quick_settings} if quick else plan.settings
    for sweep in sweeps:
        for point in plan.points(sweep, quick=quick):
            # The same point of an earlier sweep.
            earlier = planned.get(key(point), PlannedPoint(point, runs, series=False))
            is_set = earlier.is_set or sweep in plan.averaging()
            series = earlier.series or sweep.series
            kernel = plan.kernel(point)
            if kernel is None:
                planned[key(point)] = PlannedPoint(
                    point, runs, series, is_set, draw=sweep.draw, settings=tuple(settings.items())
                )
            elif real_time:
                planned[key(point)] = PlannedPoint(
                    point, min(runs, plan.emulated_runs), series, is_set, kernel=kernel
                )
    return list(planned.values())


def run_plan(
    plan: Plan,
    planned: Sequence[PlannedPoint],
    scenarios: Path,
    *,
    store: Store,
    jobs: int,
    budget: bool = False,
    changes: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
) -> StudyResults:
    """Run the points that the store lacks, and return all results.

    Parameters
    ----------
    plan : Plan
        The plan.
    planned : sequence of PlannedPoint
        Its points to run.
    scenarios : Path
        The folder of the plan's scenario files.
    store : Store
        Store of the runs.
    jobs : int
        Number of worker threads.
    budget : bool
        Whether to record time budgets.
    changes : sequence of pairs of str
        Scenario keys with other values for all points.
    progress : callable, optional
        Called after each run.

    Raises
    ------
    umtslab.ScenarioError
        If the plan does not fit the scenario files. Nothing is run in this case.
    OSError
        If the store cannot be written.
    """
    from umtslab.campaign import run_missing
    from umtslab.reproduce.emulated import emulate_missing

    extra = [*([("measure.budget", "true")] if budget else []), *changes]
    tasks: dict[Key, list[Task]] = {}
    draws: dict[Key, Callable[[], list[Run]]] = {}
    downloads: dict[Key, list[Download]] = {}
    for entry in planned:
        if entry.is_emulated:
            downloads[key(entry.point)] = list(_downloads(plan, entry, scenarios, store))
        elif entry.draw is not None:
            draws[key(entry.point)] = _draws(plan, entry, scenarios, extra)
        else:
            tasks[key(entry.point)] = list(_tasks(plan, entry, scenarios, extra))
    finished: dict[str, Run] = {}
    total = sum(entry.runs for entry in planned if entry.draw is None)
    # Several tasks can have one key. The engine runs the key once, with the recordings of its first
    # task, so tasks with series come first.
    ordered = sorted(chain.from_iterable(tasks.values()), key=lambda task: not task.series)
    if progress is not None:
        progress(0, total)
    emulated = emulate_missing(list(chain.from_iterable(downloads.values())), store)
    # Draws are long calls of the core, so a thread makes them in parallel with the runs.
    thread = ThreadPoolExecutor(1)
    try:
        draw_futures = {point_key: thread.submit(draw) for point_key, draw in draws.items()}
        for run_key, run in chain(run_missing(ordered, store, jobs), emulated):
            finished[run_key] = run
            if progress is not None:
                progress(len(finished), total)
        drawn = {point_key: future.result() for point_key, future in draw_futures.items()}
    finally:
        thread.shutdown(cancel_futures=True)
    tasks_or_downloads: Mapping[Key, Sequence[Task | Download]] = {**tasks, **downloads}
    runs = {
        point_key: [finished[task.identity.key] for task in group]
        for point_key, group in tasks_or_downloads.items()
    }
    runs.update(drawn)
    ends_s = {point_key: group[0].scenario.duration_s for point_key, group in tasks_or_downloads.items()}
    sets = [entry.point for entry in planned if entry.is_set]
    return StudyResults([entry.point for entry in planned], sets, runs, ends_s)


def _tasks(
    plan: Plan, planned: PlannedPoint, scenarios: Path, extra: Sequence[tuple[str, str]]
) -> Iterator[Task]:
    """Yield the tasks of a point's runs."""
    from umtslab.scenario import Scenario
    from umtslab.task import Task

    name, overrides = plan.scenario_of(planned.point)
    scenario = Scenario.load(scenarios / name, [*planned.settings, *overrides, *extra])
    for run in range(planned.runs):
        yield Task(scenario, scenario.seed, run, planned.series)


def check_changes(
    plan: Plan, planned: Sequence[PlannedPoint], scenarios: Path, changes: Sequence[tuple[str, str]]
) -> None:
    """Check that the scenario of every point is valid with the changes, before anything is run.

    Raises
    ------
    umtslab.ScenarioError
        If the scenario of a point is not valid.
    """
    from umtslab.scenario import Scenario

    for entry in planned:
        name, overrides = plan.scenario_of(entry.point)
        Scenario.load(scenarios / name, [*entry.settings, *overrides, *changes])


def _draws(
    plan: Plan, planned: PlannedPoint, scenarios: Path, extra: Sequence[tuple[str, str]]
) -> Callable[[], list[Run]]:
    """Return a function that makes runs without a network: their metrics are moments of random draws."""
    from umtslab.run import Identity, Run
    from umtslab.scenario import Scenario
    from umtslab.version import code_version

    draw = planned.draw
    assert draw is not None, "the caller checks this"
    name, overrides = plan.scenario_of(planned.point)
    scenario = Scenario.load(scenarios / name, [*planned.settings, *overrides, *extra])

    def drawn_run(run: int) -> Run:
        if draw.what == "traffic":
            metrics = scenario.draw_traffic(draw.flow, draw.number, run=run)
        else:
            metrics = scenario.draw_errors(draw.number, run=run)
        identity = Identity(scenario.content_hash, code_version(), scenario.seed, run)
        return Run(scenario.name, identity, metrics, events=0, duration_s=0.0)

    return lambda: [drawn_run(run) for run in range(planned.runs)]


def _downloads(plan: Plan, planned: PlannedPoint, scenarios: Path, store: Store) -> Iterator[Download]:
    """Yield the emulated downloads of a point."""
    from umtslab.reproduce.emulated import download
    from umtslab.scenario import Scenario

    name, overrides = plan.scenario_of(planned.point)
    scenario = Scenario.load(scenarios / name, overrides)
    for run in range(planned.runs):
        yield download(scenario, planned.kernel or {}, scenario.seed + run, store, series=planned.series)


class StudyResults:
    """Finished runs of a plan, by point."""

    def __init__(
        self,
        points: Sequence[Point],
        sets: Sequence[Point],
        runs: dict[Key, list[Run]],
        ends_s: dict[Key, float],
    ) -> None:
        self._points = points
        self._sets = sets
        self._runs = runs
        self._ends_s = ends_s
        self._connections: dict[str, dict[str, Sample]] = {}

    def points(self) -> Sequence[Point]:
        """Return the points that were run."""
        return self._points

    def sets(self) -> Sequence[Point]:
        """Return the points over which means over parameter sets are taken."""
        return self._sets

    def replications(self, point: Point) -> int:
        """Return the number of runs of the point."""
        return len(self._runs_at(point))

    def metric(self, point: Point, name: str) -> Sample:
        """Return a metric of each run."""
        runs = self._runs_at(point)
        if name not in runs[0].metrics:
            raise Missing(f"runs have no metric {name}")
        return [run.metrics[name] for run in runs]

    def connections(self, point: Point, name: str) -> list[Sample]:
        """Return a metric of each connection, per run.

        Connections are in order of their opening.
        """
        samples = []
        for run in self._runs_at(point):
            columns = self._columns(run)
            if name not in columns:
                raise Missing(f"connections have no metric {name}")
            samples.append(columns[name])
        return samples

    def series(self, point: Point, name: str, user: int | None) -> list[Series]:
        """Return a series per run: of the connection that opened as number `user`, or the sum of all."""
        return [_series(run, name, user, self._ends_s[key(point)]) for run in self._runs_at(point)]

    def counted(self, point: Point, count: Count) -> Sample:
        """Return a number derived from recorded series, per run."""
        return [count.value(run) for run in self._runs_at(point)]

    def descriptions(self, point: Point, parts: Sequence[PduTemplate]) -> list[str]:
        """Return the description of the RLC PDUs, per run."""
        return [describe(parts, run) for run in self._runs_at(point)]

    def answers(self, point: Point, requests: Requests) -> list[str]:
        """Return the answers to DCH requests, per run."""
        return [requests.summary(run) for run in self._runs_at(point)]

    def phases(self, point: Point) -> list[list[Phase]]:
        """Return the phases of the first user's transfer, per run."""
        return [phases(run) for run in self._runs_at(point)]

    def recorded(self, point: Point) -> Run:
        """Return the first run with its recorded series."""
        return self._runs_at(point)[0]

    def runs(self, point: Point) -> Sequence[Run]:
        """Return the runs of a point."""
        return self._runs_at(point)

    def _columns(self, run: Run) -> dict[str, Sample]:
        """Return the connections of a run by column. Each run is read once."""
        if run.key not in self._connections:
            self._connections[run.key] = run.connections().sort("opened_s").to_dict(as_series=False)
        return self._connections[run.key]

    def _runs_at(self, point: Point) -> list[Run]:
        runs = self._runs.get(key(point))
        if runs is None:
            listed = ", ".join(f"{name} {text(value)}" for name, value in point.items())
            raise Missing(f"not run: {listed}")
        return runs


_VALUE_COLUMN = {
    "cwnd": "cwnd_segments",
    "ssthresh": "ssthresh_segments",
    "outstanding": "outstanding_segments",
    "srtt": "srtt_s",
    "rto": "rto_s",
    "rtt": "rtt_s",
    "goodput": "goodput_kbps",
    "rlc_buffer": "octets",
    "acked": "ack",
}
"""Column with the values of a series, by kind of series."""


def _series(run: Run, kind: str, user: int | None, end_s: float) -> Series:
    """Return a series of the connection that opened as number `user`, counted from 1.

    If `user` is None, the values of all connections with the same time are added. A series with a
    column ``ue`` has no connections: of such a series, returns the downlink of user number `user`,
    by default the first.
    """
    import polars as pl

    if kind == "rtt" and "program_rtt" in run.series_kinds():
        return _emulated_round_trips(run, user, end_s)
    if kind not in run.series_kinds():
        raise Missing(f"the runs recorded no series {kind}")
    rows = run.series(kind)
    if "ue" in rows.columns:
        rows = rows.filter((pl.col("ue") == (user or 1) - 1) & (pl.col("direction") == "downlink"))
    elif user is None:
        rows = rows.group_by("time_s").agg(pl.col(_VALUE_COLUMN[kind]).sum())
    else:
        opened = run.connections().sort("opened_s")["connection"]
        if user > len(opened):
            raise Missing(f"the runs have no connection number {user}")
        rows = rows.filter(pl.col("connection") == opened[user - 1])
    rows = rows.sort("time_s", maintain_order=True)
    return Series(rows["time_s"].to_list(), rows[_VALUE_COLUMN[kind]].to_list(), end_s)


def _emulated_round_trips(run: Run, user: int | None, end_s: float) -> Series:
    """Return the round-trip times of an emulation's first UE, for download number `user`."""
    import polars as pl

    of_server = (pl.col("ue") == 0) & (pl.col("from") == "server") & (pl.col("kind") == "tcp")
    rows = run.series("program_rtt").filter(of_server).sort("time_s")
    if user is not None:
        opened = run.connections().sort("opened_s")["opened_s"].to_list()
        if user > len(opened):
            raise Missing(f"the runs have no connection number {user}")
        # From the opening of this connection to the opening of the next one.
        begin_s, until_s = [*opened, float("inf")][user - 1 : user + 1]
        rows = rows.filter(pl.col("time_s").is_between(begin_s, until_s, closed="left"))
    return Series(rows["time_s"].to_list(), rows["rtt_s"].to_list(), end_s)

"""Execution of a campaign: its points, the number of runs of each, and the record of the results.

Each point needs a fixed number of runs, or as many as the precision of a metric demands. Runs are
identified by key, so runs in the store are used again. Run k of every point has the same seed.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umtslab import _core
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.file import SCENARIO, Campaign, load_campaign
from umtslab.campaign.names import merged_records, other_plan
from umtslab.campaign.points import Point
from umtslab.campaign.record import Cell, DamagedRecord, Record, load_record, save_record
from umtslab.progress import Progress
from umtslab.run import Run
from umtslab.scenario import Scenario, refuse_code
from umtslab.simulation import execute
from umtslab.task import ProgressHandler, Task

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from umtslab.campaign.table import Value
    from umtslab.store import Store, StoreReader


@dataclass(frozen=True)
class Workers:
    """Workers for runs: local threads, or an executor.

    `count` returns the current number of workers of the executor.
    """

    jobs: int = 1
    executor: Executor | None = None
    count: Callable[[], int] | None = None


@dataclass
class Study:
    """A campaign in execution: its points and finished runs.

    Raises
    ------
    CampaignError
        If the campaign is wrong.
    umtslab.ScenarioError
        If the scenario of a point is wrong.
    """

    campaign: Campaign
    points: list[Point] = field(init=False)
    seed: int = field(init=False)
    finished: dict[str, Run] = field(default_factory=dict)
    """Runs by key, from the store or made by `run`."""
    taken: int = 0
    """Number of runs that were in the store already."""
    _tasks_by_scenario: dict[str, list[Task]] = field(default_factory=dict, init=False, repr=False)
    """Tasks by scenario hash. Cached, because computing thousands of keys again takes long."""

    def __post_init__(self) -> None:
        self.campaign.check_size()
        self.points = campaign_points(self.campaign)
        self.seed = common_seed(self.campaign, self.points[0])

    def tasks(self) -> list[Task]:
        """Return the runs required so far, including finished ones, without repetitions."""
        tasks = [task for point in self.points for task in self.tasks_of(point)]
        return list({task.identity.key: task for task in tasks}.values())

    def run(
        self,
        store: Store,
        workers: Workers,
        watch: ProgressHandler | None = None,
        expect: Callable[[int], None] | None = None,
    ) -> None:
        """Run until every point has its replications or its precision.

        The number of replications of a point depends only on results, never on the order in which
        they arrive. `expect` is called with the number of missing runs whenever more runs turn out
        to be required, and `watch` with the progress of each run.
        """
        while open_tasks := [task for task in self.tasks() if task.identity.key not in self.finished]:
            stored = store.get_all((task.identity for task in open_tasks), series=self.campaign.series)
            self.finished |= stored
            self.taken += len(stored)
            missing = [task for task in open_tasks if task.identity.key not in stored]
            if expect is not None:
                expect(len(missing))
            for run in execute(
                missing,
                store=store,
                jobs=workers.jobs,
                executor=workers.executor,
                workers=workers.count,
                watch=watch,
            ):
                self.finished[run.key] = run

    def collect(self, store: Store) -> None:
        """Add the runs that were stored before an interruption stopped the workers."""
        identities = (task.identity for task in self.tasks())
        self.finished |= store.get_all(identities, series=self.campaign.series)

    def choose_name(self, store: StoreReader) -> None:
        """Give a campaign without a chosen name a name that no other plan in the store has."""
        self.campaign = with_free_name(self.campaign, self.seed, store)

    def check_name(self, store: StoreReader) -> None:
        """Refuse a name that stands for another plan in the store.

        Raises
        ------
        CampaignError
            If another plan has the campaign's name.
        """
        check_name(self.campaign, self.seed, store)

    def keep(self, store: Store) -> Record:
        """Write the record into the store, merged with the existing record of the plan."""
        old = _existing_record(self.campaign, store)
        record = self.record() if old is None else merged_records(old, self.record())
        save_record(store.path, record)
        return record

    def record(self) -> Record:
        """Return the record of the current state."""
        cells = [Cell(dict(point.overrides), tuple(self._runs_of(point))) for point in self.points]
        campaign = self.campaign
        return Record(campaign.name, campaign.title, campaign.axes, self.seed, tuple(cells), campaign.metrics)

    def missed(self) -> list[Cell]:
        """Return the points that did not reach the campaign's precision."""
        precision = self.campaign.precision
        if precision is None:
            return []
        return [
            cell
            for cell in self.record().cells
            if not precision.is_met([run.metrics.get(precision.metric) for run in cell.runs])
        ]

    def tasks_of(self, point: Point) -> list[Task]:
        """Return the runs of a point that are required so far."""
        return [self._task(point, number) for number in range(self._required_count(point))]

    def _task(self, point: Point, number: int) -> Task:
        """Return the task of a run of a point. Points with equal scenarios share their tasks."""
        tasks = self._tasks_by_scenario.setdefault(point.scenario.content_hash, [])
        while len(tasks) <= number:
            tasks.append(Task(point.scenario, self.seed, len(tasks), self.campaign.series))
        return tasks[number]

    def _required_count(self, point: Point) -> int:
        """Return the number of runs of a point that are required so far."""
        precision = self.campaign.precision
        if precision is None:
            return self.campaign.runs
        runs = self._runs_of(point)
        values = [run.metrics.get(precision.metric) for run in runs]
        if precision.is_met(values) or len(values) >= precision.most:
            return len(values)
        return precision.next_total(values)

    def _runs_of(self, point: Point) -> list[Run]:
        """Return the point's finished runs from number 0 up to the first gap."""
        runs: list[Run] = []
        while (run := self.finished.get(self._task(point, len(runs)).identity.key)) is not None:
            runs.append(run)
        return runs


def with_free_name(campaign: Campaign, seed: int, store: StoreReader) -> Campaign:
    """Return the campaign with a name that no other plan in the store has.

    A name that a user chose is kept. Otherwise the candidates are the campaign's own name, and
    this name followed by ``-2``, ``-3`` and so on.
    """
    if campaign.named:
        return campaign
    numbered = (replace(campaign, name=f"{campaign.name}-{number}") for number in itertools.count(2))
    candidates = itertools.chain([campaign], numbered)
    return next(candidate for candidate in candidates if _other_plan(candidate, seed, store) is None)


def check_name(campaign: Campaign, seed: int, store: StoreReader) -> None:
    """Refuse a name that stands for another plan in the store.

    Raises
    ------
    CampaignError
        If another plan has the campaign's name.
    """
    if (why := _other_plan(campaign, seed, store)) is not None:
        raise CampaignError(
            f"{store.path} has a campaign {campaign.name!r} with another plan: {why}; give this one "
            "another name with --name"
        )


def _other_plan(campaign: Campaign, seed: int, store: StoreReader) -> str | None:
    """Return how the plan that the store has under the campaign's name differs from this campaign.

    None if the plan is the same, or the store has no campaign of this name.
    """

    def hash_at(parameters: Mapping[str, Any]) -> str | None:
        try:
            return point_at(campaign, parameters, {}).scenario.content_hash
        except (CampaignError, _core.ScenarioError):
            return None

    old = _existing_record(campaign, store)
    return None if old is None else other_plan(old, campaign.axes, seed, hash_at)


def _existing_record(campaign: Campaign, store: StoreReader) -> Record | None:
    """Return the record under the campaign's name, or None. A damaged one counts as missing."""
    try:
        return load_record(store, campaign.name)
    except DamagedRecord:
        return None


def common_seed(campaign: Campaign, first: Point) -> int:
    """Return the seed of all points. With it, run k has the same channel and traffic in each point.

    Raises
    ------
    CampaignError
        If the campaign's seed is out of range.
    """
    seed = first.scenario.seed if campaign.seed is None else campaign.seed
    if seed >= 2**64:
        raise CampaignError(f"{campaign}: the seed {seed} must be below 2^64")
    return seed


def campaign_points(campaign: Campaign) -> list[Point]:
    """Return all points with their scenarios, so that errors are found before anything runs.

    Raises
    ------
    CampaignError
        If the campaign varies nothing, or the scenario of a point is wrong. The message names the
        point.
    """
    return list(each_point(campaign, campaign.combinations() if campaign.axes else ()))


def each_point(campaign: Campaign, combinations: Iterable[Mapping[str, Value]]) -> Iterator[Point]:
    """Yield points of a campaign with their scenarios.

    Raises
    ------
    CampaignError
        If the campaign varies nothing, or the scenario of a point is wrong. The message names the
        point.
    """
    if not campaign.axes:
        raise CampaignError(f"{campaign}: no key is varied: add [grid], or use -P KEY=VALUE,VALUE")
    bases: dict[Path, Scenario | None] = {}
    for combination in combinations:
        yield point_at(campaign, combination, bases)


def point_at(campaign: Campaign, combination: Mapping[str, Any], bases: dict[Path, Scenario | None]) -> Point:
    """Return a point of a campaign with its scenario. `bases` caches the scenario files.

    Raises
    ------
    CampaignError
        If the scenario is wrong. The message names the point.
    """
    values = dict(combination)
    scenario_name = values.pop(SCENARIO, None)
    path = campaign.scenario if scenario_name is None else _scenario_path(campaign, str(scenario_name))
    if path not in bases:
        bases[path] = _base(campaign, path)
    base = bases[path]
    try:
        if base is None:
            point = Point(combination, Scenario.load(path, {**campaign.settings, **values}))
        else:
            point = Point(combination, base.with_overrides(values))
    except _core.ScenarioError as error:
        key = error.key
        if base is None and key is not None and key in campaign.settings and key not in values:
            if campaign.source is None:
                raise
            problem = f"{campaign.location_of(key)}: the settings common to all points are"
        else:
            listed = ", ".join(f"{key} = {value}" for key, value in combination.items())
            location = str(campaign) if key is None or key not in values else campaign.location_of(key)
            problem = f"{location}: the point {listed} is"
        raise CampaignError(f"{problem} not a valid scenario\n{error}") from error
    if not campaign.allow_code:
        refuse_code(point.scenario, allow_in_overrides=campaign.allow_typed_code)
    return point


def _base(campaign: Campaign, path: Path) -> Scenario | None:
    """Load a scenario file with the settings that all points share.

    Returns None if one of the settings is wrong without the values of a point, as
    ``errors = "per_attempt"`` is without ``attempt_errors``.
    """
    if campaign.source is not None and campaign.source != path and not path.is_file():
        hint = "paths in a campaign are relative to its folder"
        raise CampaignError(
            f"{campaign.location_of(SCENARIO)}: scenario: the file {path} does not exist; {hint}"
        )
    try:
        return Scenario.load(path, campaign.settings)
    except _core.ScenarioError as error:
        if error.key in campaign.settings:
            return None
        raise


def run_campaign(
    campaign: Campaign | str | os.PathLike[str],
    *,
    store: Store,
    parameters: Mapping[str, Sequence[str | int | float | bool]] | None = None,
    workers: Workers | None = None,
    watch: ProgressHandler | None = None,
) -> Record:
    """Run a campaign, as ``umts sweep`` does. Runs in the store are reused.

    Parameters
    ----------
    campaign : Campaign or path
        The campaign (`umtslab.campaign.load_campaign`), or its file.
    store : Store
        Store of the runs and of the campaign's record.
    parameters : mapping, optional
        Other values for keys of the grid, or more keys.
    workers : Workers, optional
        Workers for the runs; by default one thread.
    watch : callable, optional
        Called with the progress of each run.

    Returns
    -------
    Record
        The points in order, with their runs.

    Raises
    ------
    CampaignError, umtslab.ScenarioError
        If the campaign is wrong, or its name stands for another plan. Nothing is run in this case.
    OSError
        If results cannot be written.
    """
    chosen = campaign if isinstance(campaign, Campaign) else load_campaign(Path(campaign))
    study = Study(chosen.with_parameters(parameters or {}))
    study.choose_name(store)
    study.check_name(store)
    study.run(store, workers or Workers(), watch, watch.expect if isinstance(watch, Progress) else None)
    study.keep(store)
    return study.record()


def _scenario_path(campaign: Campaign, name: str) -> Path:
    """Return the path of a scenario that a point names, relative to the campaign's file."""
    return (campaign.source.parent if campaign.source is not None else Path()) / name

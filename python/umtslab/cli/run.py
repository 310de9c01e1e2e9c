"""``umts run``: a scenario, once or several times."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULTS, Out, overrides, relative_precision, workers
from umtslab.cli.progress import ProgressBar
from umtslab.cli.purposes import check_purpose
from umtslab.cli.results import open_results
from umtslab.exit_status import FAILED, INTERRUPTED
from umtslab.metrics import units, unknown
from umtslab.plot import WATERFALL
from umtslab.precision import Precision
from umtslab.run import Run
from umtslab.scenario import Scenario
from umtslab.simulation import execute
from umtslab.store import Store
from umtslab.task import Task


def run(
    scenario: Path,
    /,
    *,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=False)] = (),
    seed: int | None = None,
    runs: int | None = None,
    precision: str | None = None,
    metric: str = "goodput_kbps",
    first_run: int = 0,
    duration: str | None = None,
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"])] = None,
    out: Out = RESULTS,
    resume: bool = False,
    series: bool = False,
    pcap: bool = False,
    budget: bool = False,
    waterfall: int | None = None,
    all_: Annotated[bool, Parameter(name="--all")] = False,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Run a scenario, once or until a precision is reached.

    Ctrl-C keeps the runs that are finished. Exit status: 0 done, 1 a run failed or the precision was missed,
    2 wrong usage or input.

    Parameters
    ----------
    scenario
        A scenario file (TOML).
    set_
        KEY=VALUE: another value for a scenario key; may be repeated. `umts params` lists the keys.
    seed
        Seed of the random streams (default: the scenario's own).
    runs
        Number of replications (default: 1).
    precision
        Run until the half width of the 95 % interval is within this share of the mean, as in 5% or 0.05: at
        least 5 runs, at most 200.
    metric
        What has to be that precise.
    first_run
        Number of the first replication.
    duration
        Simulated time, as in "1500 s".
    jobs
        Worker threads (default: as many as there are processors).
    out
        Where results go.
    resume
        Take runs that are there already from the results instead of running them again.
    series
        Record time series, which `umts plot` draws.
    pcap
        Write captures (pcapng): IP packets at server, RNC and UE, and RLC PDUs in both directions.
    budget
        Divide the time of every TCP connection among its causes: --set measure.budget=true.
    waterfall
        Number of a connection of the run, from 0: record its segments, PDUs and states, for a figure with one
        time axis; implies --budget and --series.
    all_
        Show every metric.
    json
        Print one JSON object on standard output and nothing else there.
    quiet
        No progress bar and no remarks.
    """
    check_purpose(scenario, "run")
    wanted = _wanted_precision(runs, precision, metric)
    count = 1 if runs is None else runs
    if count < 1 or first_run < 0:
        raise UsageError("--runs takes a number of at least 1, --first-run one of at least 0")
    threads = workers(jobs, count if wanted is None else wanted.most)
    changes = overrides(set_) + ((("duration", duration),) if duration is not None else ())
    if waterfall is not None:
        changes += (("measure.waterfall", str(waterfall)),)
        budget = series = True
    changes += (("measure.budget", "true"),) if budget else ()
    loaded = Scenario.load(scenario, changes)
    chosen_seed = loaded.seed if seed is None else seed
    if not 0 <= chosen_seed < 2**64:
        raise UsageError(f"--seed takes a number from 0 to 2^64 - 1, not {chosen_seed}")
    if not quiet:
        for warning in loaded.warnings:
            print(f"warning: {warning}", file=sys.stderr)

    with open_results(out) as store, ProgressBar(loaded.name, quiet=quiet) as bar:
        plan = _Plan(loaded, chosen_seed, first_run, series, pcap, resume, threads, store, bar)
        with _kept_on_interrupt(plan):
            if wanted is None:
                plan.run_up_to(count)
            else:
                plan.run_until(wanted)
    return _report(plan, wanted, show_all=all_, as_json=json, quiet=quiet)


def _wanted_precision(runs: int | None, precision: str | None, metric: str) -> Precision | None:
    if precision is None:
        return None
    if runs is not None:
        raise UsageError("--runs and --precision are two answers to one question: give one of them")
    if metric not in units():
        raise UsageError(unknown(metric))
    return Precision(relative_precision(precision), metric)


@dataclass
class _Plan:
    """Replications of one scenario: what is to be done, and what is."""

    scenario: Scenario
    seed: int
    first_run: int
    series: bool
    pcap: bool
    resume: bool
    threads: int
    store: Store
    bar: ProgressBar
    finished: dict[int, Run] = field(default_factory=dict)
    taken: int = 0
    interrupted: bool = False

    @property
    def runs(self) -> list[Run]:
        """Finished runs in the order of their numbers."""
        return [self.finished[number] for number in sorted(self.finished)]

    def run_up_to(self, count: int) -> None:
        """Run until there are `count` replications."""
        self.bar.expect(count)
        numbers = range(self.first_run + len(self.finished), self.first_run + count)
        tasks = [Task(self.scenario, self.seed, number, self.series, self.pcap) for number in numbers]
        if self.resume:
            tasks = [task for task in tasks if not self._take(task)]
        jobs = min(self.threads, max(1, len(tasks)))
        for finished in execute(tasks, store=self.store, jobs=jobs, watch=self.bar.watch):
            self.finished[finished.run] = finished

    def run_until(self, precision: Precision) -> None:
        """Run until the precision is reached or there are enough runs."""
        while not precision.is_met(self.values(precision.metric)) and len(self.finished) < precision.most:
            self.run_up_to(precision.next_total(self.values(precision.metric)))

    def collect(self) -> None:
        """After an interruption: add the runs that reached the store before the workers stopped."""
        for number in self.bar.started:
            identity = Task(self.scenario, self.seed, number).identity
            found = self.store.get(identity, series=self.series, pcap=self.pcap)
            if found is not None:
                self.finished[number] = found

    def values(self, metric: str) -> list[float | None]:
        """One metric of the finished runs."""
        return [run.metrics.get(metric) for run in self.runs]

    def _take(self, task: Task) -> bool:
        found = self.store.get(task.identity, series=task.series, pcap=task.pcap)
        if found is None:
            return False
        self.finished[found.run] = found
        self.taken += 1
        self.bar.watch(task, 1.0)
        return True


@contextmanager
def _kept_on_interrupt(plan: _Plan) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        plan.interrupted = True
        plan.collect()


def _report(plan: _Plan, wanted: Precision | None, *, show_all: bool, as_json: bool, quiet: bool) -> int:
    from umtslab.cli import run_report

    runs = plan.runs
    if as_json:
        run_report.print_json(plan.scenario.name, runs)
    elif runs:
        run_report.print_tables(plan.scenario, runs, plan.store, show_all=show_all, quiet=quiet)
    if plan.taken and not quiet:
        print(f"{plan.taken} of these runs were there already", file=sys.stderr)
    if not quiet:
        for line in _not_recorded(plan):
            print(f"warning: {line}", file=sys.stderr)
    if plan.interrupted:
        print(f"umts: interrupted; {len(runs)} finished runs are kept in {plan.store.path}", file=sys.stderr)
        return INTERRUPTED
    if wanted is None or wanted.is_met(plan.values(wanted.metric)):
        return 0
    return _missed(wanted, plan)


def _not_recorded(plan: _Plan) -> Iterator[str]:
    """Of the runs that had no such connection as the waterfall was wanted of."""
    for finished in plan.runs:
        number = finished.waterfall_connection() if WATERFALL in finished.series_kinds() else None
        if number is not None and (lacking := finished.lacks_connection(number)) is not None:
            yield lacking


def _missed(wanted: Precision, plan: _Plan) -> int:
    reached = wanted.reached(plan.values(wanted.metric))
    how_far = "no interval" if reached is None else f"{100 * reached:.3g} %"
    print(
        f"umts: precision missed: {len(plan.finished)} runs reach {how_far} of {wanted.metric}, "
        f"{100 * wanted.relative:.3g} % was asked for",
        file=sys.stderr,
    )
    return FAILED

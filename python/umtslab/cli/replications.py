"""Replications of one scenario: the work of ``umts run`` after parsing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from umtslab.cli import run_report
from umtslab.cli.progress import ProgressBar
from umtslab.exit_status import FAILED, INTERRUPTED
from umtslab.figure_kinds import WATERFALL
from umtslab.precision import Precision
from umtslab.run import Run
from umtslab.scenario import Scenario
from umtslab.simulation import execute
from umtslab.store import Store
from umtslab.task import Task


@dataclass
class Replications:
    """Replications of one scenario: configuration and finished runs.

    `first_run` is the number of the first run. With `series` and `pcap` the runs record time series
    and captures. With `resume` stored runs are used instead of new ones. `threads` is the maximum
    number of runs at the same time.
    """

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
    """Runs by number, from the store or executed."""
    reused: int = 0
    """Number of runs that were taken from the store."""
    interrupted: bool = False

    @property
    def runs(self) -> list[Run]:
        """Finished runs in the order of their numbers."""
        return [self.finished[number] for number in sorted(self.finished)]

    def run_up_to(self, count: int) -> None:
        """Run until there are `count` replications."""
        self.bar.expect(count)
        numbers = range(self.first_run + len(self.finished), self.first_run + count)
        tasks = (Task(self.scenario, self.seed, number, self.series, self.pcap) for number in numbers)
        # A generator, because the tasks may not fit into memory all at once.
        missing = (task for task in tasks if not (self.resume and self._reuse(task)))
        jobs = min(self.threads, count - len(self.finished))
        for finished in execute(missing, store=self.store, jobs=jobs, watch=self.bar.watch):
            self.finished[finished.run] = finished

    def run_until(self, precision: Precision) -> None:
        """Run until the precision or the maximum number of runs is reached."""
        while not precision.is_met(self.values(precision.metric)) and len(self.finished) < precision.most:
            self.run_up_to(precision.next_total(self.values(precision.metric)))

    def collect(self) -> None:
        """Add the runs that were started and stored before an interruption."""
        for number in self.bar.started:
            identity = Task(self.scenario, self.seed, number).identity
            stored = self.store.get(identity, series=self.series, pcap=self.pcap)
            if stored is not None:
                self.finished[number] = stored

    def values(self, metric: str) -> list[float | None]:
        """Return a metric of each finished run: None if the run has no value."""
        return [run.metrics.get(metric) for run in self.runs]

    def _reuse(self, task: Task) -> bool:
        """Use the stored run of a task, if there is one. Returns whether there is."""
        stored = self.store.get(task.identity, series=task.series, pcap=task.pcap)
        if stored is None:
            return False
        self.finished[stored.run] = stored
        self.reused += 1
        self.bar.watch(task, 1.0)
        return True


@contextmanager
def collect_on_interrupt(replications: Replications) -> Iterator[None]:
    """Record an interruption by Ctrl-C in `replications`, and collect the runs that are stored."""
    try:
        yield
    except KeyboardInterrupt:
        replications.interrupted = True
        replications.collect()


def report(
    replications: Replications, precision: Precision | None, *, show_all: bool, as_json: bool, quiet: bool
) -> int:
    """Print the results. Returns the exit status."""
    runs = replications.runs
    if as_json:
        run_report.print_json(replications.scenario.name, runs)
    elif runs:
        run_report.print_tables(
            replications.scenario, runs, replications.store, show_all=show_all, quiet=quiet
        )
    if replications.reused and not quiet:
        print(f"{replications.reused} of these runs were already stored", file=sys.stderr)
    if not quiet:
        for line in _missing_waterfalls(replications):
            print(f"warning: {line}", file=sys.stderr)
    if replications.interrupted:
        stored = f"{len(runs)} finished runs are stored in {replications.store.path}"
        print(f"umts: interrupted; {stored}; the same command with --resume continues", file=sys.stderr)
        return INTERRUPTED
    if precision is None or precision.is_met(replications.values(precision.metric)):
        return 0
    return _report_missed_precision(precision, replications)


def _missing_waterfalls(replications: Replications) -> Iterator[str]:
    """Yield a warning for each run that lacks the connection of the waterfall."""
    for finished in replications.runs:
        number = finished.waterfall_connection() if WATERFALL in finished.series_kinds() else None
        if number is not None and (warning := finished.lacks_connection(number)) is not None:
            yield warning


def _report_missed_precision(precision: Precision, replications: Replications) -> int:
    """Report that the precision was not reached. Returns the exit status."""
    half_width = precision.relative_half_width(replications.values(precision.metric))
    description = "has no interval" if half_width is None else f"is within {100 * half_width:.3g} %"
    print(
        f"umts: precision not reached: {precision.metric} {description} after {len(replications.finished)} "
        f"runs (requested: {100 * precision.relative:.3g} %)",
        file=sys.stderr,
    )
    return FAILED

"""``umts run``: a scenario, once or several times."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import (
    add_all,
    add_budget,
    add_flag,
    add_jobs,
    add_json,
    add_out,
    add_quiet,
    add_seed,
    add_set,
    add_value,
    checked_seed,
    overrides,
    relative_precision,
    workers,
)
from umtslab.cli.parser import whole_number
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

if TYPE_CHECKING:
    from umtslab.cli.parser import Options, Parser


def options(parser: Parser) -> None:
    """What can be typed behind ``umts run``."""
    parser.explain(
        "Ctrl-C keeps the runs that are finished. Exit status: 0 done, 1 a run failed or the precision was "
        "missed, 2 wrong usage or input."
    )
    parser.add_argument("scenario", type=Path, metavar="SCENARIO", help="A scenario file (TOML).")
    _what_is_run(parser.add_argument_group("what is run"))
    recorded = parser.add_argument_group("what is recorded")
    add_flag(recorded, "--series", "Record time series, which `umts plot` draws.")
    add_flag(
        recorded,
        "--pcap",
        "Write captures (pcapng): IP packets at server, RNC and UE, and RLC PDUs in both directions.",
    )
    add_budget(recorded)
    recorded.add_argument(
        "--waterfall",
        type=whole_number,
        metavar="N",
        help="Number of a connection of the run, from 0: record its segments, PDUs and states, for a figure "
        "with one time axis; implies --budget and --series.",
    )
    results = parser.add_argument_group("results")
    add_out(results)
    add_flag(
        results,
        "--resume",
        "Take runs that are there already from the results instead of running them again.",
    )
    add_all(results)
    add_json(results)
    add_quiet(results)


def _what_is_run(group: Options) -> None:
    add_set(group)
    add_value(group, "--duration", "TIME", 'Simulated time, as in "1500 s".')
    add_seed(group)
    group.add_argument("--runs", type=whole_number, metavar="N", help="Number of replications (default: 1).")
    add_value(
        group,
        "--precision",
        "SHARE",
        "Run until the half width of the 95 % interval is within this share of the mean, as in 5% or 0.05: "
        f"at least {Precision.least} runs, at most {Precision.most}.",
    )
    group.add_argument(
        "--metric",
        metavar="NAME",
        default=Precision.metric,
        help=f"What has to be that precise (default: {Precision.metric}).",
    )
    group.add_argument(
        "--first-run",
        type=whole_number,
        metavar="N",
        default=0,
        help="Number of the first replication (default: 0).",
    )
    add_jobs(group)


def run(
    scenario: Path,
    *,
    changes: Sequence[str],
    duration: str | None,
    seed: int | None,
    runs: int | None,
    precision: str | None,
    metric: str,
    first_run: int,
    jobs: int | None,
    series: bool,
    pcap: bool,
    budget: bool,
    waterfall: int | None,
    out: Path,
    resume: bool,
    show_all: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Run a scenario and print what came of it; arguments as `options` declares them."""
    check_purpose(scenario, "run")
    wanted = _wanted_precision(runs, precision, metric)
    count = 1 if runs is None else runs
    if count < 1 or first_run < 0:
        raise UsageError("--runs takes a number of at least 1, --first-run one of at least 0")
    threads = workers(jobs, count if wanted is None else wanted.most)
    settings = overrides(changes) + ((("duration", duration),) if duration is not None else ())
    if waterfall is not None:
        settings += (("measure.waterfall", str(waterfall)),)
        budget = series = True
    settings += (("measure.budget", "true"),) if budget else ()
    loaded = Scenario.load(scenario, settings)
    typed_seed = checked_seed(seed)
    chosen_seed = loaded.seed if typed_seed is None else typed_seed
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
    return _report(plan, wanted, show_all=show_all, as_json=json, quiet=quiet)


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
        kept = f"{len(runs)} finished runs are kept in {plan.store.path}"
        print(f"umts: interrupted; {kept}; the same command with --resume goes on", file=sys.stderr)
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

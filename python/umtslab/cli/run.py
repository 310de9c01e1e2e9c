"""``umts run``: a scenario, once or several times."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import (
    METRIC,
    add_all,
    add_allow_code,
    add_budget,
    add_flag,
    add_jobs,
    add_json,
    add_out,
    add_quiet,
    add_seed,
    add_set,
    add_timeline,
    add_value,
    checked_seed,
    overrides,
    relative_precision,
    workers,
)
from umtslab.cli.parser import whole_number

if TYPE_CHECKING:
    from umtslab.cli.parser import Options, Parser
    from umtslab.precision import Precision
    from umtslab.scenario import Scenario


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts run``."""
    parser.explain(
        "Ctrl-C keeps the finished runs. Exit status: 0 done; 1 a run failed or the precision was "
        "not reached; 2 wrong usage or input."
    )
    parser.add_argument(
        "scenario",
        type=Path,
        metavar="SCENARIO",
        help="A scenario file (TOML), or the name of a shipped one such as ftp-on-fach.",
    )
    _runs_group(parser.add_argument_group("runs"))
    recorded = parser.add_argument_group("recording")
    add_flag(recorded, "--series", "Record time series for `umts plot`.")
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
        help=(
            "Record the segments, PDUs and states of this connection (its number, from 0) for a "
            "figure with one time axis; implies --budget and --series."
        ),
    )
    add_timeline(recorded)
    results = parser.add_argument_group("results")
    add_out(results)
    add_flag(
        results,
        "--resume",
        "Use runs that the results folder has instead of running them again.",
    )
    add_all(results)
    add_json(results)
    add_quiet(results)


def _runs_group(group: Options) -> None:
    add_set(group)
    add_value(group, "--duration", "TIME", 'Simulated time, for example "1500 s".')
    add_seed(group)
    group.add_argument("--runs", type=whole_number, metavar="N", help="Number of replications (default: 1).")
    add_value(
        group,
        "--precision",
        "SHARE",
        "Add runs until the half width of the 95 % interval is within this share of the mean, for "
        "example 5% or 0.05: at least 5 runs, at most 200.",
    )
    group.add_argument(
        "--metric",
        metavar="NAME",
        default=METRIC,
        help=f"Metric of the precision (default: {METRIC}).",
    )
    group.add_argument(
        "--first-run",
        type=whole_number,
        metavar="N",
        default=0,
        help="Number of the first replication (default: 0).",
    )
    add_jobs(group)
    add_allow_code(group)


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
    allow_code: bool,
    series: bool,
    pcap: bool,
    budget: bool,
    waterfall: int | None,
    timeline: bool,
    out: Path,
    resume: bool,
    show_all: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Run a scenario and print the results. `options` declares the arguments."""
    from umtslab.task import MAX_RUNS

    required_precision = _required_precision(runs, precision, metric)
    count = 1 if runs is None else runs
    if count < 1 or first_run < 0:
        raise UsageError("--runs must be at least 1 and --first-run at least 0")
    max_runs = count if required_precision is None else required_precision.most
    if first_run + max_runs > MAX_RUNS:
        raise UsageError(
            f"--first-run {first_run} is too high for {max_runs} {'run' if max_runs == 1 else 'runs'}: "
            "numbers of runs end at 2^63 - 1"
        )
    threads = workers(jobs, max_runs)
    settings = overrides(changes) + ((("duration", duration),) if duration is not None else ())
    if waterfall is not None:
        settings += (("measure.waterfall", str(waterfall)),)
        budget = series = True
    if timeline:
        settings += (("measure.timeline", "true"),)
        budget = series = True
    settings += (("measure.budget", "true"),) if budget else ()
    loaded = _loaded(scenario, settings, allow_code=allow_code)
    given_seed = checked_seed(seed)
    chosen_seed = loaded.seed if given_seed is None else given_seed
    if not quiet:
        for warning in loaded.warnings:
            print(f"warning: {warning}", file=sys.stderr)

    # Imported here, because errors in the arguments are reported sooner without these modules.
    from umtslab.cli.progress import ProgressBar
    from umtslab.cli.replications import Replications, collect_on_interrupt, report
    from umtslab.cli.results import open_results

    with open_results(out) as store, ProgressBar(loaded.name, quiet=quiet) as bar:
        replications = Replications(
            loaded,
            seed=chosen_seed,
            first_run=first_run,
            series=series,
            pcap=pcap,
            resume=resume,
            threads=threads,
            store=store,
            bar=bar,
        )
        with collect_on_interrupt(replications):
            if required_precision is None:
                replications.run_up_to(count)
            else:
                replications.run_until(required_precision)
    return report(replications, required_precision, show_all=show_all, as_json=json, quiet=quiet)


def _loaded(path: Path, settings: Sequence[tuple[str, str]], *, allow_code: bool) -> Scenario:
    """Load the scenario. If it is a file for another verb, the error names that verb."""
    from umtslab._core import ScenarioError
    from umtslab.scenario import Scenario, refuse_code

    try:
        loaded = Scenario.load(path, settings)
    except ScenarioError:
        from umtslab.cli.purposes import check_purpose

        check_purpose(path, "run")
        raise
    if not allow_code:
        refuse_code(loaded)
    return loaded


def _required_precision(runs: int | None, precision: str | None, metric: str) -> Precision | None:
    """Return the precision that the options require; None without ``--precision``."""
    if precision is None:
        return None
    from umtslab.metrics import units, unknown_metric_text
    from umtslab.precision import Precision

    if runs is not None:
        raise UsageError("--runs and --precision exclude each other: give one of them")
    if metric not in units():
        raise UsageError(unknown_metric_text(metric))
    return Precision(relative_precision(precision), metric)

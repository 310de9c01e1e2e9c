"""``umts sweep``: runs the missing runs of a campaign."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.failures import UsageError
from umtslab.cli.options import (
    add_allow_code,
    add_dask,
    add_flag,
    add_jobs,
    add_json,
    add_out,
    add_quiet,
    add_seed,
    add_set,
    add_value,
    add_values,
    checked_seed,
    overrides,
    relative_precision,
)
from umtslab.cli.parser import whole_number
from umtslab.exit_status import FAILED, INTERRUPTED

if TYPE_CHECKING:
    from umtslab.campaign.file import Campaign
    from umtslab.campaign.record import Record
    from umtslab.campaign.study import Study
    from umtslab.cli.parser import Options, Parser
    from umtslab.store import Store


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts sweep``."""
    parser.explain(
        "Run k of every point has the same radio conditions, so points can be compared in pairs.",
        "Ctrl-C and kill keep the finished runs; the same command continues. Exit status: 0 done; 1 "
        "a run failed or a precision was not reached; 2 wrong usage or input.",
    )
    parser.add_argument(
        "campaign",
        type=Path,
        metavar="CAMPAIGN",
        help="A campaign file, or a scenario file to vary with -P (TOML).",
    )
    _points(parser.add_argument_group("runs"))
    results = parser.add_argument_group("results")
    add_out(results)
    add_value(
        results,
        "--name",
        "NAME",
        "Name of the campaign in the results folder (default: the campaign's name, or a name made of "
        "the varied keys). A name belongs to one plan: more values and runs can be added, another "
        "plan with the same name is refused.",
    )
    add_flag(results, "--series", "Record time series.")
    add_flag(
        results,
        "--plan",
        "List the points and the number of their missing runs, and run nothing. Of more than 2,000 "
        "points the first 100 are listed.",
    )
    add_flag(results, "--report", "At the end, write a page with figures and tables as `umts report` does.")
    add_json(results)
    add_quiet(results)


def _points(group: Options) -> None:
    group.add_argument(
        "--parameter",
        "-P",
        metavar="KEY=VALUE,VALUE,…",
        action="append",
        default=[],
        help=(
            "Values of a scenario key, also FIRST:LAST:STEP, lin(FIRST,LAST,COUNT) or "
            "log(FIRST,LAST,COUNT); may be repeated."
        ),
    )
    add_value(
        group,
        "--where",
        "CONDITION",
        "Only points that fulfil this condition over varied keys, besides the condition of the campaign: "
        "\"radio.bler < 0.1 and tcp.variant == 'reno'\".",
    )
    add_set(group, "the key must not be varied")
    add_seed(group, "the seed of the campaign, otherwise of the scenario")
    group.add_argument(
        "--runs",
        type=whole_number,
        metavar="N",
        help="Replications of each point (default: from the campaign).",
    )
    add_value(
        group,
        "--precision",
        "SHARE",
        "Add runs to each point until the half width of the 95 % interval is within this share of "
        "the mean, for example 5% or 0.05.",
    )
    add_values(
        group,
        "--metric",
        "NAME",
        "Metric to show, and metric of the precision; may be repeated (default: from the campaign; "
        "otherwise the time of a page, transfer or file; otherwise goodput_kbps).",
    )
    add_jobs(group)
    add_dask(group)
    add_allow_code(group)


def sweep(
    campaign: Path,
    *,
    parameter: Sequence[str],
    where: str | None,
    changes: Sequence[str],
    seed: int | None,
    runs: int | None,
    precision: str | None,
    metric: Sequence[str],
    jobs: int | None,
    dask: str | None,
    allow_code: bool,
    out: Path,
    name: str | None,
    series: bool,
    plan: bool,
    report: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Run the missing runs of a campaign and print its points. `options` declares the arguments."""
    from dataclasses import replace

    from umtslab.campaign.study import Study
    from umtslab.cli.progress import ProgressBar
    from umtslab.cli.purposes import check_purpose
    from umtslab.cli.results import open_results
    from umtslab.cli.worker_options import chosen_workers

    check_purpose(campaign, "sweep", "run")
    chosen = _campaign(
        campaign,
        parameter,
        where,
        changes,
        seed,
        runs,
        precision,
        metric,
        series=series,
        allow_code=allow_code,
    )
    if name is not None:
        chosen = replace(chosen, name=_checked_name(name), named=True)
    if plan:
        return _show_plan(chosen, out, as_json=json)
    study = Study(chosen)
    with (
        chosen_workers(jobs, dask) as workers,
        open_results(out) as store,
        ProgressBar(study.campaign.name, quiet=quiet) as bar,
    ):
        study.choose_name(store)
        study.check_name(store)
        with _collect_on_interrupt(study, store) as stopped:
            study.run(store, workers, bar.watch, bar.expect)
        merged = study.keep(store)
        if report:
            from umtslab.cli.report import write_report

            print(f"report: {write_report(merged, store, metric)}", file=sys.stderr)
        return _report(
            study,
            merged,
            store,
            metrics=metric or _default_metrics(chosen, study.record()),
            as_json=json,
            quiet=quiet,
            interrupted=bool(stopped),
        )


def _campaign(
    path: Path,
    parameter: Sequence[str],
    where: str | None,
    changes: Sequence[str],
    seed: int | None,
    runs: int | None,
    precision: str | None,
    metric: Sequence[str],
    *,
    series: bool,
    allow_code: bool,
) -> Campaign:
    """Load the campaign and apply the options of the command line."""
    from dataclasses import replace

    from umtslab.campaign.file import load_campaign
    from umtslab.metrics import units, unknown_metric_text
    from umtslab.precision import Precision

    for name in metric:
        if name not in units():
            raise UsageError(unknown_metric_text(name))
    loaded = load_campaign(path)
    chosen = loaded.with_parameters(_parameters(parameter)).with_settings(overrides(changes))
    if where is not None:
        chosen = chosen.with_condition(where)
    # The user may name code with --set. After both are merged, an override of the file cannot be
    # distinguished from one of --set. So no override may name code if the file has one that does.
    file_names_code = any(key.endswith("python") for key in (*loaded.settings, *loaded.axes))
    chosen = replace(chosen, allow_code=allow_code, allow_typed_code=not file_names_code)
    if runs is not None and precision is not None:
        raise UsageError("--runs and --precision exclude each other: give one of them")
    if runs is not None:
        if runs < 1:
            raise UsageError(f"--runs must be at least 1 (got {runs})")
        chosen = replace(chosen, runs=runs, precision=None)
    if precision is not None:
        base = chosen.precision or Precision(0.05)
        first_metric = metric[0] if metric else base.metric
        required = replace(base, relative=relative_precision(precision), metric=first_metric)
        chosen = replace(chosen, precision=required)
    if seed is not None:
        chosen = replace(chosen, seed=checked_seed(seed))
    return replace(chosen, series=chosen.series or series)


def _checked_name(name: str) -> str:
    if not name or name.startswith(".") or set(name) & {"/", "@", "\0"}:
        raise UsageError(f"--name takes a file name without / and @, not {name!r}")
    return name


def _parameters(texts: Sequence[str]) -> dict[str, list[str | int | float | bool]]:
    """Return the values of ``-P`` by scenario key."""
    from umtslab.cli.values import listed

    values_by_key: dict[str, list[str | int | float | bool]] = {}
    for parameter in texts:
        key, equals, value_list = parameter.partition("=")
        try:
            values = listed(value_list)
        except UsageError as error:
            raise UsageError(f"-P {key.strip()}: {error}") from None
        if not equals or not key.strip() or not all(values):
            raise UsageError(
                "-P takes KEY=VALUE,VALUE or KEY=FIRST:LAST:STEP, for example -P "
                f"radio.bler=0.01,0.1, not {parameter!r}"
            )
        if key.strip() == "seed":
            raise UsageError("the seed cannot be varied: use --runs for replications")
        values_by_key[key.strip()] = list(values)
    return values_by_key


def _default_metrics(campaign: Campaign, record: Record) -> tuple[str, ...]:
    """Return the metrics to print if no option names any."""
    if campaign.metrics or campaign.precision is None:
        return record.shown_metrics
    return (campaign.precision.metric,)


@contextmanager
def _collect_on_interrupt(study: Study, store: Store) -> Iterator[list[bool]]:
    """Collect the stored runs after Ctrl-C.

    Yields a list, to which True is added on Ctrl-C. So the caller knows of it after the block.
    """
    stopped: list[bool] = []
    try:
        yield stopped
    except KeyboardInterrupt:
        stopped.append(True)
        study.collect(store)


def _show_plan(campaign: Campaign, out: Path, *, as_json: bool) -> int:
    """Print the points with their missing runs. Returns the exit status."""
    from umtslab.campaign.plan import plan
    from umtslab.cli import sweep_report
    from umtslab.cli.results import read_results
    from umtslab.store.reader import is_store

    if is_store(out):
        with read_results(out) as reader:
            campaign_plan = plan(campaign, reader)
    else:
        campaign_plan = plan(campaign, None)
    sweep_report.print_plan(campaign_plan, as_json=as_json)
    return 0


def _report(
    study: Study,
    merged: Record,
    store: Store,
    metrics: Sequence[str],
    *,
    as_json: bool,
    quiet: bool,
    interrupted: bool,
) -> int:
    """Print the points of this sweep, and remarks on its runs. Returns the exit status.

    `merged` is the campaign in the store, which may have more points and runs.
    """
    from umtslab.cli import sweep_report

    record = study.record()
    if as_json:
        sweep_report.print_json(record, study)
    else:
        sweep_report.print_table(record, metrics)
    total = sum(len(cell.runs) for cell in record.cells)
    if not quiet:
        if study.taken:
            print(f"{study.taken} of these runs were already stored", file=sys.stderr)
        if (more := sum(len(cell.runs) for cell in merged.cells)) > total:
            print(
                f"{merged.name} now has {more} runs at {len(merged.cells)} points, including these",
                file=sys.stderr,
            )
        if not as_json:
            sweep_report.print_next_steps(record, store.path, metrics[0])
    if interrupted:
        print(
            f"umts: interrupted; {total} finished runs are stored in {store.path}, the same command "
            "continues",
            file=sys.stderr,
        )
        return INTERRUPTED
    missed = study.missed()
    for cell in missed:
        print(f"umts: precision not reached after {len(cell.runs)} runs at {cell.label}", file=sys.stderr)
    return FAILED if missed else 0

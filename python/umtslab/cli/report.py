"""``umts report``: an HTML page of a campaign, a study or a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.campaigns import opened_campaign
from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_flag, add_out, add_output, add_values
from umtslab.cli.studies import find_study

if TYPE_CHECKING:
    from umtslab.campaign.record import Record
    from umtslab.cli.parser import Parser
    from umtslab.run import Run
    from umtslab.store import StoreReader
    from umtslab.studies.optimise import Outcome
    from umtslab.studies.sensitivity import Findings


def options(parser: Parser) -> None:
    """Declare the arguments of ``umts report``."""
    parser.explain(
        "The page needs no other files and has a figure and a table for each metric, with 95 % intervals."
    )
    parser.add_argument(
        "campaign",
        metavar="CAMPAIGN",
        help="A campaign in --out, or some of its points (NAME@KEY=VALUE,…); a study in --out; or a run: its "
        "folder, its key, or the name of a scenario.",
    )
    shown = parser.add_argument_group("content")
    add_values(
        shown,
        "--metric",
        "NAME",
        "Metric to show; may be repeated (default: goodput, round-trip time, repetitions, timeouts).",
    )
    shown.add_argument(
        "--over",
        "--x",
        metavar="KEY",
        help="Parameter on the horizontal axes (default: the first numeric one).",
    )
    add_flag(shown, "--log", "Logarithmic horizontal axes.")
    files = parser.add_argument_group("files")
    add_output(files, "File to write (default: NAME.html in the subfolder reports of the results folder).")
    add_out(files, "Results folder")


def report(
    campaign: str, *, metric: Sequence[str], over: str | None, log: bool, output: Path | None, out: Path
) -> int:
    """Write the page of a campaign or a study. `options` declares the arguments."""
    with opened_campaign(campaign, out) as opened:
        if opened is not None:
            record, store = opened
            print(write_report(record, store, metric, output, over, log=log))
            return 0
    study = find_study(campaign, out)
    runs = [] if study is not None else _runs(campaign, out)
    if metric or over is not None or log:
        kind = "study" if study is not None else "run"
        raise UsageError(f"--metric, --over and --log apply to campaigns, and {campaign} is a {kind}")
    print(_write_study(study, output, out) if study is not None else _write_run(runs, output, out))
    return 0


def _runs(name: str, out: Path) -> list[Run]:
    """Return the runs of a result, or say what else the name could be."""
    from umtslab.cli.results import find_runs
    from umtslab.store.reader import NoSuchName

    try:
        return find_runs(name, out)
    except NoSuchName:
        made = "`umts sweep`, `umts optimise`, `umts sensitivity` and `umts run` create them"
        raise UsageError(f"{out} has no campaign {name!r}, nor a study or run of this name; {made}") from None


def _write_run(runs: Sequence[Run], output: Path | None, out: Path) -> Path:
    """Write the page of the first run. It also shows the intervals over all replications."""
    from umtslab.cli.results import read_results
    from umtslab.page import write
    from umtslab.page.run import html
    from umtslab.store.reader import is_store

    run = runs[0]
    replications = list(runs)
    if len(runs) == 1 and is_store(out):
        with read_results(out) as store:
            runs_of_result = store.runs(run.identity.result)
        replications = [other for other in runs_of_result if other.seed == run.seed] or replications
    path = output or out / "reports" / f"{run.scenario}-{run.key[:12]}.html"
    return write(path, html(run, replications))


def _write_study(study: Outcome | Findings, output: Path | None, out: Path) -> Path:
    from umtslab.cli.results import read_results
    from umtslab.page import write
    from umtslab.page.study import html

    path = output or out / "reports" / f"{study.study.frame.name}.html"
    with read_results(out) as store:
        return write(path, html(study, store))


def write_report(
    record: Record,
    store: StoreReader,
    metrics: Sequence[str] = (),
    output: Path | None = None,
    over: str | None = None,
    *,
    log: bool = False,
) -> Path:
    """Write the page of a campaign, by default into the store. Returns the file."""
    from umtslab.metrics import units, unknown_metric_text
    from umtslab.page import write
    from umtslab.page.campaign import html

    for name in metrics:
        if name not in units():
            raise UsageError(unknown_metric_text(name))
    path = output or store.path / "reports" / f"{record.name}.html"
    return write(path, html(record, store, metrics, over, log=log))

"""``umts report``: an HTML page of a campaign or a study."""

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
        help="A campaign in --out, or some of its points (NAME@KEY=VALUE,…); or a study in --out.",
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
    with opened_campaign(campaign, out) as found:
        if found is not None:
            record, store = found
            print(write_report(record, store, metric, output, over, log=log))
            return 0
    study = find_study(campaign, out)
    if study is None:
        hint = "`umts sweep`, `umts optimise` and `umts sensitivity` create them"
        raise UsageError(f"{out} has no campaign or study {campaign!r}; {hint}")
    if metric or over is not None or log:
        raise UsageError(f"--metric, --over and --log apply to campaigns, and {campaign} is a study")
    print(_write_study(study, output, out))
    return 0


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

"""``umts report``: a campaign as one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from umtslab.cli.campaigns import opened_campaign
from umtslab.cli.failures import UsageError
from umtslab.cli.options import add_flag, add_out, add_output, add_values

if TYPE_CHECKING:
    from umtslab.campaign.record import Record
    from umtslab.cli.parser import Parser
    from umtslab.store import StoreReader


def options(parser: Parser) -> None:
    """What can be typed behind ``umts report``."""
    parser.explain(
        "The page opens offline and has a figure and a table for each metric, with 95 % intervals."
    )
    parser.add_argument(
        "campaign",
        metavar="CAMPAIGN",
        help="A campaign in --out, or some of its points: NAME@KEY=VALUE,….",
    )
    shown = parser.add_argument_group("what it shows")
    add_values(
        shown,
        "--metric",
        "NAME",
        "May be repeated (default: goodput, round-trip time, repetitions, timeouts).",
    )
    shown.add_argument(
        "--over",
        "--x",
        metavar="KEY",
        help="The parameter on the horizontal axes (default: the first that is a number).",
    )
    add_flag(shown, "--log", "Logarithmic horizontal axes.")
    files = parser.add_argument_group("files")
    add_output(files, "The page (default: NAME.html in the folder reports of the results).")
    add_out(files, "The results folder")


def report(
    campaign: str, *, metric: Sequence[str], over: str | None, log: bool, output: Path | None, out: Path
) -> int:
    """Write the page of a campaign; arguments as `options` declares them."""
    with opened_campaign(campaign, out) as found:
        if found is None:
            raise UsageError(f"{out} has no campaign {campaign!r}; `umts sweep` makes one")
        record, store = found
        print(write_report(record, store, metric, output, over, log=log))
    return 0


def write_report(
    record: Record,
    store: StoreReader,
    metrics: Sequence[str] = (),
    output: Path | None = None,
    over: str | None = None,
    *,
    log: bool = False,
) -> Path:
    """Write the page of a campaign, into its store if no file is named."""
    from umtslab.metrics import units, unknown
    from umtslab.page import write
    from umtslab.page.campaign import html

    for name in metrics:
        if name not in units():
            raise UsageError(unknown(name))
    path = output or store.path / "reports" / f"{record.name}.html"
    return write(path, html(record, store, metrics, over, log=log))

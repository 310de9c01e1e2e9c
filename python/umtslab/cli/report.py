"""``umts report``: a campaign as one page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from umtslab.cli.campaigns import opened_campaign
from umtslab.cli.failures import UsageError
from umtslab.cli.options import RESULTS, Out

if TYPE_CHECKING:
    from umtslab.campaign.record import Record
    from umtslab.store import StoreReader


def report(
    campaign: str,
    /,
    *,
    metric: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    over: Annotated[str | None, Parameter(name=["--over", "--x"])] = None,
    log: bool = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    out: Out = RESULTS,
) -> int:
    """Write a campaign as one page of HTML that opens offline.

    It has a figure and a table for each metric, with 95 % intervals, and the command that makes each point
    again.

    Parameters
    ----------
    campaign
        A campaign in `--out`, or some of its points: NAME@KEY=VALUE,….
    metric
        What to show; may be repeated (default: goodput, round-trip time, repetitions, timeouts).
    over
        The parameter on the horizontal axes (default: the first that is a number).
    log
        Logarithmic horizontal axes.
    output
        The page (default: NAME.html in the folder reports of the results).
    out
        The results folder.
    """
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

"""A campaign as one HTML page of ``umts report``: figures, tables, and commands to repeat the runs.

A campaign runs a scenario at many points. A point (a `Cell`) is one combination of the values of the
varied parameters (`Record.axes`) and has several runs. Each metric is shown with the mean and the
95 % interval of a point's runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from umtslab.analyse.statistics import Summary, summarise
from umtslab.budget import has_budget
from umtslab.campaign.errors import CampaignError
from umtslab.campaign.record import Cell, Record
from umtslab.headline_metrics import TIMES, headline_names, scope_of
from umtslab.labels import key_label, metric_with_unit, value_label
from umtslab.metrics import definitions
from umtslab.numbers import estimate, number
from umtslab.overrides import changes_text
from umtslab.page import data_url, render

if TYPE_CHECKING:
    from umtslab.store import StoreReader

_DEFAULT_METRICS = (*TIMES, "goodput_kbps", "mean_rtt_s", "tcp_retransmissions", "rto_count")
"""Default metrics. If no run measured any of them, the first headline metrics are used."""

_MAX_DEFAULT_METRICS = 4
"""Maximum number of default metrics."""


def html(
    record: Record,
    store: StoreReader,
    metrics: Sequence[str] = (),
    over: str | None = None,
    *,
    log: bool = False,
) -> str:
    """Return the page.

    Parameters
    ----------
    record : Record
        The campaign.
    store : StoreReader
        Store of its runs, which has their commands.
    metrics : sequence of str
        Metrics to draw and list; by default the metrics of the campaign's file, or up to four headline
        metrics.
    over : str, optional
        The parameter of the horizontal axes; by default the first varied parameter with numbers as
        values.
    log : bool
        Whether the horizontal axes are logarithmic.

    Raises
    ------
    CampaignError
        If the campaign has no run, does not vary `over`, or no run measured one of `metrics`.
    """
    runs = [run for cell in record.cells for run in cell.runs]
    if not runs:
        raise CampaignError(f"{record.name} has no runs yet")
    return render(
        "campaign.html",
        name=record.name,
        title=record.title or record.name,
        changes=changes_text(record.changes),
        versions=list(dict.fromkeys(str(run.identity.code) for run in runs)),
        axes=[key_label(key) for key in record.axes],
        seed=record.seed,
        runs=len(runs),
        empty=sum(not cell.runs for cell in record.cells),
        points=[
            {"at": _values(record, cell), "runs": len(cell.runs), "commands": commands(cell, store)}
            for cell in record.cells
        ],
        sections=list(_sections(record, metrics or _metrics_to_show(record), over, log=log)),
    )


def commands(cell: Cell, store: StoreReader) -> list[str]:
    """Return commands that repeat a point's runs: one if run numbers are consecutive, else one per run."""
    if not cell.runs:
        return []
    first = cell.runs[0].run
    if [run.run for run in cell.runs] == list(range(first, first + len(cell.runs))):
        return [f"{store.command(cell.runs[0])} --runs {len(cell.runs)}"]
    return [store.command(run) for run in cell.runs]


def _metrics_to_show(record: Record) -> list[str]:
    """Return the metrics to show: the metrics of the campaign's file, or default metrics with a value."""
    if record.metrics:
        return list(record.metrics)
    means = [run.metrics for cell in record.cells for run in cell.runs]
    # Restricted to a few metrics, because a metric that no run has is searched for in thousands of
    # runs.
    return (headline_names(*means, among=_DEFAULT_METRICS) or headline_names(*means))[:_MAX_DEFAULT_METRICS]


def _sections(
    record: Record, metrics: Sequence[str], over: str | None, *, log: bool
) -> Iterator[dict[str, Any]]:
    """Yield a section for each metric: its figure, and a table with a row per point."""
    from umtslab.plot.campaign import draw_campaign

    meanings = {entry["name"]: entry["meaning"] for entry in definitions()}
    for metric in metrics:
        yield {
            "anchor": metric,
            "title": metric_with_unit(metric),
            "text": " ".join(
                filter(None, [f"{metric}: {meanings.get(metric, '')}", _scope_sentence(metric)])
            ),
            "picture": data_url(draw_campaign(record, metric, over, log=log)),
            "rows": [_row(record, cell, summarise(cell.values(metric))) for cell in record.cells],
        }
    if any(has_budget(run.metrics) for cell in record.cells for run in cell.runs):
        yield from _budget(record, over)


def _budget(record: Record, over: str | None) -> Iterator[dict[str, Any]]:
    from umtslab.plot.budget import draw_budget

    try:
        picture = data_url(draw_budget(record, over), in_pixels=True)
    except CampaignError:
        return  # too many combinations for one figure: `umts plot NAME@KEY=VALUE budget` draws some
    text = "Mean time of a connection by cause; whiskers: 95 % interval of the total."
    yield {"anchor": "budget", "title": "Time budget", "text": text, "picture": picture, "rows": ()}


def _row(record: Record, cell: Cell, summary: Summary) -> dict[str, Any]:
    """Return a point's row of the table: parameters, number of runs, mean, interval, standard deviation."""
    # `ci95` is half the length of the 95 % interval.
    mean, half = summary.mean, summary.ci95
    low, high = (None, None) if mean is None or half is None else (mean - half, mean + half)
    mean_text, half_text = estimate(mean, half, summary.n)
    # The ends have as many digits as the mean.
    low_text, _ = estimate(low, half)
    high_text, _ = estimate(high, half)
    return {
        "at": _values(record, cell),
        "n": summary.n,
        "mean": mean_text,
        "half": half_text,
        "low": low_text,
        "high": high_text,
        "sd": number(summary.sd, 3),
    }


def _values(record: Record, cell: Cell) -> list[str]:
    return [value_label(cell.parameters.get(key, "")) for key in record.axes]


def _scope_sentence(metric: str) -> str:
    """Say as a sentence which part of a run the metric covers, as in "Here: all connections."."""
    scope = scope_of(metric)
    return f"Here: {scope}." if scope else ""

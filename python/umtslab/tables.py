"""Tables of metrics and connections, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from umtslab.analyse.statistics import Summary
from umtslab.headline_metrics import headline_names, scope_of
from umtslab.metrics import units
from umtslab.numbers import estimate, number
from umtslab.text_table import Table

_CONNECTION_METRICS = (
    "goodput_active_kbps",
    "mean_rtt_s",
    "tcp_retransmissions",
    "rto_count",
    "download_time_s",
)


def metrics_table(summaries: Mapping[str, Summary], *, show_all: bool = False) -> Table:
    """Return a table of the metrics with a value. For several runs it also has intervals.

    By default only the headline metrics are shown.
    """
    means = {name: summary.mean for name, summary in summaries.items()}
    names = (
        sorted(name for name, mean in means.items() if mean is not None)
        if show_all
        else headline_names(means)
    )
    unit_of = units()
    has_several_runs = max((summary.n for summary in summaries.values()), default=0) > 1
    columns = (">mean", ">± 95 %", ">n") if has_several_runs else (">value",)
    table = Table("metric", *columns, "unit", "scope")
    for name in names:
        summary = summaries[name]
        mean, half_width = estimate(summary.mean, summary.ci95, summary.n)
        values = (mean, half_width, str(summary.n)) if has_several_runs else (number(summary.mean),)
        table.add_row(name, *values, unit_of.get(name, ""), scope_of(name))
    return table


def connections_table(connections: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row per connection, ordered by number, with a selection of metrics."""
    names = [name for name in _CONNECTION_METRICS if any(row.get(name) is not None for row in connections)]
    unit_of = units()
    headings = [f">{name} ({unit_of[name]})" if unit_of.get(name) else f">{name}" for name in names]
    # A column `leg` only if a proxy splits connections, so that some cover a part of the path.
    legs = ["leg"] if any(row.get("leg", "whole") != "whole" for row in connections) else []
    table = Table(">connection", *legs, ">ue", *headings)
    for row in sorted(connections, key=lambda row: int(row["connection"])):
        identity = [str(row[name]) for name in ("connection", *legs, "ue")]
        table.add_row(*identity, *(number(row[name]) for name in names))
    return table

"""Tables that several verbs print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from umtslab.analyse.statistics import Summary
from umtslab.labels import cause_label
from umtslab.numbers import estimate, number
from umtslab.text_table import Table, show


def budget_table(summaries: Mapping[str, Summary]) -> Table:
    """Return the time of all connections by cause, including both sides of a proxy.

    Causes without time are left out. The parts of `rto_needed`, by place and reason of the loss,
    follow it.
    """
    from umtslab.budget import causes, needed_rto_parts, seconds

    max_runs = max((summary.n for summary in summaries.values()), default=0)
    table = Table("time budget", ">s", *([">± 95 %"] if max_runs > 1 else []), ">%")
    for cause in (*causes(), "total"):
        time = summaries[seconds(cause)]
        if not time.mean:
            continue
        share = summaries.get(f"budget_{cause}_pct")
        mean, half_width = estimate(time.mean, time.ci95, time.n)
        table.add_row(
            cause_label(cause),
            *((mean, half_width) if max_runs > 1 else (number(time.mean),)),
            "100" if share is None else number(share.mean, 3),
        )
        for name, label in needed_rto_parts() if cause == "rto_needed" else ():
            part = summaries.get(name)
            if part is not None and part.mean:
                mean, half_width = estimate(part.mean, part.ci95)
                spent = (mean, half_width) if max_runs > 1 else (number(part.mean),)
                table.add_row(f"  {label}", *spent, "")
    return table


def show_budget(summaries: Mapping[str, Summary], stream: TextIO | None = None) -> None:
    """Print the table of causes, or that there was no connection."""
    if (table := budget_table(summaries)).rows:
        show(table, stream)
    else:
        print("no connection was open, so no time has a cause", file=stream)


def timeouts_table(summaries: Mapping[str, Summary]) -> Table | None:
    """Count the retransmission timeouts of both ends by reason. None if no timer expired.

    The metric ``rto_count`` counts only the timeouts of the sender of the data.
    """
    from umtslab.budget import timeout_counts

    counts = [(label, summaries[name]) for name, label in timeout_counts() if name in summaries]
    max_runs = max((count.n for _, count in counts), default=0)
    table = Table("timeouts of both ends, by reason", ">number", *([">± 95 %"] if max_runs > 1 else []))
    for label, count in counts:
        if count.mean:
            mean, half_width = estimate(count.mean, count.ci95)
            table.add_row(label, *((mean, half_width) if max_runs > 1 else (number(count.mean),)))
    return table if table.rows else None


def transfers_table(summaries: Mapping[str, Summary]) -> Table | None:
    """Return the waiting time of split transfers by cause (proxy and legs), or None."""
    from umtslab.budget import TRANSFERS_TOTAL, transfer_parts

    total = summaries.get(TRANSFERS_TOTAL)
    if total is None or not total.mean:
        return None
    table = Table("time budget of transfers", ">s", *([">± 95 %"] if total.n > 1 else []), ">%")
    for name, label in (*transfer_parts(), (TRANSFERS_TOTAL, "total")):
        time = summaries[name]
        if time.mean:
            mean, half_width = estimate(time.mean, time.ci95, time.n)
            spent = (mean, half_width) if total.n > 1 else (number(time.mean),)
            table.add_row(label, *spent, number(100 * time.mean / total.mean, 3))
    return table


def rows_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """Return rows of text with their keys as headings. Empty columns are left out."""
    columns = [key for key in rows[0] if any(row[key] for row in rows)]
    table = Table(*columns)
    for row in rows:
        table.add_row(*(row[key] for key in columns))
    return table

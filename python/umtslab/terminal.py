"""Tables that several verbs print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from umtslab.analyse.statistics import Summary
from umtslab.columns import Table
from umtslab.numbers import estimate, number


def budget_table(summaries: Mapping[str, Summary]) -> Table:
    """What the time of all connections was spent on; causes that took none are left out."""
    from umtslab.budget import causes, seconds

    most = max((summary.n for summary in summaries.values()), default=0)
    table = Table("time budget", ">s", *([">± 95 %"] if most > 1 else []), ">%")
    for cause in (*causes(), "total"):
        time = summaries[seconds(cause)]
        if not time.mean:
            continue
        share = summaries.get(f"budget_{cause}_pct")
        mean, width = estimate(time.mean, time.ci95)
        table.add_row(
            cause.replace("_", " "),
            *((mean, width) if most > 1 else (number(time.mean),)),
            "100" if share is None else number(share.mean, 3),
        )
    return table


def rows_table(rows: Sequence[Mapping[str, str]]) -> Table:
    """Rows of text under their keys; columns that are empty throughout are left out."""
    columns = [key for key in rows[0] if any(row[key] for row in rows)]
    table = Table(*columns)
    for row in rows:
        table.add_row(*(row[key] for key in columns))
    return table

"""Numbers of one connection between two instants that a visitor marks on the time line.

The numbers are sums over the rows of the run's tables: segments, payload, ACKs, RLC PDUs, and the
causes of the connection's time budget.
"""

from __future__ import annotations

from typing import Any

from umtslab.labels import cause_label
from umtslab.numbers import number
from umtslab.serve.tiles import LANES, ConnectionTimeline

MAX_CAUSES = 4
"""Maximum number of listed causes: those with the largest time."""


def measure(timeline: ConnectionTimeline, from_s: float, to_s: float) -> dict[str, Any]:
    """Return duration, bytes, packets, PDUs and causes between two instants, as `models.Measured`.

    A segment or PDU counts where it is sent. Received bytes are bytes of segments that arrive.
    """
    import polars as pl

    def all_rows(lane: str) -> pl.DataFrame:
        """Return the rows of a lane in the whole run."""
        return timeline.rows_of(next(declared for declared in LANES if declared.name == lane))

    def sent(lane: str) -> pl.DataFrame:
        """Return the rows of a lane that are sent between the two instants."""
        rows = all_rows(lane)
        return rows.filter(pl.col("time_s").is_between(from_s, to_s, closed="left")) if rows.height else rows

    def total(table: pl.DataFrame, column: pl.Expr) -> int:
        """Return the sum of a column, 0 for a table without rows."""
        return int(table.select(column.sum()).item() or 0) if table.height else 0

    all_segments = all_rows("segments")
    arrived = (
        all_segments.filter(pl.col("end_s").is_between(from_s, to_s, closed="left") & ~pl.col("lost"))
        if all_segments.height
        else all_segments
    )
    segments, pdus = sent("segments"), sent("pdus")
    segments_again = segments.filter(pl.col("repeats").is_not_null()) if segments.height else segments
    segments_lost = segments.filter(pl.col("lost")) if segments.height else segments
    # A row may stand for several PDUs, so PDUs are summed instead of counted.
    pdu_count = pl.col("count").cast(pl.Int64)
    pdus_again = pdus.filter(pl.col("transmission") > 1) if pdus.height else pdus
    pdus_lost = pdus.filter(pl.col("lost")) if pdus.height else pdus
    # Name, label, value and unit of each number.
    numbers = [
        ("segments_sent", "Segments sent", segments.height, ""),
        ("segments_again", "Segments sent again", segments_again.height, ""),
        ("segments_lost", "Segments lost", segments_lost.height, ""),
        ("bytes_sent", "Payload sent", total(segments, pl.col("payload")), "B"),
        ("bytes_arrived", "Payload arrived", total(arrived, pl.col("payload")), "B"),
        ("acks_sent", "ACKs sent", sent("acknowledgments").height, ""),
        ("pdus_sent", "PDUs sent", total(pdus, pdu_count), ""),
        ("pdus_again", "PDUs sent again", total(pdus_again, pdu_count), ""),
        ("pdus_lost", "PDUs lost", total(pdus_lost, pdu_count), ""),
    ]
    return {
        "from_s": from_s,
        "to_s": to_s,
        "duration": f"{number(to_s - from_s, 6)} s",
        "numbers": [
            {"name": name, "label": label, "value": value, "text": f"{value:,} {unit}".strip()}
            for name, label, value, unit in numbers
        ],
        "causes": _causes(timeline, from_s, to_s),
    }


def _causes(timeline: ConnectionTimeline, from_s: float, to_s: float) -> list[dict[str, Any]]:
    """Return how long each cause lasted between the two instants, longest first.

    A row of the table of the time budget is an interval of the connection's time with one cause.
    """
    import polars as pl

    table = timeline.table("budget_intervals")
    if not table.height:
        return []
    # The part of an interval between the two instants. Negative for intervals outside.
    inside_s = pl.min_horizontal(pl.col("end_s"), pl.lit(to_s)) - pl.max_horizontal(
        pl.col("start_s"), pl.lit(from_s)
    )
    sums = (
        table.with_columns(inside_s.alias("inside_s"))
        .filter(pl.col("inside_s") > 0)
        .group_by("cause")
        .agg(pl.col("inside_s").sum())
        .sort("inside_s", "cause", descending=[True, False])
    )
    return [
        {"cause": cause, "label": cause_label(cause), "seconds": time_s, "text": f"{number(time_s, 4)} s"}
        for cause, time_s in sums.head(MAX_CAUSES).iter_rows()
    ]

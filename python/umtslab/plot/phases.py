"""Phases of a TCP connection from its time series: slow start, losses, recovery, channel switches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from umtslab.plot.tables import NobodyChosen, View
from umtslab.run import MissingSeries

if TYPE_CHECKING:
    import polars as pl

    from umtslab.run import Run

Spans = Sequence[tuple[float, float]]
"""Starts and ends in seconds."""

_NEEDED = ("cwnd", "ssthresh", "sent", "acked", "rto")
"""Series from which the phases are derived."""

_EPSILON_S = 1e-9
"""Tolerance of comparisons of sums of times."""


@dataclass(frozen=True)
class Phases:
    """Phases and instants of one connection, in seconds.

    Parameters
    ----------
    slow_start : sequence of tuple
        Periods with the congestion window below the slow start threshold (RFC 5681 §3.1).
    fast_retransmits : sequence of float
        Retransmissions after duplicate or selective acknowledgments that reduce the threshold.
    recovery : sequence of tuple
        From a fast retransmit or timeout until all data sent before is acknowledged.
    timeouts : sequence of float
        Expiries of the retransmission timer.
    switches : sequence of tuple
        Periods in which the UE of the connection changes its channel.
    """

    slow_start: Spans
    fast_retransmits: Sequence[float]
    recovery: Spans
    timeouts: Sequence[float]
    switches: Spans


def phases(run: Run, view: View) -> Phases:
    """Return the phases of the connection that the view chooses, or of the only one.

    Raises
    ------
    umtslab.run.MissingSeries
        If the run recorded no time series of the congestion window.
    umtslab.plot.NobodyChosen
        If it is not clear which connection is meant, or the run lacks the connection.
    """
    if run.is_emulated:
        raise MissingSeries("the congestion window of real programs is not visible: no phases can be shown")
    for name in _NEEDED:
        run.series(name)
    row = _connection(run, view)

    def rows_of(name: str) -> pl.DataFrame:
        """Return the rows of the connection in a series."""
        table = run.series(name)
        return table.filter(table["connection"] == row["connection"])

    sent, acked = rows_of("sent"), rows_of("acked")
    cwnd, ssthresh = rows_of("cwnd"), rows_of("ssthresh")
    closed = row["closed_s"]
    end_s = run.duration_s if closed is None else float(str(closed))
    retransmitted_at = sent.filter(sent["retransmission"])["time_s"].unique(maintain_order=True).to_list()
    timeouts = _timeouts(retransmitted_at, acked["time_s"], rows_of("rto").select("time_s", "rto_s").rows())
    fast = _fast_retransmits([at for at in retransmitted_at if at not in timeouts], ssthresh["time_s"])
    return Phases(
        slow_start=_slow_start(cwnd, ssthresh, acked, end_s),
        fast_retransmits=fast,
        recovery=_losses(sent, acked, fast, timeouts, end_s),
        timeouts=timeouts,
        switches=_switches(run, int(str(row["ue"]))),
    )


def _connection(run: Run, view: View) -> dict[str, object]:
    """Return the row of the connection to annotate."""
    rows = run.connections().to_dicts()
    if view.connections:
        rows = [row for row in rows if row["connection"] in view.connections]
        if not rows:
            raise NobodyChosen(f"run {run.run} of {run.scenario} has no connection {view.connections[0]}")
    elif view.ues:
        rows = [row for row in rows if row["ue"] in view.ues]
    if len(rows) != 1:
        raise NobodyChosen(
            f"phases are shown for one connection, and {len(rows)} are chosen: give --connection N once"
        )
    return rows[0]


def _timeouts(
    retransmitted_at: Sequence[float], acked_at: Iterable[float], rto: Sequence[tuple[float, float]]
) -> list[float]:
    """Return the times of the retransmissions at which the timer expired (RFC 6298 §5).

    `rto` has the times at which the timeout changed, with the new timeout, in seconds. At an expiry
    the timeout changes without an acknowledgment. An expiry that leaves the timeout unchanged, for
    example at its maximum, is recognised because a whole timeout has passed since the last
    acknowledgment and the last retransmission.
    """
    from bisect import bisect_left, bisect_right

    ack_times = sorted(acked_at)
    rto_changed_at, rtos_s = [at for at, _ in rto], [rto_s for _, rto_s in rto]
    expiries: list[float] = []
    last_retransmission = float("-inf")
    for at in retransmitted_at:
        acks_until_now = bisect_right(ack_times, at)
        last_ack = ack_times[acks_until_now - 1] if acks_until_now else float("-inf")
        # The timer restarts at acknowledgments and retransmissions.
        last_restart = max(last_retransmission, last_ack)
        changes_before = bisect_left(rto_changed_at, at)
        changes_now = changes_before < len(rto) and rto_changed_at[changes_before] == at
        rto_before_s = rtos_s[changes_before - 1] if changes_before else None
        has_passed = rto_before_s is not None and at - last_restart >= rto_before_s - _EPSILON_S
        if has_passed or (changes_now and last_restart < at):
            expiries.append(at)
        last_retransmission = at
    return expiries


def _fast_retransmits(retransmitted_at: Sequence[float], ssthresh_changed_at: Iterable[float]) -> list[float]:
    """Return the retransmissions at which the threshold changes. None of them is due to a timeout."""
    changes = set(ssthresh_changed_at)
    return [at for at in retransmitted_at if at in changes]


def _losses(
    sent: pl.DataFrame, acked: pl.DataFrame, fast: Sequence[float], timeouts: Sequence[float], end_s: float
) -> Spans:
    """Return the periods from each loss until all data sent before is acknowledged."""
    intervals: list[tuple[float, float]] = []
    for at in sorted({*fast, *timeouts}):
        sent_before = sent.filter(sent["time_s"] <= at)["end"].max()
        acked_at = acked.filter((acked["time_s"] > at) & (acked["ack"] >= sent_before))["time_s"]
        end = float(acked_at[0]) if len(acked_at) else end_s
        if intervals and at <= intervals[-1][1]:
            intervals[-1] = (intervals[-1][0], max(end, intervals[-1][1]))
        else:
            intervals.append((at, end))
    return intervals


def _slow_start(cwnd: pl.DataFrame, ssthresh: pl.DataFrame, acked: pl.DataFrame, end_s: float) -> Spans:
    """Return the periods with a window below the threshold, from the end of the handshake."""
    import polars as pl

    if acked.is_empty():
        return []
    steps = (
        cwnd.select("time_s", "cwnd_segments")
        .join(ssthresh.select("time_s", "ssthresh_segments"), on="time_s", how="full", coalesce=True)
        .sort("time_s")
        .fill_null(strategy="forward")
        .with_columns(pl.max_horizontal("time_s", pl.lit(float(acked["time_s"][0]))))
        .filter(pl.col("time_s") < end_s)
    )
    limit = pl.col("ssthresh_segments").fill_null(float("inf"))
    intervals: list[tuple[float, float]] = []
    rows = steps.select("time_s", pl.col("cwnd_segments") < limit).rows()
    for (at, is_below), (end, _) in zip(rows, [*rows[1:], (end_s, False)], strict=True):
        if not is_below or end <= at:
            continue
        if intervals and intervals[-1][1] == at:
            intervals[-1] = (intervals[-1][0], end)
        else:
            intervals.append((at, end))
    return intervals


def _switches(run: Run, ue: int) -> Spans:
    """Return the periods in which a UE changes its channel."""
    if not run.series_rows("rrc_state"):
        return []
    states = run.series("rrc_state")
    rows = states.filter(states["ue"] == ue).select("time_s", "towards").rows()
    ends = [at for at, _ in rows[1:]] + [run.duration_s]
    return [(at, end) for (at, towards), end in zip(rows, ends, strict=True) if towards]

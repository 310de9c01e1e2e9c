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

    def of(name: str) -> pl.DataFrame:
        table = run.series(name)
        return table.filter(table["connection"] == row["connection"])

    sent, acked, cwnd, ssthresh = of("sent"), of("acked"), of("cwnd"), of("ssthresh")
    closed = row["closed_s"]
    end_s = run.duration_s if closed is None else float(str(closed))
    retransmitted_at = sent.filter(sent["retransmission"])["time_s"].unique(maintain_order=True).to_list()
    timeouts = _timeouts(retransmitted_at, acked["time_s"], of("rto").select("time_s", "rto_s").rows())
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
    again: Sequence[float], acked: Iterable[float], rto: Sequence[tuple[float, float]]
) -> list[float]:
    """Return the retransmissions at which the timer expired (RFC 6298 §5).

    At an expiry the timeout changes without an acknowledgment. Where it does not change, as at its
    maximum, a whole timeout has passed since the last acknowledgment and the last retransmission.
    """
    from bisect import bisect_left, bisect_right

    answered, changed = sorted(acked), [at for at, _ in rto]
    times: list[float] = []
    before = float("-inf")
    for at in again:
        ack = bisect_right(answered, at) - 1
        last = max(before, answered[ack] if ack >= 0 else float("-inf"))
        place = bisect_left(changed, at)
        is_changed = place < len(changed) and changed[place] == at and last < at
        if is_changed or (place and at - last >= rto[place - 1][1] - _EPSILON_S):
            times.append(at)
        before = at
    return times


def _fast_retransmits(again: Sequence[float], ssthresh: Iterable[float]) -> list[float]:
    """Return the retransmissions at which the threshold changes, of those without a timeout."""
    changed = set(ssthresh)
    return [at for at in again if at in changed]


def _losses(
    sent: pl.DataFrame, acked: pl.DataFrame, fast: Sequence[float], timeouts: Sequence[float], end_s: float
) -> Spans:
    """Return the periods from each loss until all data sent before is acknowledged."""
    intervals: list[tuple[float, float]] = []
    for at in sorted({*fast, *timeouts}):
        point = sent.filter(sent["time_s"] <= at)["end"].max()
        done = acked.filter((acked["time_s"] > at) & (acked["ack"] >= point))["time_s"]
        end = float(done[0]) if len(done) else end_s
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

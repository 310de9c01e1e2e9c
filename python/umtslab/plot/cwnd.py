"""Congestion window and slow start threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.row_groups import row_groups
from umtslab.plot.style import MAX_LINES, finish, lines, new_figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

NO_INFLATION = "Flat during fast recovery: the recorded window excludes its inflation by duplicate ACKs"
"""Title of the legend if there were losses."""


def figure(
    cwnd: pl.DataFrame, ssthresh: pl.DataFrame, *, acked: pl.DataFrame | None = None, title: str = ""
) -> Figure:
    """Draw the congestion window over time.

    Parameters
    ----------
    cwnd : polars.DataFrame
        ``time_s``, ``connection``, ``cwnd_segments``; one row per change.
    ssthresh : polars.DataFrame
        ``time_s``, ``connection``, ``ssthresh_segments``; one row per change.
    acked : polars.DataFrame, optional
        ``time_s``, ``connection``, ``ack`` (bytes); one row per acknowledgment. With it, the window
        of a connection is drawn from the end of its handshake. Before, there is no window for data.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Both as steps. The threshold is left out where it exceeds every window, for example before
        it is set, and if there are too many lines to distinguish. With highlighted connections,
        only their thresholds are drawn. After a loss the legend states that the inflation of fast
        recovery is not drawn.
    """
    import polars as pl

    if acked is not None:
        cwnd, ssthresh = after_handshake(cwnd, acked), after_handshake(ssthresh, acked)
    drawing, axes = new_figure(title, "window (segments)")
    lines(axes, cwnd, "cwnd_segments", "congestion window", name_in_legend=True)
    visible = ssthresh.filter(pl.col("ssthresh_segments") <= _highest(cwnd))
    had_loss = len(visible) > 0
    if "chosen" in visible.columns:
        cwnd, visible = cwnd.filter("chosen"), visible.filter("chosen")
    count = len(row_groups(cwnd))
    if 2 * count <= MAX_LINES and len(visible):
        lines(axes, visible, "ssthresh_segments", "slow start threshold", first=count)
    axes.locator_params(axis="y", integer=True)
    return finish(drawing, axes, note=NO_INFLATION if had_loss else "")


def after_handshake(table: pl.DataFrame, acked: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a step series from the end of each connection's handshake.

    The handshake of a sender ends when its SYN, which has sequence number 0, is acknowledged. The
    value that holds then gets a row at that time. A connection without a SYN keeps all rows. A
    connection without an acknowledged SYN keeps none.
    """
    import polars as pl

    keys = [key for key in ("result", "connection") if key in table.columns]
    first_acks = acked.sort("time_s", maintain_order=True).group_by(keys, maintain_order=True).first()
    handshake_ends = first_acks.select(
        *keys, pl.when(pl.col("ack") == 1).then("time_s").otherwise(pl.lit(0.0)).alias("begins_s")
    )
    joined = table.join(handshake_ends, on=keys, how="inner", maintain_order="left")
    clipped = joined.with_columns(pl.max_horizontal("time_s", "begins_s").alias("time_s")).drop("begins_s")
    return clipped.unique(subset=[*keys, "time_s"], keep="last", maintain_order=True)


def _highest(cwnd: pl.DataFrame) -> float:
    return float(str(cwnd["cwnd_segments"].max())) if len(cwnd) else 0.0

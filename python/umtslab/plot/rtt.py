"""Round-trip times and the retransmission timeout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.style import MOST_LINES, finish, lines, new_figure, points

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(rtt: pl.DataFrame, srtt: pl.DataFrame, rto: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw what the sender knows of the round-trip time.

    Parameters
    ----------
    rtt : polars.DataFrame
        ``time_s``, ``connection``, ``rtt_s``; one row per measurement.
    srtt, rto : polars.DataFrame
        ``time_s``, ``connection`` and ``srtt_s`` or ``rto_s``; one row per change.
    title : str
        Above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Measurements as dots; smoothed time and timeout as steps. The timeout is left out where there are
        too many connections to tell apart.
    """
    drawing, axes = new_figure(title, "time (s)", "time of the run (s)")
    points(axes, rtt, "rtt_s", "measured", ".", "#aaaaaa", 2)
    lines(axes, srtt, "srtt_s", "smoothed RTT")
    connections = srtt["connection"].n_unique()
    if 2 * connections <= MOST_LINES:
        lines(axes, rto, "rto_s", "timeout (RTO)", first=connections)
    return finish(drawing, axes)

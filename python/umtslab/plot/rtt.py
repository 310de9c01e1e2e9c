"""Round-trip times and retransmission timeout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.row_groups import results_of, row_groups
from umtslab.plot.style import MAX_LINES, PALE, finish, lines, new_figure, points

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(rtt: pl.DataFrame, srtt: pl.DataFrame, rto: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the sender's measurements of the round-trip time, and its timeout.

    Parameters
    ----------
    rtt : polars.DataFrame
        ``time_s``, ``connection``, ``rtt_s``; one row per measurement.
    srtt, rto : polars.DataFrame
        ``time_s``, ``connection`` and ``srtt_s`` or ``rto_s``; one row per change.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
        Measurements as dots, smoothed round-trip time and timeout as steps. With many connections,
        all timeouts share one colour.
    """
    drawing, axes = new_figure(title, "time (s)", "time of the run (s)")
    points(axes, rtt, "rtt_s", "measured", ".", PALE, 2, results=results_of(srtt))
    lines(axes, srtt, "srtt_s", "smoothed RTT", name_in_legend=True)
    # With highlighted connections, only their timeouts are drawn: `chosen` marks their rows.
    if "chosen" in rto.columns:
        srtt, rto = srtt.filter("chosen"), rto.filter("chosen")
    count = len(row_groups(srtt))
    # If there are too few styles for two lines per connection, all timeouts share a colour.
    shared_colour = None if 2 * count <= MAX_LINES else "#E69F00"
    lines(axes, rto, "rto_s", "timeout (RTO)", first=count, shared_colour=shared_colour)
    return finish(drawing, axes)

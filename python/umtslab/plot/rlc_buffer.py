"""Filling of the RLC transmission buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from umtslab.plot.style import MOST_LINES, finish, new_figure, style

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def figure(rlc_buffer: pl.DataFrame, *, title: str = "") -> Figure:
    """Draw the SDU octets that RLC holds at the sending side.

    Parameters
    ----------
    rlc_buffer : polars.DataFrame
        ``time_s``, ``ue``, ``direction``, ``octets``; one row per change.
    title : str
        Above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        One line of steps per user equipment and direction; alike and unnamed where there are too many.
    """
    drawing, axes = new_figure(title, "RLC buffer (kB)")
    groups = rlc_buffer.partition_by("ue", "direction", as_dict=True, maintain_order=True)
    for number, ((ue, direction), rows) in enumerate(sorted(groups.items())):
        many = len(groups) > MOST_LINES
        axes.plot(
            rows["time_s"].to_numpy(),
            rows["octets"].to_numpy() / 1e3,
            drawstyle="steps-post",
            label="_" if many else f"UE {ue}, {direction}",
            **({"color": "#777777", "linewidth": 0.5} if many else style(number)),
        )
    return finish(drawing, axes)

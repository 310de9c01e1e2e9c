"""Figures of a run, one kind per file.

`draw` takes a run and a kind's name; the functions behind it take tables and return a matplotlib figure,
without reading a file and without a window system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from umtslab.run import Run

FORMATS = (".png", ".svg", ".pdf")
"""What a figure can be saved as, told by the end of the file's name."""


@dataclass(frozen=True)
class Kind:
    """A kind of figure: the series that it shows, in the order in which its function takes them."""

    name: str
    shows: str
    series: tuple[str, ...]

    def function(self) -> Callable[..., Figure]:
        """The function that draws it."""
        found: Callable[..., Figure] = import_module(f"umtslab.plot.{self.name}").figure
        return found


KINDS = {
    kind.name: kind
    for kind in (
        Kind("timeseq", "sequence numbers sent and acknowledged over time", ("sent", "acked")),
        Kind("cwnd", "congestion window and slow start threshold", ("cwnd", "ssthresh")),
        Kind("rtt", "round-trip times, smoothed, and retransmission timeout", ("rtt", "srtt", "rto")),
        Kind("outstanding", "data in flight, as the sender sees it", ("outstanding",)),
        Kind("goodput", "acknowledged payload per second", ("goodput",)),
        Kind("throughput", "payload sent per second, retransmissions included", ("sent",)),
        Kind("rlc_buffer", "octets in the RLC transmission buffers", ("rlc_buffer",)),
        Kind("rrc", "RRC states of switched users", ("rrc_state",)),
        Kind("cell", "DCHs in use, and efficiency of the cells", ("cell", "goodput")),
    )
}


HELD: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("cwnd", "ssthresh", "outstanding", "srtt", "rto"), ("connection",)),
    "rlc_buffer": ("ue", "direction"),
    "rrc_state": ("ue",),
    "cell": ("cell",),
}
"""Series whose values hold until the next row, and what tells their lines apart."""

OF_SWITCHED = {"rrc_state", "cell"}
"""Series that are empty where no user is switched between channels."""


def draw(run: Run, kind: str) -> Figure:
    """Draw one figure of a run that recorded its series.

    Raises
    ------
    KeyError
        If there is no such kind.
    umtslab.run.MissingSeries
        If the run did not record what the figure shows, or has none of it.
    """
    from umtslab.plot.style import printable

    chosen = KINDS[kind]
    tables = [_to_the_end(run, name) for name in chosen.series]
    with printable():
        return chosen.function()(*tables, title=f"{run.scenario}, seed {run.seed}, run {run.run}")


def _to_the_end(run: Run, name: str) -> pl.DataFrame:
    """A series; one that was recorded on change with its last values held."""
    from umtslab.analyse.steps import hold
    from umtslab.run import MissingSeries

    table = run.series(name)
    if name in OF_SWITCHED and table.is_empty():
        raise MissingSeries(f'no user of {run.scenario} is switched between channels: bearer = "switched"')
    if name not in HELD:
        return table
    if HELD[name] != ("connection",):
        return hold(table, HELD[name], run.duration_s)
    closed = run.connections().select("connection", "closed_s")
    return hold(table, ("connection",), run.duration_s, closed)


def save(figure: Figure, path: Path) -> None:
    """Write a figure as the format of the file's suffix; the file is there whole or not at all."""
    from umtslab.plot.style import printable
    from umtslab.whole_files import whole_file

    undated = {".png": None, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with printable(), whole_file(path) as file:
        figure.savefig(file, format=path.suffix[1:], metadata=undated[path.suffix])

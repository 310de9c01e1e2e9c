"""What can be drawn of a run, by name: who tells of figures, and draws none, needs no library for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from umtslab.run import Run


@dataclass(frozen=True)
class Kind:
    """A kind of figure: the series that it shows, in the order in which its function takes them.

    Those of `also` are shown too if there are any; its function takes them by their names.
    """

    name: str
    shows: str
    series: tuple[str, ...]
    also: tuple[str, ...] = ()

    def function(self) -> Callable[..., Figure]:
        """The function that draws it."""
        found: Callable[..., Figure] = import_module(f"umtslab.plot.{self.name}").figure
        return found


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "timeseq",
            "sequence numbers sent and acknowledged over time",
            ("sent", "acked"),
            ("sacked", "window"),
        ),
        Kind("cwnd", "congestion window and slow start threshold", ("cwnd", "ssthresh")),
        Kind("rtt", "round-trip times, smoothed, and retransmission timeout", ("rtt", "srtt", "rto")),
        Kind("outstanding", "data in flight, as the sender sees it", ("outstanding",)),
        Kind("goodput", "acknowledged payload over time", ("goodput", "sent")),
        Kind("throughput", "payload sent over time, retransmissions included", ("sent",)),
        Kind("rlc_buffer", "octets in the RLC transmission buffers", ("rlc_buffer",)),
        Kind("pdus", "RLC PDUs as a message sequence (measure.rlc_pdus)", ("rlc_pdus",)),
        Kind("slots", "who sends in which slot of a TDD cell (measure.slots)", ("slots",)),
        Kind("sir", "how well blocks of a TDD cell are heard (measure.slots)", ("slots",)),
        Kind("load", "load, power and postponed requests of the cells of a layout", ("cells",)),
        Kind("codes", "who has which code of a DSCH in each TTI (measure.dsch)", ("dsch",)),
        Kind("rrc", "RRC states of switched users", ("rrc_state",)),
        Kind("cell", "DCHs in use, and efficiency of the cells", ("cell", "goodput")),
    )
}

WATERFALL = "waterfall"
"""Drawn by `draw_waterfall`: of one connection, and not of a run alone."""

MAP = "map"
"""Drawn by `umtslab.plot.map.draw_map`: of one run, with a layout."""

_TELLING = {
    WATERFALL: WATERFALL,
    "slots": "slots",
    "pdus": "rlc_pdus",
    "outstanding": "outstanding",
    "rlc_buffer": "rlc_buffer",
}
"""Kinds to look at first, each with the series that it needs: what a run was asked for apart comes before."""


def most_telling(run: Run) -> str | None:
    """The kind of figure to look at first; None if the run recorded nothing that one would show."""
    return next((kind for kind, series in _TELLING.items() if run.series_rows(series)), None)

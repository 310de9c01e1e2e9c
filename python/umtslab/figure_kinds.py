"""Figures of runs by name. Imports no plotting library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from umtslab.run import Run


@dataclass(frozen=True)
class Kind:
    """A kind of figure. The module of this name in `umtslab.plot` has a function that draws it."""

    name: str
    shows: str
    """What the figure shows, in a few words."""
    series: tuple[str, ...]
    """The series that the function takes as positional arguments."""
    also: tuple[str, ...] = ()
    """Series that are passed as keyword arguments if they are recorded."""

    def function(self) -> Callable[..., Figure]:
        """Import and return the function that draws the figure."""
        figure: Callable[..., Figure] = import_module(f"umtslab.plot.{self.name}").figure
        return figure


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "timeseq",
            "sequence numbers sent and acknowledged over time",
            series=("sent", "acked"),
            also=("sacked", "window", "dropped"),
        ),
        Kind(
            "cwnd",
            "congestion window and slow start threshold",
            series=("cwnd", "ssthresh"),
            also=("acked",),
        ),
        Kind(
            "rtt", "round-trip times, smoothed RTT and retransmission timeout", series=("rtt", "srtt", "rto")
        ),
        Kind("outstanding", "data in flight according to the sender", series=("outstanding",)),
        Kind("goodput", "acknowledged payload over time", series=("goodput", "sent")),
        Kind("throughput", "sent payload over time, retransmissions included", series=("sent",)),
        Kind("rlc_buffer", "octets in the RLC transmission buffers", series=("rlc_buffer",)),
        Kind("pdus", "RLC PDUs as a message sequence (measure.rlc_pdus)", series=("rlc_pdus",)),
        Kind("slots", "use of the slots of a TDD cell (measure.slots)", series=("slots",)),
        Kind("sir", "SIR and losses of the blocks of a TDD cell (measure.slots)", series=("slots",)),
        Kind("load", "load, power and postponed requests of the cells of a layout", series=("cells",)),
        Kind("codes", "code allocation of a DSCH by TTI (measure.dsch)", series=("dsch",)),
        Kind("rrc", "RRC states of switched UEs", series=("rrc_state",)),
        Kind("cell", "DCHs in use and efficiency of the cells", series=("cell", "goodput")),
    )
}


class UnknownFigure(KeyError):
    """Unknown kind of figure. The message lists the known ones."""

    def __str__(self) -> str:
        return str(self.args[0])


_T = TypeVar("_T")


def find_kind(kinds: Mapping[str, _T], name: str, noun: str = "figure") -> _T:
    """Return the kind called `name`.

    Raises
    ------
    UnknownFigure
        If there is no such kind. The message suggests the nearest name, or the function that draws
        it.
    """
    from difflib import get_close_matches

    if name in kinds:
        return kinds[name]
    if (function := _SEPARATE_FUNCTIONS.get(name)) is not None:
        raise UnknownFigure(f"{name!r} is drawn by umtslab.plot.{function}, not by this function")
    similar = get_close_matches(name, kinds, 1, 0.6)
    hint = f"did you mean {similar[0]!r}?" if similar else f"there are {', '.join(kinds)}"
    raise UnknownFigure(f"there is no {noun} {name!r}; {hint}")


_SEPARATE_FUNCTIONS = {
    "waterfall": "draw_waterfall",
    "map": "map.draw_map",
    "budget": "run_budget.draw_run_budget",
    **dict.fromkeys(("rtt_cdf", "delay_cdf", "user_delay_cdf", "user_rate_cdf", "page_cdf"), "cdf.draw_cdf"),
}
"""Kinds that have a separate function in the Python interface, with its name in `umtslab.plot`."""

WATERFALL = "waterfall"
"""Drawn by `draw_waterfall`, for one connection."""

MAP = "map"
"""Drawn by `umtslab.plot.map.draw_map`, for one run with a layout."""

ANNOTATED = ("timeseq", "cwnd", "outstanding", "rtt")
"""Kinds in which the phases of a connection can be marked."""

_PROPOSED = {
    WATERFALL: WATERFALL,
    "slots": "slots",
    "pdus": "rlc_pdus",
    "outstanding": "outstanding",
    "rlc_buffer": "rlc_buffer",
}
"""Kinds to propose for a run, each with the series that it needs. Series that must be requested
explicitly come first.
"""


def proposed_kind(run: Run) -> str | None:
    """Return the kind of figure to propose, or None if the run recorded none of the series."""
    return next((kind for kind, series in _PROPOSED.items() if run.series_rows(series)), None)

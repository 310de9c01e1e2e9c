"""Congestion control in Python: what a class of one's own starts from."""

from __future__ import annotations

from umtslab.python_class import place_of


class CongestionControl:
    """How the window of a sender grows and shrinks; this class itself does it as RFC 5681 says.

    Each end of each connection has an object of its own, made without arguments. Lost segments are found and
    sent again as by every other variant: by SACK where both ends have it, as NewReno does elsewhere. Windows
    are in segments. A run repeats itself to the bit only if the class does: no clock, no random numbers
    but from a generator with a fixed seed, nothing shared between objects.
    """

    def on_ack(self, *, now_s: float, segments: int, duplicate: bool, flight: int, srtt_s: float) -> None:
        """Hear of an acknowledgment before anything else is decided.

        Parameters
        ----------
        now_s : float
            Simulated time.
        segments : int
            Segments that it acknowledges whole.
        duplicate : bool
            Whether it acknowledges nothing new.
        flight : int
            Segments that were outstanding before it came.
        srtt_s : float
            Smoothed round-trip time, 0 before the first.
        """

    def on_round_trip(self, *, rtt_s: float) -> None:
        """Hear of a measured round trip."""

    def grow(self, *, cwnd: float, ssthresh: float) -> float:
        """Window after an acknowledgment by which it may grow; at least 1."""
        return cwnd + (1.0 if cwnd < ssthresh else 1.0 / cwnd)

    def reduce(self, *, cwnd: float, load: float, timeout: bool) -> float:
        """Slow start threshold after a loss, taken for at least 2; `load`: segments that were under way.

        After a `timeout` the window is 1, else it is this threshold.
        """
        return max(load / 2, 2.0)

    def undo(self) -> None:
        """Hear that the last reduction answered no loss; the window is what it was before."""


def overrides_for(control: type) -> list[tuple[str, str]]:
    """The keys of a scenario that give all its flows the congestion control of a class.

    Raises
    ------
    TypeError
        If it is no class.
    ValueError
        If it cannot be found again by its name in a file: made inside of a function, or typed at a prompt.
    """
    return [("tcp.variant", '"python"'), ("tcp.python", place_of(control, "congestion"))]

"""Base class for congestion control in Python."""

from __future__ import annotations

from umtslab.python_class import file_and_name


class CongestionControl:
    """Growth and reduction of a sender's congestion window. The base class implements RFC 5681.

    Each end of each connection has an object of its own, created without arguments. Loss detection
    and retransmission are the same for every variant: by SACK if both ends support it, else as in
    NewReno. Windows are in segments. Runs are reproducible to the bit only if the class is
    deterministic: it must not use clocks, random numbers except from a generator with a fixed seed,
    or state shared between objects.
    """

    def on_ack(self, *, now_s: float, segments: int, duplicate: bool, flight: int, srtt_s: float) -> None:
        """Called for each acknowledgment before the window changes.

        Parameters
        ----------
        now_s : float
            Simulated time.
        segments : int
            Number of segments that are newly acknowledged in full.
        duplicate : bool
            Whether the acknowledgment acknowledges nothing new.
        flight : int
            Segments that were outstanding before the acknowledgment.
        srtt_s : float
            Smoothed round-trip time, 0 before the first sample.
        """

    def on_round_trip(self, *, rtt_s: float) -> None:
        """Called for each round-trip time sample."""

    def grow(self, *, cwnd: float, ssthresh: float) -> float:
        """Return the window after an acknowledgment that may increase the window. At least 1."""
        return cwnd + (1.0 if cwnd < ssthresh else 1.0 / cwnd)

    def reduce(self, *, cwnd: float, load: float, timeout: bool) -> float:
        """Return the slow start threshold after a loss. Values below 2 count as 2.

        `load` is the number of segments in flight. After a `timeout` the window is 1, else it is
        the returned threshold.
        """
        return max(load / 2, 2.0)

    def undo(self) -> None:
        """Called when the last reduction proves unnecessary. The previous window is restored."""


def overrides_for(control: type) -> list[tuple[str, str]]:
    """Return the scenario keys that select a class as the congestion control of all flows.

    Raises
    ------
    TypeError
        If `control` is not a class.
    ValueError
        If the class is not at the top level of a file, for example defined in a function or at a
        prompt.
    """
    return [("tcp.variant", '"python"'), ("tcp.python", file_and_name(control, "congestion"))]

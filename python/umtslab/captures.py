"""Packet captures, analysed: TCP metrics, named as the simulation's, and UDP flows of any pcap or pcapng."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from umtslab import _core
    from umtslab.run import Metrics


MOST_CONNECTIONS = 50_000
"""Connections that are kept and have rows by default: less than 300 MB in all."""

LARGEST_LIMIT = 1 << 32
"""Largest limit on connections, and largest number of a connection."""


def check_most_connections(most_connections: int) -> None:
    """Check a limit on connections.

    Raises
    ------
    ValueError
        If it is not between 1 and 2^32.
    """
    if not 1 <= most_connections <= LARGEST_LIMIT:
        raise ValueError(f"most_connections must be from 1 to {LARGEST_LIMIT} (got {most_connections})")


@dataclass(frozen=True)
class CaptureAnalysis:
    """One capture.

    ``position`` in the table of connections says where the capture was taken. Round-trip times and
    outstanding data are the sender's own only where that is ``sender``.
    """

    core: _core.Analysis

    @property
    def file(self) -> str:
        """The capture, as it was named."""
        return self.core.file

    @property
    def metrics(self) -> Metrics:
        """All connections together; None where a capture does not tell."""
        return dict(self.core.metrics)

    @property
    def counts(self) -> dict[str, int]:
        """Packets by what they were."""
        return dict(self.core.counts)

    @property
    def start_s(self) -> float | None:
        """Time of the first packet, in seconds since 1970."""
        return self.core.start_s

    @property
    def duration_s(self) -> float:
        """Seconds from the first packet to the last."""
        return self.core.duration_s

    @property
    def warnings(self) -> list[str]:
        """What to look at before the numbers are trusted."""
        return list(self.core.warnings)

    @property
    def connection_count(self) -> int:
        """How many TCP connections there were."""
        return self.core.connection_count

    @property
    def rest(self) -> tuple[int, Metrics] | None:
        """How many connections have no rows, and the metrics of all of these together; None if all have."""
        return self.core.rest

    def connections(self) -> pl.DataFrame:
        """One row per TCP connection, in the order of their first packets; but for the `rest`."""
        import polars as pl

        return pl.DataFrame(self.core.connections).sort("connection")

    @property
    def udp_rest(self) -> dict[str, int]:
        """Datagrams, and octets of payload, of UDP flows that have no rows."""
        packets, payload_bytes = self.core.udp_rest
        return {"packets": packets, "payload_bytes": payload_bytes}

    @property
    def passed_over(self) -> dict[str, int]:
        """Numbers of packets that are neither TCP nor UDP, by kind."""
        return dict(self.core.passed_over)

    def udp_flows(self) -> pl.DataFrame:
        """One row per UDP flow, in the order of their first packets; except for the `udp_rest`."""
        import polars as pl

        return pl.DataFrame(self.core.udp_flows)

    def series(self, name: str) -> pl.DataFrame:
        """``sent``, ``acked`` or ``sacked`` of the connection that `time_sequence` asked for.

        Raises
        ------
        KeyError
            If none was asked for.
        """
        import polars as pl

        return pl.DataFrame(self.core.series[name])


def analyse_captures(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    time_sequence: int | None = None,
    connection: int | None = None,
    most_connections: int = MOST_CONNECTIONS,
    progress: Callable[[float], None] | None = None,
) -> list[CaptureAnalysis]:
    """Analyse captures, each for itself.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        One pcap or pcapng file or several, of any size, also compressed with gzip, Zstandard or LZ4; ``-`` is
        standard input.
    time_sequence : int, optional
        Number of a connection whose course is wanted as ``series``.
    connection : int, optional
        Number of a connection that is to have a row in any case.
    most_connections : int
        The most connections that are kept at a time, and that have rows: the first ones. The others are
        summed, as ``rest``.
    progress : callable, optional
        Told the part of all files that is read, from 0 to 1.

    Returns
    -------
    list of CaptureAnalysis
        In the order of `paths`.

    Raises
    ------
    umtslab.CaptureReadError
        If a file cannot be read or is no capture. One that is cut off or damaged is analysed up to there, and
        its warnings say so.
    """
    from umtslab import _core

    # A text is a sequence too, of letters.
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    names = [os.fspath(path) for path in several]
    check_most_connections(most_connections)
    found = _core.analyse(
        names,
        time_sequence=time_sequence,
        connection=connection,
        most_connections=most_connections,
        progress=progress,
    )
    return [CaptureAnalysis(analysis) for analysis in found]


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """Unit of each metric of a capture."""
    from umtslab import _core

    return {entry["name"]: entry["unit"] for entry in _core.capture_metric_definitions()}


def draw_time_sequence(analysis: CaptureAnalysis, number: int) -> Any:
    """Time-sequence figure of the connection that was collected, repetitions told apart by cause."""
    from umtslab.plot.look import printable
    from umtslab.plot.timeseq import figure

    title = f"{os.path.basename(analysis.file)}, connection {number}"
    with printable():
        return figure(*(analysis.series(name) for name in ("sent", "acked", "sacked")), title=title)

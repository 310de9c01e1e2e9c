"""Analysis of packet captures: TCP metrics, named as in the simulation, and UDP flows."""

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


MAX_CONNECTIONS = 50_000
"""Default limit on connections with rows. The analysis then needs less than 300 MB."""

HEADLINE = (
    "goodput_kbps",
    "goodput_active_kbps",
    "throughput_kbps",
    "mean_rtt_s",
    "p95_rtt_s",
    "handshake_rtt_s",
    "mean_outstanding_segments",
    "max_outstanding_segments",
    "total_packets",
    "tcp_retransmissions",
    "retransmitted_bytes",
    "tcp_retransmissions_unneeded",
    "rto_count",
    "fast_retransmissions",
    "tail_loss_probes",
    "dupack_runs",
    "acks_received",
    "out_of_order_packets",
    "transmission_time_s",
)
"""Metrics that are shown first."""

MAX_CONNECTION_LIMIT = 1 << 32
"""Largest limit on connections, and largest number of a connection."""


def check_most_connections(most_connections: int) -> None:
    """Check a limit on connections.

    Raises
    ------
    ValueError
        If it is not between 1 and 2^32.
    """
    if not 1 <= most_connections <= MAX_CONNECTION_LIMIT:
        raise ValueError(
            f"most_connections must be from 1 to {MAX_CONNECTION_LIMIT} (got {most_connections})"
        )


@dataclass(frozen=True)
class PacketRange:
    """Packets of a connection, in the order in which they were captured."""

    connection: int
    """Number of the connection."""
    first: int = 1
    """Number of the first packet in the connection, from 1."""
    from_s: float | None = None
    """Time in seconds since the first packet of the connection. If given, the range begins with the
    first packet at this time or later, and `first` is not used."""
    most: int = 1000
    """Maximum number of packets."""


@dataclass(frozen=True)
class CaptureAnalysis:
    """Results of one capture.

    ``position`` in the table of connections says where the capture was taken. Round-trip times and
    outstanding data are the sender's own only if ``position`` is ``sender``.
    """

    core: _core.Analysis

    @property
    def file(self) -> str:
        """Path of the capture, as it was given."""
        return self.core.file

    @property
    def metrics(self) -> Metrics:
        """Metrics of all connections together. None if the capture does not determine a metric."""
        return dict(self.core.metrics)

    @property
    def counts(self) -> dict[str, int]:
        """Number of packets of each kind."""
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
        """Warnings that limit the trust in the numbers, for example about a truncated file."""
        return list(self.core.warnings)

    @property
    def connection_count(self) -> int:
        """Number of TCP connections, including those without rows."""
        return self.core.connection_count

    @property
    def rest(self) -> tuple[int, Metrics] | None:
        """Number of connections without rows, and their metrics together. None if all have rows."""
        return self.core.rest

    def connections(self) -> pl.DataFrame:
        """Return one row per TCP connection, ordered by first packet, without the `rest`."""
        import polars as pl

        return pl.DataFrame(self.core.connections).sort("connection")

    @property
    def udp_rest(self) -> dict[str, int]:
        """Number of datagrams and payload bytes of the UDP flows without rows."""
        packets, payload_bytes = self.core.udp_rest
        return {"packets": packets, "payload_bytes": payload_bytes}

    @property
    def passed_over(self) -> dict[str, int]:
        """Numbers of packets that are neither TCP nor UDP, by kind."""
        return dict(self.core.passed_over)

    def udp_flows(self) -> pl.DataFrame:
        """Return one row per UDP flow, ordered by first packet, without the `udp_rest`."""
        import polars as pl

        return pl.DataFrame(self.core.udp_flows)

    def series(self, name: str) -> pl.DataFrame:
        """Return a table of the connection chosen by `time_sequence`.

        ``sent`` has the segments of the sender of the data, ``acked`` and ``sacked`` the
        acknowledgments, ``window`` the windows that the receiver advertised, in octets. ``window``
        is empty after the handshake if a SYN was not captured: the scale is then unknown.

        Raises
        ------
        KeyError
            If `time_sequence` was not given.
        """
        import polars as pl

        return pl.DataFrame(self.core.series[name])

    def packets(self) -> pl.DataFrame:
        """Return the packets that were chosen by `packets`, one row per packet.

        ``packet`` is the number of the packet in the connection, from 1. ``seq`` and ``ack`` count
        bytes from the first byte of data, which has number 0, in each direction. Without a SYN they
        count from the first number that the capture shows. ``window_field`` is the field of the
        header, ``window_octets`` the window, null if its scale is unknown. ``kind`` is ``data``,
        ``retransmission``, ``ack``, ``duplicate_ack``, ``keep_alive``, ``window_probe``, ``reset``
        or ``not_believed``.

        Raises
        ------
        ValueError
            If `packets` was not given.
        """
        import polars as pl

        if self.core.packets is None:
            raise ValueError("the packets were not listed: give packets=PacketRange(connection)")
        return pl.DataFrame(self.core.packets)

    @property
    def packet_counts(self) -> dict[str, int | None]:
        """Counts of all packets of the connection that was chosen by `packets`.

        ``packets``, ``retransmissions`` and ``duplicate_acks``, and the numbers of the nearest
        retransmissions before and after the range: ``retransmission_before`` and
        ``retransmission_after``.
        """
        return dict(self.core.packet_counts)


def analyse_captures(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    time_sequence: int | None = None,
    packets: PacketRange | None = None,
    connection: int | None = None,
    most_connections: int = MAX_CONNECTIONS,
    progress: Callable[[float], None] | None = None,
) -> list[CaptureAnalysis]:
    """Analyse captures, each by itself.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        One or several pcap or pcapng files of any size, also compressed with gzip, Zstandard or
        LZ4. ``-`` is standard input.
    time_sequence : int, optional
        Number of the connection of which sequence numbers are recorded for ``series``.
    packets : PacketRange, optional
        Packets to list with `CaptureAnalysis.packets`, instead of `time_sequence`.
    connection : int, optional
        Number of a connection that has a row regardless of `most_connections`.
    most_connections : int
        Maximum number of connections that are tracked at a time, and that have rows: the first
        ones. The others are summed in ``rest``.
    progress : callable, optional
        Called with the fraction of all files that is read, from 0 to 1.

    Returns
    -------
    list of CaptureAnalysis
        In the order of `paths`.

    Raises
    ------
    umtslab.CaptureReadError
        If a file cannot be read or is not a capture. A truncated or damaged capture is analysed up
        to the damage, with a warning.
    """
    from umtslab import _core

    # A str is a sequence too: of characters.
    path_list = [paths] if isinstance(paths, str | os.PathLike) else paths
    names = [os.fspath(path) for path in path_list]
    check_most_connections(most_connections)
    analyses = _core.analyse(
        names,
        time_sequence=time_sequence,
        packets=None
        if packets is None
        else (packets.connection, packets.first, packets.from_s, packets.most),
        connection=connection,
        most_connections=most_connections,
        progress=progress,
    )
    return [CaptureAnalysis(analysis) for analysis in analyses]


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """Return the unit of each metric of a capture."""
    from umtslab import _core

    return {entry["name"]: entry["unit"] for entry in _core.capture_metric_definitions()}


def draw_time_sequence(analysis: CaptureAnalysis, number: int) -> Any:
    """Draw the time-sequence figure of a connection. Retransmissions are marked by cause.

    `number` must be the connection that was chosen by `time_sequence`.
    """
    from umtslab.plot.look import printable
    from umtslab.plot.timeseq import figure

    title = f"{os.path.basename(analysis.file)}, connection {number}"
    with printable():
        return figure(*(analysis.series(name) for name in ("sent", "acked", "sacked", "window")), title=title)


def draw_ladder(analysis: CaptureAnalysis, number: int) -> Any:
    """Draw the packets of a connection as a ladder of arrows between its ends.

    `number` must be the connection that was chosen by `packets`.
    """
    import polars as pl

    from umtslab.ladder import capture_point, captured, packets
    from umtslab.plot.ladder import figure
    from umtslab.plot.look import printable

    row = analysis.connections().filter(pl.col("connection") == number).to_dicts()[0]
    table = analysis.packets()
    listed = packets(table)
    count = analysis.packet_counts["packets"]
    span = f"packets {listed[0].packet} to {listed[-1].packet} of {count}" if listed else "no packets"
    with printable():
        return figure(
            listed,
            client=row["client"],
            server=row["server"],
            captured_at=capture_point(row),
            title=f"{os.path.basename(analysis.file)}, connection {number}, {span}",
            note=captured(row),
        )

"""Ladder of a TCP connection: the texts of its packets, for the figure, the table and the page.

A ladder shows each packet of a capture as an arrow between the client and the server. Numbers are
relative as in Wireshark: the SYN has sequence number 0, the first byte of data number 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import polars as pl

End = Literal["client", "server"]

FIGURE_PACKETS = 60
"""Default number of packets in a figure."""

MAX_FIGURE_PACKETS = 200
"""Maximum number of packets in a figure. More would not be readable."""

HUES = {"data": "serial", "retransmission": "rto", "ack": "prop", "duplicate_ack": "repeat"}
"""Hue of the arrow of each kind of packet, as on the time line of a run (`umtslab.lanes`)."""

OTHER_HUE = "ink"
"""Hue of the arrows of all other packets."""

KINDS = {
    "data": "data, SYN or FIN",
    "retransmission": "sent again",
    "ack": "acknowledgment",
    "duplicate_ack": "duplicate ACK",
}
"""The kinds in a legend."""

_CAUSES = {
    "dupacks": "fast retransmission after duplicate ACKs",
    "sack": "fast retransmission because of SACK",
    "rack": "fast retransmission by RACK",
    "fast_recovery": "retransmission in fast recovery",
    "rto": "retransmission after a timeout",
    "rto_recovery": "retransmission in the recovery after a timeout",
    "probe": "retransmission as a tail loss probe",
    "unknown": "retransmission, cause unknown",
}
"""Text for each cause of a retransmission."""

_NOTES = {
    "keep_alive": "keep-alive",
    "window_probe": "probe of the closed window",
    "not_believed": "does not fit the connection",
}

CAPTURED_AT = {
    "sender": "at or near the {sender}, which sent most of the data",
    "receiver": "at or near the {receiver}, which received most of the data",
    "between": "between the ends",
    "unknown": "at a place that the capture does not show, because the handshake is incomplete",
}
"""Place of the capture, for each value of ``position`` in the table of connections."""

UNSCALED = (
    "The scale of the windows is unknown, because the capture has no SYN of one end or of both. Windows are "
    "shown as in the header, without the scale."
)
"""Note on the windows of a connection without a complete handshake."""


class Packet(NamedTuple):
    """A packet of a ladder. Numbers are relative, in bytes."""

    packet: int
    """Number of the packet in the connection, from 1."""
    time_s: float
    """Time since the first packet of the connection, in seconds."""
    sender: End
    kind: str
    label: str
    """Short text for the arrow."""
    flags: str
    seq: int
    payload: int
    ack: int | None
    window: str
    """The advertised window in bytes. With an unknown scale, the field of the header and ``× ?``."""
    note: str
    """Remark: the cause of a retransmission, selective acknowledgments, and so on."""

    @property
    def hue(self) -> str:
        """Name of the hue of the arrow."""
        return HUES.get(self.kind, OTHER_HUE)


def packets(table: pl.DataFrame) -> list[Packet]:
    """Return the packets of a table (`umtslab.captures.CaptureAnalysis.packets`) with their texts."""
    return [_packet(row) for row in table.iter_rows(named=True)]


def capture_point(row: Mapping[str, Any]) -> End | None:
    """Return the end at which a connection was captured, or None if it is neither or unknown.

    `row` is the row of the connection in the table of connections.
    """
    sender: End = "client" if row["sender"] == "client" else "server"
    match row["position"]:
        case "sender":
            return sender
        case "receiver":
            return other(sender)
    return None


def captured(row: Mapping[str, Any]) -> str:
    """Return a sentence that says where a connection was captured, and what follows for the arrows."""
    sender: End = "client" if row["sender"] == "client" else "server"
    place = CAPTURED_AT[row["position"]].format(sender=sender, receiver=other(sender))
    return (
        f"Captured {place}. Times are of that place. An arrow is solid up to there and dashed beyond: the "
        "capture does not show whether the packet arrived, or when."
    )


def other(end: End) -> End:
    """Return the other end."""
    return "server" if end == "client" else "client"


def csv(table: pl.DataFrame) -> str:
    """Return packets as a table of comma-separated values with a line of headings."""
    import polars as pl

    rows = packets(table)
    columns = table.select("packet", "time_s", "sender", "flags").with_columns(
        pl.Series("seq", [row.seq for row in rows], dtype=pl.Int64),
        pl.Series("payload", [row.payload for row in rows], dtype=pl.Int64),
        pl.Series("ack", [row.ack for row in rows], dtype=pl.Int64),
        table["window_octets"],
        table["window_field"],
        pl.Series("kind", [row.kind for row in rows], dtype=pl.String),
        pl.Series("note", [row.note for row in rows], dtype=pl.String),
    )
    return columns.write_csv(float_precision=9)


def _packet(row: Mapping[str, Any]) -> Packet:
    is_again = row["kind"] == "retransmission"
    bytes_text = f"{row['payload']} B" if row["payload"] else ""
    # ACK is set in all packets but the first: it is named only where nothing else is.
    flags = [flag for flag in row["flags"].split(", ") if flag and (flag != "ACK" or not row["payload"])]
    label = ", ".join([*flags, bytes_text] if bytes_text else flags)
    octets = row["window_octets"]
    return Packet(
        packet=row["packet"],
        time_s=row["time_s"],
        sender=row["sender"],
        kind=row["kind"],
        label=f"{label} again" if is_again else label,
        flags=row["flags"],
        seq=row["seq"] + 1,
        payload=row["payload"],
        ack=None if row["ack"] is None else row["ack"] + 1,
        window=f"{row['window_field']} × ?" if octets is None else str(octets),
        note="; ".join(_notes(row)),
    )


def _notes(row: Mapping[str, Any]) -> Iterator[str]:
    if row["kind"] == "retransmission":
        yield _CAUSES[row["cause"]]
    if row["duplicate"] is not None:
        yield f"duplicate ACK {row['duplicate']}"
    if row["kind"] in _NOTES:
        yield _NOTES[row["kind"]]
    if row["window_octets"] == 0 and "RST" not in row["flags"]:
        yield "window closed"
    if row["sack"]:
        blocks = (block.rsplit("-", 1) for block in row["sack"].split())
        yield "SACK " + ", ".join(f"{int(left) + 1}–{int(right) + 1}" for left, right in blocks)

"""The item that a visitor selects on the time line: as a sentence, with all other items of its packet.

An item is a row of a lane, such as a segment, an RLC SDU or PDU, or a transport block set on the air.
`Selection` follows the packet of an item down the protocol stack: the packet is sent as a segment, RLC
carries the segment as an SDU in PDUs, and PDUs travel in transport block sets. The page highlights the
rows found in each lane. `rows_in_view` and `view_csv` list the items of a part of the time line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from umtslab.labels import cause_label
from umtslab.numbers import number
from umtslab.serve.tiles import LANES, ConnectionTimeline, NoSuchTile
from umtslab.why.causes import describe
from umtslab.why.links import count, seconds

Row = dict[str, Any]

_REPEAT_REASONS = {
    "dup_ack": ", sent again after duplicate ACKs",
    "rto": ", sent again after a timeout",
    "tail_loss": ", sent again as a tail loss probe",
    "again": ", sent again",
}
"""Text about a repeated segment by the reason for the repeat."""

MAX_ROWS = 200
"""Maximum number of rows in the table of a view."""

MAX_EXPORTED = 50_000
"""Maximum number of rows in a file with the items of a view."""


class Selection:
    """An item, and the rows in all lanes that carry its packet.

    Parameters
    ----------
    timeline : ConnectionTimeline
        The time line with the item.
    lane : str
        Lane of the item, or ``packet`` to select a packet by its number.
    row : int
        Number of the item's row in the table of the lane, or number of the packet.

    Raises
    ------
    NoSuchTile
        If the lane has no such item.
    """

    def __init__(self, timeline: ConnectionTimeline, lane: str, row: int) -> None:
        self._timeline = timeline
        self._rows: dict[str, set[int]] = {}
        """Numbers of the selected rows by lane."""
        self.packet: int | None = None
        """Number of the item's packet. None if the item carries no packet, such as a timer."""
        if lane == "packet":
            self.packet = row
            segments = self._rows_with("timeline_segments", packet=row)
            if not segments:
                raise NoSuchTile("the time line of this connection has no such packet")
            item = segments[0]
            lane = _lane_of_segment(item)
        else:
            item = self._item(lane, row)
            self._rows[lane] = {row}
            self.packet = self._packet_of(lane, item)
        self.text = describe_item(lane, item)
        self.start_s = item.get("time_s", item.get("start_s"))
        self.end_s = item.get("end_s")
        if self.packet is not None:
            self._add_rows_of_packet(self.packet)

    def as_dict(self) -> dict[str, Any]:
        """Return the selection, as `models.Selection`."""
        return {
            "text": self.text,
            "packet": self.packet,
            "start_s": self.start_s,
            "end_s": self.start_s if self.end_s is None else self.end_s,
            "rows": {lane: sorted(rows) for lane, rows in sorted(self._rows.items())},
        }

    def _item(self, lane: str, row: int) -> Row:
        table = next((declared.table for declared in LANES if declared.name == lane), None)
        items = [] if table is None else self._rows_with(table, row=row)
        if not items:
            raise NoSuchTile("the lane has no such item")
        return items[0]

    def _rows_with(self, table: str, **values: int) -> list[Row]:
        """Return the rows of a table with these values in the columns of these names."""
        import polars as pl

        rows = self._timeline.table(table)
        if not rows.height:
            return []
        condition = pl.all_horizontal(pl.col(name) == value for name, value in values.items())
        return rows.filter(condition).to_dicts()

    def _packet_of(self, lane: str, item: Row) -> int | None:
        """Return the packet of an item, for PDUs the packet of their last SDU. None if there is none."""
        if item.get("packet") is not None:
            return int(item["packet"])
        pdus: Row = item
        if lane in ("block_sets", "node_b_queue"):
            pdus_in_set = self._rows_with("timeline_pdus", block_set=item["block_set"])
            # Control PDUs have no numbers.
            pdus = next((row for row in pdus_in_set if row["first"] is not None), {})
        if pdus.get("first") is None:
            return None
        return next((int(sdu["packet"]) for sdu in self._sdus_of(pdus)), None)

    def _sdus_of(self, pdus: Row) -> Iterator[Row]:
        """Yield the SDUs that have a part in the PDUs of a row, the latest SDU first.

        Only SDUs that entered the buffer before the PDUs were sent: PDU numbers begin again when RLC is
        reset or re-established, so SDUs from before a reset can have the same numbers and come later in
        the result.
        """
        import polars as pl

        sdus = self._timeline.table("timeline_sdus")
        if not sdus.height:
            return
        candidates = sdus.filter(
            (pl.col("direction") == pdus["direction"])
            & (pl.col("first") <= pdus["last"])
            & (pl.col("last") >= pdus["first"])
            & (pl.col("time_s") <= pdus["time_s"])
        )
        yield from reversed(candidates.to_dicts())

    def _add_rows_of_packet(self, packet: int) -> None:
        """Add the rows that carry a packet: segment, SDUs, PDUs, block sets."""
        for segment in self._rows_with("timeline_segments", packet=packet):
            self._add(_lane_of_segment(segment), [segment])
        for sdu in self._rows_with("timeline_sdus", packet=packet):
            self._add("sdus", [sdu])
            # An SDU of which nothing was sent has no PDUs.
            if sdu["first"] is not None:
                pdus = list(self._pdus_of(sdu))
                self._add("pdus", pdus)
                numbers = {pdu["block_set"] for pdu in pdus if pdu["block_set"] is not None}
                block_sets = self._block_sets(numbers, sdu["direction"])
                self._add("block_sets", block_sets)
                self._add("node_b_queue", [row for row in block_sets if row["on_air_s"] is not None])

    def _pdus_of(self, sdu: Row) -> Iterable[Row]:
        """Return the PDUs with a part of an SDU that were sent while the SDU was in RLC."""
        import polars as pl

        pdus = self._timeline.table("timeline_pdus")
        if not pdus.height:
            return []
        end_s = self._timeline.run.duration_s if sdu["end_s"] is None else sdu["end_s"]
        return pdus.filter(
            (pl.col("direction") == sdu["direction"])
            & (pl.col("first") <= sdu["last"])
            & (pl.col("last") >= sdu["first"])
            & pl.col("time_s").is_between(sdu["time_s"], end_s)
        ).to_dicts()

    def _block_sets(self, numbers: set[int], direction: str) -> list[Row]:
        import polars as pl

        sets = self._timeline.table("timeline_block_sets")
        if not sets.height:
            return []
        return sets.filter(
            pl.col("block_set").is_in(sorted(numbers)) & (pl.col("direction") == direction)
        ).to_dicts()

    def _add(self, lane: str, rows: Iterable[Row]) -> None:
        self._rows.setdefault(lane, set()).update(int(row["row"]) for row in rows)


def _lane_of_segment(segment: Row) -> str:
    return "acknowledgments" if segment["kind"] == "ack" else "segments"


# ── Sentences ───────────────────────────────────────────────────────────────────────────────────────


def describe_item(lane: str, row: Mapping[str, Any]) -> str:
    """Return a sentence about an item, as in "CELL_FACH: 0.0000 s to 3.2000 s."."""
    describe_row = _DESCRIPTIONS.get(lane)
    description = _value_or_timer(lane, row) if describe_row is None else describe_row(row)
    return f"{description}: {_time_text(row)}."


def _time_text(row: Mapping[str, Any]) -> str:
    start_s = row.get("time_s", row.get("start_s"))
    end_s = row.get("end_s")
    if "end_s" not in row:
        return f"at {seconds(start_s)}"
    return f"{seconds(start_s)} to {'the end of the run' if end_s is None else seconds(end_s)}"


def _cause_text(row: Mapping[str, Any]) -> str:
    label = cause_label(row["cause"])
    return label[:1].upper() + label[1:]


def _segment_text(row: Mapping[str, Any]) -> str:
    name = describe(dict(row))
    repeat = _REPEAT_REASONS.get(row["cause"], "")
    lost = f", lost ({cause_label(row['loss'])})" if row["lost"] else ""
    return f"{name[:1].upper()}{name[1:]}, packet {row['packet']}{repeat}{lost}"


def _sdu_text(row: Mapping[str, Any]) -> str:
    fate = f", {row['fate']}" if row["fate"] else ""
    return f"SDU of packet {row['packet']}, {count(row['octets'], 'byte')}{_pdu_numbers(row)}{fate}"


def _pdu_text(row: Mapping[str, Any]) -> str:
    transmission = "" if row["transmission"] is None else f", transmission {row['transmission']}"
    poll = ", poll" if row["poll"] else ""
    place = {"nodeb_queue": "Node B queue", "air": "on the air"}.get(row["lost_at"] or "", "")
    lost = f", lost{f' ({place})' if place else ''}" if row["lost"] else ""
    return f"{row['channel']}{_pdu_numbers(row)}{transmission}{poll}{lost}"


def _block_set_text(row: Mapping[str, Any]) -> str:
    lost = f", {row['lost_blocks']} lost" if row["lost_blocks"] else ""
    dropped = " in the queue of the Node B" if row["nodeb_drop"] else ""
    blocks = count(row["blocks"], "block")
    return f"Transport block set {row['block_set']} on {row['channel']}, {blocks}{lost}{dropped}"


def _status_text(row: Mapping[str, Any]) -> str:
    missing = f"missing {row['missing']}" if row["missing"] else "no PDU missing"
    lost = ", lost" if row["lost"] else ""
    return f"STATUS: all PDUs below {row['below']} received, {missing}{lost}"


def _rrc_text(row: Mapping[str, Any]) -> str:
    return f"{row['state']} to {row['to']}" if row["to"] else str(row["state"])


def _dch_request_text(row: Mapping[str, Any]) -> str:
    in_use = f", {count(row['dchs'], 'DCH')} in use" if row["dchs"] is not None else ""
    return f"DCH request {str(row['answer']).replace('_', ' ')}{in_use}"


def _hs_dsch_text(row: Mapping[str, Any]) -> str:
    pdus = count(row["pdus"], "PDU")
    return f"HS-DSCH, {pdus}, attempt {row['attempt']}, CQI {row['cqi']}, {_harq_outcome(row)}"


def _e_dch_text(row: Mapping[str, Any]) -> str:
    size = f"{count(row['bits'], 'bit')}, {count(row['pdus'], 'PDU')}"
    happy_bit = "happy" if row["happy"] else "unhappy"
    return f"E-DCH, {size}, attempt {row['attempt']}, {happy_bit}, {_harq_outcome(row)}"


def _harq_outcome(row: Mapping[str, Any]) -> str:
    """Say whether a HARQ transmission was decoded, and if not, whether it was the last attempt."""
    return "decoded" if row["decoded"] else "given up" if row["last"] else "not decoded"


def _grant_text(row: Mapping[str, Any]) -> str:
    kind = "Absolute" if row["absolute"] else "Relative"
    grant = "zero grant" if row["index"] is None else f"index {row['index']}"
    return f"{kind} grant: {grant}, power ratio {number(row['ratio'], 4)}"


def _buffer_text(row: Mapping[str, Any]) -> str:
    return f"{count(round(row['octets']), 'byte')} in the buffer of RLC"


_DESCRIPTIONS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "causes": _cause_text,
    "segments": _segment_text,
    "acknowledgments": _segment_text,
    "sdus": _sdu_text,
    "pdus": _pdu_text,
    "block_sets": _block_set_text,
    "node_b_queue": _block_set_text,
    "status": _status_text,
    "rrc": _rrc_text,
    "dch_requests": _dch_request_text,
    "hs_attempts": _hs_dsch_text,
    "e_attempts": _e_dch_text,
    "e_happy": _e_dch_text,
    "e_grant": _grant_text,
    "rlc_buffer": _buffer_text,
}
"""Functions that describe a row, by lane. All other lanes have timers or sampled values."""


def _value_or_timer(lane: str, row: Mapping[str, Any]) -> str:
    """Describe a timer by its outcome, or a sampled value by number and unit."""
    declared = next(declared for declared in LANES if declared.name == lane)
    if declared.table == "timeline_timers":
        return f"{declared.label}, {row['outcome'] or 'running'}"
    return f"{declared.label} {number(row[declared.high], 5)} {declared.unit}".rstrip()


def _pdu_numbers(row: Mapping[str, Any]) -> str:
    if row["first"] is None:
        return ""
    if row["first"] == row["last"]:
        return f", PDU {row['first']}"
    return f", PDUs {row['first']} to {row['last']}"


# ── Items of a view ─────────────────────────────────────────────────────────────────────────────────


class _ViewRow(NamedTuple):
    """An item of a view. Rows are ordered by start, then by lane."""

    start_s: float
    lane_label: str
    text: str


def rows_in_view(timeline: ConnectionTimeline, from_s: float, to_s: float) -> dict[str, Any]:
    """Return the first `MAX_ROWS` items that begin in a view, as sentences, and the count of all.

    A view is the visible part of the time line, from `from_s` to `to_s`.
    """
    view_rows: list[_ViewRow] = []
    total = 0
    for lane in LANES:
        # The table has no sampled values and no causes.
        if lane.cells == "maximum" or lane.name == "causes":
            continue
        row_numbers = set(timeline.rows_between(lane, from_s, to_s))
        total += len(row_numbers)
        if not row_numbers:
            continue
        view_rows += [
            _ViewRow(row["time_s"], lane.label, describe_item(lane.name, row))
            for row in _rows_of_numbers(timeline, lane.table, sorted(row_numbers)[:MAX_ROWS])
        ]
    view_rows.sort()
    return {
        "count": total,
        "rows": [
            {"instant": f"{number(row.start_s, 7)} s", "lane": row.lane_label, "text": row.text}
            for row in view_rows[:MAX_ROWS]
        ],
    }


_IDENTITY_COLUMNS = ("packet", "connection", "ue", "direction", "block_set", "first", "last")
"""Columns of the file with the items of a view, after lane, start and end. Empty if a lane has none."""


class TooManyItems(ValueError):
    """A view has too many items for a file."""


def view_csv(timeline: ConnectionTimeline, from_s: float, to_s: float) -> str:
    """Return all items that begin in a view as CSV: lane, start, end, identities, and a sentence.

    Raises
    ------
    TooManyItems
        If the view has more than `MAX_EXPORTED` items.
    """
    import csv
    import io

    row_numbers = {lane.name: timeline.rows_between(lane, from_s, to_s) for lane in LANES}
    total = sum(map(len, row_numbers.values()))
    if total > MAX_EXPORTED:
        raise TooManyItems(f"the view has {total:,} items, and a file at most {MAX_EXPORTED:,}: zoom in")
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["lane", "start_s", "end_s", *_IDENTITY_COLUMNS, "text"])
    for lane in LANES:
        if not row_numbers[lane.name]:
            continue
        for row in _rows_of_numbers(timeline, lane.table, row_numbers[lane.name]):
            identities = [row.get(name) for name in _IDENTITY_COLUMNS]
            text = describe_item(lane.name, row)
            writer.writerow([lane.name, row[lane.start], row.get("end_s"), *identities, text])
    return file.getvalue()


def _rows_of_numbers(timeline: ConnectionTimeline, table: str, numbers: Sequence[int]) -> list[Row]:
    import polars as pl

    return timeline.table(table).filter(pl.col("row").is_in(numbers)).to_dicts()

"""An item of the time line in words, and the rows of all lanes that belong to its packet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from umtslab.numbers import number
from umtslab.serve.tiles import LANES, ConnectionTimeline, NoSuchTile
from umtslab.why.causes import describe
from umtslab.why.links import count, seconds

Row = dict[str, Any]

_REPEATS = {
    "dup_ack": ", sent again after duplicate ACKs",
    "rto": ", sent again after a timeout",
    "tail_loss": ", sent again as a tail loss probe",
    "again": ", sent again",
}

MOST_ROWS = 200
"""Rows of the table of a view."""

MOST_EXPORTED = 50_000
"""Rows of a file with the items of a view."""


class Selection:
    """Rows that belong together, found by their identities.

    Raises
    ------
    NoSuchTile
        If the lane has no such item.
    """

    def __init__(self, timeline: ConnectionTimeline, lane: str, row: int) -> None:
        self._timeline = timeline
        self._rows: dict[str, set[int]] = {}
        self.packet: int | None = None
        if lane == "packet":
            self.packet = row
            segments = self._where("timeline_segments", packet=row)
            if not segments:
                raise NoSuchTile("the time line of this connection has no such packet")
            item = segments[0]
            lane = "acknowledgments" if item["kind"] == "ack" else "segments"
        else:
            item = self._item(lane, row)
            self._rows[lane] = {row}
            self.packet = self._packet_of(lane, item)
        self.text = describe_item(lane, item)
        self.start_s = item.get("time_s", item.get("start_s"))
        self.end_s = item.get("end_s")
        if self.packet is not None:
            self._follow(self.packet)

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
        items = [] if table is None else self._where(table, row=row)
        if not items:
            raise NoSuchTile("the lane has no such item")
        return items[0]

    def _where(self, table: str, **values: int) -> list[Row]:
        import polars as pl

        rows = self._timeline.table(table)
        if not rows.height:
            return []
        condition = pl.all_horizontal(pl.col(name) == value for name, value in values.items())
        return rows.filter(condition).to_dicts()

    def _packet_of(self, lane: str, item: Row) -> int | None:
        if item.get("packet") is not None:
            return int(item["packet"])
        if lane in ("block_sets", "node_b_queue"):
            pdus = self._where("timeline_pdus", block_set=item["block_set"])
            item = next((pdu for pdu in pdus if pdu["first"] is not None), {})
        if item.get("first") is None:
            return None
        return next((int(sdu["packet"]) for sdu in self._sdus_of(item)), None)

    def _sdus_of(self, pdu: Row) -> Iterator[Row]:
        """Yield the SDUs that have a part in these PDUs and entered the buffer earlier, the latest first.

        Sequence numbers begin again when RLC is reset or re-established, so earlier SDUs can match too.
        """
        import polars as pl

        sdus = self._timeline.table("timeline_sdus")
        if not sdus.height:
            return
        candidates = sdus.filter(
            (pl.col("direction") == pdu["direction"])
            & (pl.col("first") <= pdu["last"])
            & (pl.col("last") >= pdu["first"])
            & (pl.col("time_s") <= pdu["time_s"])
        )
        yield from reversed(candidates.to_dicts())

    def _follow(self, packet: int) -> None:
        """Add everything that carries a packet."""
        for segment in self._where("timeline_segments", packet=packet):
            self._add("acknowledgments" if segment["kind"] == "ack" else "segments", [segment])
        for sdu in self._where("timeline_sdus", packet=packet):
            self._add("sdus", [sdu])
            if sdu["first"] is not None:
                pdus = list(self._pdus_of(sdu))
                self._add("pdus", pdus)
                numbers = {pdu["block_set"] for pdu in pdus if pdu["block_set"] is not None}
                block_sets = self._block_sets(numbers, sdu["direction"])
                self._add("block_sets", block_sets)
                self._add("node_b_queue", [row for row in block_sets if row["on_air_s"] is not None])

    def _pdus_of(self, sdu: Row) -> Iterable[Row]:
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


def describe_item(lane: str, row: Mapping[str, Any]) -> str:
    """Return a sentence about an item."""
    return f"{_what(lane, row)}: {_when(row)}."


def _when(row: Mapping[str, Any]) -> str:
    start_s = row.get("time_s", row.get("start_s"))
    end_s = row.get("end_s")
    if "end_s" not in row:
        return f"at {seconds(start_s)}"
    return f"{seconds(start_s)} to {'the end of the run' if end_s is None else seconds(end_s)}"


def _what(lane: str, row: Mapping[str, Any]) -> str:
    from umtslab.labels import cause_label

    match lane:
        case "causes":
            label = cause_label(row["cause"])
            return label[:1].upper() + label[1:]
        case "segments" | "acknowledgments":
            name = describe(dict(row))
            again = _REPEATS.get(row["cause"], "")
            lost = f", lost ({cause_label(row['loss'])})" if row["lost"] else ""
            return f"{name[:1].upper()}{name[1:]}, packet {row['packet']}{again}{lost}"
        case "sdus":
            fate = f", {row['fate']}" if row["fate"] else ""
            return f"SDU of packet {row['packet']}, {count(row['octets'], 'byte')}{_pdu_numbers(row)}{fate}"
        case "pdus":
            nth = "" if row["transmission"] is None else f", transmission {row['transmission']}"
            poll = ", poll" if row["poll"] else ""
            place = {"nodeb_queue": "Node B queue", "air": "on the air"}.get(row["lost_at"] or "", "")
            lost = f", lost{f' ({place})' if place else ''}" if row["lost"] else ""
            return f"{row['channel']}{_pdu_numbers(row)}{nth}{poll}{lost}"
        case "block_sets" | "node_b_queue":
            lost = f", {row['lost_blocks']} lost" if row["lost_blocks"] else ""
            dropped = " in the queue of the Node B" if row["nodeb_drop"] else ""
            blocks = count(row["blocks"], "block")
            return f"Transport block set {row['block_set']} on {row['channel']}, {blocks}{lost}{dropped}"
        case "status":
            missing = f"missing {row['missing']}" if row["missing"] else "no PDU missing"
            lost = ", lost" if row["lost"] else ""
            return f"STATUS: all PDUs below {row['below']} received, {missing}{lost}"
        case "rrc":
            return f"{row['state']} to {row['to']}" if row["to"] else str(row["state"])
        case "dch_requests":
            in_use = f", {count(row['dchs'], 'DCH')} in use" if row["dchs"] is not None else ""
            return f"DCH request {str(row['answer']).replace('_', ' ')}{in_use}"
        case "hs_attempts":
            fate = "decoded" if row["decoded"] else "given up" if row["last"] else "not decoded"
            return f"HS-DSCH, {count(row['pdus'], 'PDU')}, attempt {row['attempt']}, CQI {row['cqi']}, {fate}"
        case "e_attempts" | "e_happy":
            fate = "decoded" if row["decoded"] else "given up" if row["last"] else "not decoded"
            size = f"{count(row['bits'], 'bit')}, {count(row['pdus'], 'PDU')}"
            happy = "happy" if row["happy"] else "unhappy"
            return f"E-DCH, {size}, attempt {row['attempt']}, {happy}, {fate}"
        case "e_grant":
            kind = "Absolute" if row["absolute"] else "Relative"
            grant = "zero grant" if row["index"] is None else f"index {row['index']}"
            return f"{kind} grant: {grant}, power ratio {number(row['ratio'], 4)}"
        case "rlc_buffer":
            return f"{count(round(row['octets']), 'byte')} in the buffer of RLC"
    return _value_or_timer(lane, row)


def _value_or_timer(lane: str, row: Mapping[str, Any]) -> str:
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


def rows_in_view(timeline: ConnectionTimeline, from_s: float, to_s: float) -> dict[str, Any]:
    """Return the first `MOST_ROWS` items that begin in a view, as sentences, and the count of all."""
    start_lane_text: list[tuple[float, str, str]] = []
    total = 0
    for lane in LANES:
        # Lanes of sampled values and of causes have no items of their own.
        if lane.cells == "maximum" or lane.name == "causes":
            continue
        rows = set(timeline.rows_between(lane, from_s, to_s))
        total += len(rows)
        if not rows:
            continue
        start_lane_text += [
            (row["time_s"], lane.label, describe_item(lane.name, row))
            for row in _rows_of_numbers(timeline, lane.table, sorted(rows)[:MOST_ROWS])
        ]
    start_lane_text.sort()
    return {
        "count": total,
        "rows": [
            {"instant": f"{number(time_s, 7)} s", "lane": lane, "text": text}
            for time_s, lane, text in start_lane_text[:MOST_ROWS]
        ],
    }


_COLUMNS = ("packet", "connection", "ue", "direction", "block_set", "first", "last")
"""Identities in the table of a view, after lane, start and end."""


class TooManyItems(ValueError):
    """A view has too many items for a file."""


def view_csv(timeline: ConnectionTimeline, from_s: float, to_s: float) -> str:
    """Return all items that begin in a view as CSV: lane, start, end, identities, and a sentence.

    Raises
    ------
    TooManyItems
        If the view has more than `MOST_EXPORTED` items.
    """
    import csv
    import io

    rows = {lane.name: timeline.rows_between(lane, from_s, to_s) for lane in LANES}
    total = sum(map(len, rows.values()))
    if total > MOST_EXPORTED:
        raise TooManyItems(f"the view has {total:,} items, and a file at most {MOST_EXPORTED:,}: zoom in")
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["lane", "start_s", "end_s", *_COLUMNS, "text"])
    for lane in LANES:
        for row in _rows_of_numbers(timeline, lane.table, rows[lane.name]) if rows[lane.name] else []:
            identities = [row.get(name) for name in _COLUMNS]
            text = describe_item(lane.name, row)
            writer.writerow([lane.name, row[lane.start], row.get("end_s"), *identities, text])
    return file.getvalue()


def _rows_of_numbers(timeline: ConnectionTimeline, table: str, numbers: Sequence[int]) -> list[Row]:
    import polars as pl

    return timeline.table(table).filter(pl.col("row").is_in(numbers)).to_dicts()

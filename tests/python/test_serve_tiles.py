"""The tiles that the page of ``umts serve`` draws as the time line of a connection.

A tile is a part of the time line at one zoom level. It has the items of each lane (rows of a table of
the run), or values per cell if there are too many items. The tests compute the same numbers directly
from the tables, in random windows of every level.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from conftest import FTP
from umtslab import Run, Scenario, open_store, simulate
from umtslab.lanes import Lane

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from umtslab.serve import selection
from umtslab.serve.measure import MAX_CAUSES, measure
from umtslab.serve.models.timeline import Found, Measured, Tile, TimelineHead, ViewRows
from umtslab.serve.models.timeline import Selection as SelectionModel
from umtslab.serve.search import search
from umtslab.serve.selection import MAX_ROWS, Selection, TooManyItems, rows_in_view, view_csv
from umtslab.serve.tiles import (
    CELLS_PER_TILE,
    LANES,
    LOWEST_LEVEL,
    ConnectionTimeline,
    NoSuchTile,
    cell_ns,
    head,
    max_items,
)

CONNECTIONS = (11, 27)
"""The downloads of UE 11: the first with three timeouts, the second with one."""

WINDOWS = 6
"""Number of random windows of a test, per level."""

Row = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    overrides = {"duration": "80 s", "measure.budget": True, "measure.timeline": True}
    with open_store(tmp_path_factory.mktemp("tiles")) as store:
        scenario = Scenario.load(FTP.with_name("ftp-fach-dch.toml"), overrides)
        [run] = simulate(scenario, store=store, series=True)
        return run


@pytest.fixture(scope="module", params=CONNECTIONS)
def timeline(run: Run, request: pytest.FixtureRequest) -> ConnectionTimeline:
    return ConnectionTimeline(run, request.param)


class Window(NamedTuple):
    """Some successive cells of a tile."""

    level: int
    tile: int
    """Index of the tile at this level."""
    first_cell: int
    last_cell: int

    @property
    def start_ns(self) -> int:
        return (self.tile * CELLS_PER_TILE + self.first_cell) * cell_ns(self.level)

    @property
    def end_ns(self) -> int:
        return (self.tile * CELLS_PER_TILE + self.last_cell + 1) * cell_ns(self.level)

    def has_cell(self, cell: int) -> bool:
        return self.first_cell <= cell <= self.last_cell


def windows(timeline: ConnectionTimeline) -> Iterator[Window]:
    """Yield random windows at each level."""
    generator = random.Random(1)
    for level in range(LOWEST_LEVEL, timeline.highest_level + 1):
        tile_ns = cell_ns(level) * CELLS_PER_TILE
        tiles = timeline.duration_ns // tile_ns + 1
        # The tile in which the connection begins is never empty.
        busy_tile = nanoseconds(timeline.opened_s or 0) // tile_ns
        for tile in {busy_tile, *(generator.randrange(tiles) for _ in range(WINDOWS))}:
            first_cell, last_cell = sorted(generator.choices(range(CELLS_PER_TILE), k=2))
            yield Window(level, tile, first_cell, last_cell)


def rows_of(run: Run, timeline: ConnectionTimeline, lane: Lane) -> list[Row]:
    """Return the rows of a lane, selected without the code under test."""
    return [row for row in run.series(lane.table).to_dicts() if is_in_lane(timeline, lane, row)]


def is_in_lane(timeline: ConnectionTimeline, lane: Lane, row: Row) -> bool:
    """Whether a row belongs to a lane. The data of the connection is sent in the downlink."""
    is_of_connection = row.get("connection") == timeline.connection
    is_of_ue = row.get("ue") == timeline.ue
    is_downlink = row.get("direction") == "downlink"
    is_uplink = row.get("direction") == "uplink"
    match lane.name:
        case "causes" | "cwnd" | "ssthresh" | "outstanding" | "srtt" | "rto":
            return is_of_connection
        case "segments":
            return is_of_connection and is_downlink and row["kind"] != "ack"
        case "acknowledgments":
            return is_of_connection and is_uplink and row["ack"] > 0
        case "status":
            return is_of_ue and is_uplink
        case "pdus":
            return is_of_ue and is_downlink and row["first"] is not None
        case "rrc" | "dch_requests":
            return is_of_ue
        case "node_b_queue":
            return is_of_ue and is_downlink and row["on_air_s"] is not None
        case "retransmission_timer":
            return is_of_connection and is_downlink and row["timer"] == "rto"
        case "timer_poll":
            # The sender of data polls.
            return is_of_ue and is_downlink and row["timer"] == lane.name
        case "timer_status_prohibit":
            # The receiver of data prohibits STATUS PDUs, which are sent in the uplink.
            return is_of_ue and is_uplink and row["timer"] == lane.name
    return is_of_ue and is_downlink


def category_of(lane: Lane, row: Row) -> str:
    """Return the category of a row, without the code under test."""
    match lane.name:
        case "causes":
            return str(row["cause"])
        case "segments":
            return "lost" if row["lost"] else "new" if row["cause"] == "new" else "again"
        case "acknowledgments":
            return "lost" if row["lost"] else "ack"
        case "sdus":
            return "open" if row["end_s"] is None else "delivered" if row["fate"] == "delivered" else "lost"
        case "pdus":
            return "lost" if row["lost"] else "again" if row["transmission"] > 1 else "new"
        case "block_sets":
            return "lost" if row["lost_blocks"] else "whole"
        case "status":
            return "lost" if row["lost"] else "missing" if row["missing"] else "complete"
        case "rrc":
            return "switch" if row["to"] else str(row["state"])
        case "retransmission_timer" | "timer_poll":
            return "expired" if row["outcome"] == "expired" else "stopped"
        case "timer_status_prohibit":
            return "prohibited"
        case "node_b_queue":
            return "waits"
        case "dch_requests":
            return "granted" if row["answer"].startswith("granted") else "refused"
    return "value"


def nanoseconds(time_s: float) -> int:
    return round(time_s * 1e9)


def content_of(timeline: ConnectionTimeline, lane: str, level: int, index: int) -> dict[str, Any]:
    """Return the content of a lane in a tile: its items or its cells."""
    [content] = [content for content in timeline.tile(level, index)["lanes"] if content["name"] == lane]
    return dict(content)


def test_tiles_count_what_the_tables_hold(run: Run, timeline: ConnectionTimeline) -> None:
    tables = {lane.name: rows_of(run, timeline, lane) for lane in LANES}
    # The scenario has no HS-DSCH and no E-DCH. Their lanes have tests below.
    hspa = {lane.name for lane in LANES if lane.name.startswith(("hs_", "e_"))}
    assert {name for name, rows in tables.items() if not rows} == hspa
    assert len(hspa) == 7
    kinds: Counter[str] = Counter()
    for window in windows(timeline):
        tile = timeline.tile(window.level, window.tile)
        for lane, content in zip(LANES, tile["lanes"], strict=True):
            if lane.cells != "count":
                continue
            names = [name for name, _ in timeline.categories(lane)]
            expected: Counter[str] = Counter()
            shown: Counter[str] = Counter()
            for row in tables[lane.name]:
                if window.start_ns <= nanoseconds(row["time_s"]) < window.end_ns:
                    # A row of PDUs is one item, but counts as several in a cell.
                    counts_pdus = lane.name == "pdus" and content["items"] is None
                    expected[category_of(lane, row)] += row["count"] if counts_pdus else 1
            if content["items"] is None:
                for cell, category, count in content["cells"]:
                    if window.has_cell(cell):
                        shown[names[category]] += count
            else:
                for _, start_s, _, _, _, _, category in content["items"]:
                    if window.start_ns <= nanoseconds(start_s) < window.end_ns:
                        shown[names[category]] += 1
            assert shown == expected, (lane.name, window)
            kinds["cells" if content["items"] is None else "items"] += 1
    assert min(kinds["cells"], kinds["items"]) > 50


def test_tiles_have_the_time_of_causes_and_states(run: Run, timeline: ConnectionTimeline) -> None:
    for lane in (lane for lane in LANES if lane.cells == "share"):
        rows = rows_of(run, timeline, lane)
        names = [name for name, _ in timeline.categories(lane)]
        for window in windows(timeline):
            content = content_of(timeline, lane.name, window.level, window.tile)
            expected: Counter[str] = Counter()
            shown: Counter[str] = Counter()
            for row in rows:
                start_ns = nanoseconds(row["start_s" if "start_s" in row else "time_s"])
                end_ns = nanoseconds(run.duration_s if row["end_s"] is None else row["end_s"])
                inside_ns = min(window.end_ns, end_ns) - max(window.start_ns, start_ns)
                if inside_ns > 0:
                    expected[category_of(lane, row)] += inside_ns
            if content["items"] is None:
                for cell, category, share in content["cells"]:
                    if window.has_cell(cell):
                        shown[names[category]] += round(share * cell_ns(window.level))
            else:
                for _, start_s, end_s, _, _, _, category in content["items"]:
                    inside_ns = min(window.end_ns, nanoseconds(end_s)) - max(
                        window.start_ns, nanoseconds(start_s)
                    )
                    if inside_ns > 0:
                        shown[names[category]] += inside_ns
            assert shown == expected, (lane.name, window)


@pytest.mark.parametrize("name", ["rlc_buffer", "cwnd", "outstanding", "srtt", "rto"])
def test_a_cell_of_values_has_the_largest_one(run: Run, timeline: ConnectionTimeline, name: str) -> None:
    [lane] = [lane for lane in LANES if lane.name == name]
    rows = rows_of(run, timeline, lane)
    last_s = run.duration_s if name == "rlc_buffer" else timeline.closed_s or run.duration_s
    ends = [*(nanoseconds(row["time_s"]) for row in rows[1:]), nanoseconds(last_s)]
    level = timeline.highest_level
    assert timeline.has_cells(lane, level) == (len(rows) > max_items(lane))
    content = content_of(timeline, name, level, 0)
    for cell, _, value in content["cells"] or []:
        start, end = cell * cell_ns(level), (cell + 1) * cell_ns(level)
        largest = max(
            row[lane.high]
            for row, until in zip(rows, ends, strict=True)
            if nanoseconds(row["time_s"]) < end and max(until, nanoseconds(row["time_s"]) + 1) > start
        )
        assert value == pytest.approx(largest, abs=1e-6)


def test_tiles_are_small_and_fit_their_models(timeline: ConnectionTimeline) -> None:
    for level in range(LOWEST_LEVEL, timeline.highest_level + 1):
        tiles = timeline.duration_ns // (cell_ns(level) * CELLS_PER_TILE) + 1
        for index in range(0, tiles, max(1, tiles // 40)):
            encoded = timeline.encoded(level, index)
            assert len(encoded) <= 64_000
            Tile.model_validate_json(encoded)
    shown = head(timeline, timeline.run.connection_rows())
    TimelineHead.model_validate(shown)
    assert shown["from_s"] < (timeline.opened_s or 0.0) < shown["to_s"]


def test_a_full_tile_is_small_enough() -> None:
    """Each lane with as many items as it may have, of a run of 27 hours with 10^8 packets."""
    time, number = 99_999.123456789, 10**8
    items = 0
    for lane in LANES:
        middle = time if lane.name in ("segments", "acknowledgments", "sdus") else None
        # Windows and times have decimals, and are smaller than numbers of bytes.
        value: float = 9_999.123456 if lane.unit in ("s", "segments") else number
        row = [number, time, time, value if lane.low else 0, value if lane.high else 0, middle, 9]
        items += max_items(lane) * len(json.dumps(row, separators=(",", ":")) + ",")
    assert items <= 64_000


def test_a_packet_selects_its_segment_sdu_pdus_and_block_sets(run: Run, timeline: ConnectionTimeline) -> None:
    rows = {lane.name: rows_of(run, timeline, lane) for lane in LANES}
    segment = next(row for row in rows["segments"] if row["kind"] == "data")
    selected = Selection(timeline, "packet", segment["packet"]).as_dict()
    SelectionModel.model_validate(selected | {"chain": None})
    assert (selected["start_s"], selected["end_s"]) == (segment["time_s"], segment["end_s"])
    assert f"packet {segment['packet']}" in selected["text"]
    [sdu] = [row for row in rows["sdus"] if row["packet"] == segment["packet"]]
    pdus = run.series("timeline_pdus").to_dicts()
    selected_pdus = [pdus[row] for row in selected["rows"]["pdus"]]
    numbers = {number for pdu in selected_pdus for number in range(pdu["first"], pdu["last"] + 1)}
    assert numbers >= set(range(sdu["first"], sdu["last"] + 1))
    sets = run.series("timeline_block_sets").to_dicts()
    assert {sets[row]["block_set"] for row in selected["rows"]["block_sets"]} == {
        pdu["block_set"] for pdu in selected_pdus
    }
    # Each of its items selects the same packet, except PDUs with a part of the packet before.
    for lane in ("segments", "sdus"):
        for row in selected["rows"][lane]:
            assert Selection(timeline, lane, row).as_dict()["rows"] == selected["rows"]
    assert Selection(timeline, "pdus", selected["rows"]["pdus"][0]).packet is not None


def test_the_table_of_a_view_has_its_items(timeline: ConnectionTimeline) -> None:
    opened = timeline.opened_s or 0.0
    view = rows_in_view(timeline, opened, opened + 2.0)
    ViewRows.model_validate(view)
    assert len(view["rows"]) == min(view["count"], MAX_ROWS)
    instants = [float(row["instant"].removesuffix(" s")) for row in view["rows"]]
    assert instants == sorted(instants)
    assert any("SYN" in row["text"] for row in view["rows"])


def test_the_file_of_a_view_has_all_its_items(
    run: Run, timeline: ConnectionTimeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = timeline.opened_s or 0.0
    end = start + 1.5
    lines = list(csv.DictReader(io.StringIO(view_csv(timeline, start, end))))
    for lane in LANES:
        rows = [row for row in rows_of(run, timeline, lane) if start <= row[lane.start] < end]
        lines_of_lane = [line for line in lines if line["lane"] == lane.name]
        assert [float(line["start_s"]) for line in lines_of_lane] == [row[lane.start] for row in rows]
        for line, row in zip(lines_of_lane, rows, strict=True):
            assert line["packet"] == str(row.get("packet") if row.get("packet") is not None else "")
    monkeypatch.setattr(selection, "MAX_EXPORTED", 10)
    with pytest.raises(TooManyItems, match="zoom in"):
        view_csv(timeline, start, end)


def test_segments_cross_the_rnc_between_start_and_end(run: Run, timeline: ConnectionTimeline) -> None:
    sdus = {row["packet"]: row for row in run.series("timeline_sdus").to_dicts()}
    segments = run.series("timeline_segments").to_dicts()
    crossed = 0
    for name in ("segments", "acknowledgments"):
        [lane] = [lane for lane in LANES if lane.name == name]
        items = timeline.items(lane)
        for row, middle_ns in zip(items.row, items.middle_ns, strict=True):
            segment = segments[row]
            sdu = sdus.get(segment["packet"])
            if sdu is None or sdu["fate"] != "delivered":
                continue
            at_rnc_s = segment["radio_s"] if name == "segments" else sdu["end_s"]
            assert middle_ns == nanoseconds(at_rnc_s)
            assert segment["time_s"] <= at_rnc_s <= segment["end_s"]
            crossed += 1
    assert crossed > 20


def test_what_does_not_exist_is_named(run: Run, timeline: ConnectionTimeline) -> None:
    for level, index in ((LOWEST_LEVEL - 1, 0), (timeline.highest_level + 1, 0), (0, -1), (0, 10**9)):
        with pytest.raises(NoSuchTile):
            timeline.tile(level, index)
    with pytest.raises(NoSuchTile):
        ConnectionTimeline(run, 99)
    for lane, row in (("segments", 10**8), ("no lane", 0), ("packet", 10**8)):
        with pytest.raises(NoSuchTile):
            Selection(timeline, lane, row)


# ── HS-DSCH ─────────────────────────────────────────────────────────────────────────────────────────


def test_lanes_of_the_hs_dsch_show_attempts_cqi_and_credits() -> None:
    overrides = {"duration": "6 s", "measure.budget": True, "measure.timeline": True}
    [run] = simulate(Scenario.load(FTP.with_name("hsdpa.toml"), overrides), series=True)
    timeline = ConnectionTimeline(run, run.connection_rows()[0]["connection"])
    lanes = {lane.name: lane for lane in LANES}
    sent = [row for row in run.series("timeline_hs_blocks").to_dicts() if row["ue"] == timeline.ue]
    assert len(timeline.items(lanes["hs_attempts"])) == len(sent) > 50
    assert {row["attempt"] for row in sent} >= {1, 2}
    assert timeline.items(lanes["hs_cqi"]).high.tolist() == [row["cqi"] for row in sent]
    credits = run.series("timeline_hs_credits").to_dicts()
    assert sum(row["credits"] for row in credits) > 0
    assert len(timeline.items(lanes["hs_credits"])) == sum(row["ue"] == timeline.ue for row in credits)
    waits = timeline.items(lanes["node_b_queue"])
    assert len(waits) > 50
    assert (waits.end_ns >= waits.start_ns).all()
    # The first threshold is infinite, which no axis shows.
    thresholds = run.series("ssthresh")["ssthresh_segments"].to_list()
    assert thresholds[0] == float("inf")
    finite = [threshold for threshold in thresholds if threshold < float("inf")]
    assert timeline.items(lanes["ssthresh"]).high.tolist() == finite
    Tile.model_validate_json(timeline.encoded(timeline.highest_level, 0))
    decoded = [row for row in sent if row["decoded"]]
    assert sum(row["pdus"] for row in decoded) <= run.series("timeline_pdus")["count"].sum()


# ── E-DCH ───────────────────────────────────────────────────────────────────────────────────────────


def test_lanes_of_the_e_dch_show_attempts_happy_bits_grants_and_noise_rise() -> None:
    overrides = {"duration": "3 s", "measure.budget": True, "measure.timeline": True}
    [run] = simulate(Scenario.load(FTP.with_name("hspa.toml"), overrides), series=True)
    timeline = ConnectionTimeline(run, run.connection_rows()[0]["connection"])
    lanes = {lane.name: lane for lane in LANES}
    blocks, grants = (run.series(f"timeline_e_{name}").to_dicts() for name in ("blocks", "grants"))
    # The metrics count the whole run: the scenario has no warm-up.
    assert len(blocks) == run.metrics["e_transmissions"]
    assert max(row["noise_rise_db"] for row in blocks) == pytest.approx(
        run.metrics["e_max_noise_rise_db"], rel=1e-6
    )
    happy = 100 * sum(row["happy"] for row in blocks) / len(blocks)
    assert happy == pytest.approx(run.metrics["e_happy_pct"])
    kinds = Counter("absolute" if row["absolute"] else "relative" for row in grants)
    assert all(kinds[kind] == run.metrics[f"e_{kind}_grants"] for kind in ("absolute", "relative"))
    assert min(kinds["absolute"], kinds["relative"]) > 0
    assert all(row["noise_rise_db"] > 0 for row in blocks)
    assert {row["ratio"] for row in grants if row["index"] is None} <= {0}
    # Index 0 is the amplitude 5/15 on one E-DPDCH (TS 25.321 table 9.2.5.2.1.1).
    ratios = {row["index"]: row["ratio"] for row in grants}
    assert all(ratio >= (5 / 15) ** 2 for index, ratio in ratios.items() if index is not None)

    own = [row for row in blocks if row["ue"] == timeline.ue]
    assert len(timeline.items(lanes["e_attempts"])) == len(timeline.items(lanes["e_happy"])) == len(own) > 50
    assert {row["attempt"] for row in own} >= {1, 2}
    names = [name for name, _ in timeline.categories(lanes["e_happy"])]
    assert [names[i] for i in timeline.items(lanes["e_happy"]).category] == [
        "happy" if row["happy"] else "unhappy" for row in own
    ]
    assert timeline.items(lanes["e_noise_rise"]).high.tolist() == [row["noise_rise_db"] for row in own]
    own_grants = [row["ratio"] for row in grants if row["ue"] == timeline.ue]
    assert timeline.items(lanes["e_grant"]).high.tolist() == own_grants
    texts = [
        Selection(timeline, lane, int(timeline.items(lanes[lane]).row[0])).text
        for lane in ("e_happy", "e_grant")
    ]
    assert texts[0].startswith("E-DCH, ")
    assert "power ratio" in texts[1]


# ── Search and measuring ────────────────────────────────────────────────────────────────────────────


def test_a_search_steps_through_all_matches_in_both_directions(
    run: Run, timeline: ConnectionTimeline
) -> None:
    rows = rows_of(run, timeline, next(lane for lane in LANES if lane.name == "segments"))
    byte = next(row for row in rows if row["repeats"] is not None)["seq"]
    sent_at = [row["time_s"] for row in rows if row["seq"] <= byte < row["end"]]
    assert len(sent_at) > 1
    at_s = 0.0
    for expected_s in sent_at:
        match = search(timeline, f"byte {byte}", at_s, backward=False)
        Found.model_validate(match)
        assert (match["lane"], match["count"]) == ("segments", len(sent_at))
        assert match["time_s"] == expected_s
        at_s = expected_s
    # After the last match comes the first one, and before the last one the one before it.
    assert search(timeline, f"SEG {byte}", at_s, backward=False)["time_s"] == sent_at[0]
    assert search(timeline, f"segment {byte}", at_s, backward=True)["time_s"] == sent_at[-2]


def test_a_search_finds_pdus_sequence_numbers_causes_and_instants(
    run: Run, timeline: ConnectionTimeline
) -> None:
    rows = rows_of(run, timeline, next(lane for lane in LANES if lane.name == "pdus"))
    number = rows[len(rows) // 2]["first"]
    first = next(row["time_s"] for row in rows if row["first"] <= number <= row["last"])
    # A sequence number can occur earlier: there are 4,096 of them.
    for query in (f"pdu {number}", f"PDU{number}", f" sn  {number % 4096}"):
        assert search(timeline, query, 0.0, backward=False)["time_s"] <= first
    assert search(timeline, f"pdu {number}", 0.0, backward=False)["time_s"] == first
    causes = rows_of(run, timeline, next(lane for lane in LANES if lane.name == "causes"))
    switch = next(row["start_s"] for row in causes if row["cause"] == "channel_switch")
    for query in ("channel switch", "channel_switch", "Channel"):
        assert search(timeline, query, 0.0, backward=False)["time_s"] == switch
    assert search(timeline, "12.5 s", 0.0, backward=False)["time_s"] == 12.5
    for query, words in (
        ("sn 4096", "Nothing"),
        ("99999 s", "The run ends at 80 s"),
        ("", "Nothing"),
        ("%", "an instant such as"),
    ):
        nothing = search(timeline, query, 3.0, backward=False)
        Found.model_validate(nothing)
        assert nothing["count"] == 0
        assert words in nothing["text"]


def test_measured_numbers_are_sums_of_the_tables(run: Run, timeline: ConnectionTimeline) -> None:
    generator = random.Random(2)
    opened, closed = timeline.opened_s or 0.0, timeline.closed_s or run.duration_s
    lanes = {
        name: rows_of(run, timeline, next(lane for lane in LANES if lane.name == name))
        for name in ("segments", "pdus", "acknowledgments", "causes")
    }
    for _ in range(WINDOWS):
        start, end = sorted(generator.uniform(opened, closed) for _ in range(2))
        measured = measure(timeline, start, end)
        Measured.model_validate(measured)
        numbers = {number["name"]: number["value"] for number in measured["numbers"]}
        sent = [row for row in lanes["segments"] if start <= row["time_s"] < end]
        pdus = [row for row in lanes["pdus"] if start <= row["time_s"] < end]
        arrived = [
            row
            for row in lanes["segments"]
            if row["end_s"] and start <= row["end_s"] < end and not row["lost"]
        ]
        assert numbers == {
            "segments_sent": len(sent),
            "segments_again": sum(row["repeats"] is not None for row in sent),
            "segments_lost": sum(row["lost"] for row in sent),
            "bytes_sent": sum(row["payload"] for row in sent),
            "bytes_arrived": sum(row["payload"] for row in arrived),
            "acks_sent": sum(start <= row["time_s"] < end for row in lanes["acknowledgments"]),
            "pdus_sent": sum(row["count"] for row in pdus),
            "pdus_again": sum(row["count"] for row in pdus if row["transmission"] > 1),
            "pdus_lost": sum(row["count"] for row in pdus if row["lost"]),
        }
        time_of_cause: Counter[str] = Counter()
        for row in lanes["causes"]:
            inside = min(end, row["end_s"]) - max(start, row["start_s"])
            if inside > 0:
                time_of_cause[row["cause"]] += inside
        for measured_cause in measured["causes"]:
            assert measured_cause["seconds"] == pytest.approx(time_of_cause[measured_cause["cause"]])
        assert len(measured["causes"]) == min(MAX_CAUSES, len(time_of_cause))

"""Tiles of the time line: they hold what the tables of the run hold, at each zoom and in each window."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import FTP
from umtslab import Run, Scenario, open_store, simulate

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from umtslab.serve import selection
from umtslab.serve.models import Selection as SelectionModel
from umtslab.serve.models import Tile, TimelineHead, ViewRows
from umtslab.serve.selection import MOST_ROWS, Selection, TooManyItems, rows_in_view, view_csv
from umtslab.serve.tiles import CELLS, LANES, LOWEST, ConnectionTimeline, Lane, NoSuchTile, cell_ns, head

CONNECTIONS = (11, 27)
"""The downloads of UE 11: the first with three timeouts, the second with one."""

WINDOWS = 6

Row = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    overrides = {"duration": "80 s", "measure.budget": True, "measure.timeline": True}
    with open_store(tmp_path_factory.mktemp("tiles")) as store:
        scenario = Scenario.load(FTP.with_name("ftp-fach-dch.toml"), overrides)
        [found] = simulate(scenario, store=store, series=True)
        return found


@pytest.fixture(scope="module", params=CONNECTIONS)
def timeline(run: Run, request: pytest.FixtureRequest) -> ConnectionTimeline:
    return ConnectionTimeline(run, request.param)


def windows(timeline: ConnectionTimeline) -> Iterator[tuple[int, int, int, int]]:
    """Yield random windows at each level: level, tile, and the first and last cell."""
    chance = random.Random(1)
    for level in range(LOWEST, timeline.highest + 1):
        tiles = timeline.duration_ns // (cell_ns(level) * CELLS) + 1
        busy = int((timeline.opened_s or 0) * 1e9) // (cell_ns(level) * CELLS)
        for index in {busy, *(chance.randrange(tiles) for _ in range(WINDOWS))}:
            first, last = sorted(chance.choices(range(CELLS), k=2))
            yield level, index, first, last


def rows_of(run: Run, timeline: ConnectionTimeline, lane: Lane) -> list[Row]:
    """Return the rows of a lane, chosen without the code under test."""
    found = []
    for row in run.series(lane.table).to_dicts():
        match lane.name:
            case "causes":
                is_in = row["connection"] == timeline.connection
            case "segments":
                is_in = (row["connection"], row["direction"]) == (timeline.connection, "downlink")
                is_in = is_in and row["kind"] != "ack"
            case "acks":
                is_in = (row["connection"], row["direction"]) == (timeline.connection, "uplink")
                is_in = is_in and row["ack"] > 0
            case "status":
                is_in = (row["ue"], row["direction"]) == (timeline.ue, "uplink")
            case "pdus":
                is_in = (row["ue"], row["direction"]) == (timeline.ue, "downlink") and row[
                    "first"
                ] is not None
            case "rrc" | "dch":
                is_in = row["ue"] == timeline.ue
            case _:
                is_in = (row["ue"], row["direction"]) == (timeline.ue, "downlink")
        if is_in:
            found.append(row)
    return found


def category_of(lane: Lane, row: Row) -> str:
    match lane.name:
        case "causes":
            return str(row["cause"])
        case "segments":
            return "lost" if row["lost"] else "new" if row["cause"] == "new" else "again"
        case "acks":
            return "lost" if row["lost"] else "ack"
        case "sdus":
            return "open" if row["end_s"] is None else "delivered" if row["fate"] == "delivered" else "lost"
        case "pdus":
            return "lost" if row["lost"] else "again" if row["transmission"] > 1 else "new"
        case "blocks":
            return "lost" if row["lost_blocks"] else "whole"
        case "status":
            return "lost" if row["lost"] else "missing" if row["missing"] else "complete"
        case "rrc":
            return "switch" if row["to"] else str(row["state"])
        case "dch":
            return "granted" if row["answer"].startswith("granted") else "refused"
    return "octets"


def nanoseconds(time_s: float) -> int:
    return round(time_s * 1e9)


def test_tiles_count_what_the_tables_hold(run: Run, timeline: ConnectionTimeline) -> None:
    tables = {lane.name: rows_of(run, timeline, lane) for lane in LANES}
    assert all(tables.values())
    kinds: Counter[str] = Counter()
    for level, index, first, last in windows(timeline):
        tile = timeline.tile(level, index)
        start = (index * CELLS + first) * cell_ns(level)
        end = (index * CELLS + last + 1) * cell_ns(level)
        for lane, content in zip(LANES, tile["lanes"], strict=True):
            if lane.kind != "count":
                continue
            names = [name for name, _ in timeline.categories(lane)]
            wanted: Counter[str] = Counter()
            shown: Counter[str] = Counter()
            for row in tables[lane.name]:
                if start <= nanoseconds(row["time_s"]) < end:
                    is_counted = lane.name == "pdus" and content["items"] is None
                    wanted[category_of(lane, row)] += row["last"] - row["first"] + 1 if is_counted else 1
            if content["items"] is None:
                for cell, category, count in content["cells"]:
                    if first <= cell <= last:
                        shown[names[category]] += count
            else:
                for _, start_s, _, _, _, _, category in content["items"]:
                    if start <= nanoseconds(start_s) < end:
                        shown[names[category]] += 1
            assert shown == wanted, (lane.name, level, index)
            kinds["cells" if content["items"] is None else "items"] += 1
    assert min(kinds["cells"], kinds["items"]) > 50


def test_tiles_have_the_time_of_causes_and_states(run: Run, timeline: ConnectionTimeline) -> None:
    for lane in (lane for lane in LANES if lane.kind == "share"):
        rows = rows_of(run, timeline, lane)
        names = [name for name, _ in timeline.categories(lane)]
        for level, index, first, last in windows(timeline):
            [content] = [one for one in timeline.tile(level, index)["lanes"] if one["name"] == lane.name]
            start = (index * CELLS + first) * cell_ns(level)
            end = (index * CELLS + last + 1) * cell_ns(level)
            wanted: Counter[str] = Counter()
            shown: Counter[str] = Counter()
            for row in rows:
                until = run.duration_s if row["end_s"] is None else row["end_s"]
                begin = nanoseconds(row["start_s" if "start_s" in row else "time_s"])
                inside = min(end, nanoseconds(until)) - max(start, begin)
                if inside > 0:
                    wanted[category_of(lane, row)] += inside
            if content["items"] is None:
                for cell, category, share in content["cells"]:
                    if first <= cell <= last:
                        shown[names[category]] += round(share * cell_ns(level))
            else:
                for _, start_s, end_s, _, _, _, category in content["items"]:
                    inside = min(end, nanoseconds(end_s)) - max(start, nanoseconds(start_s))
                    if inside > 0:
                        shown[names[category]] += inside
            assert shown == wanted, (lane.name, level, index)


def test_a_cell_of_the_buffer_has_the_largest_value(run: Run, timeline: ConnectionTimeline) -> None:
    [lane] = [lane for lane in LANES if lane.name == "buffer"]
    rows = rows_of(run, timeline, lane)
    ends = [*(nanoseconds(row["time_s"]) for row in rows[1:]), timeline.duration_ns]
    level = timeline.highest
    assert timeline.is_counted(lane, level) == (len(rows) > lane.most)
    [content] = [one for one in timeline.tile(level, 0)["lanes"] if one["name"] == "buffer"]
    for cell, _, value in content["cells"] or []:
        start, end = cell * cell_ns(level), (cell + 1) * cell_ns(level)
        assert value == max(
            row["octets"]
            for row, until in zip(rows, ends, strict=True)
            if nanoseconds(row["time_s"]) < end and max(until, nanoseconds(row["time_s"]) + 1) > start
        )


def test_tiles_are_small_and_fit_their_models(timeline: ConnectionTimeline) -> None:
    for level in range(LOWEST, timeline.highest + 1):
        tiles = timeline.duration_ns // (cell_ns(level) * CELLS) + 1
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
        middle = time if lane.name in ("segments", "acks", "sdus") else None
        row = [number, time, time, number if lane.low else 0, number if lane.high else 0, middle, 9]
        items += lane.most * len(json.dumps(row, separators=(",", ":")) + ",")
    assert items <= 64_000


def test_a_packet_selects_its_segment_sdu_pdus_and_block_sets(run: Run, timeline: ConnectionTimeline) -> None:
    rows = {lane.name: rows_of(run, timeline, lane) for lane in LANES}
    segment = next(row for row in rows["segments"] if row["kind"] == "data")
    found = Selection(timeline, "packet", segment["packet"]).as_dict()
    SelectionModel.model_validate(found | {"chain": None})
    assert (found["start_s"], found["end_s"]) == (segment["time_s"], segment["end_s"])
    assert f"packet {segment['packet']}" in found["text"]
    [sdu] = [row for row in rows["sdus"] if row["packet"] == segment["packet"]]
    pdus = run.series("timeline_pdus").to_dicts()
    chosen = [pdus[row] for row in found["rows"]["pdus"]]
    numbers = {number for pdu in chosen for number in range(pdu["first"], pdu["last"] + 1)}
    assert numbers >= set(range(sdu["first"], sdu["last"] + 1))
    sets = run.series("timeline_block_sets").to_dicts()
    assert {sets[row]["block_set"] for row in found["rows"]["blocks"]} == {pdu["block_set"] for pdu in chosen}
    # Each of its items selects the same packet, except PDUs with a part of the packet before.
    for lane in ("segments", "sdus"):
        for row in found["rows"][lane]:
            assert Selection(timeline, lane, row).as_dict()["rows"] == found["rows"]
    last = found["rows"]["pdus"][0]
    assert Selection(timeline, "pdus", last).packet is not None


def test_the_table_of_a_view_has_its_items(timeline: ConnectionTimeline) -> None:
    opened = timeline.opened_s or 0.0
    found = rows_in_view(timeline, opened, opened + 2.0)
    ViewRows.model_validate(found)
    assert len(found["rows"]) == min(found["count"], MOST_ROWS)
    instants = [float(row["instant"].removesuffix(" s")) for row in found["rows"]]
    assert instants == sorted(instants)
    assert any("SYN" in row["text"] for row in found["rows"])


def test_the_file_of_a_view_has_all_its_items(
    run: Run, timeline: ConnectionTimeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = timeline.opened_s or 0.0
    end = start + 1.5
    rows = list(csv.DictReader(io.StringIO(view_csv(timeline, start, end))))
    for lane in LANES:
        wanted = [row for row in rows_of(run, timeline, lane) if start <= row[lane.start] < end]
        found = [row for row in rows if row["lane"] == lane.name]
        assert [float(row["start_s"]) for row in found] == [row[lane.start] for row in wanted]
        for one, row in zip(found, wanted, strict=True):
            assert one["packet"] == str(row.get("packet") if row.get("packet") is not None else "")
    monkeypatch.setattr(selection, "MOST_EXPORTED", 10)
    with pytest.raises(TooManyItems, match="zoom in"):
        view_csv(timeline, start, end)


def test_segments_cross_the_rnc_between_start_and_end(run: Run, timeline: ConnectionTimeline) -> None:
    sdus = {row["packet"]: row for row in run.series("timeline_sdus").to_dicts()}
    segments = run.series("timeline_segments").to_dicts()
    crossed = 0
    for name in ("segments", "acks"):
        [lane] = [lane for lane in LANES if lane.name == name]
        found = timeline.items(lane)
        for row, middle in zip(found.row, found.middle_ns, strict=True):
            segment = segments[row]
            sdu = sdus.get(segment["packet"])
            if sdu is None or sdu["fate"] != "delivered":
                continue
            arrived = segment["radio_s"] if name == "segments" else sdu["end_s"]
            assert middle == nanoseconds(arrived)
            assert segment["time_s"] <= arrived <= segment["end_s"]
            crossed += 1
    assert crossed > 20


def test_what_does_not_exist_is_named(run: Run, timeline: ConnectionTimeline) -> None:
    for level, index in ((LOWEST - 1, 0), (timeline.highest + 1, 0), (0, -1), (0, 10**9)):
        with pytest.raises(NoSuchTile):
            timeline.tile(level, index)
    with pytest.raises(NoSuchTile):
        ConnectionTimeline(run, 99)
    for lane, row in (("segments", 10**8), ("no lane", 0), ("packet", 10**8)):
        with pytest.raises(NoSuchTile):
            Selection(timeline, lane, row)

"""Drawings of the time line at four zooms, as lists of shapes: places, sizes and names of colours.

``UMTS_BLESS=1`` writes the lists instead of comparing them. The code that draws is compiled from the
page's sources, and runs in Node.js without a browser.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import FTP
from umtslab import Scenario, open_store, simulate

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from umtslab.page.causes import looks
from umtslab.serve.selection import Selection
from umtslab.serve.tiles import ConnectionTimeline, head

ROOT = Path(__file__).parents[2]
LISTS = ROOT / "tests/golden/timeline"
NODE = shutil.which("node")
BUNDLER = ROOT / "web/node_modules/rolldown"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NODE is None, reason="Node.js is not installed"),
    pytest.mark.skipif(not BUNDLER.exists(), reason="the page is not built: `make page` says why"),
]

CONNECTION = 27
"""The second download of UE 11 of ftp-fach-dch.toml, with a channel switch and a timeout."""

ZOOMS = {"connection": (64.0, 72.0), "seconds": (65.5, 67.5), "ladder": (66.9, 67.3), "tti": (67.0, 67.06)}
"""Start and end of each view, in seconds."""

MAX_IN_VIEW = 4
"""Tiles in a view, as in the page."""


@pytest.fixture(scope="module")
def timeline(tmp_path_factory: pytest.TempPathFactory) -> ConnectionTimeline:
    overrides = {"duration": "80 s", "measure.budget": True, "measure.timeline": True}
    with open_store(tmp_path_factory.mktemp("drawing")) as store:
        [run] = simulate(
            Scenario.load(FTP.with_name("ftp-fach-dch.toml"), overrides), store=store, series=True
        )
        return ConnectionTimeline(run, CONNECTION)


def frame(timeline: ConnectionTimeline, from_s: float, to_s: float, **marks: Any) -> dict[str, Any]:
    """Return what the page draws of a view: declaration, tiles and marks."""
    shown = head(timeline, timeline.run.connection_rows())
    level = next(level for level in shown["levels"] if level["tile_s"] * MAX_IN_VIEW >= to_s - from_s)
    first, last = (int(instant // level["tile_s"]) for instant in (from_s, to_s))
    tiles = [timeline.tile(level["level"], index) for index in range(first, last + 1)]
    return {
        "head": shown,
        "shown": {"id": "run", "connection": CONNECTION, "level": level, "tiles": tiles},
        "from": from_s,
        "to": to_s,
        "width": 1000,
        "hasLabels": False,
        "looks": looks(),
        "marks": {"timeouts": [66.2782], **marks},
    }


def drawn(*frames: dict[str, Any]) -> list[list[str]]:
    """Draw frames with the code of the page."""
    assert NODE is not None
    words = [NODE, str(ROOT / "web/test/draw-list.mjs")]
    done = subprocess.run(words, input=json.dumps(frames), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shapes: list[list[str]] = json.loads(done.stdout)
    return shapes


def test_drawings_at_four_zooms_are_as_recorded(timeline: ConnectionTimeline) -> None:
    frames = [frame(timeline, *view) for view in ZOOMS.values()]
    for name, lines in zip(ZOOMS, drawn(*frames), strict=True):
        assert 100 < len(lines) < 10_000
        file = LISTS / f"{name}.txt"
        if os.environ.get("UMTS_BLESS"):
            file.parent.mkdir(exist_ok=True)
            file.write_text("\n".join(lines) + "\n")
        assert lines == file.read_text().splitlines(), f"{name}: UMTS_BLESS=1 writes the lists"


def test_a_selection_weakens_all_else_and_a_second_run_adds_grey_lines(timeline: ConnectionTimeline) -> None:
    view = ZOOMS["seconds"]
    plain = frame(timeline, *view)
    segments = timeline.table("timeline_segments").filter(connection=CONNECTION, kind="data")
    packet = next(row["packet"] for row in segments.to_dicts() if view[0] < row["time_s"] < view[1])
    selected = frame(timeline, *view, rows=Selection(timeline, "packet", packet).as_dict()["rows"])
    compared = {**plain, "other": {"head": plain["head"], "shown": plain["shown"]}}
    alone, weakened, both = drawn(plain, selected, compared)
    # Shapes that are not selected have the opacity 0.3.
    assert not any(" 0.3 " in line for line in alone)
    assert sum(" 0.3 " in line for line in weakened) > len(alone) / 4
    grey = [line for line in both if line.startswith("line") and " ghost " in line]
    assert len(grey) > 20
    assert [line for line in both if line not in grey] == [line for line in alone if line not in grey]

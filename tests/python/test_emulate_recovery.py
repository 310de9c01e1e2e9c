"""RLC recovery under ``umts emulate``: a program's download survives an outage of the radio.

RLC declares an unrecoverable error, and a cell update re-establishes the bearer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from conftest import Umts

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("may_emulate")]

GOOD, LOST = 600, 190
"""Blocks of the downlink that arrive before the pause, and blocks that are lost in it.

RLC fills its window of 64 PDUs and then sends a few blocks each time a timer expires, so the pause
lasts about 10 s.
"""

SCENARIO = """
version = 1
name = "pause"

[[bearer]]
name = "ps"
downlink = { rate = "384 kbit/s", tti = "10 ms" }
uplink = { rate = "64 kbit/s", tti = "20 ms" }

[rlc]
window = 64

[radio]
model = "trace"
file = "blocks"

[radio.uplink]
model = "error_free"

[[ue]]
name = "ue"
bearer = "ps"
"""

# Without the pause the download takes 2.5 s.
DOWNLOAD = """
import time, urllib.request
began = time.monotonic()
octets = len(urllib.request.urlopen("http://server/bytes/100000", timeout=50).read())
print(octets, time.monotonic() - began)
"""


def test_a_download_continues_after_a_radio_outage(umts: Umts, tmp_path: Path) -> None:
    scenario = tmp_path / "pause.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    # 0 is a block that arrives, 1 a lost one. The trace repeats after its end, which the download does
    # not reach.
    (tmp_path / "blocks").write_text("0" * GOOD + "1" * LOST + "0" * 100_000)
    done = umts("emulate", "--budget", "--scenario", scenario, "--", sys.executable, "-c", DOWNLOAD)
    octets, seconds = (float(word) for word in done.stdout.split())
    assert octets == 100_000
    # RLC declares an unrecoverable error after more than 8 s.
    assert seconds > 8
    (run,) = (tmp_path / "results" / "runs").iterdir()
    metrics = json.loads((run / "metrics.json").read_text())
    counts = {name: metrics[name] for name in ("rlc_unrecoverable_errors", "cell_updates")}
    assert all(counts.values()), counts
    assert metrics["rlc_reestablishments"] > 0
    assert metrics["budget_rlc_reestablishment_s"] > 0
    assert "RLC unrecoverable errors: 1, cell updates: 1" in done.stderr

"""``[[at]]`` in ``umts emulate`` and ``umts run``: both make the same changes at the same instants."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest
from conftest import Umts

pytestmark = [pytest.mark.slow, pytest.mark.wall_clock, pytest.mark.usefixtures("may_emulate")]

SCENARIO = """
version = 1
name = "tunnel"
duration = "14 s"

[[bearer]]
name = "dch"
downlink = { rate = "384 kbit/s", tti = "10 ms" }
uplink = { rate = "64 kbit/s", tti = "20 ms" }

[tcp]
profile = "linux-2.6"
variant = "sack"

[[ue]]
name = "user"
bearer = "dch"

[[flow]]
ue = "user"
traffic = "ftp"
start = "0 s"

[[at]]
time = "4 s"
set = { radio.cut = true }

[[at]]
time = "6 s"
set = { radio.cut = false }

[[at]]
time = "9 s"
set = { link.1.rate = "96 kbit/s" }
"""

DOWNLOAD = """
import time, urllib.request
answer = urllib.request.urlopen("http://server/bytes/2000000", timeout=50)
end = time.monotonic() + 13
while time.monotonic() < end and answer.read(1000):
    pass
"""


def test_simulation_and_emulation_change_at_the_same_instants(umts: Umts, tmp_path: Path) -> None:
    scenario = tmp_path / "tunnel.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    umts("run", scenario, "--series", "--out", tmp_path / "simulated", "--quiet")
    options = ("-q", "--series", "--scenario", scenario, "--out", tmp_path / "emulated")
    umts("emulate", *options, "--", sys.executable, "-c", DOWNLOAD)
    # Mean rates in kbit/s: before the air is cut, while it is cut, afterwards, and over the slower link.
    rates = {}
    for kind in ("simulated", "emulated"):
        (run,) = (tmp_path / kind / "runs").iterdir()
        table = pl.read_parquet(run / "series" / "rlc_delivered.parquet")
        downlink = table.filter(pl.col("direction") == "downlink")

        def kbps(from_s: float, to_s: float, downlink: pl.DataFrame = downlink) -> float:
            within = downlink.filter(pl.col("time_s").is_between(from_s, to_s))
            return float(within["octets"].sum()) * 8 / 1000 / (to_s - from_s)

        rates[kind] = [kbps(2, 4), kbps(4.02, 6), kbps(7.5, 9), kbps(12, 13.2)]
    for before, cut, after, limited in rates.values():
        assert before == pytest.approx(384, rel=0.05)
        assert cut == 0
        assert after > 0.5 * before
        # The link of 96 kbit/s is the bottleneck: the buffer of RLC has emptied after 12 s.
        assert limited == pytest.approx(96, rel=0.1)
    for simulated, emulated in zip(rates["simulated"], rates["emulated"], strict=True):
        assert emulated == pytest.approx(simulated, rel=0.1)
